"""Goal: what a run reports of itself is true: throughput, latencies, aborts, memory, progress.

Method: hold the figures against each other and against what is known of the workload beforehand; overload a run whose
calls come at a given rate, where latencies that left out the wait for a worker would be small.
"""

import json
import os
import pathlib
import pty
import subprocess
import time
import unittest

from program import BAD_ARGUMENTS, BINARY, DONE, LONGEST_COMMAND_SECONDS, EndToEndTest

CUSTOMERS = 18000  # of smallbank at scale 1, each with a row in each of three tables


class Measure(EndToEndTest):
    def run_smallbank(self, *arguments):
        return self.report("run", "smallbank", "--data-dir", self.folder / "database", *arguments)

    def test_throughput_of_each_second(self):
        run = self.run_smallbank("--duration", 3, "--warmup", 0.2)
        self.assertEqual(len(run["throughput_per_second"]), 3)
        average = sum(run["throughput_per_second"]) / 3
        # A second that was looked at late is a longer one, and the next a shorter.
        self.assertAlmostEqual(average / run["throughput_tps"], 1, delta=0.35)
        self.assertIsNone(run["rate"])

    # The kernel is asked where a thread may run, while the run lasts.
    def test_workers_keep_off_the_cores_that_the_disk_interrupts(self):
        mine = os.sched_getaffinity(0)
        for choice in ("auto", "any"):
            database = self.folder / choice
            options = ("--data-dir", database, "--threads", 1, "--duration", 2, "--worker-cores", choice)
            command = [str(part) for part in (BINARY, "run", "smallbank", *options, "--quiet", "--json", "-")]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                seen = set()
                while process.poll() is None:
                    for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
                        try:
                            seen.add(frozenset(os.sched_getaffinity(int(task.name))))
                        except ProcessLookupError:
                            pass
                    time.sleep(0.02)
                run = json.loads(process.stdout.read())
            if choice == "auto":
                kept_off = frozenset(run["cores_kept_off"])
                self.assertTrue(mine - kept_off, kept_off)
                self.assertIn(frozenset(mine - kept_off), seen)
            else:
                self.assertEqual(run["cores_kept_off"], [])
                if kept_off:
                    self.assertNotIn(frozenset(mine - kept_off), seen)
        self.assertEqual(self.run_smallbank("--threads", len(mine), "--transactions", 10)["cores_kept_off"], [])
        self.refuse(BAD_ARGUMENTS, ["--worker-cores", "--log off"], "run", "smallbank", "--log", "off", "--worker-cores", "any")

    def test_aborts_by_cause(self):
        run = self.run_smallbank("--threads", 4, "--duration", 2, "--hotspot-size", 2, "--hotspot-percent", 100)
        causes = dict(run["aborts_by_cause"])
        self.assertGreater(causes["rollback"], 0)
        self.assertEqual(causes.pop("rollback"), run["user_aborts"])
        self.assertGreater(run["aborted"], 0)
        self.assertEqual(sum(causes.values()), run["aborted"], causes)
        # Smallbank inserts nothing: it claims no key, and no row appears where another transaction has looked.
        self.assertEqual(causes["claim"] + causes["node_validation"], 0, causes)

    # Four workers and one branch: whoever comes next waits for the device, or doesn't.
    def test_early_lock_release(self):
        committed = {}
        for elr in ("on", "off"):
            run = self.report("run", "tpcb", "--data-dir", self.folder / elr, "--scale", 1, "--threads", 4, "--duration",
                              1.5, "--cc", "2pl", "--elr", elr, "--device-latency", "1ms")
            self.assertEqual((run["cc"], run["elr"]), ("2pl", elr))
            causes = dict(run["aborts_by_cause"])
            self.assertGreater(causes.pop("wait_die"), 0)
            self.assertEqual(sum(causes.values()), 0, causes)
            committed[elr] = run["committed"]
        self.assertGreater(committed["on"], 2 * committed["off"])
        self.assertGreater(committed["off"], 0)

    def test_memory(self):
        run = self.run_smallbank("--transactions", 100)
        # A name of 20 characters and a number, and twice a number and an amount of money; how they are aligned is open.
        row_bytes = run["row_bytes"] / CUSTOMERS
        self.assertEqual(row_bytes, int(row_bytes))
        self.assertTrue((20 + 4) + 2 * (4 + 8) <= row_bytes <= 3 * 64, row_bytes)
        self.assertGreater(run["memory_bytes"], run["row_bytes"])
        self.assertAlmostEqual(run["memory_per_row_byte"], run["memory_bytes"] / run["row_bytes"])
        self.assertGreater(run["peak_rss_bytes"], run["row_bytes"])
        tables = run["memory_by_table"].values()
        self.assertEqual(sum(table["row_bytes"] for table in tables), run["row_bytes"])
        parts = sum(table["chunk_bytes"] + sum(table["index_bytes"].values()) for table in tables)
        self.assertEqual(parts, run["memory_bytes"])

    def test_memory_touched_ahead(self):
        tpcc = ["run", "tpcc", "--log", "off", "--threads", "2"]
        run = self.report(*tpcc, "--transactions", 20000)
        self.assertTrue(2 << 20 <= run["touched_ahead_bytes"] <= 100 << 20, run["touched_ahead_bytes"])
        self.assertLessEqual(run["touched_ahead_left_bytes"], run["touched_ahead_bytes"])
        self.assertGreater(run["touched_ahead_seconds"], 0)
        # The memory that is left of it is not the database's.
        more = self.report(*tpcc, "--transactions", 20000, "--touch-ahead", "200MiB")
        self.assertEqual(more["touched_ahead_bytes"], 200 << 20)
        self.assertGreater(more["touched_ahead_left_bytes"], 100 << 20)
        self.assertLess(more["memory_bytes"], run["memory_bytes"] + (20 << 20))
        self.assertGreater(more["peak_rss_bytes"], run["peak_rss_bytes"])
        for needless in (["run", "smallbank", "--log", "off"], [*tpcc, "--touch-ahead", "off"]):
            run = self.report(*needless, "--transactions", 100)
            self.assertEqual((run["touched_ahead_bytes"], run["touched_ahead_seconds"]), (0, 0))
        self.refuse(BAD_ARGUMENTS, ["--touch-ahead 5 apples", "512MiB"], *tpcc, "--touch-ahead", "5 apples")

    def test_calls_at_a_rate(self):
        run = self.run_smallbank("--threads", 2, "--rate", 500, "--duration", 2)
        self.assertEqual(run["rate"], 500)
        done = run["committed"] + run["user_aborts"]
        # Calls that were due, and not begun by the end, are not made: how many are depends on the machine.
        self.assertTrue(0 < done <= 1050, done)
        run = self.report("run", "smallbank", "--log", "off", "--threads", 2, "--rate", 500, "--transactions", 1000)
        self.assertEqual(run["committed"] + run["user_aborts"], 1000)
        self.assertGreaterEqual(run["seconds"], 1.9)

    def test_an_overloaded_run_counts_the_wait(self):
        seconds = 2
        run = self.run_smallbank("--threads", 1, "--commit", "sync", "--rate", 10_000_000, "--duration", seconds)
        self.assertLess(run["throughput_tps"], 5_000_000)
        # Calls were due from the start on: the one in the middle of the run was begun half a run too late, and sooner where the
        # disk was the faster in the beginning. Without the wait it would take as long as a flush.
        self.assertGreater(run["latency_us"]["p50"], seconds / 20 * 1e6)
        self.assertGreater(run["latency_us"]["max"], seconds * 0.8 * 1e6)
        self.assertLess(run["latency_us"]["max"], (seconds + 60) * 1e6)

    def test_an_overloaded_run_counts_calls_that_were_due_in_the_warm_up(self):
        # All that it comes to was due long before the warm-up's end, and ends after it.
        run = self.run_smallbank("--threads", 1, "--commit", "sync", "--rate", 10_000_000, "--warmup", 0.5, "--duration", 1)
        self.assertGreater(run["committed"] + run["user_aborts"], 0)
        self.assertGreater(run["throughput_tps"], 0)
        self.assertGreater(run["latency_us"]["p50"], 100_000)

    def test_a_call_due_after_the_end_is_not_made(self):
        run = self.run_smallbank("--threads", 2, "--rate", 1, "--duration", 0.5, "--warmup", 0)
        self.assertLessEqual(run["committed"] + run["user_aborts"], 1)
        self.assertLess(run["latency_us"]["max"], 60e6)

    def test_progress_on_a_terminal_only(self):
        command = [BINARY, "run", "smallbank", "--log", "off", "--duration", "5"]
        piped = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_COMMAND_SECONDS, check=False)
        self.assertEqual(piped.returncode, DONE, self.told(piped))
        self.assertNotIn("\r", piped.stderr)
        ours, theirs = pty.openpty()
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 4096):
                shown += chunk
        except OSError:  # how a terminal tells that its other end is closed
            pass
        finally:
            os.close(ours)
        self.assertEqual(run.wait(timeout=LONGEST_COMMAND_SECONDS), DONE)
        self.assertRegex(shown.decode(), r"run [\d,]+ transactions, [\d,]+/s, [\d.]+ threads busy, \d s left")


if __name__ == "__main__":
    unittest.main()
