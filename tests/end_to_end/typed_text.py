"""Texts whose commands are typed by a test: what follows "    $ " is a command, and the indented lines behind it are what it prints.

A line of nothing but dots stands for any lines, or none; dots in a line for anything in it. Of a command that ends with "# numbers vary" any number
and unit may stand for another, but for what was lost or invented. Blank lines don't count.
"""

import re

VARY = "# numbers vary"
DIGEST = re.compile(r"\b[0-9a-f]{32}\b")
NUMBER = re.compile(r"(\\ \+)?(\d[\d,]*(?:\\\.\d+)?)(\\ \+(?:ns|us|ms|s|bytes|KiB|MiB|GiB)\b)?(?!\\ \+(?:lost|invented))")


def any_number(match):
    return (r"\ *" if match[1] else "") + r"\d[\d,]*(\.\d+)?" + (r"\ +(ns|us|ms|s|bytes|KiB|MiB|GiB)" if match[3] else "")


def commands(chapter):
    """Each command with the lines that it is to print."""
    found, inside = [], False
    for line in chapter.splitlines():
        if line.startswith("    $ "):
            found.append((line[6:], []))
            inside = True
        elif inside and line.startswith("    "):
            found[-1][1].append(line[4:])
        elif inside and not line:
            found[-1][1].append("")
        else:
            inside = False
    return [(command, "\n".join(lines).strip("\n")) for command, lines in found]


def pattern(lines, numbers_vary):
    parts = []
    for line in filter(None, lines.split("\n")):
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
            continue
        text = re.sub(r"(\\ )+", r"\\ +", re.escape(line)).replace(re.escape("..."), ".*")
        if numbers_vary:
            # What is between digests.
            text = "[0-9a-f]{32}".join(NUMBER.sub(any_number, part) for part in DIGEST.split(text))
        parts.append(text + r" *\n")
    return re.compile(r"\A" + "".join(parts) + r"\Z")


def shown(printed):
    """What a command has printed, as pattern() wants it. Notes say what this machine lacks (io_uring, direct I/O) and is done without."""
    return "".join(line + "\n" for line in printed.split("\n") if line.strip() and not line.startswith("note: "))
