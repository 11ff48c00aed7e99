"""Goal: a data directory of which a file is missing, shorter, longer, older, empty, zeroed, or of another database, is recovered whole or
refused with exit status 3 and the file's name, by the program itself and after real kills. Never is less recovered without a word.

Method: for some layouts of the log, a small database of three lives, the last of which was killed. What recovery finds of it as it is, is the
whole. Then each file in turn is changed in each way, and put back. cli/command/file_states_test.cc does so in one process, with every command, in more
ways; `--table CELLS` prints what it noted in the file CELLS as docs/reliability.md has it.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

from program import BAD_ARGUMENTS, BINARY, DAMAGED, DONE, LONGEST_COMMAND_SECONDS, EndToEndTest, mneme

BLOCK = 4096
SQL = """CREATE TABLE account (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL);
CREATE PROCEDURE pay(p_id BIGINT, p_amount BIGINT) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE account SET balance = balance + p_amount WHERE id = p_id;
END;
$$;
"""
INTERPRETED = ("--execution", "interpreted")
LAYOUTS = {
    "one file": (),
    "striped": ("--log-device", "striped"),
    "persistent memory": ("--log-device", "nvm"),
    "epoch": ("--log-buffer", "epoch", "--loggers", "2"),
    "distributed": ("--log-buffer", "distributed", "--streams", "2"),
    "distributed, rings": ("--log-buffer", "distributed", "--streams", "2", "--log-device", "nvm"),
}
PLACES = [(layout, "killed") for layout in LAYOUTS if layout in ("one file", "epoch", "distributed, rings")]
CALLS = 60

# Nothing tells that the last flushes before a kill were durable (docs/log_format.md, "Where a log of one stream ends"): a last segment that is
# as it was made may end the log there. These cells alone may recover less, of a database that was killed.
UNSEEN_AFTER_A_KILL = {"zeroed behind its header", "older"}


class Database:
    """One that is made once, and what recovery finds of it."""

    def __init__(self, home, layout, end):
        self.layout, self.end = layout, end
        self.path = home / f"{layout}, {end}".replace(" ", "-").replace(",", "")
        self.home = home
        self.older = self.path.with_name(self.path.name + "-older")
        self.make(self.path, keep_older=True)
        self.other = self.path.with_name(self.path.name + "-other")
        self.make(self.other)
        self.whole = self.recovered()
        assert self.whole is not None, self.path

    def run(self, path, *options):
        command = ["run", "w.sql" if "--resume" in options else self.home / "w.sql", "--data-dir", path, "--threads", 2, "--commit", "sync",
                   *LAYOUTS[self.layout], *INTERPRETED, "--quiet", *options]
        return [str(part) for part in command]

    def make(self, path, keep_older=False):
        files = ("--calls", self.home / "calls.csv", "--rows", self.home / "rows.csv")
        self.succeed(self.run(path, *files, "--transactions", CALLS))
        self.succeed(self.run(path, "--resume", "--transactions", CALLS))
        if keep_older:
            copy(path, self.older)
        if self.end == "killed":
            with subprocess.Popen([BINARY, *self.run(path, "--resume", "--rate", 1000, "--duration", 60)]) as process:
                wait_for_records(path)
                process.send_signal(signal.SIGKILL)
        else:
            self.succeed(self.run(path, "--resume", "--transactions", CALLS))
        sparse = path.with_name(path.name + "-sparse")
        copy(path, sparse)
        shutil.rmtree(path)
        sparse.rename(path)

    def succeed(self, arguments):
        result = mneme(*arguments)
        assert result.returncode == DONE, (arguments, result.stderr)

    def recover(self):
        return mneme("recover", self.path, *INTERPRETED, "--quiet", "--json", "-")

    def recovered(self):
        result = self.recover()
        if result.returncode != DONE:
            return None
        found = json.loads(result.stdout)
        return found["state_digest"], found["durable_lsn"]

    def manifest(self):
        return json.loads((self.path / "MANIFEST").read_text().rsplit("crc32c ", 1)[0])

    def files(self):
        """(what it is, its path) of those that are changed in turn."""
        manifest = self.manifest()
        yield "MANIFEST", self.path / "MANIFEST"
        yield "catalog.sql", self.path / "catalog.sql"
        yield "checkpoint", self.path / manifest["checkpoint"]["file"]
        segments = [each for each in manifest["segments"] if not each.get("ring")]
        lives = sorted({each["incarnation"] for each in segments})
        used = [each for each in segments if has_records(self.path / each["file"])]
        for name, of in (("first segment", used[:1]), ("middle segment", used[1:-1][:1]), ("last segment", used[-1:])):
            for each in of:
                yield name, self.path / each["file"]
        unused = [each for each in segments if each not in used and each["incarnation"] == lives[-1]]
        for each in unused[:1]:
            yield "segment ahead", self.path / each["file"]
        rings = [each for each in manifest["segments"] if each.get("ring")]
        for name, of in (("first ring", rings[:1]), ("last ring", rings[-1:])):
            for each in of:
                yield name, self.path / each["file"]
        if (self.path / "pepoch.log").exists():
            yield "pepoch.log", self.path / "pepoch.log"
        yield "lock", self.path / "lock"
        yield "workload's calls", self.path / "workload" / "calls.csv"


def copy(source, destination):
    subprocess.run(["cp", "--recursive", "--sparse=always", source, destination], check=True)


def has_records(path):
    with open(path, "rb") as file:
        file.seek(BLOCK)
        return any(file.read(1 << 16))


def wait_for_records(path):
    """Until a third life has records in the log, and some time passes."""
    before = len(json.loads((path / "MANIFEST").read_text().rsplit("crc32c ", 1)[0])["incarnations"])
    deadline = time.monotonic() + LONGEST_COMMAND_SECONDS
    while time.monotonic() < deadline:
        manifest = json.loads((path / "MANIFEST").read_text().rsplit("crc32c ", 1)[0])
        life = manifest["incarnations"][-1]["number"]
        used = [each for each in manifest["segments"] if each["incarnation"] == life and has_records(path / each["file"])]
        if len(manifest["incarnations"]) > before and used:
            time.sleep(0.3)
            return
        time.sleep(0.02)
    raise AssertionError("no third life")


def missing(path, database):
    path.unlink()


def empty(path, database):
    os.truncate(path, 0)


def zeroed(path, database):
    size = path.stat().st_size
    os.truncate(path, 0)
    os.truncate(path, size)


def zeroed_behind_header(path, database):
    size = path.stat().st_size
    os.truncate(path, min(size, BLOCK))
    os.truncate(path, size)


def a_block_less(path, database):
    os.truncate(path, max(0, path.stat().st_size - BLOCK))


def longer_by_junk(path, database):
    with open(path, "ab") as file:
        file.write(b"more than there was\n" * 300)


def older(path, database):
    """As it was after the life before; of a segment of a later life, as it was made."""
    former = database.older / path.relative_to(database.path)
    if former.exists():
        shutil.copy(former, path)
    elif path.suffix == ".segment":
        zeroed_behind_header(path, database)
    else:
        path.unlink()


def of_another_database(path, database):
    theirs = database.other / path.relative_to(database.path)
    if not theirs.exists():
        theirs = sorted(database.other.rglob("checkpoint-*" if path.name.startswith("checkpoint-") else "log-*.segment"))[-1]
    path.unlink()
    subprocess.run(["cp", "--sparse=always", theirs, path], check=True)


WAYS = {
    "missing": missing,
    "empty": empty,
    "zeroed": zeroed,
    "zeroed behind its header": zeroed_behind_header,
    "a block less": a_block_less,
    "longer, junk": longer_by_junk,
    "older": older,
    "of another database": of_another_database,
}

# In these alone other commands are tried besides `recover`: each takes its time.
TRIED_BY_ALL = ("missing", "older")


def facts(directory):
    """Names, sizes and times of change: what a refusal must leave."""
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(directory.rglob("*")) if path.is_file()}


def try_cell(database, kind, path, way):
    """What came of it ("whole", "refused", "no such"), and what is wrong with that, if anything is."""
    aside = database.home / f"aside-{database.path.name}"
    shutil.copystat(path, path)
    if not path.exists():
        return "no such", None
    path.rename(aside)
    try:
        subprocess.run(["cp", "--sparse=always", aside, path], check=True)
        WAYS[way](path, database)
        if path.exists() and path.stat().st_size == aside.stat().st_size and path.stat().st_size < 1 << 20 and path.read_bytes() == aside.read_bytes():
            return "no such", None  # it is as it was
        before = facts(database.path)
        result = database.recover()
        outcome, fault = judge(database, kind, path, way, result)
        if outcome == "refused" and way in TRIED_BY_ALL:
            again = mneme(*database.run(database.path, "--resume", "--transactions", 1))
            if again.returncode != DAMAGED and fault is None:
                fault = f"recover refuses with 3, and run --resume ends with {again.returncode}: {again.stderr}"
            made = mneme("sql", database.path, "--create", "--command", "SELECT 1;")
            if made.returncode not in (BAD_ARGUMENTS, DAMAGED) and fault is None:
                fault = f"sql --create ends with {made.returncode}"
        if facts(database.path) != before and fault is None:
            fault = "the directory was changed"
        return outcome, fault
    finally:
        if path.exists():
            path.unlink()
        aside.rename(path)


def judge(database, kind, path, way, result):
    if result.returncode == DAMAGED:
        # If a record is in no stream, the error names each file that may have held it.
        named = path.name in result.stderr
        return "refused", None if named else f"the file is not named: {result.stderr}"
    if result.returncode != DONE:
        return "otherwise", f"exit status {result.returncode}: {result.stderr}"
    found = json.loads(result.stdout)
    if (found["state_digest"], found["durable_lsn"]) == database.whole:
        return "whole", None
    is_last = kind in ("last segment", "segment ahead", "pepoch.log")
    if database.end == "killed" and is_last and way in UNSEEN_AFTER_A_KILL:
        return "unseen", None
    return "less", f"{found['durable_lsn']} of {database.whole[1]} recovered, with {found['dropped_reason']!r}"


def cells_of(home, layout, end):
    database = Database(home, layout, end)
    cells = []
    for kind, path in list(database.files()):
        for way in WAYS:
            cells.append((layout, end, kind, way, *try_cell(database, kind, path, way)))
    assert database.recovered() == database.whole, database.path
    shutil.rmtree(database.path)
    shutil.rmtree(database.other)
    shutil.rmtree(database.older)
    return cells


def all_cells(home, places=PLACES):
    home = home.resolve()
    (home / "w.sql").write_text(SQL)
    (home / "calls.csv").write_text("pay,=1..100,=1..1000\n")
    (home / "rows.csv").write_text("account*100,=number,1000\n")
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        futures = [pool.submit(cells_of, home, layout, end) for layout, end in places]
        return [cell for future in futures for cell in future.result()]


def table(lines):
    """Markdown of the notes of cli/command/file_states_test.cc: a line a file, over all layouts and ends of the last life."""
    cells = [line.rstrip("\n").split("|") for line in lines]
    kinds = list(dict.fromkeys(kind for _, _, kind, *_ in cells))
    ways = list(dict.fromkeys(way for *_, way, _ in cells))
    rows = ["| file | " + " | ".join(ways) + " |", "|---" * (len(ways) + 1) + "|"]
    for kind in kinds:
        found = [" / ".join(sorted({outcome for *_, k, w, outcome in cells if (k, w) == (kind, way)})) for way in ways]
        rows.append(f"| {kind} | " + " | ".join(found) + " |")
    return "\n".join(rows)


class FileStates(EndToEndTest):
    def test_each_file_in_each_state(self):
        cells = all_cells(self.folder)
        self.assertGreater(len(cells), 150)
        faults = [cell for cell in cells if cell[-1] is not None]
        self.assertEqual(faults, [], "\n".join(map(str, faults[:40])))
        # The table would show nothing if what is refused were so for another reason: each way has refused something.
        for way in WAYS:
            self.assertIn("refused", {outcome for *_, w, outcome, _ in cells if w == way}, way)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--table", type=pathlib.Path, metavar="CELLS", help="print the table of these notes in place of running the test")
    options, rest = parser.parse_known_args()
    if options.table:
        print(table(options.table.read_text().splitlines()))
    else:
        unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
