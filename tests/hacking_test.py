#!/usr/bin/env python3
"""Goal: the examples of docs/HACKING.md are true: each takes as many files and lines as it says, and compiles.

Method: each section's new files are written into an empty folder, and its lines put into copies there of the files that they belong to. A copy stands
before the source tree in the search for headers. Each source that an example brings or changes, or that includes a header which it
changes, is compiled by the build's own command, without code.

usage: hacking_test.py BUILD_FOLDER
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEP = re.compile(r"^(?:`(?P<new>[^`]+)`, new|In `(?P<old>[^`]+)`, (?P<side>behind|before) `(?P<anchor>[^\n]+)`):\n\n```\w+\n(?P<text>.*?)^```\n", re.MULTILINE | re.DOTALL)
COUNTS = re.compile(r"takes\s+(\d+)\s+new\s+files?(?:,\s+in\s+a\s+folder\s+of\s+its\s+own,)?\s+and\s+(\d+)\s+lines?\b")


def applied(section, folder):
    """Writes the section's files into the folder. (new files, changed files, lines)"""
    new, changed, lines = [], [], 0
    for step in STEP.finditer(section):
        path = step["new"] or step["old"]
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if step["new"]:
            if (ROOT / path).exists():
                raise ValueError(f"{path} is not new")
            target.write_text(step["text"])
            new.append(path)
            continue
        text = target.read_text() if target.exists() else (ROOT / path).read_text()
        if text.count(step["anchor"]) != 1:
            raise ValueError(f"{path} holds {step['anchor']!r} {text.count(step['anchor'])} times")
        at = text.index(step["anchor"])
        at = text.index("\n", at) + 1 if step["side"] == "behind" else text.rfind("\n", 0, at) + 1
        target.write_text(text[:at] + step["text"] + text[at:])
        lines += step["text"].count("\n")
        if path not in changed:
            changed.append(path)
    return new, changed, lines


def command_for(path, commands):
    """The command that compiles the folder's library, without its outputs, and where it runs."""
    entry = next(each for each in commands if f"CMakeFiles/mneme_{path.split('/')[0]}.dir/" in each["command"])
    words = [word for word in shlex.split(entry["command"]) if not word.endswith("ccache")]
    return words[:words.index("-o")], entry["directory"]


def including(header):
    """The sources beside a header that include it."""
    return [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / header).parent.glob("*.cc"))
            if not path.name.endswith("_test.cc") and f'#include "{header}"' in path.read_text()]


def main():
    build = pathlib.Path(sys.argv[1])
    commands = json.loads((build / "compile_commands.json").read_text())
    faults, examples = [], 0
    for section in re.split(r"^## ", (ROOT / "docs" / "HACKING.md").read_text(), flags=re.MULTILINE)[1:]:
        title = section.split("\n", 1)[0]
        if not STEP.search(section):
            continue
        examples += 1
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            try:
                new, changed, lines = applied(section, folder)
            except ValueError as fault:
                faults.append(f"{title}: {fault}")
                continue
            said = COUNTS.search(section)
            if not said or (int(said[1]), int(said[2])) != (len(new), lines):
                faults.append(f"{title}: there are {len(new)} new files and {lines} lines, and the text says {said and said[0]!r}")
            sources = [each for each in (*new, *changed) if each.endswith(".cc")]
            for header in (each for each in changed if each.endswith(".h")):
                sources += [path for path in including(header) if path not in sources]
            for path in sources:
                words, directory = command_for(path, commands)
                words[1:1] = [f"-I{folder}"]
                source = folder / path if (folder / path).exists() else ROOT / path
                done = subprocess.run([*words, "-fsyntax-only", str(source)], cwd=directory, capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    faults.append(f"{title}: {path} does not compile:\n{done.stderr[:2000]}")
    print("\n".join(faults) or f"{examples} examples compile")
    return 1 if faults or examples == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
