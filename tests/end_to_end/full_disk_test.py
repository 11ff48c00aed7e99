"""Goal: a full disk ends a run with a sentence, and takes nothing that was acknowledged.

Method: fill the disk under an engine in two ways: a limit on the size of files, which any user may set, and a small file system,
mounted where nobody else sees it, which needs leave to make a namespace. Where the engine is at work by then, clients hold what
they were told in that very run against what is recovered (trouble.py).
"""

import re
import resource
import subprocess
import unittest

from program import BINARY, FAILED, LONGEST_COMMAND_SECONDS
from trouble import ROUNDS, TroubledTest

# Limits the engine at work. The limit lies in the middle of a segment and of a block, so that a write is cut short there.
NO_LARGER_FILES = f"prlimit --pid $MNEME_ENGINE_PROCESS --fsize={(1 << 20) + 512}"
DISK_WORDS = ("No space left", "space", "full", "File too large")

# Room for the segments of the log that `mneme crash` begins with, twice, and for as many as come before it is all taken.
FILE_SYSTEM_MIB = 500
IN_A_NAMESPACE = ("unshare", "--mount", "--map-root-user", "sh", "-ceu")


def limit_files_to(size):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


class FullDisk(TroubledTest):
    def run_limited(self, size, *arguments):
        command = [BINARY, "run", "smallbank", "--data-dir", self.folder / "database", *map(str, arguments)]
        # With the signal that a write beyond the limit sends (SIGXFSZ) as a shell leaves it: deadly.
        return subprocess.run(
            command, capture_output=True, text=True, timeout=LONGEST_COMMAND_SECONDS, preexec_fn=limit_files_to(size),
            restore_signals=True, check=False,
        )

    def check_limit_sentence(self, result):
        self.check_sentence(result)
        self.assertIn("File too large (the limit on the size of files is too low", result.stderr, self.told(result))

    def check_sentence(self, result):
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertTrue(any(word in result.stderr for word in DISK_WORDS), self.told(result))
        self.assertIn("mneme: ", result.stderr)

    def test_while_loading(self):
        for size in (0, 1000):
            with self.subTest(bytes=size):
                result = self.run_limited(size, "--transactions", 10)
                self.check_limit_sentence(result)
                self.assertIn(str(self.folder / "database"), result.stderr, self.told(result))
        # A failed load leaves no database, so the next one begins anew.
        run = self.report("run", "smallbank", "--data-dir", self.folder / "database", "--transactions", 100)
        self.assertEqual(self.recover_alike(self.folder / "database")["state_digest"], run["state_digest"])

    def test_with_room_for_the_load_but_not_for_the_log(self):
        database = self.folder / "database"
        result = self.run_limited(1_000_000, "--transactions", 10)
        self.check_limit_sentence(result)
        self.assertIn("run with --resume", result.stderr, self.told(result))
        run = self.report("run", "smallbank", "--resume", "--data-dir", database, "--transactions", 100)
        self.assertEqual(self.recover_alike(database)["state_digest"], run["state_digest"])

    def test_where_no_further_segment_may_be_made(self):
        database = self.folder / "database"
        before = self.report("run", "smallbank", "--data-dir", database, "--transactions", 5000)
        result = self.run_limited(1_000_000, "--resume", "--duration", 20)
        self.check_sentence(result)
        recovered = self.recover_alike(database)
        self.assertEqual(recovered["state_digest"], before["state_digest"])
        self.assertTrue(self.report("verify", database)["ok"])

    def test_while_going_on(self):
        # In the middle of the first segment, which has its size already: by each way to write, as the kernel itself refuses it.
        for way in ("uring", "uring-polled", "threads", "inline"):
            with self.subTest(io=way):
                _, told = self.crash(NO_LARGER_FILES, "--io", way)
                self.assertEqual(len(re.findall("File too large|fell short", told)), ROUNDS, told)

    def test_an_engine_that_ends_by_itself_fails_a_crash_test_unless_it_may(self):
        result = self.crash_result(NO_LARGER_FILES)
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertIn("ended by itself, with status 1, before it was killed; its message is above", result.stderr)
        self.assertIn("all that was acknowledged is durable", result.stderr)

    def test_file_system_without_room(self):
        mount = self.folder / "mount"
        mount.mkdir()
        probe = subprocess.run(
            [*IN_A_NAMESPACE, 'mount -t tmpfs none "$1"', "sh", mount], capture_output=True, text=True, check=False
        )
        if probe.returncode != 0:
            self.skipTest(f"no leave to mount a file system of our own: {probe.stderr.strip()}")
        script = f'mount -t tmpfs -o size={FILE_SYSTEM_MIB}m none "$1"; shift; exec "$@"'
        filler = mount / "filler"
        _, told = self.crash(f"dd if=/dev/zero of={filler} bs=1M 2> /dev/null || true", "--log", "all", ended=f"rm {filler}",
                             data_dir=mount / "crashes", within=(*IN_A_NAMESPACE, script, "sh", mount), longest_run=100)
        self.assertEqual(len(re.findall(f"the log's next segment can't be made: .*{mount}.*No space left", told)), ROUNDS, told)


if __name__ == "__main__":
    unittest.main()
