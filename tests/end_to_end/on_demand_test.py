"""Goal: a database that is opened while its log is replayed answers and keeps what it would after a recovery: the same state in the end, the
workload's conditions, and nothing acknowledged lost by a kill in that time.

Method: logs of TPC-C and Smallbank are recovered whole, and on demand, by calls that ask for rows and by nobody, and the states are compared. A run goes on
while its log is replayed; what it leaves must be what recovery of all of its log leaves. A server is opened so again and again, and killed as
soon as a client has been told of a few commits; each must be there the next time.
"""

import unittest

from program import BAD_ARGUMENTS, EndToEndTest
from serve_test import Server

KILLS = 4


class OnDemand(EndToEndTest):
    def run_workload(self, workload, transactions, *options):
        directory = self.folder / "db"
        run = self.report("run", workload, "--data-dir", directory, "--threads", 2, "--transactions", transactions, *options)
        return directory, run

    def expect_same_state(self, directory, run):
        for workers in (0, 2):
            recovered = self.report("recover", directory, "--threads", 2, "--on-demand", workers)
            self.assertEqual(recovered["state_digest"], run["state_digest"], f"{workers} ask for rows")
            self.assertEqual(recovered["on_demand"]["settled"][-1][1], 1)
            self.assertEqual(recovered["settled"], recovered["on_demand"]["settled"])
            if workers == 0:
                self.assertIsNone(recovered["first_transaction_seconds"])
                self.assertEqual(recovered["on_demand"]["waits"], 0)
            else:
                self.assertGreaterEqual(recovered["on_demand"]["calls"], workers)
                self.assertGreater(recovered["first_transaction_seconds"], 0)
        self.assertEqual(self.recover(directory)["state_digest"], run["state_digest"])

    def test_tpcc_ends_as_after_a_recovery(self):
        self.expect_same_state(*self.run_workload("tpcc", 3000, "--warehouses", 1))

    def test_rows_of_ad_hoc_transactions_are_replayed_on_demand_too(self):
        self.expect_same_state(*self.run_workload("smallbank", 20000, "--adhoc", 20))

    def test_a_run_goes_on_while_its_log_is_replayed(self):
        directory, _ = self.run_workload("tpcc", 3000, "--warehouses", 1)
        for wait in (("--open-wait", 0), ("--open-wait", 0), ()):
            again = self.report("run", "tpcc", "--resume", "--data-dir", directory, "--threads", 2, "--transactions", 1500, "--open", "on-demand",
                                *wait)
            self.assertGreater(again["committed"], 0)
            self.assertEqual(again["on_demand"]["settled"][-1][1], 1)
            self.assertEqual(self.recover_alike(directory)["state_digest"], again["state_digest"])
        self.assertTrue(self.report("verify", directory)["ok"])

    def test_a_kill_loses_nothing_that_was_acknowledged(self):
        directory = self.folder / "db"
        server = Server(directory, "--create")
        self.addCleanup(server.close)
        self.ask(server, "CREATE TABLE t (k int PRIMARY KEY, v int NOT NULL);"
                 "CREATE PROCEDURE add(x int) LANGUAGE plpgsql AS $$ BEGIN UPDATE t SET v = v + 1 WHERE k = x; END; $$;"
                 "INSERT INTO t SELECT n, 0 FROM generate_series(1, 50) AS n;")
        done = 0
        for _ in range(KILLS):
            self.ask(server, "\n".join(f"CALL add({k});" for k in range(1, 51)))
            done += 1
            self.assertEqual(self.ask(server, "SELECT min(v), max(v) FROM t;"), f"{done}|{done}")
            server.process.kill()
            server.process.communicate()
            server = Server(directory, "--open", "on-demand", "--open-wait", "0s")
            self.addCleanup(server.close)
            self.assertEqual(self.ask(server, "SELECT v FROM t WHERE k = 7;"), str(done))
        self.ask(server, "ALTER TABLE t ADD COLUMN w int;")  # which waits until all is settled
        self.assertEqual(self.ask(server, "SHOW mneme.recovered_share;"), "1.000")
        self.assertEqual(self.ask(server, "SELECT min(v), max(v), count(w) FROM t;"), f"{done}|{done}|0")

    def ask(self, server, text):
        result = server.client("psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", input=text)
        self.assertEqual(result.returncode, 0, self.told(result))
        return result.stdout.strip()

    def test_what_cannot_be_opened_so_is_refused(self):
        directory, _ = self.run_workload("smallbank", 200, "--log", "logical")
        self.refuse(BAD_ARGUMENTS, ["--open on-demand", "clr-p"], "run", "smallbank", "--resume", "--data-dir", directory, "--open",
                    "on-demand", "--transactions", 10)
        self.refuse(BAD_ARGUMENTS, ["--on-demand is clr-p's"], "recover", directory, "--on-demand", 0)
        self.refuse(BAD_ARGUMENTS, ["--trace is of a replay from the log's begin"], "recover", directory, "--scheme", "clr-p", "--on-demand", 0,
                    "--trace", self.folder / "trace.json")
        self.refuse(BAD_ARGUMENTS, ["--on-demand has an analysis of its own"], "recover", directory, "--scheme", "clr-p", "--on-demand", 0,
                    "--conflicts", "table")
        self.refuse(BAD_ARGUMENTS, ["--open says how a database that is there is opened", "--resume"], "run", "smallbank", "--data-dir",
                    self.folder / "new", "--open", "on-demand", "--transactions", 10)
        self.refuse(BAD_ARGUMENTS, ["--open-wait is of --open on-demand"], "serve", directory, "--open-wait", "1s")
        self.refuse(BAD_ARGUMENTS, ["--open: sometimes is none of recovered, on-demand"], "serve", directory, "--open", "sometimes")


if __name__ == "__main__":
    unittest.main()
