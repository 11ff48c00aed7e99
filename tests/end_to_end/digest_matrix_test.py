"""Goal: the state after recovery is the state before, whichever way it is recovered, however often it went on.

Method: run a workload, then compare its state digest with that of every scheme, level of replay, number of threads and
size of batch, by machine code and by the interpreter; go on with `run --resume` twice, and compare again each time.
"""

import itertools
import os
import unittest

from program import EndToEndTest

LEVELS = ("static", "synchronous", "pipelined")
THREADS, BATCHES = (1, 2, 4, 8), (1, 7, 1000)
EVERY_WAY = [
    {"replay": level, "threads": threads, "batch": batch} for level, threads, batch in itertools.product(LEVELS, THREADS, BATCHES)
]
# Each two of level, threads and batch together at least once; with MNEME_WHOLE_MATRIX all three.
if "MNEME_WHOLE_MATRIX" not in os.environ:
    EVERY_WAY = [
        way for way in EVERY_WAY
        if LEVELS.index(way["replay"]) == (THREADS.index(way["threads"]) + BATCHES.index(way["batch"])) % len(LEVELS)
    ]
# After going on, the ways that differ the most.
SOME_WAYS = [
    {"replay": "static", "threads": 2, "batch": 1000},
    {"replay": "synchronous", "threads": 4, "batch": 7},
    {"replay": "pipelined", "threads": 8, "batch": 1},
]
INTERPRETED_WAYS = [{"execution": "interpreted", **way} for way in SOME_WAYS]

CALLS = 15000


class DigestMatrix(EndToEndTest):
    def run_and_recover(self, workload, read_only, most_bytes_per_transaction, *options, ways=EVERY_WAY):
        database = self.folder / "database"
        arguments = ("run", workload, "--data-dir", database, "--threads", 2, *options)
        self.logged = 0
        first = self.report(*arguments, "--transactions", CALLS)
        self.assertEqual(first["committed"] + first["user_aborts"], CALLS)
        self.assertLessEqual(first["log_bytes_per_txn"], most_bytes_per_transaction)
        self.check_every_way(database, first, read_only, ways)
        for _ in range(2):
            again = self.report(*arguments, "--transactions", CALLS // 3, "--resume")
            self.assertEqual(again["committed"] + again["user_aborts"], CALLS // 3)
            self.assertGreater(again["acknowledged_lsn"], first["acknowledged_lsn"])
            self.check_every_way(database, again, read_only, SOME_WAYS)
        checks = self.report("verify", database)
        self.assertTrue(checks["ok"], checks)

    def check_every_way(self, database, run, read_only, ways):
        self.logged += sum(
            procedure["committed"] for name, procedure in run["by_procedure"].items() if name not in read_only
        )
        self.assertEqual(run["execution"], "native")
        for execution in ("native", "interpreted"):
            serial = self.recover(database, "clr", execution=execution)
            self.assertEqual(serial["execution"], execution)
            self.assertEqual(serial["state_digest"], run["state_digest"])
            self.assertEqual(serial["transactions"], self.logged, "committed calls that write, and recovered ones")
            self.assertGreaterEqual(serial["durable_lsn"], run["acknowledged_lsn"])
            self.assertEqual(serial["dropped_bytes"], 0)
        for way in [{"execution": "native", **way} for way in ways] + INTERPRETED_WAYS:
            with self.subTest(**way):
                parallel = self.recover(database, "clr-p", **way)
                self.assertEqual(parallel["state_digest"], run["state_digest"])
                self.assertEqual(parallel["transactions"], self.logged)
                self.assertEqual(parallel["execution"], way["execution"])
                self.assertEqual((parallel["replay"], parallel["threads"]), (way["replay"], way["threads"]))

    def test_tpcc(self):
        self.run_and_recover("tpcc", {"order_status", "stock_level"}, 120)

    def test_smallbank(self):
        self.run_and_recover("smallbank", {"balance"}, 80)

    def test_tatp(self):
        reads = {"get_subscriber_data", "get_new_destination", "get_access_data"}
        self.run_and_recover("tatp", reads, 80, ways=SOME_WAYS)

    def test_tpcb(self):
        self.run_and_recover("tpcb", set(), 80, "--scale", 2, "--skew", 0.8, ways=SOME_WAYS)

    def test_ycsb(self):
        mix = "read_record=20,update_record=40,insert_record=10,scan_records=10,read_modify_write=20"
        options = ("--ycsb", "D", "--field-bytes", 20, "--skew", 0.9, "--mix", mix)
        self.run_and_recover("ycsb", {"read_record", "scan_records"}, 120, *options, ways=SOME_WAYS)


if __name__ == "__main__":
    unittest.main()
