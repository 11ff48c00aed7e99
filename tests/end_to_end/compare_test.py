"""Goal: `mneme compare` reads what commands wrote, says what differs and how it judges, and its exit status says whether B has lost.

Method: real results of short runs, copied with other numbers, so that the machine's noise has no part in what must be found.
"""

import json
import subprocess
import unittest

from program import BAD_ARGUMENTS, BINARY, DONE, FAILED, REPOSITORY, EndToEndTest, mneme


class Compare(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.run_of_smallbank = self.report("run", "smallbank", "--log", "off", "--transactions", 200)

    def results(self, name, factors, **changed):
        """A folder of results, whose throughput is that of the run times a factor."""
        folder = self.folder / name
        folder.mkdir()
        for number, factor in enumerate(factors):
            result = {**self.run_of_smallbank, **changed, "throughput_tps": self.run_of_smallbank["throughput_tps"] * factor}
            (folder / f"{number}.json").write_text(json.dumps(result))
        return folder

    def test_a_loss_is_found_and_decides(self):
        usual = [1 + 0.001 * number for number in range(10)]
        slower = [0.97 * factor for factor in usual]
        before, after = self.results("before", usual), self.results("after", slower, threads=99)
        told = mneme("compare", before, after, "--json", self.folder / "comparison")
        self.assertEqual(told.returncode, FAILED, self.told(told))
        self.assertIn(f"mneme: {after} is worse than {before}, by more than chance: throughput_tps", told.stderr)
        self.assertIn("differs: threads: ", told.stdout)
        self.assertRegex(told.stdout, r"\* throughput_tps .* -3\.0% .* WORSE")
        comparison = json.loads((self.folder / "comparison").read_text())
        self.assertEqual((comparison["command"], comparison["compared"], comparison["worse"]), ("compare", "run", ["throughput_tps"]))
        self.assertEqual((comparison["first_results"], comparison["second_results"]), (10, 10))
        self.assertEqual(comparison["settings"], {"threads": {"first": str(self.run_of_smallbank["threads"]), "second": "99"}})
        metric = comparison["metrics"]["throughput_tps"]
        self.assertAlmostEqual(metric["change_percent"], -3)
        low, high = metric["interval_percent"]
        self.assertTrue(comparison["in_pairs"])
        self.assertAlmostEqual(low, -3, msg=metric)
        self.assertAlmostEqual(high, -3, msg=metric)
        self.assertLess(metric["probability"], 0.01)
        self.assertEqual((metric["better"], metric["headline"], metric["verdict"]), ("higher", True, "worse"))
        # The same again says the same, and the other way round is no loss.
        self.assertEqual(mneme("compare", before, after).stdout, told.stdout)
        self.assertEqual(mneme("compare", after, before).returncode, DONE)

    def test_single_files_are_too_few_to_judge(self):
        one = self.folder / "one"
        one.write_text(json.dumps(self.run_of_smallbank))
        told = self.succeed("compare", one, one)
        self.assertIn("all settings are alike", told.stdout)
        self.assertIn("note: there are too few results", told.stderr)

    def test_each_command_can_be_compared(self):
        database = self.folder / "database"
        self.succeed("run", "smallbank", "--data-dir", database, "--transactions", 100)
        for name, *command in (("recover", database), ("logbench", "--duration", 0.01, "--log-buffer", "all"),
                               ("crash", "smallbank", "--data-dir", self.folder / "crash", "--rounds", 1, "--longest-run", 0.1)):
            results = self.folder / name
            results.mkdir()
            for number in range(2):
                self.succeed(name, *command, "--quiet", "--json", results / f"{number}.json")
            comparison = self.report("compare", results, results)
            self.assertEqual(comparison["compared"], name)
            self.assertEqual(comparison["settings"], {}, name)
            self.assertTrue(any(metric["headline"] for metric in comparison["metrics"].values()), name)
            self.refuse(BAD_ARGUMENTS, ["compare those of one command"], "compare", results, self.results("of " + name, [1]))

    # Two runs a side are too few to judge, so that the machine has no part in the exit status.
    def test_two_programs_take_turns(self):
        output = self.folder / "results"
        command = [REPOSITORY / "scripts" / "regress", "--programs", BINARY, BINARY, "--runs", "2", "--output", output, "--", "run", "smallbank",
                   "--transactions", "50"]
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(told.returncode, DONE, self.told(told))
        self.assertIn("run: A is 2 results, B is 2 results\n  all settings are alike\n", told.stdout)
        self.assertEqual([line for line in told.stderr.splitlines() if "regress" in line],
                         [f"regress: run {run} of 2, {side}" for run, side in ((1, "A"), (1, "B"), (2, "B"), (2, "A"))])
        again = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(again.returncode, 1)
        self.assertIn("holds results already", again.stderr)

    def test_instructions_are_counted(self):
        output = self.folder / "results"
        command = [REPOSITORY / "scripts" / "regress", "--instructions", "--programs", BINARY, BINARY, "--runs", "1", "--output", output, "--"]
        told = subprocess.run([*command, "run", "tpcb", "--log", "off", "--threads", "1", "--transactions", "300"], capture_output=True, text=True, check=False)
        self.assertEqual(told.returncode, DONE, self.told(told))
        self.assertRegex(told.stdout, r"\* instructions_per_call ")
        self.assertNotIn("* throughput_tps", told.stdout)
        counts = [json.loads((output / side / "000.json").read_text())["instructions_per_call"] for side in "AB"]
        self.assertGreater(counts[0], 500)
        self.assertAlmostEqual(counts[1] / counts[0], 1, delta=0.01)
        self.assertEqual([path.name for path in sorted((output / "A").iterdir())], ["000.json"])
        refused = subprocess.run([*command, "logbench"], capture_output=True, text=True, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("--instructions counts those of run and recover, not of logbench", refused.stderr)

    def test_what_cannot_be_compared(self):
        empty = self.folder / "empty"
        empty.mkdir()
        one = self.results("one", [1])
        for words, *arguments in ((["there is no file or folder"], one, self.folder / "nowhere"), (["holds no .json file"], empty, one),
                                  (["second"], one), (["holds no JSON object"], __file__, one)):
            self.refuse(BAD_ARGUMENTS, words, "compare", *arguments)
        other = self.folder / "slices.json"
        self.succeed("slice", "tpcc", "--quiet", "--json", other)
        self.refuse(BAD_ARGUMENTS, ["holds no result of run, recover, logbench or crash"], "compare", one, other)
        metricless = self.folder / "metricless.json"
        metricless.write_text('{"command": "run"}')
        self.refuse(BAD_ARGUMENTS, ["have no metric in common"], "compare", one, metricless)


if __name__ == "__main__":
    unittest.main()
