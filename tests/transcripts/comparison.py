"""Where what Mneme says differs from what a transcript has, and which differences are listed with a reason."""

import difflib
import re
import tomllib

from messages import fields_of

# What of an error is compared: its words are each server's own.
COMPARED = ("severity", "sqlstate", "position", "constraint")


def comparable(line):
    """The line without the words of an error, as which the two servers' may differ."""
    direction, name, fields = fields_of(line)
    if name in ("ErrorResponse", "NoticeResponse"):
        kept = {each: fields[0][each] for each in COMPARED if each in fields[0]}
        return f"{direction} {name} {kept}"
    return line


def groups(lines):
    """The server's lines behind each run of the client's."""
    made = [[]]
    asked = [[]]
    for line in lines:
        if line.startswith(">"):
            if made[-1]:
                made.append([])
                asked.append([])
            asked[-1].append(line)
        else:
            made[-1].append(line)
    return list(zip(asked, made))


def differences(recorded, got):
    """Triples: what the client has said before, the recorded line, and the one that came; either may be missing."""
    found = []
    for (asked, before), (_, now) in zip(groups(recorded), groups(got)):
        matcher = difflib.SequenceMatcher(None, [comparable(line) for line in before], [comparable(line) for line in now], autojunk=False)
        for kind, a, b, c, d in matcher.get_opcodes():
            if kind != "equal":
                for i in range(max(b - a, d - c)):
                    found.append((asked, before[a + i] if a + i < b else "", now[c + i] if c + i < d else ""))
    if len(groups(recorded)) != len(groups(got)):
        found.append(([], f"{len(groups(recorded))} answers", f"{len(groups(got))} answers"))
    return found


class Listed:
    """The differences that have a reason. Each says by regular expressions what is recorded, what came, and in answer to what."""

    def __init__(self, path):
        self.entries = tomllib.loads(path.read_text(encoding="utf-8"))["difference"]
        self.met = [0] * len(self.entries)

    def allows(self, transcript, asked, recorded, got):
        for number, entry in enumerate(self.entries):
            if re.fullmatch(entry.get("transcript", ".*"), transcript) is None:
                continue
            if re.search(entry.get("asked", ""), "\n".join(asked)) is None:
                continue
            if re.fullmatch(entry["recorded"], recorded, re.DOTALL) and re.fullmatch(entry["got"], got, re.DOTALL):
                self.met[number] += 1
                return True
        return False

    def unmet(self):
        return [entry for entry, count in zip(self.entries, self.met) if count == 0]
