"""Trouble for an engine at work, and what its clients were told held against what is recovered.

`mneme crash` has the clients: each notes what it sent and what was acknowledged, in the very run that fails, until the engine is
gone. Then every scheme recovers, and all that was acknowledged must be there, with its results, and nothing that nobody sent.
"""

import json
import subprocess

from program import BINARY, DONE, FAILED, LONGEST_COMMAND_SECONDS, EndToEndTest

# The second on the directory that the first one's failure left.
ROUNDS = 2
# Nobody waits for so long: an engine that goes on in its trouble is killed then, and the test fails.
LONGEST_RUN_SECONDS = 20
# The kills that `mneme crash` draws from it come both when 96 % of the longest run are over.
SEED_OF_LATE_KILLS = 35


class TroubledTest(EndToEndTest):
    def crash_result(self, answered, *options, ended=":", workload="smallbank", longest_run=LONGEST_RUN_SECONDS, within=(),
                     data_dir=None, **popen):
        """`answered`: shell commands that make the trouble once the first call is answered; they know the engine's process id as
        $MNEME_ENGINE_PROCESS. `ended`: those that mend what must be mended once it is gone. `within`: a command that runs the one
        behind it."""
        hook = self.folder / "hook"
        hook.write_text(f'set -eu\nif [ "$1" = answered ]; then {answered}\nelse {ended}\nfi\n')
        command = [*within, BINARY, "crash", workload, "--rounds", ROUNDS, "--longest-run", longest_run, "--seed", SEED_OF_LATE_KILLS,
                   "--hook", f"sh {hook}", "--execution", "interpreted", "--data-dir", data_dir or self.folder / "crashes", *options,
                   "--quiet", "--json", "-"]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=LONGEST_COMMAND_SECONDS, check=False,
                              **popen)

    def crash(self, answered, *options, ended_with=(FAILED,) * ROUNDS, excused=None, **more):
        """The report of engines that end by themselves, and what they told on standard error. Told what `excused` says, they may end otherwise."""
        result = self.crash_result(answered, "--may-end", *options, **more)
        self.assertEqual(result.returncode, DONE, self.told(result))
        report = json.loads(result.stdout)
        if excused is None or excused not in result.stderr:
            self.assertEqual(report["ended_with"], list(ended_with), self.told(result))
        self.assertEqual((report["lost"], report["invented"], report["wrong_results"]), (0, 0, 0), self.told(result))
        self.assertGreater(report["acknowledged"], 0)
        for scheme, outcome in report["schemes"].items():
            self.assertTrue(outcome["digest_equal"], scheme)
        return report, result.stderr
