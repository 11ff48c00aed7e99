"""Goal: a log of loggers and epochs loses nothing that was acknowledged, recovers to the state that ran, and says what it is.

Method: `mneme crash` on both workloads, with logs of calls, of rows and of both, also behind a volatile cache, and on a device
that never syncs, where the same check must fail. Then runs whose directories are recovered, continued and damaged.
"""

import unittest

from program import BAD_ARGUMENTS, DAMAGED, FAILED, EndToEndTest, flip_bit, mneme

EPOCH = ("--log-buffer", "epoch")


class Epoch(EndToEndTest):
    def crash(self, workload, *more):
        report = self.report("crash", workload, "--rounds", 2, "--longest-run", 0.3, "--threads", 4, *EPOCH,
                             "--data-dir", self.folder / "crashes", *more)
        self.assertGreater(report["acknowledged"], 0)
        self.assertEqual((report["lost"], report["invented"], report["wrong_results"]), (0, 0, 0))
        self.assertEqual(report["log_buffer"], "epoch")
        for scheme, outcome in report["schemes"].items():
            self.assertIs(outcome["digest_equal"], True, scheme)

    def run_it(self, directory, *more):
        return self.report("run", "smallbank", "--data-dir", directory, "--threads", 4, "--transactions", 2000, *more)

    def test_tpcc(self):
        self.crash("tpcc", "--loggers", 2)

    def test_tpcc_with_a_volatile_cache(self):
        self.crash("tpcc", "--loggers", 3, "--log-device", "lossy", "--epoch", "1ms")

    def test_smallbank_in_two_directories(self):
        self.crash("smallbank", "--log-directory", "left", "--log-directory", "right")

    def test_smallbank_with_a_log_of_rows(self):
        self.crash("smallbank", "--loggers", 2, "--log", "logical")

    def test_tpcc_with_a_log_of_both(self):
        self.crash("tpcc", "--log", "all", "--loggers", 4, "--log-device", "lossy")

    def test_smallbank_while_checkpoints_are_taken(self):
        self.crash("smallbank", "--loggers", 2, "--checkpoint-every", 0.05)

    def test_tpcc_with_a_log_of_rows_while_checkpoints_are_taken(self):
        self.crash("tpcc", "--loggers", 2, "--log", "logical", "--log-device", "lossy", "--checkpoint-every", 0.1)

    def test_notices_a_log_that_is_never_synced(self):
        result = mneme("crash", "smallbank", "--rounds", 3, "--log-device", "lossy-unsynced", "--longest-run", 0.5, *EPOCH,
                       "--data-dir", self.folder / "crashes", "--quiet")
        self.assertIn(result.returncode, (FAILED, DAMAGED), self.told(result))
        self.assertRegex(result.stderr, "lost|missing|damaged", self.told(result))

    def test_a_run_recovers_and_goes_on(self):
        directory = self.folder / "database"
        first = self.run_it(directory, *EPOCH, "--loggers", 2, "--epoch", "2ms")
        self.assertEqual((first["log_buffer"], first["loggers"], first["epoch_us"]), ("epoch", 2, 2000))
        recovered = self.recover_alike(directory)
        self.assertEqual(recovered["state_digest"], first["state_digest"])
        self.succeed("verify", directory)
        inspected = self.report("inspect", directory)
        self.assertEqual(recovered["transactions"], inspected["log_records"])
        # A transaction refused after it had its place in the log leaves a skip there, which the run counts too.
        self.assertEqual(inspected["log_records"] + inspected["log_skips"], first["log_records"])
        self.assertEqual((inspected["layout"], inspected["loggers"], inspected["pepoch"]), ("epoch", 2, first["pepoch"]))
        self.assertEqual(inspected["log_bytes"], first["log_bytes"])

        # The directory keeps its layout, which need not be given again and cannot be changed.
        second = self.run_it(directory, "--resume")
        self.assertEqual((second["log_buffer"], second["loggers"]), ("epoch", 1))
        self.assertEqual(self.recover_alike(directory)["state_digest"], second["state_digest"])
        self.refuse(BAD_ARGUMENTS, ["--log-buffer epoch"], "run", "smallbank", "--resume", "--data-dir", directory,
                    "--log-buffer", "watermark")
        third = self.run_it(directory, "--resume", *EPOCH, "--loggers", 4, "--commit", "sync")
        self.assertEqual(self.recover_alike(directory)["state_digest"], third["state_digest"])

    def test_damage_is_found(self):
        directory = self.folder / "database"
        self.run_it(directory, *EPOCH, "--loggers", 2)
        record = self.report("inspect", directory, "--limit", 1000)["records"][700]
        # Its first byte: the others may lie in the next block.
        flip_bit(directory / record["file"], record["offset"], 3)
        block = record["offset"] // 4096 * 4096
        for command in ("recover", "verify", "inspect"):
            self.refuse(DAMAGED, [record["file"], f"byte {block}", "nothing was changed"], command, directory)
        flip_bit(directory / record["file"], record["offset"], 3)
        pepoch = directory / "pepoch.log"
        pepoch.rename(directory / "away")
        self.refuse(DAMAGED, ["pepoch.log is missing"], "recover", directory)
        (directory / "away").rename(pepoch)
        self.succeed("verify", directory)

    def test_refusals(self):
        database = ("--data-dir", self.folder / "database", "--threads", 2)
        for words, arguments in [
                (["3 loggers of 2 workers"], (*EPOCH, "--loggers", 3)),
                (["striped"], (*EPOCH, "--log-device", "striped")),
                (["nvm"], (*EPOCH, "--log-device", "nvm")),
                (["--flush-interval"], (*EPOCH, "--flush-interval", 0)),
                (["--slots"], (*EPOCH, "--slots", 2)),
                (["--epoch 0"], (*EPOCH, "--epoch", 0)),
                (["--loggers", "choose epoch"], ("--loggers", 2)),
                (["--log-directory"], ("--log-directory", "somewhere"))]:
            self.refuse(BAD_ARGUMENTS, words, "run", "smallbank", *database, *arguments)
        self.assertFalse((self.folder / "database").exists())
        self.refuse(BAD_ARGUMENTS, ["mneme run"], "logbench", *EPOCH)


if __name__ == "__main__":
    unittest.main()
