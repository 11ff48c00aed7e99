"""Goal: a data directory that is copied while a database works in it is recovered to a state that the database once had, or
refused with the reason, which where one file holds the log's end is the exception; never recovered to a state that never was.

Method: TPC-B, copied file by file again and again while it runs, until Ctrl-C ends it in order. A copy's records must be the first of
those that the source has in the end, and its state must hold the effects of exactly those: as many rows of history as records, one
state by each scheme, and the workload's conditions. Where one thread makes runs of a seed alike, a run of as many transactions
that was never copied, and kept no log, must end in that state.
"""

import json
import re
import signal
import subprocess
import time
import unittest

from program import BINARY, DAMAGED, DONE, FAILED, LONGEST_COMMAND_SECONDS, EndToEndTest, copy_database, has_records, mneme

COPIES = 6
PAUSE_SECONDS = 1 / 3  # between two copies
INTERRUPTED = 130
# The rows before the first transaction: a branch, its tellers and their accounts.
POPULATION = 1 + 10 + 100_000
SCHEMES = {"command": ("clr", "clr-p"), "logical": ("llr", "llr-p"), "physical": ("plr",), "all": ("clr", "clr-p", "llr-p")}


class LiveCopy(EndToEndTest):
    def source(self, *options):
        """What a run that ends in order reports, and what was copied from its data directory meanwhile."""
        data = self.folder / "data"
        report = self.folder / "report"
        process = subprocess.Popen([BINARY, "run", "tpcb", "--scale", "1", "--execution", "interpreted", "--duration", "3600",
                                    "--quiet", "--data-dir", data, "--json", report, *map(str, options)],
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        with process.stderr:
            deadline = time.monotonic() + LONGEST_COMMAND_SECONDS
            while not has_records(data) and time.monotonic() < deadline:
                time.sleep(0.02)
            copies = []
            while len(copies) < COPIES:
                self.assertIsNone(process.poll(), "the run ended by itself")
                time.sleep(PAUSE_SECONDS)
                copies.append(self.folder / f"copy-{len(copies)}")
                # The second one finds all files as they were together: whatever else the machine does, one is recovered.
                stands_still = len(copies) == 2
                if stands_still:
                    process.send_signal(signal.SIGSTOP)
                # A file may go while it is copied.
                try:
                    copy_database(data, copies[-1])
                except subprocess.CalledProcessError:
                    pass
                if stands_still:
                    process.send_signal(signal.SIGCONT)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=LONGEST_COMMAND_SECONDS), INTERRUPTED, process.stderr.read())
        return json.loads(report.read_text()), copies

    def records(self, directory):
        return self.report("inspect", directory, "--limit", 10_000_000)["records"]

    def check_refusal(self, copy, result):
        self.assertIn(result.returncode, (FAILED, DAMAGED), self.told(result))
        self.assertIn(str(copy), result.stderr, self.told(result))
        self.assertGreater(len(result.stderr.strip()), 40, self.told(result))

    def check_state(self, copy, count, schemes):
        """The state has the effects of so many transactions, whoever recovers it; returns its digest."""
        states = [self.recover(copy, scheme) for scheme in schemes]
        for field in ("state_digest", "durable_lsn", "transactions"):
            self.assertEqual(len({state[field] for state in states}), 1, f"{field} of {copy} by {schemes}")
        checks = {check["name"]: check for check in self.report("verify", copy)["checks"]}
        self.assertTrue(all(check["ok"] for check in checks.values()), checks)
        rows = next(check["detail"] for name, check in checks.items() if name.startswith("numbers: "))
        self.assertEqual(int(re.fullmatch(r"(\d+) cases", rows)[1]) - POPULATION, count)
        return states[0]["state_digest"]

    def state_after(self, transactions):
        oracle = self.folder / "oracle"
        report = self.report("run", "tpcb", "--scale", 1, "--threads", 1, "--execution", "interpreted", "--transactions", transactions,
                             "--log-device", "null", "--data-dir", oracle)
        subprocess.run(["rm", "-rf", oracle], check=True)
        return report["state_digest"]

    @staticmethod
    def transactions_in(records):
        # Each transaction of this workload writes. Checkpoints have places of the log skipped.
        return sum(record["kind"] != "skip" for record in records)

    def check(self, *options, log="command", threads=2, rate=3000, most_are_recovered=False):
        run, copies = self.source("--log", log, "--threads", threads, "--rate", rate, *options)
        whole = self.records(self.folder / "data")
        self.assertEqual(self.transactions_in(whole), run["committed"])
        counts = [0]
        for copy in copies:
            result = mneme("recover", copy, "--quiet", "--scheme", SCHEMES[log][0])
            if result.returncode != DONE:
                self.check_refusal(copy, result)
                continue
            records = self.records(copy)
            self.assertTrue(records == whole[:len(records)], f"{copy} has {len(records)} records, not the source's first")
            count = self.transactions_in(records)
            self.assertGreaterEqual(count, counts[-1], "a later copy has no less")
            counts.append(count)
            digest = self.check_state(copy, count, SCHEMES[log])
            if threads == 1:
                self.assertEqual(digest, self.state_after(count))
        self.assertGreater(counts[-1], 0, "no copy was recovered")
        if most_are_recovered:
            self.assertGreaterEqual(len(counts) - 1, len(copies) // 2, f"of {len(copies)} copies")

    def test_most_copies_are_recovered(self):
        # A segment that was begun after cp had listed the files is in the manifest that it copies later, and not in the copy.
        self.check(most_are_recovered=True)

    # So few calls that the first segment has a block for each: a checkpoint lets go of those that it has passed, and with them of calls.
    def test_beside_checkpoints(self):
        self.check("--checkpoint-every", 0.3, threads=1, rate=1500)

    def test_rows_beside_checkpoints(self):
        self.check("--checkpoint-every", 0.3, log="logical", threads=1, rate=1500)

    # Where the log's end lies in several files, cp finds them at different times, which most copies are refused for: so each of the
    # next tests gives it time to find them as they were together.
    def test_loggers(self):
        self.check("--log-buffer", "epoch", "--loggers", 2, "--epoch", "100ms", log="all")

    def test_streams(self):
        self.check("--log-buffer", "distributed", "--streams", 2, log="physical", rate=30)


if __name__ == "__main__":
    unittest.main()
