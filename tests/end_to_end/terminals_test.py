"""Goal: `run tpcc --terminals` has users who key in and think, the result says how it stands against the specification, and what makes no sense
is refused.

Method: a few seconds of few terminals: how many calls there are is chance's; that they are few, and of what shape the report is, is not.
"""

import unittest

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

    def test_refusals(self):
        self.refuse(BAD_ARGUMENTS, ["smallbank has none"], "run", "smallbank", "--terminals", 1, "--log", "off")
        self.refuse(BAD_ARGUMENTS, ["say --duration in place of --transactions"], "run", "tpcc", "--terminals", 1, "--transactions", 5, "--log", "off")
        self.refuse(BAD_ARGUMENTS, ["--terminals are users who wait"], "run", "tpcc", "--terminals", 1, "--rate", 5, "--log", "off")
        self.refuse(BAD_ARGUMENTS, ["--metrics is of a standby that serves"], "follow", self.folder / "none", "--metrics", 0)


if __name__ == "__main__":
    unittest.main()
