"""Goal: ad-hoc transactions among calls in one log lose nothing, and replay ends where the run ended.

Method: runs that log a share of their transactions by rows, whole or in changed columns alone, are recovered by each scheme
that the log serves; one goes on, one is killed again and again. What such a log cannot serve is refused, with the reason;
and a procedure that chance decides is named.
"""

import unittest

from program import BAD_ARGUMENTS, EndToEndTest

CALLS = 6000

RAFFLE = """
CREATE TABLE ticket (t_holder INT NOT NULL);
CREATE INDEX ticket_list ON ticket (t_holder);
CREATE TABLE prize (p_id INT PRIMARY KEY, p_holder INT NOT NULL);
CREATE PROCEDURE draw(p_id INT) LANGUAGE plpgsql AS $$
DECLARE v_holder INT;
BEGIN
    SELECT t_holder INTO v_holder FROM ticket WHERE t_holder > 0 LIMIT 1;
    INSERT INTO prize (p_id, p_holder) VALUES (p_id, v_holder);
END $$;
"""


class AdHoc(EndToEndTest):
    def run_workload(self, workload, *options):
        database = self.folder / workload
        report = self.report("run", workload, "--data-dir", database, "--threads", 2, "--transactions", CALLS, *options)
        return database, report

    def check_calls(self, database, run):
        for recovered in (self.recover(database, "clr"), self.recover_alike(database)):
            self.assertEqual(recovered["state_digest"], run["state_digest"])
        return recovered

    def test_a_share_of_the_calls(self):
        for workload, percent in (("tpcc", 10), ("smallbank", 50), ("tatp", 100)):
            with self.subTest(workload=workload, percent=percent):
                database, run = self.run_workload(workload, "--adhoc", percent)
                self.assertEqual((run["log"], run["adhoc"]), ("command", percent))
                self.assertAlmostEqual(run["adhoc_transactions"] / run["log_records"], percent / 100, delta=0.05)
                recovered = self.check_calls(database, run)
                self.assertEqual(recovered["adhoc_transactions"], run["adhoc_transactions"])
                self.assertEqual(recovered["barriers"], 0, "the graph orders what procedures write")
                self.refuse(BAD_ARGUMENTS, ["llr-p", "holds procedure calls"], "recover", database, "--scheme", "llr-p")

    def test_going_on(self):
        database, _ = self.run_workload("smallbank", "--adhoc", 30, "--tuple-image", "changed")
        run = self.report(
            "run", "smallbank", "--data-dir", database, "--resume", "--transactions", CALLS, "--adhoc", 60
        )
        self.assertEqual(run["tuple_image"], "changed")
        self.check_calls(database, run)

    def test_every_scheme(self):
        database, run = self.run_workload("tpcc", "--log", "all", "--adhoc", 50)
        self.check_calls(database, run)
        for scheme in ("llr", "llr-p", "plr"):
            self.assertEqual(self.recover(database, scheme, threads=2)["state_digest"], run["state_digest"])

    def test_changed_columns_alone(self):
        database, run = self.run_workload("tpcc", "--log", "logical", "--tuple-image", "changed")
        recovered = self.recover(database, "llr-p", threads=2)
        self.assertEqual(recovered["replay_order"], "forward")
        self.assertEqual(recovered["state_digest"], run["state_digest"])
        self.refuse(BAD_ARGUMENTS, ["llr lets the newest", "llr-p"], "recover", database, "--scheme", "llr")
        self.refuse(BAD_ARGUMENTS, ["replay it forward"], "recover", database, "--replay-order", "reverse")
        resume = ("run", "tpcc", "--data-dir", database, "--resume", "--tuple-image", "full")
        self.refuse(BAD_ARGUMENTS, ["--resume keeps"], *resume)

    def test_what_says_nothing_is_refused(self):
        run = ("run", "tpcb", "--data-dir", self.folder / "none")
        self.refuse(BAD_ARGUMENTS, ["--adhoc", "--log logical"], *run, "--log", "logical", "--adhoc", 10)
        self.refuse(BAD_ARGUMENTS, ["--tuple-image", "full and changed"], *run, "--tuple-image", "some")
        self.refuse(BAD_ARGUMENTS, ["--tuple-image", "plr"], *run, "--tuple-image", "changed", "--log", "physical")

    def test_what_chance_decides_is_named(self):
        source = self.folder / "raffle.sql"
        source.write_text(RAFFLE)
        (draw,) = self.report("slice", source)["procedures"]
        self.assertIn("which rows of ticket", draw["logged_by_rows"])

    def test_crashes(self):
        for workload, options in (("tpcc", ("--adhoc", 30)), ("smallbank", ("--adhoc", 30, "--tuple-image", "changed"))):
            with self.subTest(workload=workload):
                report = self.report(
                    "crash", workload, "--rounds", 2, "--longest-run", 0.3, "--data-dir", self.folder / "crashes", *options
                )
                self.assertEqual((report["lost"], report["invented"]), (0, 0))
                self.assertGreater(report["adhoc_transactions"], 0)
                self.assertTrue(all(scheme["digest_equal"] for scheme in report["schemes"].values()))


if __name__ == "__main__":
    unittest.main()
