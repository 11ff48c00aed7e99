"""Goal: a log in (emulated) persistent memory loses nothing that was acknowledged, finds the holes that a crash leaves, and
says what it is.

Method: `mneme crash` with more workers than processors and a latency in which most of them are killed, so that there are
holes; behind caches that a crash empties, and with the fences left out, where the same check must fail. Then runs whose
directories are recovered, continued on another device, and damaged. The same of streams whose buffers lie there, with one
stream much slower than the other; there passive group commit switched off is what the check must fail on, too.
"""

import json
import os
import unittest

from program import BAD_ARGUMENTS, DAMAGED, FAILED, EndToEndTest, flip_bit, mneme


class Nvm(EndToEndTest):
    def crash(self, workload, device, *more):
        report = self.report("crash", workload, "--rounds", 4, "--log-device", device, "--longest-run", 0.2,
                             "--data-dir", self.folder / "crashes", *more)
        self.assertGreater(report["acknowledged"], 0)
        self.assertEqual((report["lost"], report["invented"], report["wrong_results"]), (0, 0, 0))
        self.assertEqual(report["log_buffer"], "none")
        for scheme, outcome in report["schemes"].items():
            self.assertIs(outcome["digest_equal"], True, scheme)
        return report

    def run_it(self, directory, *more):
        return self.report("run", "smallbank", "--data-dir", directory, "--threads", 2, "--transactions", 2000,
                           "--log-device", "nvm", *more)

    def test_smallbank_loses_only_what_was_not_hardened(self):
        threads = max(4, 2 * os.cpu_count())
        report = self.crash("smallbank", "nvm-lossy", "--threads", threads, "--device-latency", "300us")
        self.assertGreater(report["log_holes"], 0)

    def test_tpcc_loses_only_what_was_not_hardened(self):
        self.crash("tpcc", "nvm-lossy", "--threads", 4, "--device-latency", "300us")

    def test_smallbank(self):
        self.crash("smallbank", "nvm")

    def test_tpcc_under_locks(self):
        report = self.crash("tpcc", "nvm", "--cc", "2pl")
        self.assertEqual(report["elr"], "off")

    def test_notices_a_log_that_is_never_hardened(self):
        result = mneme("crash", "smallbank", "--rounds", 3, "--log-device", "nvm-lossy-unfenced", "--data-dir",
                       self.folder / "crashes", "--quiet")
        self.assertIn(result.returncode, (FAILED, DAMAGED), self.told(result))
        self.assertRegex(result.stderr, "lost|missing", self.told(result))

    def test_a_run_recovers_and_goes_on_elsewhere(self):
        directory = self.folder / "database"
        first = self.run_it(directory)
        self.assertEqual((first["log_device"], first["log_buffer"]), ("nvm", "none"))
        self.assertIsNone(first["flush_interval_us"])
        self.assertGreaterEqual(first["device_flushes"], first["log_records"])
        self.assertGreaterEqual(first["device_bytes"], first["log_bytes"])
        recovered = self.recover_alike(directory)
        self.assertEqual(recovered["state_digest"], first["state_digest"])
        self.assertEqual((recovered["log_holes"], recovered["log_hole_bytes"]), (0, 0))
        self.succeed("verify", directory)
        self.assertEqual(self.report("inspect", directory)["log_holes"], [])

        on_files = self.report("run", "smallbank", "--resume", "--data-dir", directory, "--transactions", 500)
        self.assertEqual(self.recover_alike(directory)["state_digest"], on_files["state_digest"])
        again = self.report("run", "smallbank", "--resume", "--data-dir", directory, "--transactions", 500, "--log-device", "nvm")
        self.assertEqual(self.recover_alike(directory)["state_digest"], again["state_digest"])

    def test_damage_to_a_closed_log_is_found(self):
        directory = self.folder / "database"
        self.run_it(directory)
        record = self.report("inspect", directory, "--limit", 1000)["records"][700]
        flip_bit(directory / record["file"], record["offset"] + 20, 3)
        for command in ("recover", "verify", "inspect"):
            self.refuse(DAMAGED, [record["file"], f"byte {record['offset']}", "nothing was changed"], command, directory)
        flip_bit(directory / record["file"], record["offset"] + 20, 3)
        self.succeed("verify", directory)

    def test_a_commit_takes_the_latency(self):
        fast = self.run_it(self.folder / "fast", "--commit", "sync", "--device-latency", 0)
        slow = self.run_it(self.folder / "slow", "--commit", "sync", "--device-latency", "200us")
        self.assertGreaterEqual(slow["latency_us"]["p95"], 200)
        self.assertLess(fast["latency_us"]["p50"], slow["latency_us"]["p95"])

    def test_logbench(self):
        result = self.report("logbench", "--log-device", "nvm", "--threads", 2, "--duration", 0.2, "--data-dir",
                             self.folder / "log")
        self.assertEqual((result["device"], result["buffer"]), ("nvm", "none"))
        self.assertGreater(result["inserts"], 0)
        self.assertGreaterEqual(result["latency_us"]["p50"], 1.2)
        # Records of 120 bytes lie in two lines of 64.
        self.assertGreaterEqual(result["device_bytes"], 128 * result["inserts"])

    def test_refusals(self):
        database = ("--data-dir", self.folder / "database", "--log-device", "nvm")
        for words, arguments in [
                (["--log-buffer", "nvm"], ("--log-buffer", "watermark")),
                (["--slots"], ("--slots", 2)),
                (["no use for --io"], ("--io", "threads")),
                (["no use for --flush-interval"], ("--flush-interval", 0)),
                (["--commit async", "durable when its commit returns"], ("--commit", "async")),
                (["--commit group"], ("--commit", "group")),
                (["--elr on"], ("--cc", "2pl", "--elr", "on"))]:
            self.refuse(BAD_ARGUMENTS, words, "run", "smallbank", *database, *arguments)
        self.assertFalse((self.folder / "database").exists())
        self.refuse(BAD_ARGUMENTS, ["measures a flusher"], "logbench", *database, "--bytes", 1000)


STREAMS = ("--log-buffer", "distributed", "--streams", 2)
ONE_SLOW = ("--stream-latency", "0,300us")


class StreamsInMemory(EndToEndTest):
    def crash(self, workload, device, *more):
        report = self.report("crash", workload, "--rounds", 2, "--threads", 4, "--log-device", device, "--longest-run", 0.2,
                             *STREAMS, "--data-dir", self.folder / "crashes", *more)
        self.assertGreater(report["acknowledged"], 0)
        self.assertEqual((report["lost"], report["invented"], report["wrong_results"]), (0, 0, 0))
        self.assertEqual(report["log_buffer"], "distributed")
        for scheme, outcome in report["schemes"].items():
            self.assertIs(outcome["digest_equal"], True, scheme)
        return report

    def run_it(self, directory, *more):
        return self.report("run", "smallbank", "--data-dir", directory, "--threads", 2, "--transactions", 2000, *more)

    def test_passive_group_commit_loses_nothing(self):
        report = self.crash("smallbank", "nvm-lossy", *ONE_SLOW)
        self.assertEqual(report["group_commit"], "passive")

    def test_with_checkpoints_under_locks(self):
        report = self.crash("smallbank", "nvm-lossy", "--cc", "2pl", "--checkpoint-every", 0.1)
        self.assertEqual(report["elr"], "on")

    def test_an_archive_has_rings_of_former_lives(self):
        # There is an archive once a checkpoint has been taken: a machine with much else to do gets as long as that takes.
        for longest in (0.3, 1, 3, 10, 30):
            report = self.report("crash", "smallbank", "--rounds", 8, "--threads", 1, "--log-device", "nvm-lossy", "--longest-run", longest,
                                 "--log-buffer", "distributed", "--streams", 1, "--log", "physical", "--checkpoint-every", 0.1,
                                 "--cc", "2pl", "--elr", "off", "--seed", 1, "--data-dir", self.folder / f"crashes_{longest}")
            self.assertEqual((report["lost"], report["invented"], report["wrong_results"]), (0, 0, 0))
            if "whole log, plr" in report["schemes"]:
                break
        self.assertIs(report["schemes"]["whole log, plr"]["digest_equal"], True)

    def test_by_page_with_a_log_of_both(self):
        self.crash("smallbank", "nvm-lossy", "--partition", "page", "--log", "all", *ONE_SLOW)

    def test_durable_caches_lose_nothing(self):
        report = self.crash("smallbank", "nvm", "--group-commit", "durable-cache")
        self.assertEqual(report["group_commit"], "durable-cache")

    def notices(self, *more):
        result = mneme("crash", "smallbank", "--rounds", 6, "--threads", 4, "--longest-run", 0.2, *STREAMS, "--data-dir",
                       self.folder / "crashes", "--quiet", *more)
        self.assertIn(result.returncode, (FAILED, DAMAGED), self.told(result))
        self.assertRegex(result.stderr, "lost|missing|damaged", self.told(result))

    def test_notices_that_passive_group_commit_is_switched_off(self):
        self.notices("--log-device", "nvm-lossy", "--group-commit", "none", "--stream-latency", "0,2ms")

    def test_notices_a_log_that_is_never_fenced(self):
        self.notices("--log-device", "nvm-lossy-unfenced")

    def test_a_run_recovers_and_goes_on_elsewhere(self):
        directory = self.folder / "database"
        first = self.run_it(directory, *STREAMS, "--log-device", "nvm", "--flush-interval", 200)
        self.assertEqual((first["log_device"], first["log_buffer"], first["group_commit"]), ("nvm", "distributed", "passive"))
        self.assertEqual((first["streams"], first["flush_interval_us"]), (2, 200))
        self.assertGreater(first["group_commit_looks"], 0)
        self.assertEqual(self.recover_alike(directory)["state_digest"], first["state_digest"])
        self.succeed("verify", directory)
        on_files = self.run_it(directory, "--resume")
        self.assertIsNone(on_files["group_commit"])
        self.assertEqual(self.recover_alike(directory)["state_digest"], on_files["state_digest"])
        again = self.run_it(directory, "--resume", *STREAMS, "--log-device", "nvm", "--group-commit", "durable-cache")
        self.assertEqual((again["group_commit"], again["flush_interval_us"]), ("durable-cache", None))
        self.assertEqual(self.recover_alike(directory)["state_digest"], again["state_digest"])

    def test_damage_to_a_closed_log_is_mended_or_found(self):
        directory = self.folder / "database"
        first = self.run_it(directory, *STREAMS, "--log-device", "nvm")
        record = self.report("inspect", directory, "--limit", 1000)["records"][700]
        # Its first byte: the others may lie in the next block.
        flip_bit(directory / record["file"], record["offset"], 3)
        # The ring still holds what was destaged from it last.
        self.assertEqual(self.recover_alike(directory)["state_digest"], first["state_digest"])
        manifest = json.loads((directory / "MANIFEST").read_text().rpartition("crc32c")[0])
        for segment in manifest["segments"]:
            if segment.get("ring"):
                with open(directory / segment["file"], "r+b") as ring:
                    size = ring.seek(0, 2)
                    ring.seek(8192)
                    ring.write(bytes(size - 8192))
        for command in ("recover", "verify", "inspect"):
            self.refuse(DAMAGED, [record["file"], "nothing was changed"], command, directory)

    def test_a_synchronous_commit_waits_for_the_daemon(self):
        report = self.run_it(self.folder / "database", *STREAMS, "--log-device", "nvm", "--commit", "sync")
        self.assertEqual(report["durability"], "persistent memory (emulated)")

    def test_refusals(self):
        database = ("--data-dir", self.folder / "database", *STREAMS)
        for words, arguments in [
                (["--stream-buffer mutex"], ("--log-device", "nvm", "--stream-buffer", "mutex")),
                (["survive a crash"], ("--log-device", "nvm-lossy", "--group-commit", "durable-cache")),
                (["active is none of auto, passive"], ("--log-device", "nvm", "--group-commit", "active")),
                (["--log-device nvm"], ("--group-commit", "passive")),
                (["--flush-records"], ("--log-device", "nvm", "--flush-records", 5)),
                (["a microsecond at least"], ("--log-device", "nvm", "--flush-interval", 0)),
                (["has none"], ("--log-device", "nvm", "--group-commit", "durable-cache", "--flush-interval", 50))]:
            self.refuse(BAD_ARGUMENTS, words, "run", "smallbank", *database, *arguments)
        self.refuse(BAD_ARGUMENTS, ["choose distributed"], "run", "smallbank", "--data-dir", self.folder / "database",
                    "--group-commit", "passive")
        self.assertFalse((self.folder / "database").exists())


if __name__ == "__main__":
    unittest.main()
