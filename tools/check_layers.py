#!/usr/bin/env python3
"""Checks the order of docs/architecture.md: which folder may include which, and which room of a folder which other room.

usage: check_layers.py REPOSITORY_ROOT

Fails where an include climbs the order of folders or of rooms, where a file stands outside every room of its folder, where production
code includes a room testing/, where headers include each other in a circle, and where a room has more than 45 files.
"""
import collections
import pathlib
import re
import sys
import tomllib

MAY_INCLUDE = {
    "base": set(),
    "network": {"base"},
    "logging": {"base", "network"},
    "engine": {"base", "logging"},
    "procedures": {"base", "engine"},
    "analyzer": {"base", "engine", "procedures"},
    "recovery": {"base", "logging", "engine", "procedures", "analyzer"},
    "workloads": {"base", "engine", "procedures"},
    "embedding": {"base", "logging", "engine", "procedures", "recovery"},
    "server": {"base", "network", "logging", "engine", "procedures", "recovery", "embedding"},
    "measurement": {"base"},
    "experiments": {"base", "measurement"},
    "bench": {"base", "network", "logging", "engine", "procedures", "analyzer", "recovery", "workloads"},
    "lab": {"base", "logging", "engine", "procedures", "analyzer", "recovery"},
    "course": {"base", "logging", "engine", "analyzer", "network", "procedures", "recovery"},
    "cli": {"base", "network", "logging", "engine", "procedures", "analyzer", "recovery", "embedding", "server", "workloads",
            "measurement", "experiments", "lab"},
}
# The rooms of a folder: each may include those before it. "" is the folder itself, for files that stand in no room.
ROOMS = {
    "base": ["", "memory", "file"],
    "logging": ["record", "directory", "buffer", "device", "commit", "nvm", "layout", "reading", "remote", "replicated"],
    "engine": ["schema", "index", "table", "transaction", "checkpoint"],
    "analyzer": ["rewriting", "", "hints"],
    "procedures": ["ir", "times", "values", "parser", "typing", "binder", "interpreter", "query", "catalog", "native", "session"],
    "recovery": ["log", "rows", "calls", "adaptive", "demand", "database", "standby"],
    "server": ["protocol", "session", "listener"],
    "workloads": ["shared", "tpcc", "smallbank", "tatp", "tpcb", "ycsb", "own", ""],
    "measurement": ["machine", "latency", "statistics", "comparison", "toml", "child", "result"],
    "cli": ["output", "option", "measure", "bench", "crash", "lab", "acid", "shell", "command"],
    "lab": ["", "platform"],
    "course": [""],  # and a room for each chapter, which sees no other chapter's
}
# Rooms that may include another folder, where the rest of theirs may not: libraries of their own (CMakeLists.txt).
ROOMS_THAT_MAY_INCLUDE = {"network": {("logging", "remote"), ("logging", "replicated")}}
MOST_FILES = 45
CHAPTER = re.compile(r"\d\d-[a-z-]+$")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def place(path):
    """(folder, room) of a file."""
    parts = path.split("/")
    return parts[0], parts[1] if len(parts) > 2 else ""


def stands_for(root, path):
    """The path by whose rules a file includes others: of a part of the course, that of the engine's file in whose place it is built."""
    chapter = re.match(r"course/\d\d-[a-z-]+/", path)
    if not chapter or path.endswith("_test.cc"):
        return path
    return tomllib.loads((root / chapter[0] / "part.toml").read_text())["replaces"]


def is_production(path):
    return not path.endswith("_test.cc") and place(path)[1] != "testing" and not path.startswith("bench/")


def sources(root):
    for folder in MAY_INCLUDE:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cc"):
                yield path.relative_to(root).as_posix()


def climbing(edges):
    for source, target in edges:
        (from_folder, from_room), (to_folder, to_room) = place(source), place(target)
        if "/" not in target:
            yield f'{source} includes "{target}": name project headers from the repository root'
        if to_folder not in MAY_INCLUDE:
            continue
        if to_folder != from_folder and to_folder not in MAY_INCLUDE[from_folder]:
            yield f"{source} includes {target}: {from_folder}/ may include only {sorted(MAY_INCLUDE[from_folder])}"
        if not is_production(source):
            continue
        rooms = ROOMS_THAT_MAY_INCLUDE.get(to_folder)
        if rooms and from_folder in {folder for folder, _ in rooms} and (from_folder, from_room) not in rooms:
            yield f"{source} includes {target}: of {from_folder}/ only {sorted(room for _, room in rooms)} may include {to_folder}/"
        if to_room == "testing":
            yield f"{source} includes {target}: testing/ is for tests alone"
        elif to_folder == from_folder:
            rooms = ROOMS.get(from_folder, [""])
            if to_room in rooms and from_room in rooms and rooms.index(to_room) > rooms.index(from_room):
                yield f"{source} includes {target}: {from_room}/ may include only {rooms[:rooms.index(from_room)]} of {from_folder}/"


def misplaced(files):
    counts = collections.Counter()
    for path in files:
        folder, room = place(path)
        counts[folder, room] += 1
        if room != "testing" and room not in ROOMS.get(folder, [""]) and not (folder == "course" and CHAPTER.match(room)):
            yield f"{path}: {folder}/ has no room {room!r}"
    for (folder, room), count in sorted(counts.items()):
        if count > MOST_FILES:
            yield f"{folder}/{room} has {count} files, more than {MOST_FILES}: make two rooms of it"


def unit(path):
    """A header and its .cc are one unit."""
    return path.rsplit(".", 1)[0]


def cycles(edges):
    graph = {}
    for source, target in edges:
        if unit(source) != unit(target) and not source.endswith(".cc"):
            graph.setdefault(unit(source), set()).add(unit(target))
    done, path = set(), []

    def visit(node):
        if node in path:
            yield "cycle of includes: " + " -> ".join(path[path.index(node):] + [node])
            return
        if node in done:
            return
        path.append(node)
        for target in sorted(graph.get(node, ())):
            yield from visit(target)
        path.pop()
        done.add(node)

    for node in sorted(graph):
        yield from visit(node)


def main():
    root = pathlib.Path(sys.argv[1])
    files = list(sources(root))
    edges = [(stands_for(root, path), target) for path in files for target in INCLUDE.findall((root / path).read_text())]
    faults = [*misplaced(files), *climbing(edges), *cycles(edges)]
    for fault in faults:
        print(fault)
    print(f"{len(files)} files, {len(edges)} includes, {len(faults)} faults")
    return 1 if faults or not edges else 0


if __name__ == "__main__":
    sys.exit(main())
