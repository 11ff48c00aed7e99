"""Goal: a log of several streams loses nothing that was acknowledged, recovers to the state that ran, and says what it is.

Method: `mneme crash` with each partitioning and several numbers of streams, some of them much slower than others, with logs of
calls, of rows and of both, also behind a volatile cache, and on a device that never syncs, where the same check must fail. Then
a run whose directory is recovered, continued with another number of streams, and damaged.
"""

import unittest

from program import BAD_ARGUMENTS, DAMAGED, FAILED, EndToEndTest, flip_bit, mneme

DISTRIBUTED = ("--log-buffer", "distributed")


class Distributed(EndToEndTest):
    def crash(self, workload, *more):
        report = self.report("crash", workload, "--rounds", 2, "--longest-run", 0.3, "--threads", 4, *DISTRIBUTED,
                             "--data-dir", self.folder / "crashes", *more)
        self.assertGreater(report["acknowledged"], 0)
        self.assertEqual((report["lost"], report["invented"], report["wrong_results"]), (0, 0, 0))
        self.assertEqual(report["log_buffer"], "distributed")
        for scheme, outcome in report["schemes"].items():
            self.assertIs(outcome["digest_equal"], True, scheme)

    def run_it(self, directory, *more):
        return self.report("run", "smallbank", "--data-dir", directory, "--threads", 4, "--transactions", 2000, *more)

    def test_streams_of_different_rates_with_a_volatile_cache(self):
        self.crash("smallbank", "--streams", 2, "--stream-latency", "0,5ms", "--log-device", "lossy")

    def test_eight_streams_with_checkpoints(self):
        self.crash("smallbank", "--streams", 8, "--stream-latency", "0,1ms", "--checkpoint-every", 0.1)

    def test_by_page_with_a_log_of_both(self):
        self.crash("smallbank", "--streams", 4, "--partition", "page", "--log", "all", "--log-device", "lossy",
                   "--stream-latency", "0,1ms,0,3ms")

    def test_notices_a_log_that_is_never_synced(self):
        result = mneme("crash", "smallbank", "--rounds", 3, "--log-device", "lossy-unsynced", "--longest-run", 0.5,
                       *DISTRIBUTED, "--data-dir", self.folder / "crashes", "--quiet")
        self.assertIn(result.returncode, (FAILED, DAMAGED), self.told(result))
        self.assertRegex(result.stderr, "lost|missing|damaged", self.told(result))

    def test_a_run_recovers_goes_on_and_is_damaged(self):
        directory = self.folder / "database"
        first = self.run_it(directory, *DISTRIBUTED, "--streams", 3, "--stream-buffer", "hybrid")
        self.assertEqual((first["log_buffer"], first["streams"]), ("distributed", 3))
        recovered = self.recover_alike(directory)
        self.assertEqual(recovered["state_digest"], first["state_digest"])
        inspected = self.report("inspect", directory)
        self.assertEqual((inspected["layout"], inspected["streams"]), ("distributed", 3))
        self.assertEqual(inspected["log_bytes"], first["log_bytes"])
        # The directory keeps its layout, which need not be given again and cannot be changed. The number of streams can.
        self.run_it(directory, "--resume")
        self.refuse(BAD_ARGUMENTS, ["--log-buffer distributed"], "run", "smallbank", "--resume", "--data-dir", directory,
                    "--log-buffer", "watermark")
        third = self.run_it(directory, "--resume", *DISTRIBUTED, "--streams", 1, "--commit", "sync")
        self.assertEqual(self.recover_alike(directory)["state_digest"], third["state_digest"])
        record = self.report("inspect", directory, "--limit", 1000)["records"][700]
        # Its first byte: the others may lie in the next block.
        flip_bit(directory / record["file"], record["offset"], 3)
        for command in ("recover", "verify", "inspect"):
            self.refuse(DAMAGED, [record["file"], "nothing was changed"], command, directory)

    def test_refusals(self):
        database = ("--data-dir", self.folder / "database", "--threads", 2)
        for words, arguments in [
                (["65 streams"], (*DISTRIBUTED, "--streams", 65)),
                (["striped"], (*DISTRIBUTED, "--log-device", "striped")),
                (["--log-device nvm"], (*DISTRIBUTED, "--group-commit", "passive")),
                (["--slots"], (*DISTRIBUTED, "--slots", 2)),
                (["--partition page", "command", "--log physical"], (*DISTRIBUTED, "--partition", "page")),
                (["--partition: table is none of transaction, page"], (*DISTRIBUTED, "--partition", "table")),
                (["there is no log buffer"], (*DISTRIBUTED, "--stream-buffer", "epoch")),
                (["--streams", "choose distributed"], ("--streams", 2))]:
            self.refuse(BAD_ARGUMENTS, words, "run", "smallbank", *database, *arguments)
        self.assertFalse((self.folder / "database").exists())


if __name__ == "__main__":
    unittest.main()
