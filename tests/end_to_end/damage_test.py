"""Goal: a damaged directory is never answered with a wrong state, never with a crash, and never changed.

Method: damage copies of a small database in every way a user may meet, and look at exit status, message and files. Where
recovery may go on without a torn tail, an oracle that knows nothing of logs judges the state: a fresh run, by one
thread, of as many calls as leave that many logged transactions. One thread makes runs of the same seed alike.
"""

import functools
import json
import pathlib
import random
import re
import shutil
import struct
import subprocess
import tempfile
import time
import unittest

import program
from program import BAD_ARGUMENTS, BINARY, DAMAGED, DONE, FAILED, LONGEST_COMMAND_SECONDS, EndToEndTest
from program import copy_database, fingerprint, flip_bit, mneme, set_header_page

CALLS = 2000


def run_of(calls, directory, *options):
    arguments = ("run", "smallbank", "--threads", 1, "--transactions", calls, "--data-dir", directory)
    return json.loads(mneme(*arguments, *options, "--quiet", "--json", "-").stdout)


class Damage(EndToEndTest):
    @classmethod
    def setUpClass(cls):
        cls.home = pathlib.Path(tempfile.mkdtemp(prefix="damage_", dir="."))
        cls.addClassCleanup(shutil.rmtree, cls.home)
        cls.original = cls.home / "original"
        while True:
            cls.whole = run_of(CALLS, cls.original)
            listing = mneme("inspect", cls.original, "--limit", 10 * CALLS, "--quiet", "--json", "-")
            cls.records = json.loads(listing.stdout)["records"]
            last = cls.records[-1]
            # If the record went on in another block, a cut would leave it missing rather than torn.
            if last["offset"] // 4096 == (last["offset"] + last["bytes"] - 1) // 4096:
                break
            shutil.rmtree(cls.original)

    def setUp(self):
        super().setUp()
        self.database = self.folder / "database"
        copy_database(self.original, self.database)
        self.segment = self.database / self.records[-1]["file"]

    @classmethod
    @functools.lru_cache(maxsize=None)
    def state_after(cls, logged):
        """The digest after the first `logged` transactions that write, by the oracle."""
        if logged == 0:  # of a log that went out in one flush, nothing behind a damaged first block vouches for it
            run = run_of(1, cls.home / "oracle", "--mix", "balance=100")
            shutil.rmtree(cls.home / "oracle")
            return run["state_digest"]
        fewest, most = logged, CALLS
        while True:
            calls = (fewest + most) // 2
            directory = cls.home / "oracle"
            run = run_of(calls, directory, "--log-device", "null")
            shutil.rmtree(directory)
            if run["log_records"] == logged:
                return run["state_digest"]
            if run["log_records"] < logged:
                fewest = calls + 1
            else:
                most = calls - 1
            if fewest > most:
                raise AssertionError(f"no run of the seed leaves {logged} logged transactions")

    def refuse_unchanged(self, status, words, *commands):
        """Each command refuses the database with this status and these words, and changes nothing of it."""
        before = fingerprint(self.database)
        for command in commands or ("recover", "verify"):
            self.refuse(status, words, command, self.database)
        self.refuse(status, words, "run", "smallbank", "--resume", "--data-dir", self.database, "--transactions", 10)
        self.assertEqual(fingerprint(self.database), before)

    # The tail: what a crash leaves.

    def tear(self):
        """What a crash may leave: the manifest says of no end in order, and the sector with the last record was not written, nor what follows."""
        program.set_manifest(self.database, lambda content: content["incarnations"][-1].pop("closed", None))
        whole = self.segment.stat().st_size
        with open(self.segment, "r+b") as file:
            file.truncate(self.records[-1]["offset"] // 512 * 512)
            file.truncate(whole)

    def test_without_its_last_record(self):
        self.tear()
        before = fingerprint(self.database)
        recovered = self.recover_alike(self.database)
        self.assertLess(recovered["transactions"], len(self.records))
        self.assertEqual(recovered["state_digest"], self.state_after(recovered["transactions"]))
        if recovered["dropped_bytes"] > 0:  # of its block something is left
            self.assertIn(self.segment.name, recovered["dropped_reason"])
        self.assertEqual(fingerprint(self.database), before, "recover changed the directory")

    def test_with_a_segment_that_is_cut(self):
        whole = self.segment.stat().st_size
        last = self.records[-1]
        for size in (whole + 4096, whole - 1, last["offset"] + last["bytes"] - 1, last["offset"] // 4096 * 4096, 8192, 4096, 100, 0):
            with self.subTest(size=size):
                with open(self.segment, "r+b") as file:
                    file.truncate(size)
                self.refuse_unchanged(DAMAGED, [self.segment])

    def test_without_the_end_that_the_manifest_tells(self):
        self.tear_all_behind_the_header()
        self.refuse_unchanged(DAMAGED, [self.segment, "nothing was changed"])

    def tear_all_behind_the_header(self):
        whole = self.segment.stat().st_size
        with open(self.segment, "r+b") as file:
            file.truncate(4096)
            file.truncate(whole)

    def test_goes_on_after_a_torn_tail(self):
        self.tear()
        for _ in range(2):
            again = self.report("run", "smallbank", "--resume", "--data-dir", self.database, "--transactions", 1000)
            recovered = self.recover_alike(self.database)
            self.assertEqual(recovered["state_digest"], again["state_digest"])
            self.assertEqual(recovered["dropped_reason"], "")
        self.assertTrue(self.report("verify", self.database)["ok"])

    # The middle: what a disk breaks.

    def test_with_a_flipped_bit_in_the_middle_of_the_log(self):
        # Each call waits for its record here, so that the log's end tells that its middle was durable.
        self.database = self.folder / "synced"
        run_of(300, self.database, "--commit", "sync")
        records = self.report("inspect", self.database, "--limit", 1000)["records"]
        middle = records[len(records) // 2]
        segment = self.database / middle["file"]
        flip_bit(segment, middle["offset"] + middle["bytes"] // 2, 5)
        refusal = self.refuse(DAMAGED, [segment, "at byte"], "recover", self.database)
        told = int(re.search(r"at byte (\d+)", refusal.stderr).group(1))
        block = middle["offset"] // 4096 * 4096
        self.assertTrue(block <= told <= middle["offset"], refusal.stderr)
        self.refuse_unchanged(DAMAGED, [segment, f"at byte {told}", "damaged", "nothing was changed"])

    def test_after_it_went_on_every_damage_to_what_was_there_before_is_seen(self):
        self.report("run", "smallbank", "--resume", "--data-dir", self.database, "--transactions", 100)
        flip_bit(self.segment, self.records[-1]["offset"] + 20, 0)
        self.refuse_unchanged(DAMAGED, [self.segment, "at byte", "nothing was changed"])

    def judge_flip(self, path, offset, bit, refusals):
        """Whether the flip was refused; otherwise the answer must be right. Leaves the file as it was."""
        flip_bit(path, offset, bit)
        try:
            serial = mneme("recover", self.database, "--scheme", "clr", "--quiet", "--json", "-")
            self.assertIn(serial.returncode, (DONE, *refusals), self.told(serial))
            if serial.returncode != DONE:
                self.assertIn(str(self.database), serial.stderr)
                self.refuse(serial.returncode, [path.name], "recover", self.database, "--scheme", "clr-p", "--threads", 3)
                return True
            recovered = self.recover_alike(self.database)
            if recovered["transactions"] < len(self.records):
                self.assertNotEqual(recovered["dropped_reason"], "")
            self.assertEqual(recovered["state_digest"], self.state_after(recovered["transactions"]))
            return False
        finally:
            flip_bit(path, offset, bit)

    def test_with_a_bit_flipped_anywhere(self):
        tail = self.records[-1]["offset"] + self.records[-1]["bytes"]
        checkpoint = next(self.database.glob("checkpoint-*"))
        catalog = self.database / "catalog.sql"
        manifest = self.database / "MANIFEST"
        # A flip in the manifest may make it one of another format or version, which is no damage but another refusal.
        places = [
            ("used log", self.segment, 4096, tail, 14, (DAMAGED,)),
            ("unused log", self.segment, (tail + 4095) // 4096 * 4096, self.segment.stat().st_size, 4, ()),
            ("segment header", self.segment, 0, 4096, 6, (DAMAGED,)),
            ("checkpoint", checkpoint, 0, checkpoint.stat().st_size, 12, (DAMAGED,)),
            ("catalog", catalog, 0, catalog.stat().st_size, 6, (DAMAGED,)),
            ("manifest", manifest, 0, manifest.stat().st_size, 10, (DAMAGED, BAD_ARGUMENTS)),
        ]
        refused = {name: 0 for name, *_ in places}
        for name, path, begin, end, flips, refusals in places:
            # Each has a generator of its own, so that the length of one log does not change what is flipped in the others.
            chance = random.Random(name)
            for _ in range(flips):
                offset, bit = chance.randrange(begin, end), chance.randrange(8)
                with self.subTest(place=name, offset=offset, bit=bit):
                    refused[name] += self.judge_flip(path, offset, bit, refusals)
        # In the catalog, a flip in a comment changes nothing that the log's calls mean, and is let pass.
        self.assertGreater(refused["catalog"], 0)
        self.assertEqual(refused["manifest"], 10)
        self.assertEqual(refused["segment header"], 6)
        self.assertGreater(refused["checkpoint"], 0)
        # How much of the log the end vouches for is up to how the flushes fell: no count of refusals is due there.

    # Whole files.

    def test_without_a_segment(self):
        self.segment.unlink()
        self.refuse_unchanged(DAMAGED, [self.segment, "missing", "put the file back"])

    def test_with_an_empty_segment(self):
        self.segment.write_bytes(b"")
        self.refuse_unchanged(DAMAGED, [self.segment, "damaged"])

    def test_with_a_foreign_file_in_place_of_a_segment(self):
        self.segment.write_bytes(b"Dear diary, today I learnt about command logging.\n" * 1000)
        self.refuse_unchanged(DAMAGED, [self.segment, "no log segment of Mneme", "put the segment back"])

    def test_with_another_databases_segment_under_its_own_name(self):
        # Its records are intact, and call procedures that this catalog has not.
        other = self.folder / "other"
        self.succeed("sql", other, "--create", "--command", "CREATE TABLE t (x INT PRIMARY KEY);")
        manifest = json.loads((other / "MANIFEST").read_text().rsplit("crc32c ", 1)[0])
        segment = other / manifest["segments"][0]["file"]
        shutil.copy(self.segment, segment)
        set_header_page(segment, 16, struct.pack("<QQ", int(manifest["database_id"], 16), int(manifest["catalog_hash"], 16)))
        self.refuse(DAMAGED, [segment, "the record at LSN ", "is none of this catalog's: the call names procedure ", "but the program has 0"],
                    "inspect", other, "--quiet")

    def test_with_another_databases_segment(self):
        other = self.folder / "other"
        run_of(CALLS, other)
        shutil.copy(other / self.segment.name, self.segment)
        self.refuse_unchanged(DAMAGED, [self.segment, "another database"])

    def test_with_another_databases_segment_besides(self):
        other = self.folder / "other"
        run_of(CALLS, other)
        ahead = self.database / "log-000009.segment"
        shutil.copy(other / self.segment.name, ahead)
        # A segment whose number the log has passed is in no engine's way, and no engine may remove it.
        set_header_page(ahead, 32, struct.pack("<I", 1))
        self.report("run", "smallbank", "--resume", "--data-dir", self.database, "--transactions", 10)
        self.assertTrue(ahead.exists())
        set_header_page(ahead, 32, struct.pack("<I", 9))
        self.refuse_unchanged(DAMAGED, [ahead, "belongs to another database", "move the file away"])

    def test_without_its_checkpoint(self):
        checkpoint = next(self.database.glob("checkpoint-*"))
        checkpoint.unlink()
        self.refuse_unchanged(DAMAGED, [checkpoint, "missing", "nothing was changed", "put the file back"])

    def test_with_half_a_checkpoint(self):
        checkpoint = next(self.database.glob("checkpoint-*"))
        with open(checkpoint, "r+b") as file:
            file.truncate(checkpoint.stat().st_size // 2)
        self.refuse_unchanged(DAMAGED, [checkpoint, "bytes", "were written", "put the file back"])

    def test_without_its_catalog(self):
        catalog = self.database / "catalog.sql"
        catalog.unlink()
        self.refuse_unchanged(DAMAGED, [catalog, "missing", "nothing was changed", "put the file back"])

    def test_with_an_edited_procedure(self):
        catalog = self.database / "catalog.sql"
        text = catalog.read_text()
        edited = text.replace("+ ", "- ", 1) if "+ " in text else text.replace(">=", ">", 1)
        self.assertNotEqual(edited, text)
        catalog.write_text(edited)
        self.refuse_unchanged(DAMAGED, [catalog])

    def test_without_its_manifest(self):
        (self.database / "MANIFEST").unlink()
        self.refuse_unchanged(DAMAGED, [self.database / "MANIFEST", "is missing", "catalog.sql", "put MANIFEST back"])
        # Nothing is made over what is there.
        before = fingerprint(self.database)
        self.refuse(DAMAGED, ["MANIFEST is missing"], "sql", self.database, "--create", "--command", "CREATE TABLE t (x INT PRIMARY KEY);")
        self.refuse(DAMAGED, ["MANIFEST is missing"], "run", "smallbank", "--data-dir", self.database, "--transactions", 10)
        self.refuse(BAD_ARGUMENTS, ["holds files of a database"], "logd", "--listen", "127.0.0.1:0", "--data-dir", self.database)
        self.assertEqual(fingerprint(self.database), before)

    def test_with_an_empty_or_zeroed_manifest(self):
        whole = (self.database / "MANIFEST").read_bytes()
        for content in (b"", bytes(len(whole)), whole[:10], bytes(4096), b"include README.md\n"):
            with self.subTest(content=content[:20]):
                (self.database / "MANIFEST").write_bytes(content)
                self.refuse_unchanged(DAMAGED, [self.database / "MANIFEST", "is damaged", "put the file back"])

    def test_with_the_standard_streams_closed(self):
        arguments = ["run", "smallbank", "--resume", "--data-dir", self.database, "--threads", "1", "--transactions", "100", "--execution",
                     "interpreted"]
        for closed in ("0<&- 1>&- 2>&-", "1>&-", "2>&-", "0<&- 2>&-"):
            with self.subTest(closed=closed):
                # A refusal tells on standard error, which is to go nowhere.
                subprocess.run(["sh", "-c", f'exec "$0" "$@" {closed}', BINARY, *map(str, arguments)], check=True, timeout=LONGEST_COMMAND_SECONDS)
                subprocess.run(["sh", "-c", f'exec "$0" "$@" {closed}', BINARY, *map(str, arguments), "--log-buffer", "epoch"], check=False,
                               timeout=LONGEST_COMMAND_SECONDS)
                self.recover_alike(self.database)
                for path in self.database.rglob("*"):
                    self.assertFalse(path.is_file() and b"mneme: " in path.read_bytes(), path)

    # Directories that are in order, but not for this.

    def test_of_another_version(self):
        program.set_manifest(self.database, lambda content: content.update(format_version=99))
        words = ["MANIFEST", "version 99", "version ", "use the program that wrote it"]
        self.refuse_unchanged(BAD_ARGUMENTS, words, "recover", "verify", "inspect")

    def test_with_a_manifest_rewritten_alike(self):
        """Else the test above would show no more than that any rewritten manifest is refused."""
        program.set_manifest(self.database, lambda content: content["attributes"].update(remark="added by a test"))
        self.assertEqual(self.recover_alike(self.database)["state_digest"], self.whole["state_digest"])

    def test_with_a_segment_of_another_version(self):
        program.set_format_version(self.segment, 99)
        self.refuse_unchanged(BAD_ARGUMENTS, [self.segment, "version 99"])

    def test_with_a_checkpoint_of_another_version(self):
        checkpoint = next(self.database.glob("checkpoint-*"))
        program.set_format_version(checkpoint, 99)
        self.refuse_unchanged(BAD_ARGUMENTS, [checkpoint, "version 99"])

    def test_empty(self):
        empty = self.folder / "empty"
        empty.mkdir()
        for command in ("recover", "verify", "inspect"):
            self.refuse(BAD_ARGUMENTS, [empty, "holds no database"], command, empty)
        self.assertEqual(list(empty.iterdir()), [])
        self.refuse(BAD_ARGUMENTS, [empty, "holds no database"], "run", "smallbank", "--resume", "--data-dir", empty)

    def test_not_there(self):
        nowhere = self.folder / "nowhere"
        for command in ("recover", "verify", "inspect"):
            self.refuse(BAD_ARGUMENTS, [nowhere, "there is no directory"], command, nowhere)
        self.refuse(BAD_ARGUMENTS, [nowhere, "there is no directory"], "run", "smallbank", "--resume", "--data-dir", nowhere)
        self.assertFalse(nowhere.exists())

    def test_already_holding_a_database(self):
        before = fingerprint(self.database)
        words = [self.database, "holds a database already", "resume it, or choose another directory"]
        self.refuse(BAD_ARGUMENTS, words, "run", "smallbank", "--data-dir", self.database, "--transactions", 10)
        self.refuse(BAD_ARGUMENTS, words, "run", "tpcc", "--data-dir", self.database, "--transactions", 10)
        self.assertEqual(fingerprint(self.database), before)

    def test_with_somebody_elses_manifest(self):
        foreign = self.folder / "foreign"
        foreign.mkdir()
        (foreign / "MANIFEST").write_text("include README.md\n")
        before = fingerprint(foreign)
        words = [foreign / "MANIFEST", "was not written by Mneme", "give another directory"]
        for command in ("recover", "verify", "inspect"):
            self.refuse(BAD_ARGUMENTS, words, command, foreign)
        for resume in ((), ("--resume",)):
            self.refuse(BAD_ARGUMENTS, words, "run", "smallbank", *resume, "--data-dir", foreign, "--transactions", 10)
        self.refuse(BAD_ARGUMENTS, words, "crash", "smallbank", "--data-dir", foreign)
        self.assertEqual(fingerprint(foreign), before)

    def test_in_use(self):
        arguments = ["run", "smallbank", "--resume", "--data-dir", self.database, "--threads", "1", "--duration", "3600"]
        user = subprocess.Popen([BINARY, *arguments, "--rate", "1000", "--quiet"])
        try:
            manifest = (self.original / "MANIFEST").read_bytes()
            deadline = time.monotonic() + LONGEST_COMMAND_SECONDS
            # It enters its incarnation into the manifest once it is open for work.
            while (self.database / "MANIFEST").read_bytes() == manifest and time.monotonic() < deadline:
                time.sleep(0.02)
            words = [self.database, "in use by another process", "try again"]
            self.refuse(FAILED, words, "recover", self.database)
            self.refuse(FAILED, words, "verify", self.database)
            self.refuse(FAILED, words, "run", "smallbank", "--resume", "--data-dir", self.database)
            self.assertIsNone(user.poll(), "the first user ended early")
        finally:
            user.kill()
            user.wait()
        self.recover_alike(self.database)


if __name__ == "__main__":
    unittest.main()
