"""Goal: a run goes on with a database that any scheme which fits its log has recovered, and says what that took.

Method: logs of calls, rows and locations; the state after each scheme's recovery and no call more is that of the run before.
"""

import unittest

from program import BAD_ARGUMENTS, EndToEndTest, copy_database


class Resume(EndToEndTest):
    def test_each_scheme(self):
        for log, schemes in [("command", ("clr", "clr-p")), ("logical", ("llr", "llr-p")), ("physical", ("plr",))]:
            made = self.folder / log
            ran = self.report("run", "smallbank", "--threads", 2, "--transactions", 3000, "--log", log, "--data-dir", made)
            for scheme in schemes:
                with self.subTest(scheme=scheme):
                    directory = self.folder / f"{log}-{scheme}"
                    copy_database(made, directory)
                    resumed = self.report("run", "smallbank", "--resume", "--scheme", scheme, "--threads", 2, "--transactions", 1000, "--data-dir", directory)
                    self.assertEqual(resumed["recovered"]["scheme"], scheme)
                    self.assertGreater(resumed["recovered"]["total_seconds"], 0)
                    # What came before the window is there as seconds without a commit.
                    self.assertGreaterEqual(len(resumed["throughput_since_open"]), len(resumed["throughput_per_second"]))
                    verified = self.report("recover", directory)
                    self.assertEqual(verified["state_digest"], resumed["state_digest"])
                    self.assertNotEqual(verified["state_digest"], ran["state_digest"])

    def test_refusals(self):
        directory = self.folder / "db"
        self.refuse(BAD_ARGUMENTS, ["give --resume as well"], "run", "smallbank", "--scheme", "clr", "--data-dir", directory)
        self.succeed("run", "smallbank", "--transactions", 100, "--log", "logical", "--data-dir", directory)
        again = ("run", "smallbank", "--resume", "--transactions", 10, "--data-dir", directory)
        self.refuse(BAD_ARGUMENTS, ["clr"], *again, "--scheme", "clr")
        self.refuse(BAD_ARGUMENTS, ["none-such"], *again, "--scheme", "none-such")
        self.refuse(BAD_ARGUMENTS, ["leave out --open on-demand"], *again, "--scheme", "llr-p", "--open", "on-demand")


if __name__ == "__main__":
    unittest.main()
