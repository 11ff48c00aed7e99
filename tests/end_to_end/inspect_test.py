"""Goal: `inspect` shows first what a database holds: tables with their rows, procedures, the checkpoint, the log; and goes on where the
checkpoint is damaged.

Method: the numbers of Smallbank's population, before and behind a checkpoint; then a byte of the checkpoint's header is flipped.
"""

import unittest

from program import EndToEndTest, flip_bit, mneme


class Inspect(EndToEndTest):
    def test_tables_and_procedures_come_first(self):
        directory = self.folder / "db"
        self.succeed("run", "smallbank", "--transactions", 100, "--data-dir", directory)
        shown = self.report("inspect", directory)
        self.assertEqual([(table["name"], table["rows"]) for table in shown["tables"]], [("account", 18000), ("savings", 18000), ("checking", 18000)])
        for table in shown["tables"]:
            self.assertGreater(table["bytes"], table["rows"])
            self.assertEqual(table["indexes"][0], f"{table['name']}_pkey")
        self.assertIn("amalgamate", shown["procedures"])
        self.assertGreater(shown["checkpoint"]["bytes"], sum(table["bytes"] for table in shown["tables"]))
        text = mneme("inspect", directory, "--limit", 1).stdout
        self.assertRegex(text, r"\Atable       account: 18,000 rows in [\d.]+ KiB, 2 indexes\ntable       savings: 18,000 rows")
        self.assertRegex(text, r"\nprocedures  .*amalgamate.*\ncheckpoint  \S+ at LSN 0, [\d.]+ KiB\n")
        # A row that is inserted counts once a checkpoint has it.
        self.succeed("sql", directory, "--command", "CREATE TABLE more (id INT PRIMARY KEY); INSERT INTO more VALUES (1), (2);")
        self.succeed("run", "smallbank", "--resume", "--duration", "300ms", "--checkpoint-every", "100ms", "--data-dir", directory)
        self.assertEqual(self.report("inspect", directory)["tables"][-1]["rows"], 2)

    def test_a_damaged_checkpoint_is_told(self):
        directory = self.folder / "db"
        self.succeed("run", "smallbank", "--transactions", 100, "--data-dir", directory)
        whole = self.report("inspect", directory)
        flip_bit(directory / whole["checkpoint"]["file"], 20, 0)
        result = mneme("inspect", directory)
        self.assertEqual(result.returncode, 0, self.told(result))
        self.assertIn(whole["checkpoint"]["file"], result.stderr)
        shown = self.report("inspect", directory)
        self.assertIsNone(shown["tables"][0]["rows"])
        self.assertEqual(shown["log_records"], whole["log_records"])


if __name__ == "__main__":
    unittest.main()
