"""Goal: a kill at any moment loses no acknowledged transaction and invents none; and the check for that works.

Method: `mneme crash` on both workloads and both devices, with logs of calls, of rows and of both, on other ways to write and to group what is written, and under
two-phase locking; then on a device that never syncs, where the same check must find losses or damage.
"""

import unittest

from program import BAD_ARGUMENTS, DAMAGED, FAILED, EndToEndTest, mneme

# Two on a directory, the second going on where the first was killed; scripts/crash-campaign does more of them.
ROUNDS = 2
ROW_SCHEMES = ("llr", "llr-p")


class Crash(EndToEndTest):
    def crash(self, workload, device, *more, cc="occ", elr="on", log="command", schemes=("clr", "clr-p")):
        directory = self.folder / "crashes"
        arguments = ("crash", workload, "--rounds", ROUNDS, "--log-device", device, "--data-dir", directory)
        report = self.report(*arguments, "--cc", cc, "--elr", elr, "--log", log, *more)
        self.assertEqual(report["command"], "crash")
        self.assertEqual(report["workload"], workload)
        self.assertEqual((report["cc"], report["elr"]), (cc, elr))
        self.assertEqual(report["rounds"], ROUNDS)
        self.assertEqual(len(report["crashed_at"]), ROUNDS)
        self.assertGreater(min(report["crashed_at"]), 0)
        self.assertGreater(report["acknowledged"], 0)
        self.assertEqual(report["lost"], 0)
        self.assertEqual(report["invented"], 0)
        self.assertEqual(report["log"], log)
        self.assertEqual(report["schemes"].keys(), set(schemes))
        for scheme, outcome in report["schemes"].items():
            self.assertIs(outcome["digest_equal"], True, scheme)
            self.assertGreater(outcome["seconds"], 0, scheme)

    def test_tpcc(self):
        self.crash("tpcc", "file")

    def test_smallbank(self):
        self.crash("smallbank", "file")

    def test_tpcc_with_a_volatile_cache(self):
        self.crash("tpcc", "lossy")

    def test_smallbank_with_a_volatile_cache(self):
        self.crash("smallbank", "lossy")

    def test_stripes_written_through(self):
        self.crash("smallbank", "striped", "--longest-run", 0.2, "--io-sync", "write-through", "--flush-interval", 0)

    def test_small_groups_on_a_slow_device_by_threads(self):
        self.crash("tpcc", "file", "--longest-run", 0.2, "--io", "threads", "--io-unit", 4096, "--io-depth", 3,
                   "--device-latency", "500us", "--flush-interval", 2000, "--flush-records", 20)

    def test_tpcc_under_locks_that_are_released_early(self):
        self.crash("tpcc", "lossy", "--longest-run", 0.2, cc="2pl")

    def test_smallbank_under_locks_that_outlast_their_transactions(self):
        self.crash("smallbank", "lossy", "--longest-run", 0.2, cc="2pl", elr="off")

    def test_tpcc_with_a_log_of_rows(self):
        self.crash("tpcc", "lossy", "--longest-run", 0.3, log="logical", schemes=ROW_SCHEMES)

    def test_smallbank_with_a_log_of_rows(self):
        self.crash("smallbank", "lossy", "--longest-run", 0.3, log="logical", schemes=ROW_SCHEMES)

    def test_tpcc_with_a_log_of_calls_and_rows(self):
        self.crash("tpcc", "file", "--longest-run", 0.3, log="all", schemes=("clr", "clr-p", *ROW_SCHEMES, "plr"))

    def test_tpcc_with_a_log_of_locations(self):
        self.crash("tpcc", "lossy", "--longest-run", 0.3, log="physical", schemes=("plr",))

    def test_tatp_whose_slots_are_used_again(self):
        mix = "update_location=20,insert_call_forwarding=40,delete_call_forwarding=40"
        # The first answer, from which on the kill may come, can be that of a call that found nothing to change.
        self.crash("tatp", "file", "--longest-run", 3, "--mix", mix, log="physical", schemes=("plr",))

    def test_tpcc_taken_apart_in_other_ways(self):
        directory = self.folder / "crashes"
        report = self.report("crash", "tpcc", "--rounds", 2, "--longest-run", 0.2, "--data-dir", directory, "--execution",
                             "interpreted", "--replay", "synchronous", "--conflicts", "table", "--elide", "unwritten",
                             "--coalesce", "on")
        self.assertIs(report["schemes"]["clr-p"]["digest_equal"], True)
        self.assertEqual((report["replay"], report["conflicts"], report["elide"]), ("synchronous", "table", ["unwritten"]))
        self.assertEqual((report["decompose"], report["coalesce"]), ("pacman", "on"))
        chopped = self.report("crash", "smallbank", "--rounds", 1, "--longest-run", 0.1, "--data-dir", directory, "--execution",
                              "interpreted", "--replay", "static", "--decompose", "chopping")
        self.assertIs(chopped["schemes"]["clr-p"]["digest_equal"], True)
        self.assertEqual((chopped["replay"], chopped["decompose"]), ("static", "chopping"))

    def test_refuses_ways_to_take_apart_what_has_no_calls(self):
        for option in (("--conflicts", "table"), ("--replay", "static"), ("--coalesce", "off")):
            self.refuse(BAD_ARGUMENTS, ["clr-p"], "crash", "smallbank", "--log", "logical", *option)
        self.refuse(BAD_ARGUMENTS, ["row is none of column, table"], "crash", "smallbank", "--conflicts", "row")

    def test_notices_an_engine_that_never_syncs(self):
        arguments = ("crash", "smallbank", "--rounds", 3, "--log-device", "lossy-unsynced")
        result = mneme(*arguments, "--data-dir", self.folder / "crashes", "--quiet")
        self.assertIn(result.returncode, (FAILED, DAMAGED), self.told(result))
        self.assertRegex(result.stderr, "lost|durable", self.told(result))

    def test_fails_where_recovery_refuses_the_directory(self):
        """Whatever status a refusal has elsewhere: that of a wrong option would pass for a setting that doesn't go together."""
        crashes = self.folder / "crashes"
        hook = f"sh -c 'if [ $0 = killed ]; then rm {crashes}/crashed/MANIFEST; fi'"
        self.refuse(FAILED, ["round 1 of 1: ", "MANIFEST is missing, and the directory holds files of a database", "The directory is left as it is: "], "crash", "smallbank",
                    "--rounds", 1, "--hook", hook, "--data-dir", crashes, "--quiet")
        self.assertTrue((crashes / "crashed").is_dir())


if __name__ == "__main__":
    unittest.main()
