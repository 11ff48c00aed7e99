#!/usr/bin/env python3
"""Fails when an include climbs the folder order of docs/architecture.md, or a cycle of includes stands inside a folder.

usage: check_layers.py REPOSITORY_ROOT
"""
import pathlib
import re
import sys

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
    "experiments": {"base"},
    "bench": {"base", "network", "logging", "engine", "procedures", "analyzer", "recovery", "workloads"},
    "cli": {"base", "network", "logging", "engine", "procedures", "analyzer", "recovery", "workloads", "experiments"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def includes(root):
    """Yields (file, included file), both relative to the root, for every project include outside tests/."""
    for folder in MAY_INCLUDE:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cc"):
                for target in INCLUDE.findall(path.read_text()):
                    yield path.relative_to(root).as_posix(), target


def climbing(edges):
    for source, target in edges:
        from_folder, to_folder = source.split("/")[0], target.split("/")[0]
        if to_folder in MAY_INCLUDE and to_folder != from_folder and to_folder not in MAY_INCLUDE[from_folder]:
            yield f"{source} includes {target}: {from_folder}/ may include only {sorted(MAY_INCLUDE[from_folder])}"
        if "/" not in target:
            yield f'{source} includes "{target}": name project headers from the repository root'


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
    edges = list(includes(pathlib.Path(sys.argv[1])))
    faults = list(climbing(edges)) + list(cycles(edges))
    for fault in faults:
        print(fault)
    print(f"{len(edges)} includes, {len(faults)} faults")
    return 1 if faults or not edges else 0


if __name__ == "__main__":
    sys.exit(main())
