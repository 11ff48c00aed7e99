# Goal: the tests that watch over isolation can fail: an engine that does not validate what was read is caught.
# Method: those sabotages of tests/sabotages.toml that leave out validation; `scripts/sabotage` alone makes them all.
import os
import pathlib
import subprocess
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ["MNEME"]).parent


def sabotage(*words):
    return subprocess.run([ROOT / "scripts" / "sabotage", "--build", BUILD, *words], capture_output=True, text=True)


class Sabotages(unittest.TestCase):
    def test_an_engine_without_validation_is_caught(self):
        done = sabotage("validated")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("3 of 3 sabotages were noticed", done.stdout)

    def test_each_finds_what_it_changes(self):
        entries = tomllib.loads((ROOT / "tests" / "sabotages.toml").read_text())["sabotage"]
        self.assertGreater(len(entries), 70)
        for entry in entries:
            with self.subTest(entry["what"]):
                self.assertEqual((ROOT / entry["file"]).read_text().count(entry["old"]), 1)

    def test_no_sabotage_of_that_name_is_said(self):
        done = sabotage("nonesuch")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no sabotage has these words", done.stderr)


if __name__ == "__main__":
    unittest.main()
