#!/usr/bin/env python3
"""Goal: the tables of log buffers and log devices are the only places that name all kinds. Method: of each kind, no production file but
the table and the files below names the enumerator, and exactly one names the function that the table's line names.

usage: tables_test.py REPOSITORY_ROOT
"""
import pathlib
import re
import sys

# Files that may name a kind, each with the reason.
EXCEPTIONS = {
    "LogBufferKind": {
        "logging/buffer/log_buffer_factory.h": "the default",
    },
    "LogDeviceKind": {
        "logging/commit/log_options.h": "the default",
        "logging/remote/remote_device.cc": "the device's own",
        "logging/replicated/replicated_device.cc": "the devices' own",
        "logging/replicated/replicated_log.cc": "the devices' own",
        "cli/command/crash_command.cc": "what is recovered goes on in files",
    },
}
TABLES = {"LogBufferKind": ("logging/buffer/log_buffer_list.h", "LOG_BUFFER"),
          "LogDeviceKind": ("logging/device/log_device_list.h", "LOG_DEVICE")}
FOLDERS = ("base", "network", "logging", "engine", "procedures", "analyzer", "recovery", "embedding", "cli")


def production(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix in (".h", ".cc") and not name.endswith("_test.cc") and "/testing/" not in name:
                yield name, path.read_text()


def faults(root):
    sources = dict(production(root))
    for enum, (table, macro) in TABLES.items():
        lines = re.findall(rf'^{macro}\((k\w+),\s*"[^"]+",\s*(\w+)', sources[table], re.MULTILINE)
        if len(lines) < 3:
            yield f"{table}: {len(lines)} lines that are read as kinds"
        kinds = {kind for kind, _ in lines}
        named = {}
        for name, text in sources.items():
            if name != table:
                named[name] = kinds & set(re.findall(rf"\b{enum}::(k\w+)", text))
        for name, found in named.items():
            if found and name not in EXCEPTIONS[enum]:
                yield f"{name} names {enum}::{', '.join(sorted(found))}: ask the table, {table}, for a trait"
            if len(found) > len(kinds) / 2:
                yield f"{name} names most kinds of {table}: it is a second table"
        for name in EXCEPTIONS[enum]:
            if not named.get(name):
                yield f"{name} names no {enum} any more: take it out of this test's exceptions"
        for opener in {opener for _, opener in lines}:
            definitions = [name for name, text in sources.items() if re.search(rf"\b{opener}\([^;]*\)\s*{{", text)]
            if len(definitions) != 1:
                yield f"{table}: {opener} is defined in {definitions}, and not in one file"


def main():
    found = list(faults(pathlib.Path(sys.argv[1])))
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
