"""Goal: a run with --log adaptive leaves a log of calls, some of them by their rows, that every scheme of such logs recovers to the run's end,
also after a kill, on demand, and after going on; and the run says what it chose.

Method: a bank whose rare call changes all accounts of a branch, which replay must run in all lanes. When it is chosen is up to the machine, so
what is said of it is held against what the log holds; that it is chosen, recovery_test says (LogAdviserTest).
"""

import random
import unittest

from program import BAD_ARGUMENTS, EndToEndTest

ACCOUNTS = 2000
CALLS = 20000

BANK = """
CREATE TABLE account (id INT PRIMARY KEY, branch INT NOT NULL, balance BIGINT NOT NULL);
CREATE INDEX account_by_branch ON account (branch);
CREATE PROCEDURE deposit(p_id INT, p_amount INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE account SET balance = balance * 2 - balance + p_amount WHERE id = p_id; END $$;
CREATE PROCEDURE interest(p_branch INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE account SET balance = balance + balance / 100 WHERE branch = p_branch; END $$;
"""


class AdaptiveLog(EndToEndTest):
    def setUp(self):
        super().setUp()
        drawn = random.Random(1)
        (self.folder / "bank.sql").write_text(BANK)
        (self.folder / "rows.csv").write_text("".join(f"account,{i},{i % 40},1000\n" for i in range(ACCOUNTS)))
        (self.folder / "calls.csv").write_text("".join(
            f"interest,{drawn.randrange(40)}\n" if drawn.random() < 0.02 else f"deposit,{drawn.randrange(ACCOUNTS)},{drawn.randrange(100)}\n"
            for _ in range(CALLS)))
        self.workload = (self.folder / "bank.sql", "--rows", self.folder / "rows.csv", "--calls", self.folder / "calls.csv")
        self.database = self.folder / "database"

    def run_bank(self, *options):
        run = self.report("run", *self.workload, "--data-dir", self.database, "--threads", 2, "--transactions", CALLS, "--log", "adaptive",
                          "--replay-cores", 16, *options)
        self.assertEqual(run["log"], "adaptive")
        self.assertEqual(run["adhoc_transactions"], sum(each["calls"] for each in run["log_adaptive"]["by_rows"]))
        self.assertLessEqual({each["procedure"] for each in run["log_adaptive"]["by_rows"]}, {"deposit", "interest"})
        return run

    def check(self, run):
        recovered = [self.recover_alike(self.database), self.report("recover", self.database, "--threads", 2, "--on-demand", 0)]
        recovered += [self.recover(self.database, threads=threads) for threads in (1, 2)]
        for each in recovered:
            self.assertEqual(each["state_digest"], run["state_digest"])
        return recovered[0]

    def test_each_scheme_of_calls_recovers_it(self):
        run = self.run_bank()
        self.assertEqual(self.check(run)["adhoc_transactions"], run["adhoc_transactions"])
        self.refuse(BAD_ARGUMENTS, ["llr-p", "holds procedure calls"], "recover", self.database, "--scheme", "llr-p")

    def test_a_log_of_calls_goes_on_so_and_back(self):
        before = self.report("run", *self.workload, "--data-dir", self.database, "--threads", 2, "--transactions", 1000)
        self.assertIsNone(before["log_adaptive"])
        run = self.report("run", "bank.sql", "--resume", "--data-dir", self.database, "--transactions", CALLS, "--log", "adaptive")
        self.check(run)
        run = self.report("run", "bank.sql", "--resume", "--data-dir", self.database, "--transactions", 1000)
        self.assertEqual(run["log"], "command")
        self.check(run)

    def test_crashes(self):
        report = self.report("crash", *self.workload, "--rounds", 3, "--longest-run", 1.5, "--data-dir", self.folder / "crashes",
                             "--log", "adaptive", "--replay-cores", 16, "--execution", "interpreted")
        self.assertEqual((report["lost"], report["invented"], report["wrong_results"]), (0, 0, 0))
        self.assertEqual(set(report["schemes"]), {"clr", "clr-p"})
        self.assertTrue(all(scheme["digest_equal"] for scheme in report["schemes"].values()))

    def test_what_says_nothing_is_refused(self):
        run = ("run", *self.workload, "--data-dir", self.folder / "none")
        self.refuse(BAD_ARGUMENTS, ["--replay-cores", "--log adaptive"], *run, "--replay-cores", 4)
        self.refuse(BAD_ARGUMENTS, ["--log-growth 0.5", "1 or more"], *run, "--log", "adaptive", "--log-growth", 0.5)
        self.refuse(BAD_ARGUMENTS, ["--log adaptif", "adaptive"], *run, "--log", "adaptif")
        self.refuse(BAD_ARGUMENTS, ["--log-growth", "--log off"], "run", *self.workload, "--log", "off", "--log-growth", 2)
        self.refuse(BAD_ARGUMENTS, ["--log adaptive: there are command"], "sql", self.folder / "none", "--create", "--log", "adaptive")
        self.report("run", *self.workload, "--data-dir", self.database, "--transactions", 10, "--log", "logical")
        self.refuse(BAD_ARGUMENTS, ["goes on with a log of calls", "--log logical"], "run", "bank.sql", "--resume", "--data-dir", self.database,
                    "--log", "adaptive")


if __name__ == "__main__":
    unittest.main()
