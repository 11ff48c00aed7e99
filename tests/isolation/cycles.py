"""Cycles in the graph of transactions that list_history.py makes, and their names (Adya, "Weak Consistency", 1999).

Each edge is from a transaction to one that must come after it. Some nodes are no transactions: edges pass through them, so that a few
edges stand for very many (list_history.py has them). A cycle is a list of (node, edge).

All of this takes time that grows about as the graph does:
1. Only edges inside one strongly connected component can be part of a cycle, so each search stays inside one.
2. Whether there is a cycle of some kinds of edges is a question of components again, those of the graph of these edges alone. Its shown
   cycle is the shortest one through one of a few nodes of the smallest such component.
3. A cycle with one read-write edge is asked for only where the other kinds of edges form no cycle. So these have a topological order.
   A read-write edge that leads forward in this order is in no such cycle. For each that leads back, the search for a way from its end to
   its beginning sees the nodes between the two only. Edges that lead back a short way come first. The search gives up after a number of
   steps that is proportional to the graph; the cycle is then named by what a search without this limit on read-write edges has found.
"""

import collections
import heapq

WW, WR, RW, RT = "write-write", "write-read", "read-write", "real-time"
SIMPLEST_FIRST = {WW: 0, WR: 1, RW: 2, RT: 3}
# The kinds of edges of cycles, simplest first, and whether there is one read-write edge besides.
SEARCHES = (({WW}, False), ({WW, WR}, False), ({WW, WR}, True), ({WW, WR, RW}, False),
            ({WW, WR, RT}, False), ({WW, WR, RT}, True), ({WW, WR, RW, RT}, False))
TRIED = 16  # nodes of a component of which the shortest cycle is looked for
STEPS = 20  # per edge of a component, to look for cycles with one read-write edge

Edge = collections.namedtuple("Edge", "to kind key value")


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


def simplest_cycle(members, edges, time_of):
    """Returns a short cycle inside a component, of the simplest name that is found. `time_of`: of a node, about when its place is."""
    inside = graph_of(members, edges, SIMPLEST_FIRST)
    for kinds, with_read_write in SEARCHES:
        search = cycle_with_read_write if with_read_write else cycle_of
        cycle = search(inside, kinds, time_of)
        if cycle:
            return cycle
    raise AssertionError("a component of several nodes has a cycle")


def name_of(cycle):
    kinds = [edge.kind for _, edge in cycle]
    if RW in kinds:
        name = "G-single" if kinds.count(RW) == 1 else "G2"
    else:
        name = "G1c" if WR in kinds else "G0"
    if RT not in kinds:
        return name
    return f"real-time violation, {name}" if RW in kinds else "real-time violation"


def graph_of(members, edges, kinds):
    """Returns the edges of these kinds between members, by the node that they begin at, simplest ones first."""
    members = members if isinstance(members, (set, dict)) else set(members)
    return {one: sorted((edge for edge in edges.get(one, ()) if edge.kind in kinds and edge.to in members),
                        key=lambda edge: SIMPLEST_FIRST[edge.kind]) for one in members}


def cycle_of(inside, kinds, _):
    """Returns a short cycle of edges of these kinds; an empty one if there is none."""
    parts = components(inside, graph_of(inside, inside, kinds))
    if not parts:
        return []
    part = min(parts, key=len)
    graph = graph_of(part, inside, kinds)
    shortest = []
    for one in sorted(part)[:TRIED]:
        cycle = path_of(graph, one, one, graph, None)
        if not shortest or len(cycle) < len(shortest):
            shortest = cycle
    return shortest


def cycle_with_read_write(inside, kinds, time_of):
    """Returns a cycle of edges of these kinds, which form none alone, and one read-write edge; an empty one if none was found."""
    for part in sorted(components(inside, graph_of(inside, inside, kinds | {RW})), key=len):
        graph = graph_of(part, inside, kinds)
        place = topological_order(graph, time_of)
        back = [(place[one] - place[edge.to], one, edge) for one in part for edge in inside[one]
                if edge.kind == RW and edge.to in place and place[edge.to] < place[one]]
        steps = [STEPS * sum(len(graph[one]) + 1 for one in part)]
        for _, one, edge in sorted(back, key=lambda each: each[:2]):
            path = path_of(graph, edge.to, one, place, steps)
            if path is not None:
                return [(one, edge), *path]
            if steps[0] <= 0:
                break
    return []


def topological_order(graph, time_of):
    """Returns the place of each node of a graph without cycles. Of the nodes that may come next, the earliest does."""
    before = collections.Counter(edge.to for edges in graph.values() for edge in edges)
    ready = [(time_of(one), one) for one in graph if not before[one]]
    heapq.heapify(ready)
    place = {}
    while ready:
        _, one = heapq.heappop(ready)
        place[one] = len(place)
        for edge in graph[one]:
            before[edge.to] -= 1
            if not before[edge.to]:
                heapq.heappush(ready, (time_of(edge.to), edge.to))
    if len(place) != len(graph):
        raise AssertionError("the graph has a cycle")
    return place


def path_of(graph, start, goal, place, steps):
    """Returns the edges of a shortest path of at least one edge, as a cycle has them; None if there is none.

    `steps`: without it the search sees all of the graph. With it `place` is a topological order, and nodes behind the goal are left out;
    its one number is how many more edges searches may look at.
    """
    before, waiting = {}, collections.deque([start])
    while waiting:
        node = waiting.popleft()
        if steps is not None:
            steps[0] -= len(graph[node]) + 1
            if steps[0] <= 0:
                return None
        for edge in graph[node]:
            if edge.to in before or (steps is not None and place[edge.to] > place[goal]):
                continue
            before[edge.to] = (node, edge)
            if edge.to == goal:
                path = [before[goal]]
                while path[-1][0] != start:
                    path.append(before[path[-1][0]])
                return path[::-1]
            waiting.append(edge.to)
    return None
