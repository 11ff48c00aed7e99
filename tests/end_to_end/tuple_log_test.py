"""Goal: whatever a log holds of its transactions, each scheme that it serves recovers the state that they left.

Method: one run whose records hold calls and rows is recovered by every scheme, with several numbers of threads and sizes
of batch, and all digests are compared with the run's; logs of rows alone, by key or by location, are recovered, gone on
with, and shown record by record. What a log does not hold is refused, with the reason.
"""

import itertools
import os
import unittest

from program import BAD_ARGUMENTS, EndToEndTest

CALLS = 8000
ROW_SCHEMES = ("llr", "llr-p", "plr")
KEY_SCHEMES = ("llr", "llr-p")


class TupleLog(EndToEndTest):
    def run_workload(self, workload, log, *options):
        database = self.folder / "database"
        report = self.report(
            "run", workload, "--data-dir", database, "--threads", 2, "--log", log, "--transactions", CALLS, *options
        )
        self.assertEqual(report["log"], log)
        return database, report

    def check_rows(self, database, run, transactions, schemes=ROW_SCHEMES, threads=(1, 2, 4), batches=(1, 7, 1000)):
        for scheme, count, batch in itertools.product(schemes, threads, batches):
            # Each scheme with every number of threads and with every size of batch; with MNEME_WHOLE_MATRIX with all of both.
            position = schemes.index(scheme) + threads.index(count) + batches.index(batch)
            if len(threads) > 1 and len(batches) > 1 and position % 3 != 0 and "MNEME_WHOLE_MATRIX" not in os.environ:
                continue
            # Each order with every number of threads and size of batch, but not with both schemes.
            order = "forward" if (scheme == "llr") == (batch == 7) else "reverse"
            with self.subTest(scheme=scheme, threads=count, batch=batch, order=order):
                recovered = self.recover(database, scheme, threads=count, batch=batch, **{"replay-order": order})
                self.assertEqual(recovered["replay_order"], order)
                self.assertEqual(recovered["state_digest"], run["state_digest"])
                self.assertEqual(recovered["transactions"], transactions)
                self.assertEqual((recovered["scheme"], recovered["threads"]), (scheme, count))
                self.assertGreaterEqual(recovered["breakdown"]["pieces"], transactions)
                self.check_stages(recovered)

    def check_stages(self, recovered):
        is_last = recovered["scheme"] == "plr"
        self.assertEqual(recovered["index_build"], "after replay" if is_last else "after the checkpoint")
        self.assertGreater(recovered["index_build_seconds"], 0)
        names = ("manifest", "catalog", "checkpoint", "log_load", "analysis", "compilation", "replay", "index_build")
        stages = [recovered[f"{name}_seconds"] for name in names]
        self.assertTrue(all(seconds >= 0 for seconds in stages), stages)
        self.assertLessEqual(sum(stages), recovered["total_seconds"])

    @staticmethod
    def written(run):
        """Of TPC-C's transactions, those that wrote."""
        procedures = run["by_procedure"].items()
        return sum(each["committed"] for name, each in procedures if name not in ("order_status", "stock_level"))

    def every_scheme_agrees(self, workload, *options):
        database, run = self.run_workload(workload, "all", *options)
        serial = self.recover(database, "clr")
        self.assertEqual(serial["state_digest"], run["state_digest"])
        parallel = self.recover(database, "clr-p", threads=4, batch=7)
        self.assertEqual(parallel["state_digest"], run["state_digest"])
        self.check_rows(database, run, serial["transactions"])
        checks = self.report("verify", database)
        self.assertTrue(checks["ok"], checks)

    def test_tpcc(self):
        self.every_scheme_agrees("tpcc")

    def test_smallbank(self):
        self.every_scheme_agrees("smallbank")

    def test_tatp(self):
        self.every_scheme_agrees("tatp")

    def test_tpcb(self):
        self.every_scheme_agrees("tpcb", "--scale", 2, "--skew", 0.8)

    def test_ycsb(self):
        mix = "read_record=20,update_record=40,insert_record=10,scan_records=10,read_modify_write=20"
        self.every_scheme_agrees("ycsb", "--field-bytes", 20, "--skew", 0.9, "--mix", mix)

    def test_rows_alone(self):
        database, run = self.run_workload("tpcc", "logical")
        written = self.written(run)
        self.check_rows(database, run, written, KEY_SCHEMES, batches=(1000,))
        recovered = self.report("recover", database)
        self.assertEqual(recovered["scheme"], "llr-p", "the fastest that the log serves")
        again = self.report("run", "tpcc", "--data-dir", database, "--threads", 2, "--transactions", CALLS, "--resume")
        self.assertEqual(again["log"], "logical")
        self.check_rows(database, again, written + self.written(again), KEY_SCHEMES, threads=(2,))
        checks = self.report("verify", database)
        self.assertTrue(checks["ok"], checks)

    def going_on(self, workload, log, schemes, written):
        """Rows lie where the log says through several lives, though slots are used again."""
        database, run = self.run_workload(workload, log)
        transactions = written(run)
        for threads in (1, 2):
            self.check_rows(database, run, transactions, schemes, threads=(3,), batches=(7, 1000))
            run = self.report(
                "run", workload, "--data-dir", database, "--threads", threads, "--transactions", CALLS, "--resume"
            )
            transactions += written(run)
        self.check_rows(database, run, transactions, schemes, threads=(2,), batches=(100,))
        checks = self.report("verify", database)
        self.assertTrue(checks["ok"], checks)
        return database

    def test_locations_alone(self):
        database = self.going_on("tpcc", "physical", ("plr",), self.written)
        self.assertEqual(self.report("recover", database)["scheme"], "plr", "the only one that the log serves")

    def test_going_on_with_everything(self):
        reads = ("get_subscriber_data", "get_new_destination", "get_access_data")
        self.going_on(
            "tatp", "all", ROW_SCHEMES,
            lambda run: sum(each["committed"] for name, each in run["by_procedure"].items() if name not in reads),
        )

    def test_what_the_log_does_not_hold_is_refused(self):
        rows, _ = self.run_workload("smallbank", "logical")
        calls = self.folder / "calls"
        self.report("run", "smallbank", "--data-dir", calls, "--transactions", 100)
        located = self.folder / "located"
        self.report("run", "smallbank", "--data-dir", located, "--transactions", 100, "--log", "physical")
        for scheme in ("clr", "clr-p"):
            self.refuse(BAD_ARGUMENTS, [scheme, "holds rows", "llr-p"], "recover", rows, "--scheme", scheme)
            self.refuse(BAD_ARGUMENTS, [scheme, "holds rows", "plr"], "recover", located, "--scheme", scheme)
        self.refuse(BAD_ARGUMENTS, ["plr", "where that was", "llr-p"], "recover", rows, "--scheme", "plr")
        for scheme in KEY_SCHEMES:
            self.refuse(BAD_ARGUMENTS, [scheme, "locations", "plr"], "recover", located, "--scheme", scheme)
        for scheme in ROW_SCHEMES:
            self.refuse(BAD_ARGUMENTS, [scheme, "holds procedure calls", "clr-p"], "recover", calls, "--scheme", scheme)
        self.refuse(BAD_ARGUMENTS, ["--replay-order", "clr-p"], "recover", calls, "--replay-order", "reverse")
        for options in (["--replay", "static"], ["--execution", "native"]):
            self.refuse(BAD_ARGUMENTS, [options[0], "llr-p"], "recover", rows, *options)
        self.refuse(
            BAD_ARGUMENTS, ["--log logical", "--resume keeps"], "run", "smallbank", "--data-dir", rows, "--resume",
            "--log", "command",
        )

    def test_inspect_shows_rows(self):
        database, run = self.run_workload("smallbank", "all", "--mix", "write_check=100")
        shown = self.report("inspect", database, "--limit", 5)
        self.assertEqual(shown["records_hold"], "all")
        self.assertEqual(shown["log_records"] + shown["log_skips"], run["log_records"])
        for record in shown["records"]:
            self.assertEqual(record["kind"], "all")
            self.assertTrue(record["call"].startswith("CALL write_check("), record["call"])
            self.assertEqual(len(record["rows"]), 1)
            self.assertRegex(record["rows"][0], r"^update checking \(.*\) at slot \d+, after (LSN \d+|the checkpoint's)$")


if __name__ == "__main__":
    unittest.main()
