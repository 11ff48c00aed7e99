"""Goal: `mneme follow` is at any time what its primary's replicated log says, survives its own end, takes over when it is told to, and
refuses, with words, what it cannot follow.

Method: three NATS servers; smallbank runs on them, is killed, goes on; a standby follows, is killed, goes on, is promoted, and its
state is held against what recovery makes of the primary's log. A primary at work is deposed. Then logs that have gone on without the
standby, and options that make no sense.
"""

import json
import select
import signal
import subprocess
import time
import unittest

from on_nats import OnNats
from program import BAD_ARGUMENTS, BINARY, DAMAGED, DONE, FAILED, LONGEST_COMMAND_SECONDS, copy_database

ONE_THREAD = ("--threads", 1, "--execution", "interpreted")


class Follow(OnNats):
    def setUp(self):
        super().setUp()
        self.primary = self.folder / "primary"
        self.standby = self.folder / "standby"

    def primary_command(self, *options):
        return ("run", "smallbank", *ONE_THREAD, "--data-dir", self.primary, "--log-device", "nats", "--log-server", self.servers,
                *options)

    def start(self, *arguments):
        """Starts the program; whoever started it ends it."""
        process = subprocess.Popen([BINARY, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(lambda: self.end(process, signal.SIGKILL))
        return process

    def end(self, process, how):
        if process.poll() is None:
            process.send_signal(how)
        return process.wait(timeout=LONGEST_COMMAND_SECONDS)

    def follow(self, *options):
        """A standby that has begun to follow."""
        process = self.start("follow", self.standby, "--threads", 2, "--execution", "interpreted", "--progress", "json", "--json",
                             self.folder / "follow.json", *options)
        ready, _, _ = select.select([process.stdout], [], [], LONGEST_COMMAND_SECONDS)
        line = process.stdout.readline() if ready else ""
        if not line.startswith("following the log"):
            self.fail(process.stderr.read())
        return process

    def wait_in_step(self, process, after=0):
        """Until it tells that it has replayed all, of more than so many transactions; what it told last."""
        deadline = time.monotonic() + LONGEST_COMMAND_SECONDS
        for line in process.stderr:
            if not line.startswith("{"):
                continue
            told = json.loads(line)
            # A message may come while the lag is looked at.
            if (told.get("work") == "follow" and told["done"] > after and told["seconds_behind"] == 0 and told["messages_to_come"] == 0 and
                    (told["bytes_behind"], told["transactions_behind"]) == (0, 0) and told["lsn"] == told["log_end_lsn"]):
                return told
            self.assertLess(time.monotonic(), deadline, told)
        self.fail("the standby ended")

    def promoted(self, process):
        """Promotes it; its report."""
        self.assertEqual(self.end(process, signal.SIGUSR1), DONE, process.stderr.read())
        report = json.loads((self.folder / "follow.json").read_text())
        self.assertTrue(report["promoted"])
        return report

    def recovered(self, directory):
        return self.recover(directory, execution="interpreted")

    def test_it_follows_a_primary_that_dies_and_takes_its_place(self):
        self.report(*self.primary_command("--scale", 1, "--transactions", 500))
        # The base is had from a primary at work.
        primary = self.start(*self.primary_command("--resume", "--duration", 300, "--rate", 1000))
        standby = self.follow("--from", self.primary)
        self.wait_in_step(standby, 300)
        self.end(primary, signal.SIGKILL)
        more = self.report(*self.primary_command("--resume", "--transactions", 300))

        self.end(standby, signal.SIGKILL)
        at_rest = self.recovered(self.standby)
        self.assertLessEqual(at_rest["durable_lsn"], self.recovered(self.primary)["durable_lsn"])
        self.refuse(BAD_ARGUMENTS, ["promote"], "run", "smallbank", "--resume", *ONE_THREAD, "--data-dir", self.standby)

        standby = self.follow("--checkpoint-log", 1)
        self.refuse(FAILED, ["in use"], "recover", self.standby)
        primary = self.start(*self.primary_command("--resume", "--duration", 300, "--rate", 1000))
        self.wait_in_step(standby, 300)
        self.end(primary, signal.SIGKILL)
        report = self.promoted(standby)
        self.assertNotEqual(report["state_digest"], more["state_digest"])
        of_primary = self.recovered(self.primary)
        self.assertEqual(report["state_digest"], of_primary["state_digest"], "what the log holds is lost, or more is there")
        self.assertEqual(report["lsn"], of_primary["durable_lsn"])
        self.assertEqual(self.recovered(self.standby)["state_digest"], report["state_digest"])
        self.succeed("verify", self.standby, "--execution", "interpreted")

        # It is a database: with files, and on the servers.
        self.refuse(BAD_ARGUMENTS, ["names no replicated log"], "follow", self.folder / "other", "--from", self.file_database())
        self.report("run", "smallbank", "--resume", *ONE_THREAD, "--transactions", 100, "--data-dir", self.standby)
        again = self.report("run", "smallbank", "--resume", *ONE_THREAD, "--transactions", 100, "--data-dir", self.standby,
                            "--log-device", "nats", "--log-server", self.servers)
        self.assertEqual(self.recovered(self.standby)["state_digest"], again["state_digest"])

    def file_database(self):
        directory = self.folder / "files"
        self.report("run", "smallbank", "--scale", 1, *ONE_THREAD, "--transactions", 10, "--data-dir", directory)
        return directory

    def test_a_primary_at_work_is_deposed(self):
        primary = self.start(*self.primary_command("--scale", 1, "--duration", 300, "--rate", 1000))
        manifest = self.primary / "MANIFEST"
        while not manifest.exists() or "log_stream" not in manifest.read_text():  # nothing to follow yet
            self.assertIsNone(primary.poll())
            time.sleep(0.01)
        standby = self.follow("--from", self.primary)
        self.wait_in_step(standby, 300)
        report = self.promoted(standby)
        self.assertEqual(self.end(primary, 0), FAILED)
        self.assertIn(f"term {report['term']} of the log has begun", primary.stderr.read())
        self.assertEqual(self.recovered(self.standby)["state_digest"], report["state_digest"])

    def test_a_log_that_has_gone_on_elsewhere_is_told_of(self):
        self.report(*self.primary_command("--scale", 1, "--transactions", 200))
        copy_database(self.primary, self.standby)
        # Its next transactions are in files, and no standby hears of them.
        self.report("run", "smallbank", "--resume", *ONE_THREAD, "--transactions", 100, "--data-dir", self.primary)
        self.report(*self.primary_command("--resume", "--transactions", 100))
        self.refuse(DAMAGED, ["holds nothing of LSN", "begin it anew"], "follow", self.standby, "--promote", "--execution", "interpreted",
                    "--quiet")
        self.refuse(BAD_ARGUMENTS, ["--from"], "follow", self.standby, "--from", self.primary, "--quiet")
        # A new base has all of it.
        anew = self.folder / "anew"
        self.succeed("follow", anew, "--from", self.primary, "--promote", "--execution", "interpreted", "--quiet")
        self.assertEqual(self.recovered(anew)["state_digest"], self.recovered(self.primary)["state_digest"])
    def test_what_a_standby_holds_outlives_its_servers(self):
        self.report(*self.primary_command("--scale", 1, "--transactions", 200))
        standby = self.follow("--from", self.primary)
        self.wait_in_step(standby, 100)
        self.assertEqual(self.end(standby, signal.SIGTERM), DONE)
        report = json.loads((self.folder / "follow.json").read_text())
        self.assertFalse(report["promoted"])
        self.refuse(FAILED, ["127.0.0.1:9"], "follow", self.standby, "--promote", "--log-server", "nats://127.0.0.1:9", "--quiet")
        self.refuse(BAD_ARGUMENTS, ["--promote-as-is"], "follow", self.standby, "--promote-as-is", "--from", self.primary)
        self.succeed("follow", self.standby, "--promote-as-is")
        self.refuse(BAD_ARGUMENTS, ["no standby"], "follow", self.standby, "--promote-as-is")
        more = self.report("run", "smallbank", "--resume", *ONE_THREAD, "--transactions", 100, "--data-dir", self.standby)
        self.assertNotEqual(more["state_digest"], report["state_digest"])
        self.succeed("verify", self.standby, "--execution", "interpreted")


if __name__ == "__main__":
    unittest.main()
