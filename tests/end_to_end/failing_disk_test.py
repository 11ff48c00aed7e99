"""Goal: a disk that fails a write or a sync ends the engine with status 1 and a sentence, and takes nothing that was acknowledged in
that very run; a sync that failed is never tried again as if it could still work.

Method: a library between the program and its disk (tests/failing_disk.cc), which fails one write or sync of an engine at work, and
no other: who tries again is told that all is well, though what the failed sync was to cover is gone. Clients hold what they were told
against what is recovered (trouble.py). The log is written by threads, as the library stands before the C library's calls.
"""

import errno
import os
import pathlib
import re
import unittest

from program import preloaded
from trouble import ROUNDS, TroubledTest

FAILING_DISK = pathlib.Path(os.environ.get("MNEME_FAILING_DISK", "tests/libmneme_failing_disk.so"))
# The log's threads call pwritev2, and fdatasync unless they write through. No other thread calls these but the one that prepares segments,
# whose calls are spared.
SEGMENTS = "*/log-*.segment"
PEPOCH = "*/pepoch.log"
FALLS_SHORT = 0
ADVICE = "all that was acknowledged is durable; mend the device and run with --resume"


class FailingDisk(TroubledTest):
    def check(self, sentence, call, files, error, *options, spares=5, engines=(ROUNDS,), **more):
        """So many engines meet the fault, each of them unless they may be killed before, and say so."""
        trouble, met = self.folder / "trouble", self.folder / "met"
        met.unlink(missing_ok=True)
        environment = dict(os.environ, LD_PRELOAD=preloaded(FAILING_DISK), MNEME_DISK_CALL=call, MNEME_DISK_FILES=files,
                           MNEME_DISK_ERROR=str(error), MNEME_DISK_SPARES=str(spares), MNEME_DISK_TROUBLE=str(trouble),
                           MNEME_DISK_SPARED_THREAD="segments")
        report, told = self.crash(f": > {trouble}", "--io", "threads", *options, ended=f"cat {trouble} >> {met}; rm {trouble}",
                                  env=environment, **more)
        count = len(met.read_text().splitlines())
        self.assertIn(count, engines, "an engine has not met the fault")
        self.assertEqual(len(re.findall(sentence, told)), count, told)
        return report

    def test_a_sync_of_the_log(self):
        for spares, options in (
            (0, ()),
            (1, ("--io-depth", 1, "--log", "all")),
            (30, ("--threads", 4)),
            (3, ("--log-device", "striped", "--log", "logical")),
            (10, ("--log-buffer", "epoch", "--loggers", 2)),
            (10, ("--log-buffer", "distributed", "--streams", 2)),
        ):
            with self.subTest(options=options):
                self.check(rf"mneme: cannot sync \S*segment: Input/output error \(the device fails.*\); {ADVICE}",
                           "fdatasync", SEGMENTS, errno.EIO, *options, spares=spares)

    def test_a_write_of_the_log(self):
        device_fails, no_room = r"Input/output error \(the device fails.*\)", r"No space left on device \(make room.*\)"
        for error, why, options in (
            (errno.EIO, device_fails, ()),
            (errno.EIO, device_fails, ("--io-sync", "write-through")),
            (errno.ENOSPC, no_room, ("--log", "logical")),
        ):
            with self.subTest(why=why, options=options):
                self.check(rf"mneme: cannot write \S*segment at byte \d+: {why}; {ADVICE}", "pwritev2", SEGMENTS, error, *options)

    def test_a_write_of_the_log_that_falls_short(self):
        self.check(rf"mneme: a write to \S*segment at byte \d+ fell short; {ADVICE}", "pwritev2", SEGMENTS, FALLS_SHORT)

    def test_the_file_that_tells_which_epochs_are_durable(self):
        for error, why in ((errno.EIO, r"Input/output error.*"), (FALLS_SHORT, "it fell short")):
            with self.subTest(why=why):
                self.check(rf"mneme: cannot write \S*pepoch.log at byte \d+: {why}; {ADVICE}", "pwritev2", PEPOCH, error,
                           "--log-buffer", "epoch", "--loggers", 2)

    def test_without_a_checkpoint_that_fails_the_engine_goes_on(self):
        for call, files, error, spares in (
            ("fdatasync", "*/checkpoint-*", errno.EIO, 4),
            ("pwrite", "*/checkpoint-*", errno.ENOSPC, 40),
            ("fsync", "*/MANIFEST.tmp", errno.EIO, 3),
            # The directory's syncs are for the new checkpoint and for the new manifest, by turns.
            ("fsync", "*/crashed", errno.EIO, 6),
            ("fsync", "*/crashed", errno.EIO, 7),
        ):
            # The log may be making a segment in that directory at the time. Whether it is there for good it then cannot know.
            excused = "another sync of it has failed meanwhile" if files == "*/crashed" else None
            with self.subTest(call=call, files=files, spares=spares):
                report = self.check("a checkpoint failed: cannot", call, files, error, "--checkpoint-every", 0.05, "--checkpoint-share",
                                    100, spares=spares, engines=range(1, ROUNDS + 1), ended_with=(), excused=excused, longest_run=1.5)
                self.assertGreater(report["from_checkpoints"], 0)


if __name__ == "__main__":
    unittest.main()
