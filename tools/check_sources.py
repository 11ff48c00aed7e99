#!/usr/bin/env python3
"""Checks what the compiler does not see in a file by itself: names local to files, and the width of lines.

usage: check_sources.py REPOSITORY_ROOT [--format]

Local names: several files of a folder are compiled as one (cmake/folder.cmake), so a name that is local to a file, by an anonymous
namespace or by `static`, must stand in only one file of its folder; tests, stress tests and the rest of a folder are apart. All
places are printed. An alias may stand in several files where it means the same in each.
Width: no line of C++ is longer than 110 characters, raw strings excepted.
Format, if asked for: every file is as clang-format-16 leaves it.
"""
import collections
import pathlib
import re
import subprocess
import sys

FOLDERS = ["base", "network", "logging", "engine", "procedures", "analyzer", "recovery", "workloads", "embedding", "server",
           "measurement", "experiments", "cli", "bench", "tests/differential", "tests/fuzz", "tests/simulator", "tests/isolation", "lab"]
APART = {"course", "examples", "tools"}  # each of their files is compiled by itself
STUDENTS = "mine"  # a student's part of the course, which git ignores
WIDEST = 110
# Text that is no code: comments, raw strings, strings, characters.
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)
TOKEN = re.compile(r'\w+|::|[^\s\w]')
TYPE = {"struct", "class", "union", "enum"}


def without_text(source):
    """The source with as many lines, but neither comments nor strings nor directives."""
    def blank(match):
        lines = "\n" * match.group().count("\n")
        return f'""{lines}' if match.group().endswith('"') else lines or " "
    code = NOT_CODE.sub(blank, source)
    return re.sub(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', lambda match: "\n" * match.group().count("\n"), code, flags=re.MULTILINE)


def program_of(path):
    """What a file is compiled into, so far as batches go."""
    name = path.name
    if name.endswith("_stress_test.cc"):
        return "stress"
    return "test" if name.endswith("_test.cc") or path.parent.name == "testing" else ""


def declared(words):
    """The name that a declaration at the level of a namespace gives, or None where it defines a member or nothing of ours."""
    while words[:2] == ["template", "<"]:
        depth, end = 0, 1
        for end in range(1, len(words)):
            depth += {"<": 1, ">": -1}.get(words[end], 0)
            if depth == 0:
                break
        words = words[end + 1:]
    while words[:2] == ["[", "["]:
        words = words[words.index("]") + 2:]
    if not words or words[0] in ("using", "typedef", "friend", "extern", "static_assert"):
        return words[1] if len(words) > 2 and words[0] == "using" and words[2] == "=" else None
    if words[0] in TYPE:
        if ";" in words[:4] and "{" not in words:
            return None  # declared in advance
        names = [word for word in words[1:] if word not in TYPE and re.match(r"[A-Za-z_]", word) and word != "alignas"]
        return names[0] if names else None
    if words[0].isupper() or "operator" in words:
        return None  # a macro's, such as a test; an operator is an overload
    depth = 0
    for index, word in enumerate(words):
        if word == "<":
            depth += 1
        elif word == ">":
            depth -= 1
        elif depth == 0 and word in ("(", "=", "{", "[", ";") and index:
            if words[index - 1] in ("alignas", "decltype", "noexcept", "requires", "]", ")"):
                continue
            name = words[index - 1]
            member = index > 1 and words[index - 2] == "::"
            return name if re.match(r"[A-Za-z_]\w*$", name) and not member else None
    return None


def local_names(source):
    """(name, line, alias) of each name that is local to the file; `alias` is what an alias stands for, else empty."""
    tokens = []
    for number, line in enumerate(without_text(source).split("\n"), 1):
        tokens += [(word, number) for word in TOKEN.findall(line)]
    spaces, statement, index = [], [], 0  # of each namespace around: whether it is anonymous

    def finish():
        is_local = any(spaces) or (statement and statement[0][0] == "static")
        if statement and is_local:
            words = [word for word, _ in statement if word not in ("static", "inline", "constexpr")]
            name = declared(words)
            if name:
                yield name, statement[0][1], " ".join(words) if words[0] in ("using", "namespace") else ""
        statement.clear()

    while index < len(tokens):
        word, _ = tokens[index]
        if word == "{" and statement and statement[0][0] == "namespace":
            spaces.append(len(statement) == 1)
            statement.clear()
        elif word == "{":
            statement.append(tokens[index])
            depth = 1
            while depth and index + 1 < len(tokens):
                index += 1
                depth += {"{": 1, "}": -1}.get(tokens[index][0], 0)
            following = tokens[index + 1][0] if index + 1 < len(tokens) else ""
            if following not in (";", ",", "=", "(", "{", "."):
                yield from finish()
        elif word == "}":
            yield from finish()
            if spaces:
                spaces.pop()
        elif word == ";":
            statement.append(tokens[index])
            yield from finish()
        else:
            statement.append(tokens[index])
        index += 1


def repeated_names(root, folder):
    places = collections.defaultdict(dict)
    for path in sorted((root / folder).rglob("*.cc")):
        for name, line, alias in local_names(path.read_text()):
            places[program_of(path), name].setdefault(path.relative_to(root).as_posix(), (line, alias))
    for (_, name), files in sorted(places.items()):
        aliases = {alias for _, alias in files.values()}
        if len(files) > 1 and (len(aliases) > 1 or "" in aliases):
            yield f"{name} is local to several files: " + ", ".join(f"{path}:{line}" for path, (line, _) in files.items())


def wide_lines(root, folder):
    for path in sorted((root / folder).rglob("*")):
        if path.suffix not in (".h", ".cc") or path.stem == STUDENTS:
            continue
        text = RAW_STRING.sub(lambda match: "\n" * match.group().count("\n"), path.read_text())
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > WIDEST:
                yield f"{path.relative_to(root)}:{number}: {len(line)} characters, more than {WIDEST}"


def misformatted(files):
    command = ["clang-format-16", "--dry-run", "-Werror", "--ferror-limit=1", *map(str, files)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    if told.returncode == 0:
        return []
    return re.findall(r"^(.*?): error:.*clang-format", told.stderr, re.MULTILINE) or [told.stderr.strip()]


def main():
    root = pathlib.Path(sys.argv[1])
    folders = [folder for folder in FOLDERS if (root / folder).is_dir()]
    faults = [fault for folder in folders for fault in repeated_names(root, folder)]
    faults += [fault for folder in sorted({path.split("/")[0] for path in folders} | APART)
               for fault in wide_lines(root, folder)]
    if "--format" in sys.argv[2:]:
        faults += [f"{place}: not as clang-format-16 leaves it" for place in misformatted(
            path for folder in {path.split("/")[0] for path in folders} | APART
            for path in sorted((root / folder).rglob("*")) if path.suffix in (".h", ".cc") and path.stem != STUDENTS)]
    for fault in faults:
        print(fault)
    print(f"{len(folders)} folders, {len(faults)} faults")
    return 1 if faults or not folders else 0


if __name__ == "__main__":
    sys.exit(main())
