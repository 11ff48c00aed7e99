"""Goal: transactions of PostgreSQL's own client libraries are strictly serializable, over kills of the server, and none that was
acknowledged is lost; and the check for that finds what a weaker isolation does.

Method: programs over psycopg and psycopg2 read lists and append to them at random, as blocks, calls and statements by themselves. The first of them
kills the server at a fixed count of its acknowledgements; the server is started again on its directory; a last transaction reads all lists.
tests/isolation/list_history.py judges what all of them saw. Then two transactions at READ COMMITTED in PostgreSQL, step by step in the orders
that make an anomaly there; in Mneme and at SERIALIZABLE the same steps must make none.
"""

import os
import unittest

from list_run import ListRun, load, report_of, start_client
from postgres import Postgres
from program import EndToEndTest
from serve_test import Server

# What concurrent transactions may fail with; a text's list may become longer than its column.
EXPECTED_ERRORS = {"40001", "22001"}

# The steps, and what PostgreSQL lets happen at READ COMMITTED. 0 and 3 are lists kept as text, 1 and 4 as rows.
INTERLEAVINGS = {
    "write skew": ("1:r0 2:r3 1:a3 2:a0 1:commit 2:commit", "G2"),
    "write skew of rows": ("1:r1 2:r4 1:a4 2:a1 1:commit 2:commit", "G2"),
    "a read that is not repeated": ("1:r0 2:a0 2:commit 1:r0 1:commit", "internal"),
    "read skew": ("1:r0 2:a0 2:a3 2:commit 1:r3 1:commit", "G-single"),
    "an update of what was read": ("3:a0 3:commit 1:r0 2:r0 2:a0 2:commit 1:a0 1:commit", "G-single"),
    "a phantom": ("1:r1 2:a1 2:a4 2:commit 1:r4 1:commit", "G-single"),
}


class ListAppend(EndToEndTest):
    def judge(self, run):
        history, anomalies = run.check()
        self.assertEqual(anomalies, "", anomalies)
        self.assertGreaterEqual(len(history.committed), run.acknowledged)
        self.assertLessEqual(set(run.errors), EXPECTED_ERRORS, run.examples)

    def lives(self, *options, schemes, made_with=()):
        run = ListRun(self.folder, options, made_with=made_with)
        for kill_after in (150, 300, 40):
            run.life_that_is_killed(kill_after)
            run.recover_alike(schemes)
        run.last_life(500)
        run.recover_alike(schemes)
        self.judge(run)
        self.assertGreater(run.acknowledged, 490)

    def test_optimistic(self):
        self.lives("--cc", "occ", schemes=("clr", "clr-p"))

    def test_locking(self):
        self.lives("--cc", "2pl", "--execution", "interpreted", schemes=("clr", "clr-p"))

    def test_locking_with_a_log_of_rows(self):
        self.lives("--cc", "2pl", "--elr", "off", "--execution", "interpreted", schemes=("llr", "llr-p"), made_with=("--log", "logical"))

    def steps(self, environment, steps, name):
        """What comes of them on the lists of a fresh database: the anomalies, and the errors."""
        run = ListRun(self.folder)
        history = self.folder / f"history-{name}"
        report = report_of(start_client(environment, 0, history, "--steps", steps))
        all_read = report_of(start_client(environment, 0, history, "--all", "--seed", "last"))
        self.assertEqual(all_read["acknowledged"], 1, all_read)
        _, anomalies = run.check()
        history.unlink()
        return anomalies, report["errors"]

    def test_interleavings(self):
        postgres = Postgres()
        self.addCleanup(postgres.close)
        for name, (steps, wanted) in INTERLEAVINGS.items():
            for place in ("READ COMMITTED", "SERIALIZABLE", "Mneme"):
                with self.subTest(f"{name}: {place}"):
                    if place == "Mneme":
                        server = Server(self.folder / f"db {name}", "--create", "--execution", "interpreted")
                        self.addCleanup(server.close)
                        environment = server.environment
                    else:
                        level = place.lower().replace(" ", "\\ ")
                        environment = {**postgres.new_database(), "PGOPTIONS": f"-c default_transaction_isolation={level}"}
                    load(environment)
                    anomalies, errors = self.steps(environment, steps, name)
                    if place == "READ COMMITTED":
                        self.assertIn(f"{wanted}:", anomalies)
                        self.assertEqual(errors, {})
                    else:
                        self.assertEqual(anomalies, "", anomalies)
                        # Both may fail: an optimistic transaction does where another is in its way, whatever becomes of that one.
                        self.assertLessEqual(set(errors), {"40001"})
                    if place == "Mneme":
                        server.close()

    def test_postgresql_has_none_at_serializable(self):
        postgres = Postgres()
        self.addCleanup(postgres.close)
        run = ListRun(self.folder)
        environment = {**postgres.new_database(), "PGOPTIONS": "-c default_transaction_isolation=serializable"}
        load(environment)
        run.work(environment, 150)
        run.read_all(environment)
        history, anomalies = run.check()
        self.assertEqual(anomalies, "", anomalies)
        self.assertGreater(len(history.committed), 100)


if __name__ == "__main__":
    unittest.main()
