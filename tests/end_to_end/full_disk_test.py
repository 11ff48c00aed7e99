"""Goal: a full disk ends a run with a sentence, and takes nothing that was acknowledged.

Method: fill the disk under a run in two ways: a limit on the size of files, which any user may set, and a file system
of a few megabytes, mounted where nobody else sees it, which needs leave to make a namespace. Then recover what is there.
"""

import json
import resource
import subprocess
import unittest

from program import BINARY, DONE, FAILED, LONGEST_COMMAND_SECONDS, EndToEndTest

DISK_WORDS = ("No space left", "space", "full", "File too large")

# Room for two segments of the log, which a run fills in seconds, and for no third.
FILE_SYSTEM_MIB = 78
IN_A_NAMESPACE = ("unshare", "--mount", "--map-root-user", "sh", "-ceu")


def limit_files_to(size):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


class FullDisk(EndToEndTest):
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
        # What a failed load left is no database, so that the next one begins anew.
        run = self.report("run", "smallbank", "--data-dir", self.folder / "database", "--transactions", 100)
        self.assertEqual(self.recover_alike(self.folder / "database")["state_digest"], run["state_digest"])

    def test_with_room_for_the_load_but_not_for_the_log(self):
        database = self.folder / "database"
        result = self.run_limited(1_000_000, "--transactions", 10)
        self.check_limit_sentence(result)
        self.assertIn("run with --resume", result.stderr, self.told(result))
        run = self.report("run", "smallbank", "--resume", "--data-dir", database, "--transactions", 100)
        self.assertEqual(self.recover_alike(database)["state_digest"], run["state_digest"])

    def test_while_going_on(self):
        database = self.folder / "database"
        before = self.report("run", "smallbank", "--data-dir", database, "--transactions", 5000)
        result = self.run_limited(1_000_000, "--resume", "--duration", 20)
        self.check_sentence(result)
        recovered = self.recover_alike(database)
        self.assertGreaterEqual(recovered["durable_lsn"], before["acknowledged_lsn"])
        self.assertTrue(self.report("verify", database)["ok"])

    def test_file_system_without_room(self):
        mount = self.folder / "mount"
        mount.mkdir()
        probe = subprocess.run(
            [*IN_A_NAMESPACE, 'mount -t tmpfs none "$1"', "sh", mount], capture_output=True, text=True, check=False
        )
        if probe.returncode != 0:
            self.skipTest(f"no leave to mount a file system of our own: {probe.stderr.strip()}")
        kept = self.folder / "kept"
        script = f"""
            mount -t tmpfs -o size={FILE_SYSTEM_MIB}m none "$1"
            status=0
            "$2" run smallbank --data-dir "$1/database" --duration 60 --quiet || status=$?
            cp --recursive --sparse=always "$1/database" "$3"
            exit $status
        """
        command = [*IN_A_NAMESPACE, script, "sh", mount, BINARY, kept]
        result = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_COMMAND_SECONDS, check=False)
        self.check_sentence(result)
        self.assertIn("database", result.stderr)
        recovered = self.recover_alike(kept)
        # The segments that there was room for are full: the run failed for want of a further one.
        self.assertGreater(recovered["log_bytes"], 1 << 25)
        self.assertTrue(self.report("verify", kept)["ok"])
        again = self.report("run", "smallbank", "--resume", "--data-dir", kept, "--transactions", 1000)
        self.assertEqual(self.recover_alike(kept)["state_digest"], again["state_digest"])


if __name__ == "__main__":
    unittest.main()
