"""Goal: Ctrl-C ends a run, a recovery and a crash test with the result so far, and leaves a database that is whole.

Method: SIGINT as soon as the process has said, in its status or its output, that it is at work; so no clock has a part. What was acknowledged
must be there afterwards.
"""

import json
import pathlib
import signal
import subprocess
import time
import unittest

from program import BAD_ARGUMENTS, BINARY, LONGEST_COMMAND_SECONDS, EndToEndTest, fingerprint

INTERRUPTED = 130


class Interrupt(EndToEndTest):
    def start(self, *arguments):
        process = subprocess.Popen([BINARY, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def await_handler(self, process):
        """Returns once the process has a handler for SIGINT, which it has while it runs calls."""
        while process.poll() is None:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            caught = int(next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt")), 16)
            if caught >> (signal.SIGINT - 1) & 1:
                return
            time.sleep(0.01)
        self.fail(process.communicate())

    def ended(self, process, is_partial=lambda: True):
        output, errors = process.communicate(timeout=LONGEST_COMMAND_SECONDS)
        self.assertEqual(process.returncode, INTERRUPTED, output + errors)
        self.assertEqual("was interrupted: this is what it had come to" in errors, is_partial(), errors)
        return output

    def test_a_run(self):
        database = self.folder / "database"
        process = self.start("run", "smallbank", "--data-dir", database, "--duration", 3600, "--json", self.folder / "run.json")
        self.await_handler(process)
        process.send_signal(signal.SIGINT)
        self.assertIn("transactions/s", self.ended(process))
        run = json.loads((self.folder / "run.json").read_text())
        self.assertTrue(run["partial"])
        self.assertLess(run["seconds"], 3600)
        self.assertEqual(sum(each["committed"] for each in run["per_second"]), run["committed"])
        recovered = self.recover_alike(database)
        self.assertEqual(recovered["state_digest"], run["state_digest"])
        self.assertFalse(self.report("run", "smallbank", "--resume", "--data-dir", database, "--transactions", 10)["partial"])
        self.refuse(BAD_ARGUMENTS, ["when it was interrupted"], "compare", self.folder / "run.json", self.folder / "run.json")

    def test_a_recovery(self):
        """The signal may come behind its last batch: then it is whole, and says so."""
        database = self.folder / "database"
        run = self.report("run", "smallbank", "--data-dir", database, "--transactions", 20_000)
        files = fingerprint(database)
        for scheme in ("clr", "clr-p"):
            file = self.folder / f"{scheme}.json"
            process = self.start("recover", database, "--scheme", scheme, "--execution", "interpreted", "--json", file)
            self.await_handler(process)
            process.send_signal(signal.SIGINT)
            output = self.ended(process, lambda: json.loads(file.read_text())["partial"])
            told = json.loads(file.read_text())
            self.assertLessEqual(told["transactions"], told["log_records"])
            if told["partial"]:
                self.assertIn(f"interrupted in the stage {told['interrupted_in']}", output)
                self.assertIsNone(told["state_digest"])
            else:
                self.assertEqual(told["state_digest"], run["state_digest"])
        self.assertEqual(fingerprint(database), files)

    def test_a_crash_test(self):
        process = self.start("crash", "smallbank", "--data-dir", self.folder / "crash", "--rounds", 100_000, "--longest-run", 0.1, "--json",
                             self.folder / "crash.json")
        self.assertRegex(process.stdout.readline(), "^round   1: ")
        process.send_signal(signal.SIGINT)
        self.ended(process)
        crash = json.loads((self.folder / "crash.json").read_text())
        self.assertTrue(crash["partial"])
        self.assertEqual(crash["rounds"], 100_000)
        self.assertGreaterEqual(crash["rounds_done"], 1)
        self.assertLess(crash["rounds_done"], 100_000)
        self.assertEqual((len(crash["crashed_at"]), crash["lost"], crash["invented"]), (crash["rounds_done"], 0, 0))

    def test_calls_at_random_times(self):
        self.refuse(BAD_ARGUMENTS, ["--arrivals is for calls that come at a rate"], "run", "smallbank", "--log", "off", "--arrivals", "poisson")
        self.refuse(BAD_ARGUMENTS, ["even is none of uniform, poisson"], "run", "smallbank", "--log", "off", "--rate", 10, "--arrivals", "even")
        run = self.report("run", "smallbank", "--log", "off", "--rate", 20_000, "--arrivals", "poisson", "--transactions", 500)
        self.assertEqual((run["rate"], run["arrivals"]), (20_000, "poisson"))
        self.assertEqual(run["committed"] + run["user_aborts"], 500)
        self.assertEqual(self.report("run", "smallbank", "--log", "off", "--rate", 20_000, "--transactions", 50)["arrivals"], "uniform")


if __name__ == "__main__":
    unittest.main()
