"""Goal: checkpoints that are taken while transactions run shorten the log and lose nothing, whatever the log holds and wherever it
is written, and a kill at any moment of one leaves a good one.

Method: runs that take a checkpoint several times a second; then recovery from the newest by every scheme, and of the whole history
from the archive, must find the run's state. `mneme crash` does the same with kills. What speaks of checkpoints where none are
taken is refused.
"""

import unittest

from program import BAD_ARGUMENTS, EndToEndTest

SCHEMES = {"command": ("clr", "clr-p"), "logical": ("llr", "llr-p"), "physical": ("plr",),
           "all": ("clr", "clr-p", "llr", "llr-p", "plr")}

# Seconds that a run may go on until it has taken its checkpoints: where a machine is busy with other things, one takes seconds.
PATIENCE = (2, 8, 32)


class Checkpoint(EndToEndTest):
    def run_with_checkpoints(self, workload, *more):
        for seconds in PATIENCE:
            database, archive = self.folder / f"database-{seconds}", self.folder / f"archive-{seconds}"
            report = self.report("run", workload, "--data-dir", database, "--threads", 2, "--duration", seconds,
                                 "--checkpoint-every", 0.2, "--checkpoint-share", 50, "--log-archive", archive, *more)
            checkpoints = report["checkpoints"]
            if len(checkpoints) > 1:
                break
        self.assertGreater(len(checkpoints), 1)
        lsns = [each["lsn"] for each in checkpoints]
        self.assertEqual(lsns, sorted(set(lsns)))
        for each in checkpoints:
            self.assertGreater(each["rows"], 0)
            self.assertGreater(each["bytes"], each["rows"])
            self.assertGreaterEqual(each["seconds"], each["capture_seconds"])
            self.assertGreaterEqual(each["kept_bytes"], each["kept_images"])
        return database, archive, report

    def check_recovery(self, database, archive, run, log):
        for scheme in SCHEMES[log]:
            with self.subTest(scheme=scheme):
                newest = self.recover(database, scheme, threads=2)
                self.assertEqual(newest["state_digest"], run["state_digest"])
                self.assertEqual(newest["checkpoint_lsn"], run["checkpoints"][-1]["lsn"])
                whole = self.recover(database, scheme, threads=2, **{"log-archive": archive})
                self.assertEqual(whole["state_digest"], run["state_digest"])
                self.assertEqual(whole["checkpoint_lsn"], 0)
                self.assertGreater(whole["transactions"], newest["transactions"])

    def test_tpcc_with_a_log_of_calls(self):
        database, archive, run = self.run_with_checkpoints("tpcc")
        self.check_recovery(database, archive, run, "command")
        self.assertGreater(sum(each["kept_images"] for each in run["checkpoints"]), 0)
        for more in ((), ("--log-archive", archive)):
            verified = self.report("verify", database, *more)
            self.assertIs(verified["ok"], True)
        # Goes on from there, and the log with it.
        for seconds in PATIENCE:
            again = self.report("run", "tpcc", "--resume", "--data-dir", database, "--threads", 2, "--duration", seconds,
                                "--checkpoint-every", "replay:0.3", "--log-archive", archive)
            if again["checkpoints"]:
                break
        self.assertGreater(len(again["checkpoints"]), 0)
        self.check_recovery(database, archive, again, "command")

    def test_tatp_whose_slots_are_used_again_with_a_log_of_all(self):
        mix = "update_location=20,insert_call_forwarding=40,delete_call_forwarding=40"
        database, archive, run = self.run_with_checkpoints("tatp", "--log", "all", "--mix", mix)
        self.check_recovery(database, archive, run, "all")

    def test_smallbank_on_stripes_shortens_the_log(self):
        database, archive, run = self.run_with_checkpoints("smallbank", "--log", "logical", "--log-device", "striped")
        self.check_recovery(database, archive, run, "logical")
        if run["log_bytes"] > 200 << 20:
            self.assertGreater(sum(each["removed_segments"] for each in run["checkpoints"]), 0)

    def crash(self, workload, log, *more):
        for seconds in PATIENCE:
            report = self.report("crash", workload, "--rounds", 4, "--log", log, "--data-dir", self.folder / "crashes",
                                 "--longest-run", 0.3 * seconds, "--checkpoint-every", 0.05, *more)
            self.assertGreater(report["acknowledged"], 0)
            self.assertEqual((report["lost"], report["invented"], report["wrong_results"]), (0, 0, 0))
            if report["from_checkpoints"] + report["in_checkpoints"] > 0:
                break
        self.assertGreater(report["from_checkpoints"] + report["in_checkpoints"], 0)
        self.assertGreaterEqual(report["schemes"].keys(), set(SCHEMES[log]))
        for scheme, outcome in report["schemes"].items():
            self.assertIs(outcome["digest_equal"], True, scheme)

    def test_kills_with_a_log_of_calls(self):
        self.crash("smallbank", "command", "--log-device", "lossy", "--checkpoint-share", 100)

    def test_kills_with_a_log_of_rows(self):
        self.crash("tatp", "logical", "--log-device", "striped", "--checkpoint-share", 30)

    def test_kills_with_a_log_of_locations(self):
        mix = "update_location=20,insert_call_forwarding=40,delete_call_forwarding=40"
        self.crash("tatp", "physical", "--mix", mix, "--checkpoint-share", 100)

    def test_kills_with_persistent_memory_and_locks(self):
        self.crash("smallbank", "all", "--log-device", "nvm-lossy", "--cc", "2pl", "--threads", 4, "--checkpoint-share", 100)

    def test_kills_under_tpcc(self):
        self.crash("tpcc", "command", "--checkpoint-share", 100, "--checkpoint-threads", 2)

    def test_refuses_what_means_nothing(self):
        directory = ("--data-dir", self.folder / "none")
        self.refuse(BAD_ARGUMENTS, ["--checkpoint-share"], "run", "smallbank", *directory, "--checkpoint-share", 5)
        self.refuse(BAD_ARGUMENTS, ["--log-archive"], "run", "smallbank", *directory, "--log-archive", "somewhere")
        self.refuse(BAD_ARGUMENTS, ["--checkpoint-every", "--log off"], "run", "smallbank", "--log", "off",
                    "--checkpoint-every", 1)
        self.refuse(BAD_ARGUMENTS, ["--checkpoint-every never"], "run", "smallbank", *directory, "--checkpoint-every",
                    "never")


if __name__ == "__main__":
    unittest.main()
