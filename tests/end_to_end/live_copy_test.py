"""Goal: a data directory that is copied while a database works in it is recovered to a state that the database once had, or
refused with the reason, which without checkpoints is the exception; never recovered to a state that never was.

Method: TPC-B with checkpoints, copied file by file again and again while it runs. What recovers must do so alike by serial and by
parallel replay, and meet the workload's conditions: tellers, branches, accounts and history add up.
"""

import subprocess
import unittest

from program import BINARY, DAMAGED, DONE, FAILED, EndToEndTest, copy_database, mneme

COPIES = 8


class LiveCopy(EndToEndTest):
    def copies_recover(self, *options):
        data = self.folder / "data"
        self.report("run", "tpcb", "--scale", 1, "--threads", 1, "--execution", "interpreted", "--transactions", 1, "--data-dir", data)
        process = subprocess.Popen([BINARY, "run", "tpcb", "--resume", "--threads", "2", "--execution", "interpreted", "--duration",
                                    "600", "--rate", "3000", "--quiet", "--data-dir", data, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        recovered = 0
        for number in range(COPIES):
            copy = self.folder / f"copy-{number}"
            # A file may go while it is copied.
            try:
                copy_database(data, copy)
            except subprocess.CalledProcessError:
                pass
            self.assertIsNone(process.poll(), "the run goes on")
            result = mneme("recover", copy, "--quiet", "--scheme", "clr")
            if result.returncode == DONE:
                recovered += 1
                self.recover_alike(copy)
                self.assertEqual(mneme("verify", copy, "--quiet").returncode, DONE)
            else:
                self.assertIn(result.returncode, (FAILED, DAMAGED), self.told(result))
                self.assertIn(str(copy), result.stderr, self.told(result))
                self.assertGreater(len(result.stderr.strip()), 40, self.told(result))
            subprocess.run(["rm", "-rf", copy], check=True)
        return recovered

    def test_without_checkpoints_most_copies_are_recovered(self):
        # A segment that was begun after cp had listed the files is in the manifest that it copies later, and not in the copy.
        self.assertGreaterEqual(self.copies_recover(), COPIES // 2)

    def test_beside_checkpoints_copies_are_recovered_or_refused(self):
        self.copies_recover("--checkpoint-every", "0.3")


if __name__ == "__main__":
    unittest.main()
