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
   transaction is an anomaly. Its name is that of the simplest cycle that is found in it: write-write edges alone (G0), with
   write-read edges (G1c), with one read-write edge (G-single), with several (G2). A cycle that needs a real-time edge is named so.
   In a component of very many transactions the search for one read-write edge may give up, and the name is that of a cycle with more
   (cycles.py).
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

from cycles import RT, RW, WR, WW, Edge, components, name_of, simplest_cycle

SHOWN = 3  # anomalies of a name that are explained
LISTED = 40  # operations of a transaction in an explanation

Read = collections.namedtuple("Read", "reader key others")
Anomaly = collections.namedtuple("Anomaly", "name lines")


def text_of(transaction):
    operations = ", ".join(" ".join(map(str, each)) for each in transaction["operations"][:LISTED])
    if len(transaction["operations"]) > LISTED:
        operations += f", and {len(transaction['operations']) - LISTED} more"
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
        self.times = [each["begin"] if each["end"] is None else each["end"] for each in self.transactions]  # of all nodes
        self.reported = collections.Counter()

    def report(self, name, why, *numbers):
        """`numbers`: the transactions that explain it. Only the first anomalies of a name are explained."""
        self.reported[name] += 1
        is_shown = self.reported[name] <= SHOWN
        lines = [why if isinstance(why, str) else why(), *(text_of(self.transactions[number]) for number in numbers)] if is_shown else ()
        self.anomalies.append(Anomaly(name, lines))

    def add_node(self, time):
        """A node that is no transaction. Returns its number."""
        self.times.append(time)
        return len(self.times) - 1

    def add_edge(self, one, other, kind, key=None, value=None):
        if one != other:
            self.edges[one].append(Edge(other, kind, key, value))

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
        for members in components(range(len(self.times)), self.edges):
            self.report_cycle(members)
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
                                number)
                    continue
                if before.setdefault(key, others) != others:
                    self.report("internal", f"operation {place + 1} sees {others} of others, and an earlier read saw {before[key]}", number)
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
                                number, longest)

    def check_values(self):
        reported = set()
        for number, key, values in self.reads:
            reader = self.transactions[number]
            if len(set(values)) != len(values):
                self.report("duplicate append", f"key {key} has a value twice", number)
            for value in values:
                writer, is_undone = self.writers.get((key, value), (None, False))
                if (key, value) in reported or (writer is not None and not is_undone and writer in self.committed):
                    continue
                reported.add((key, value))
                if writer is None:
                    self.report("garbage read", f"no transaction appended {value} to key {key}", number)
                else:
                    self.report("G1a", f"{reader['name']} saw {value} in key {key}, which was rolled back", writer, number)
            writer, is_undone = self.writers.get((key, values[-1]), (None, False)) if values else (None, False)
            if writer is not None and not is_undone and self.last[writer, key] != values[-1]:
                self.report("G1b", f"{reader['name']} saw {values[-1]} as the last of key {key}, and "
                            f"{self.transactions[writer]['name']} appended more", writer, number)

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
            if self.transactions[latest[key]]["begin"] > writer["end"]:
                self.report("lost append", f"{value} in key {key} was acknowledged, and is in no list", number, latest[key])

    def add_edges(self):
        places = {(key, value) for key, order in self.orders.items() for value in order}
        missing = collections.defaultdict(list)  # by key the committed appends that come behind its known order
        for (key, value), (number, is_undone) in self.writers.items():
            if not is_undone and number in self.committed and (key, value) not in places:
                missing[key].append((number, value))
        chains = {key: UnseenAppends(self, key, appends) for key, appends in missing.items()}

        for key, order in self.orders.items():
            known = [(self.writers[key, value][0], value) for value in order if (key, value) in self.writers]
            for (one, _), (other, value) in zip(known, known[1:]):
                self.add_edge(one, other, WW, key, value)
            if known and key in chains:
                chains[key].precede(known[-1][0], WW)
        for number, key, values in self.reads:
            order = self.orders[key]
            if order[:len(values)] != values:
                continue
            if values and (key, values[-1]) in self.writers:
                self.add_edge(self.writers[key, values[-1]][0], number, WR, key, values[-1])
            # The reader's own appends come next where it has read first.
            if len(values) < len(order):
                if (key, order[len(values)]) in self.writers:
                    self.add_edge(number, self.writers[key, order[len(values)]][0], RW, key, order[len(values)])
            elif key in chains:
                chains[key].precede(number, RW)

    def add_real_time(self):
        """Edges between any two transactions would be too many. So each acknowledgement is a node of its own, a moment: its
        transaction leads to it, and it leads to the next moment and to the transactions that begin before that one."""
        ends = sorted((each["end"], number) for number, each in enumerate(self.transactions) if each["outcome"] == "ok")
        moments = [self.add_node(end) for end, _ in ends]
        for place, (_, number) in enumerate(ends):
            self.add_edge(number, moments[place], RT)
            if place:
                self.add_edge(moments[place - 1], moments[place], RT)
        place = 0
        for begin, number in sorted((self.transactions[number]["begin"], number) for number in self.committed):
            while place < len(ends) and ends[place][0] < begin:
                place += 1
            if place:
                self.add_edge(moments[place - 1], number, RT)

    def report_cycle(self, members):
        cycle = simplest_cycle(members, self.edges, self.times.__getitem__)
        seen = [one for one, _ in cycle if one < len(self.transactions)]
        self.report(name_of(cycle), lambda: "\n    ".join(self.cycle_lines(cycle)), *seen)

    def cycle_lines(self, cycle):
        """The edges between transactions, without the nodes between them that are none."""
        start = next(place for place, (one, _) in enumerate(cycle) if one < len(self.transactions))
        lines, source, kind = [], None, None
        for one, edge in cycle[start:] + cycle[:start]:
            if one < len(self.transactions):
                source, kind = self.transactions[one]["name"], edge.kind
            if edge.to < len(self.transactions):
                target = self.transactions[edge.to]["name"]
                why = {WW: f"{target} appended {edge.value} to key {edge.key} next", WR: f"{target} saw {edge.value} as the last of key {edge.key}",
                       RW: f"{source} did not see {edge.value}, which comes next in key {edge.key}",
                       RT: f"{source} was acknowledged before {target} began"}[kind]
                lines.append(f"{source} precedes {target} ({kind}): {why}")
        return lines


class UnseenAppends:
    """The committed appends to a key that no read shows. All of them come behind the key's known order, and so behind its last append and
    behind each read of all of it. Edges from each of these to each append would be too many. So two chains of nodes lead to the appends:
    a node of the first one to its append and to all that follow, a node of the second one to its append and to all before."""

    def __init__(self, history, key, appends):
        self.history = history
        self.own = {}  # transaction -> the places of its first and last append, between which all are its own
        self.following, self.preceding = [], []
        for place, (number, _) in enumerate(appends):
            self.own[number] = (self.own.get(number, (place,))[0], place)
        for chain, others in ((self.following, appends[::-1]), (self.preceding, appends)):
            for number, value in others:
                node = history.add_node(history.times[number])
                history.add_edge(node, number, WW, key, value)
                if chain:
                    history.add_edge(node, chain[-1], WW, key, value)
                chain.append(node)
        self.following.reverse()

    def precede(self, number, kind):
        """Adds edges from the transaction to all appends that are not its own."""
        first, last = self.own.get(number, (0, -1))
        if last + 1 < len(self.following):
            self.history.add_edge(number, self.following[last + 1], kind)
        if first > 0:
            self.history.add_edge(number, self.preceding[first - 1], kind)


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
