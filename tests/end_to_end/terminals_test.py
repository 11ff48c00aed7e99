"""Goal: `run tpcc --terminals` has users who key in and think, the result says how it stands against the specification, and what makes no sense
is refused.

Method: a few seconds of few terminals: how many calls there are is chance's; that they are few, and of what shape the report is, is not.
"""

import unittest

import json

from program import BAD_ARGUMENTS, EndToEndTest


class Terminals(EndToEndTest):
    def test_users_key_in_and_think(self):
        ran = self.report("run", "tpcc", "--terminals", 10, "--warehouses", 1, "--threads", 2, "--duration", "3s", "--log", "off")
        self.assertEqual(ran["terminals"], 10)
        # Ten users who key in for two seconds at least make ten calls in them, and two more each in the next.
        self.assertLessEqual(ran["committed"], 30)
        # Not the gigabytes that a run without pauses would grow by.
        self.assertLess(ran["touched_ahead_bytes"], 64 << 20)
        book = ran["by_the_book"]
        self.assertEqual(book["measure"], "tpmC")
        self.assertAlmostEqual(book["per_minute"], 60 * ran["by_procedure"]["new_order"]["committed"] / ran["seconds"])
        self.assertAlmostEqual(book["share_of_most"], book["per_minute"] / 12.86)
        self.assertEqual(set(book["audit"]), set(ran["by_procedure"]))
        self.assertEqual(book["audit"]["stock_level"]["longest_response_us"], 20e6)

    def test_without_terminals_the_mix_is_audited_too(self):
        ran = self.report("run", "tpcc", "--warehouses", 1, "--threads", 2, "--transactions", 5000, "--log", "off")
        self.assertIsNone(ran["terminals"])
        book = ran["by_the_book"]
        self.assertIsNone(book["share_of_most"])
        self.assertTrue(all(part["mix_met"] for part in book["audit"].values()), book)
        self.assertAlmostEqual(sum(part["share_percent"] for part in book["audit"].values()), 100)
        ran = self.report("run", "smallbank", "--transactions", 1000, "--log", "off")
        self.assertIsNone(ran["by_the_book"]["measure"])
        self.assertEqual(ran["by_the_book"]["audit"]["balance"]["least_percent"], 15)

    def test_other_workloads_are_held_against_their_books(self):
        """A share that is off by four standard deviations, and for successes a percentage point more, is not met."""
        for workload, *options in (["smallbank"], ["tatp"], ["tpcb", "--scale", 2], ["ycsb", "--ycsb", "E"]):
            ran = self.report("run", workload, *options, "--transactions", 20_000, "--log", "off", "--audit")
            book = ran["by_the_book"]
            self.assertTrue(book["source"], workload)
            self.assertTrue(all(part["exact"] and part["mix_met"] for part in book["audit"].values()), book)
            self.assertTrue(book["shares"], workload)
            self.assertTrue(all(share["met"] for share in book["shares"].values()), book)
            self.assertEqual(book["most_per_second"], 2 if workload == "tpcb" else None)
        told = self.succeed("run", "ycsb", "--mix", "read_record=100", "--transactions", 1000, "--log", "off", "--audit").stdout
        self.assertIn("read_record: 100.00% of the calls, 50% asked for: NOT MET", told)
        self.assertRegex(told, r"calls on the most popular record: .* asked for: met")
        # Which calls choose what is counted only if asked for.
        self.assertEqual(self.report("run", "smallbank", "--transactions", 100, "--log", "off")["by_the_book"]["shares"], {})

    def test_a_warm_up_until_the_throughput_is_steady(self):
        """Whether it was steady depends on the machine: it is told in any case, and so are limits that are too short."""
        ran = self.succeed("run", "smallbank", "--log", "off", "--warmup", "steady", "--warmup-limit", "1s", "--duration", 1, "--json", self.folder / "run.json")
        self.assertIn("too short to judge", ran.stdout)
        told = json.loads((self.folder / "run.json").read_text())
        self.assertEqual((told["warmup"]["rule"], told["warmup"]["steady"], told["warmup"]["limit_seconds"]), ("steady", False, 1))
        self.assertEqual((told["warmup_seconds"], told["warmup"]["test"]), (1, "Mann-Kendall"))
        self.assertIsNone(told["warmup"]["probability"])
        growth = told["growth"]["samples"]
        self.assertGreaterEqual(len(growth), 1)
        self.assertTrue(all(sample["memory_bytes"] > 0 and sample["row_slots"] > 0 for sample in growth), growth)
        given = self.report("run", "smallbank", "--log", "off", "--warmup", "100ms", "--duration", 1)
        self.assertEqual(given["warmup"], {"rule": "seconds", "seconds": 0.1})
        self.refuse(BAD_ARGUMENTS, ["how many seconds are not measured, from 0 on, or steady"], "run", "smallbank", "--log", "off", "--warmup", "calm")
        self.refuse(BAD_ARGUMENTS, ["give --warmup steady as well"], "run", "smallbank", "--log", "off", "--warmup-limit", 5)

    def test_refusals(self):
        self.refuse(BAD_ARGUMENTS, ["smallbank has none"], "run", "smallbank", "--terminals", 1, "--log", "off")
        self.refuse(BAD_ARGUMENTS, ["say --duration in place of --transactions"], "run", "tpcc", "--terminals", 1, "--transactions", 5, "--log", "off")
        self.refuse(BAD_ARGUMENTS, ["--terminals are users who wait"], "run", "tpcc", "--terminals", 1, "--rate", 5, "--log", "off")
        self.refuse(BAD_ARGUMENTS, ["--metrics is of a standby that serves"], "follow", self.folder / "none", "--metrics", 0)


if __name__ == "__main__":
    unittest.main()
