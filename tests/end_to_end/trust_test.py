"""Goal: scripts/trust counts what was done, once, goes on where it was interrupted, and stops at the first loss with its command line.

Method: programs that tell of deaths without having any, in place of the simulator and of `mneme crash`.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

SIMULATOR = """
seed, count = int(arguments["--seed"]), int(arguments["--count"])
with open(folder / "seeds", "a") as seeds:
    seeds.write(f"{seed}\\n")
if (folder / "lose").exists():
    print("after life 1: 1 lost", file=sys.stderr)
    sys.exit(1)
print(json.dumps({"rotten_bytes": 3, "rot_refused": 2, "rot_at_the_end": 1, "settings": [
    {"log": "command", "log_buffer": "mutex", "log_device": "simulated", "checkpoints": True, "databases": count,
     "power_failures": 2 * count, "acknowledged": 10 * count}]}))
"""
MNEME = """
if sys.argv[1] == "logd":
    print("listening on 127.0.0.1:1", flush=True)
    time.sleep(600)
report = {"rounds": 6, "lost": 0, "invented": 0, "wrong_results": 0, "acknowledged": 100, "log": arguments["--log"],
          "log_buffer": "mutex", "log_device": arguments["--log-device"], "checkpoint_every": arguments["--checkpoint-every"]}
print(json.dumps(report))
"""
HEAD = """#!{}
import json, pathlib, sys, time
folder = pathlib.Path({!r})
arguments = dict(zip(sys.argv, sys.argv[1:]))
"""


class Trust(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(dir=os.getcwd())
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "tests").mkdir()
        for name, text in (("mneme", MNEME), ("tests/mneme_simulator", SIMULATOR)):
            (self.folder / name).write_text(HEAD.format(sys.executable, str(self.folder)) + text)
            (self.folder / name).chmod(0o755)

    def trust(self, *options):
        command = [ROOT / "scripts" / "trust", "--build", self.folder, "--state", self.folder / "state.json", *map(str, options)]
        return subprocess.run(command, capture_output=True, text=True, timeout=300)

    def seeds(self):
        return sorted(map(int, (self.folder / "seeds").read_text().split()))

    def test_counts_go_on_and_add_up(self):
        first = self.trust("--simulated", 300, "--kills", 12, "--jobs", 2)
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("0 lost, 0 invented", first.stdout)
        second = self.trust("--simulated", 500, "--kills", 12, "--jobs", 2)
        self.assertEqual(second.returncode, 0, second.stderr)
        run, = json.loads((self.folder / "state.json").read_text())["runs"]
        self.assertEqual((run["simulated"], run["kills"]), (500, 12))
        self.assertEqual(run["acknowledged"], 500 * 5 + 2 * 100)
        self.assertEqual(run["rotten_bytes"], 3 * 5)
        self.assertEqual(self.seeds(), [1_000_000_000 + 50 * piece for piece in range(5)])
        self.assertIn("| 500 | 12 | 2,700 | 0 | 0 |  |", self.trust("--markdown").stdout)
        self.assertIn("500 deaths", self.trust("--settings").stdout)

    def test_what_was_interrupted_is_done_again_and_nothing_twice(self):
        self.assertEqual(self.trust("--simulated", 100, "--kills", 0, "--jobs", 1).returncode, 0)
        path = self.folder / "state.json"
        state = json.loads(path.read_text())
        # The second of three pieces was under way when the other two were done.
        state["runs"][0]["done"]["simulated"] = {"below": 50, "beyond": [100]}
        path.write_text(json.dumps(state))
        (self.folder / "seeds").unlink()
        self.assertEqual(self.trust("--simulated", 300, "--kills", 0, "--jobs", 1).returncode, 0)
        self.assertEqual(self.seeds(), [1_000_000_050, 1_000_000_150])

    def test_a_loss_ends_it(self):
        (self.folder / "lose").touch()
        lost = self.trust("--simulated", 300, "--kills", 0)
        self.assertEqual(lost.returncode, 1)
        self.assertIn("mneme_simulator --json --seed 10000000", lost.stderr)
        self.assertIn("after life 1: 1 lost", lost.stderr)
        self.assertIn("FAULTY", lost.stdout)
        self.assertIn("| a fault |", self.trust("--markdown").stdout)


if __name__ == "__main__":
    unittest.main()
