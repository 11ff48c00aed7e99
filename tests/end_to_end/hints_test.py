"""Goal: a run's records have hints where replay could not know a call's keys, every scheme recovers such a log to the run's end, also after a kill,
on demand and after going on without hints; and `inspect`, `slice` and the run say so.

Method: a table of rows that point to each other, whose calls change the row that another one points to: by machine code and interpreted.
"""

import random
import unittest

from program import BAD_ARGUMENTS, EndToEndTest

NODES = 500
CALLS = 20000

POINTERS = """
CREATE TABLE node (id INT PRIMARY KEY, next INT NOT NULL, weight BIGINT NOT NULL);
CREATE PROCEDURE visit(p_id INT, p_next INT) LANGUAGE plpgsql AS $$
DECLARE v INT;
BEGIN
    SELECT next INTO v FROM node WHERE id = p_id;
    UPDATE node SET next = p_next, weight = weight * 3 % 1009 WHERE id = v;
END $$;
CREATE PROCEDURE touch(p_id INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE node SET weight = weight * 5 % 1009 WHERE id = p_id; END $$;
"""


class Hints(EndToEndTest):
    def setUp(self):
        super().setUp()
        drawn = random.Random(2)
        (self.folder / "pointers.sql").write_text(POINTERS)
        (self.folder / "rows.csv").write_text("".join(f"node,{i},{drawn.randrange(NODES)},{i}\n" for i in range(NODES)))
        (self.folder / "calls.csv").write_text("".join(
            f"visit,{drawn.randrange(NODES)},{drawn.randrange(NODES)}\n" if drawn.random() < 0.5 else f"touch,{drawn.randrange(NODES)}\n"
            for _ in range(CALLS)))
        self.workload = (self.folder / "pointers.sql", "--rows", self.folder / "rows.csv", "--calls", self.folder / "calls.csv")
        self.database = self.folder / "database"

    def run_calls(self, *options):
        return self.report("run", *self.workload, "--data-dir", self.database, "--threads", 2, "--transactions", CALLS, *options)

    def check(self, run):
        recovered = [self.recover_alike(self.database), self.report("recover", self.database, "--threads", 2, "--on-demand", 0)]
        recovered += [self.recover(self.database, threads=threads, lanes=lanes) for threads in (1, 2) for lanes in (0, 8)]
        for each in recovered:
            self.assertEqual(each["state_digest"], run["state_digest"])

    def test_each_scheme_of_calls_recovers_a_log_with_hints(self):
        run = self.run_calls()
        self.assertEqual(run["hints"], "on")
        self.assertGreater(run["hinted_records"], CALLS / 3)
        self.assertLess(run["hint_bytes"], 12 * run["hinted_records"])
        self.check(run)
        shown = self.report("inspect", self.database, "--limit", 50)["records"]
        hints = [record["hints"] for record in shown if "hints" in record]
        self.assertTrue(hints)
        self.assertRegex(hints[0][0], r"^line 7: (\(\d+\)|none)$")
        self.assertFalse([record for record in shown if "touch" in record["call"] and "hints" in record])

    def test_a_log_goes_on_with_and_without_hints(self):
        without = self.run_calls("--hints", "off", "--execution", "interpreted")
        self.assertEqual((without["hints"], without["hinted_records"], without["hint_bytes"]), ("off", 0, 0))
        self.check(without)
        run = self.report("run", "pointers.sql", "--resume", "--data-dir", self.database, "--transactions", CALLS, "--execution", "interpreted")
        self.assertGreater(run["hinted_records"], 0)
        self.check(run)
        self.check(self.report("run", "pointers.sql", "--resume", "--data-dir", self.database, "--transactions", CALLS, "--hints", "off"))

    def test_crashes(self):
        report = self.report("crash", *self.workload, "--rounds", 2, "--longest-run", 1, "--data-dir", self.folder / "crashes")
        self.assertEqual((report["lost"], report["invented"], report["wrong_results"]), (0, 0, 0))
        self.assertTrue(all(scheme["digest_equal"] for scheme in report["schemes"].values()))

    def test_slice_says_what_hints_say(self):
        blocks = self.report("slice", self.folder / "pointers.sql")["blocks"]
        finer = [way for block in blocks for table in block["tables"] for way in table["finer"]]
        self.assertIn({"lane_columns": ["id"], "in_all_lanes": [], "by_hint": ["visit (line 7)"]}, finer)
        self.assertIn("or by id with visit (line 7) by its hint", self.succeed("slice", self.folder / "pointers.sql").stdout)

    def test_what_says_nothing_is_refused(self):
        run = ("run", *self.workload, "--data-dir", self.folder / "none")
        self.refuse(BAD_ARGUMENTS, ["--hints", "--log logical"], *run, "--log", "logical", "--hints", "on")
        self.refuse(BAD_ARGUMENTS, ["--hints", "--log off"], "run", *self.workload, "--log", "off", "--hints", "on")
        self.report("run", *self.workload, "--data-dir", self.database, "--transactions", 10, "--log", "logical")
        self.refuse(BAD_ARGUMENTS, ["--hints", "--log logical"], "run", "pointers.sql", "--resume", "--data-dir", self.database, "--hints", "on")


if __name__ == "__main__":
    unittest.main()
