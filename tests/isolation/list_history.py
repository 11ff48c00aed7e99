#!/usr/bin/env python3
"""Whether transactions that read lists and append to them can have run one after the other, as their clients saw them.

usage: list_history.py FILE ...     each line a transaction as JSON; exit status 1 where an anomaly is found

The check is Elle's for list-append (Kingsbury, Alvaro: "Elle: Inferring Isolation Anomalies from Experimental Observations",
VLDB 2020), with Adya's names ("Weak Consistency", 1999). Each value is appended once at most. So a list that a client reads
shows in which order its values were appended, which transaction wrote each version, and which version the reader saw. Nothing
that the database says of its own order is needed. The argument:

1. All committed reads of a key must be prefixes of the longest one. That one is the key's order of versions. A committed append
   that it lacks comes after it, as no transaction removes values.
2. Edges between transactions follow:
     write-write   the one whose value stands right before another's     precedes   the other
     write-read    the one whose value is the last that a reader saw     precedes   the reader
     read-write    a reader                                              precedes   the one whose value comes next
     real-time     one that was acknowledged before another began        precedes   the other (strict serializability)
3. The history is strictly serializable only if the edges form no cycle, so each strongly connected component of more than one
   transaction is an anomaly. Its name is that of the simplest cycle in it: write-write edges alone (G0), with write-read edges
   (G1c), with one read-write edge (G-single), with several (G2). A cycle that needs a real-time edge is named so.
4. Besides, no committed read may see a value of an aborted transaction (G1a), a version between two appends of another transaction
   to the key (G1b), a value that no transaction appended, or one twice. Each read must see its transaction's own appends behind
   the values of others, and those must be the same at each read of the key (internal). A read that begins after an append was
   acknowledged must see it (lost append).

An append without an answer (outcome "unknown") counts as committed once a committed read saw it, and as never done until then.
A cycle that no read shows remains unseen, so a history should end with a read of all keys.

A transaction is an object: {"name", "begin", "end", "outcome": "ok" | "failed" | "unknown", "operations"}. Times are of one monotonic
clock. The operations are in the order in which they were done: ["append", key, value], ["read", key, [value, ...]],
["savepoint"] and ["rollback to"], which takes back the appends behind the last savepoint and keeps the savepoint. "as" and "why" may be
there for people: how it was run, and why it failed.
"""

import collections
import json
import sys

WW, WR, RW, RT = "write-write", "write-read", "read-write", "real-time"
SIMPLEST_FIRST = (WW, WR, RW, RT)
# Cycles by name, simplest first: the kinds of its edges, and the kind of the one edge besides.
CYCLES = (("G0", {WW}, None), ("G1c", {WW, WR}, None), ("G-single", {WW, WR}, RW), ("G2", {WW, WR, RW}, None),
          ("real-time violation", {WW, WR, RT}, None), ("real-time violation, G-single", {WW, WR, RT}, RW),
          ("real-time violation, G2", {WW, WR, RW, RT}, None))
SHOWN = 3  # anomalies of a name that are explained
TRIED = 300  # edges of a component that are tried for a cycle of each kind

Edge = collections.namedtuple("Edge", "to kind key value")
Read = collections.namedtuple("Read", "reader key others")
Anomaly = collections.namedtuple("Anomaly", "name lines")


def text_of(transaction):
    operations = ", ".join(" ".join(map(str, each)) for each in transaction["operations"])
    more = " ".join(transaction[word] for word in ("as", "why") if transaction.get(word))
    return f"{transaction['name']} from {transaction['begin']} to {transaction['end']}, {transaction['outcome']} {more}: {operations}"


def appends_of(transaction):
    """Each as (key, value, whether it was taken back), in order."""
    done, savepoints = [], []
    for kind, *operands in transaction["operations"]:
        if kind == "append":
            done.append([*operands, False])
        elif kind == "savepoint":
            savepoints.append(len(done))
        elif kind == "rollback to":
            for each in done[savepoints[-1]:]:
                each[2] = True
    return done


class ListHistory:
    """A history, and what is wrong with it."""

    def __init__(self, transactions):
        self.transactions = list(transactions)
        self.anomalies = []
        self.writers = {}  # (key, value) -> (transaction, whether it took the append back)
        self.last = {}  # (transaction, key) -> the last value that it appended
        self.committed = set()
        self.reads = []  # those of committed transactions, without their own values
        self.orders = {}  # key -> values
        self.edges = collections.defaultdict(list)
        self.moments = 0

    def report(self, name, *lines):
        self.anomalies.append(Anomaly(name, lines))

    def check(self):
        """Returns all anomalies. Fails with ValueError if a value is appended twice to a key: such a history shows no order."""
        self.find_writers()
        self.find_committed()
        versions = collections.defaultdict(list)
        for number in sorted(self.committed):
            self.check_inside(number, versions)
        self.find_orders(versions)
        self.check_values()
        self.check_losses()
        self.add_edges()
        self.add_real_time()
        for members in components(range(len(self.transactions) + self.moments), self.edges):
            self.name_cycle(set(members))
        return self.anomalies

    def find_writers(self):
        for number, transaction in enumerate(self.transactions):
            for key, value, is_undone in appends_of(transaction):
                if (key, value) in self.writers:
                    raise ValueError(f"{value} is appended to key {key} twice")
                self.writers[key, value] = (number, is_undone)
                if not is_undone:
                    self.last[number, key] = value

    def find_committed(self):
        waiting = [number for number, each in enumerate(self.transactions) if each["outcome"] == "ok"]
        self.committed = set(waiting)
        while waiting:
            for kind, *operands in self.transactions[waiting.pop()]["operations"]:
                for value in operands[1] if kind == "read" else ():
                    number, _ = self.writers.get((operands[0], value), (None, None))
                    if number is not None and number not in self.committed and self.transactions[number]["outcome"] == "unknown":
                        self.committed.add(number)
                        waiting.append(number)

    def check_inside(self, number, versions):
        """Keeps the transaction's reads without its own values, and in `versions` the lists as far as they are the database's."""
        own, savepoints, before = {}, [], {}
        for place, (kind, *operands) in enumerate(self.transactions[number]["operations"]):
            if kind == "append":
                own[operands[0]] = [*own.get(operands[0], []), operands[1]]
            elif kind == "savepoint":
                savepoints.append(dict(own))
            elif kind == "rollback to":
                own = dict(savepoints[-1])
            else:
                key, values = operands
                mine = own.get(key, [])
                others = values[:len(values) - len(mine)]
                if values[len(others):] != mine or any(self.writers.get((key, value), (None,))[0] == number for value in others):
                    self.report("internal", f"operation {place + 1} does not see {mine} of its own at the end, and nothing else of its own",
                                text_of(self.transactions[number]))
                    continue
                if before.setdefault(key, others) != others:
                    self.report("internal", f"operation {place + 1} sees {others} of others, and an earlier read saw {before[key]}",
                                text_of(self.transactions[number]))
                self.reads.append(Read(number, key, others))
                is_undone = any(self.writers[key, value][1] for value in mine)
                versions[key].append((number, others if is_undone else values))

    def find_orders(self, versions):
        for key, lists in versions.items():
            longest, order = max(lists, key=lambda version: len(version[1]))
            self.orders[key] = order
            reported = 0
            for number, values in lists:
                if order[:len(values)] != values and reported < SHOWN:
                    reported += 1
                    self.report("incompatible order", f"of key {key}: neither list is the beginning of the other: {values} and {order}",
                                text_of(self.transactions[number]), text_of(self.transactions[longest]))

    def check_values(self):
        reported = set()
        for number, key, values in self.reads:
            reader = self.transactions[number]
            if len(set(values)) != len(values):
                self.report("duplicate append", f"key {key} has a value twice", text_of(reader))
            for value in values:
                writer, is_undone = self.writers.get((key, value), (None, False))
                if (key, value) in reported or (writer is not None and not is_undone and writer in self.committed):
                    continue
                reported.add((key, value))
                if writer is None:
                    self.report("garbage read", f"no transaction appended {value} to key {key}", text_of(reader))
                else:
                    self.report("G1a", f"{reader['name']} saw {value} in key {key}, which was rolled back",
                                text_of(self.transactions[writer]), text_of(reader))
            writer, is_undone = self.writers.get((key, values[-1]), (None, False)) if values else (None, False)
            if writer is not None and not is_undone and self.last[writer, key] != values[-1]:
                self.report("G1b", f"{reader['name']} saw {values[-1]} as the last of key {key}, and "
                            f"{self.transactions[writer]['name']} appended more", text_of(self.transactions[writer]), text_of(reader))

    def check_losses(self):
        """Looks for acknowledged appends that the longest list of their key lacks, although a read of the key began later."""
        latest = {}
        for number, key, _ in self.reads:
            if key not in latest or self.transactions[number]["begin"] > self.transactions[latest[key]]["begin"]:
                latest[key] = number
        known = {(key, value) for key, order in self.orders.items() for value in order}
        for (key, value), (number, is_undone) in self.writers.items():
            writer = self.transactions[number]
            if is_undone or writer["outcome"] != "ok" or key not in latest or (key, value) in known:
                continue
            reader = self.transactions[latest[key]]
            if reader["begin"] > writer["end"]:
                self.report("lost append", f"{value} in key {key} was acknowledged, and is in no list", text_of(writer), text_of(reader))

    def add_edges(self):
        places = {(key, value) for key, order in self.orders.items() for value in order}
        missing = collections.defaultdict(list)  # by key the committed appends that come behind its known order
        for (key, value), (number, is_undone) in self.writers.items():
            if not is_undone and number in self.committed and (key, value) not in places:
                missing[key].append((number, value))

        def add(one, other, *more):
            if one != other:
                self.edges[one].append(Edge(other, *more))

        for key, order in self.orders.items():
            known = [(self.writers[key, value][0], value) for value in order if (key, value) in self.writers]
            for (one, _), (other, value) in zip(known, known[1:]):
                add(one, other, WW, key, value)
            for other, value in missing[key] if known else ():
                add(known[-1][0], other, WW, key, value)
        for number, key, values in self.reads:
            order = self.orders[key]
            if order[:len(values)] != values:
                continue
            if values and (key, values[-1]) in self.writers:
                add(self.writers[key, values[-1]][0], number, WR, key, values[-1])
            # The reader's own appends come next where it has read first.
            if len(values) < len(order):
                if (key, order[len(values)]) in self.writers:
                    add(number, self.writers[key, order[len(values)]][0], RW, key, order[len(values)])
            else:
                for other, value in missing[key]:
                    add(number, other, RW, key, value)

    def add_real_time(self):
        """Edges between any two transactions would be too many. So each acknowledgement is a node of its own, a moment: its
        transaction leads to it, and it leads to the next moment and to the transactions that begin before that one."""
        ends = sorted((each["end"], number) for number, each in enumerate(self.transactions) if each["outcome"] == "ok")
        first, self.moments = len(self.transactions), len(ends)
        for place, (_, number) in enumerate(ends):
            self.edges[number].append(Edge(first + place, RT, None, None))
            if place:
                self.edges[first + place - 1].append(Edge(first + place, RT, None, None))
        place = 0
        for begin, number in sorted((self.transactions[number]["begin"], number) for number in self.committed):
            while place < len(ends) and ends[place][0] < begin:
                place += 1
            if place:
                self.edges[first + place - 1].append(Edge(number, RT, None, None))

    def name_cycle(self, members):
        inside = {one: [edge for edge in self.edges[one] if edge.to in members] for one in members}
        for name, kinds, besides in CYCLES:
            cycle = cycle_of(inside, kinds, besides)
            if cycle:
                self.report(name, *self.cycle_lines(cycle))
                return

    def cycle_lines(self, cycle):
        """The edges between transactions, without moments, and then the transactions."""
        is_moment = [one >= len(self.transactions) for one, _ in cycle]
        start = is_moment.index(False)
        lines, seen, source = [], [], None
        for one, edge in cycle[start:] + cycle[:start]:
            if one < len(self.transactions):
                source = self.transactions[one]["name"]
                seen.append(one)
            if edge.to < len(self.transactions):
                target = self.transactions[edge.to]["name"]
                why = {WW: f"{target} appended {edge.value} to key {edge.key} next", WR: f"{target} saw {edge.value} as the last of key {edge.key}",
                       RW: f"{source} did not see {edge.value}, which comes next in key {edge.key}",
                       RT: f"{source} was acknowledged before {target} began"}[edge.kind]
                lines.append(f"{source} precedes {target} ({edge.kind}): {why}")
        return lines + [text_of(self.transactions[number]) for number in seen]


def cycle_of(edges, kinds, besides):
    """Returns a short cycle of edges of these kinds, and, if given, one edge of another kind; none: an empty list. Each as (from, edge)."""
    graph = {}
    for one, all_of_one in edges.items():
        best = {}
        for edge in sorted(all_of_one, key=lambda edge: SIMPLEST_FIRST.index(edge.kind)):
            if edge.kind in kinds:
                best.setdefault(edge.to, edge)
        graph[one] = list(best.values())
    if besides:
        starts = [(one, edge) for one, all_of_one in edges.items() for edge in all_of_one if edge.kind == besides]
    else:
        starts = [(one, edge) for part in map(set, components(graph, graph)) for one in part for edge in graph[one] if edge.to in part]
    shortest = []
    for one, edge in starts[:TRIED]:
        path = path_of(graph, edge.to, one)
        if path is not None and (not shortest or len(path) + 1 < len(shortest)):
            shortest = [(one, edge), *path]
    return shortest


def path_of(graph, start, goal):
    """Returns the edges of a shortest path, each as (from, edge); None if there is none."""
    before, waiting = {start: None}, collections.deque([start])
    while waiting:
        node = waiting.popleft()
        if node == goal:
            path = []
            while before[node] is not None:
                path.append(before[node])
                node = before[node][0]
            return path[::-1]
        for edge in graph[node]:
            if edge.to not in before:
                before[edge.to] = (node, edge)
                waiting.append(edge.to)
    return None


def components(nodes, edges):
    """Returns the strongly connected components of more than one node: Tarjan's algorithm, without recursion."""
    index, low, is_open, stack, found = {}, {}, set(), [], []

    def enter(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        is_open.add(node)
        return node, iter(edges.get(node, ()))

    for root in nodes:
        work = [enter(root)] if root not in index else []
        while work:
            node, following = work[-1]
            for edge in following:
                if edge.to not in index:
                    work.append(enter(edge.to))
                    break
                if edge.to in is_open:
                    low[node] = min(low[node], index[edge.to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = [stack.pop()]
                    while part[-1] != node:
                        part.append(stack.pop())
                    is_open.difference_update(part)
                    if len(part) > 1:
                        found.append(part)
    return found


def explained(anomalies):
    """A count of each name, and the first ones of it with their transactions."""
    by_name = collections.defaultdict(list)
    for name, lines in anomalies:
        by_name[name].append("\n    ".join(["  it is", *lines]))
    return "\n".join("\n".join([f"{name}: {len(each)}", *each[:SHOWN]]) for name, each in sorted(by_name.items()))


def read_history(paths):
    """All transactions of the files, without the last line of a client that was killed as it wrote."""
    for path in paths:
        with open(path, encoding="utf-8") as file:
            yield from (json.loads(line) for line in file if line.endswith("\n"))


def main():
    history = ListHistory(read_history(sys.argv[1:]))
    anomalies = history.check()
    print(f"{len(history.transactions)} transactions, {len(history.committed)} of them committed, {len(history.reads)} reads, "
          f"{len(history.orders)} keys, {len(anomalies)} anomalies")
    if anomalies:
        print(explained(anomalies))
    return 1 if anomalies else 0


if __name__ == "__main__":
    sys.exit(main())
