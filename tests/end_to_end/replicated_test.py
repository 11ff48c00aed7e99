"""Goal: `--log-device nats` keeps what a majority of a cluster's memories has acknowledged, through killed engines and servers,
obeys the newest engine alone, and refuses what it must, with words.

Method: three NATS servers, as scripts/replicated-log starts them; TPC-C and Smallbank runs that are killed; `mneme crash`; then
digests of what is recovered by itself and by the next run. Kafka needs a broker that no package has: what of it can be tested
without one is in logging/replicated/replicated_log_test.cc.
"""

import json
import signal
import subprocess
import time
import unittest
import urllib.request

from program import BAD_ARGUMENTS, BINARY, DAMAGED, FAILED, LONGEST_COMMAND_SECONDS, REPOSITORY
from program import EndToEndTest, copy_database, fingerprint

SMALL = ("smallbank", "--scale", 1, "--threads", 1, "--execution", "interpreted")
TPCC = ("tpcc", "--scale", 1, "--threads", 1, "--execution", "interpreted")


class Replicated(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.cluster = self.folder / "nats"
        self.servers = self.script("start")
        self.addCleanup(self.script, "stop")
        self.data = self.folder / "data"

    def script(self, action, *more):
        command = [REPOSITORY / "scripts" / "replicated-log", "nats", action, self.cluster, *more]
        result = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.strip()

    def device(self, *more):
        return ("--log-device", "nats", "--log-server", self.servers, *more)

    def manifest(self, directory):
        text = (directory / "MANIFEST").read_text()
        return json.loads(text[: text.rindex("crc32c ")])

    def start_run(self, *arguments):
        process = subprocess.Popen([BINARY, *map(str, ("run", *arguments, "--quiet", "--json", "-"))], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def messages(self, stream):
        """How many messages the stream has, and the number of the server that leads it, as far as any server knows."""
        for each in json.loads((self.cluster / "state.json").read_text())["servers"]:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{each['monitor']}/jsz?streams=1", timeout=2) as answer:
                    told = json.load(answer)
            except OSError:
                continue
            for account in told.get("account_details", []):
                for found in account.get("stream_detail", []):
                    if found["name"] == stream:
                        return found["state"]["messages"], found.get("cluster", {}).get("leader")
        return 0, None

    def wait_for(self, what, why):
        deadline = time.monotonic() + LONGEST_COMMAND_SECONDS
        while not what():
            self.assertLess(time.monotonic(), deadline, why)
            time.sleep(0.02)

    def wait_for_messages(self, count):
        """Until the run has written so many to its log."""
        self.wait_for(lambda: (self.data / "MANIFEST").exists() and "log_stream" in self.manifest(self.data)["attributes"],
                      "the run never began its log")
        stream = self.manifest(self.data)["attributes"]["log_stream"]
        self.wait_for(lambda: self.messages(stream)[0] >= count, "the run writes no log")
        # An engine that has no work writes two a second.
        self.wait_for(lambda: self.is_at_work(stream), "the run does nothing")

    def is_at_work(self, stream):
        before = self.messages(stream)[0]
        time.sleep(1)
        return self.messages(stream)[0] > before + 5

    def test_a_killed_tpcc_run_is_recovered_from_the_memories(self):
        process = self.start_run(*TPCC, "--duration", 300, "--data-dir", self.data, *self.device())
        self.wait_for_messages(30)
        process.kill()
        process.wait()
        self.assertEqual(list((self.data / "remote").iterdir()), [], "the log lies in no file")
        recovered = self.recover_alike(self.data)
        self.assertGreater(recovered["transactions"], 100)
        # One of the three is gone: the other two have it, and go on.
        self.script("kill", "0")
        self.assertEqual(self.recover(self.data)["state_digest"], recovered["state_digest"])
        run = self.report("run", "tpcc", "--resume", "--threads", 1, "--execution", "interpreted", "--transactions", 300,
                          "--data-dir", self.data, *self.device())
        self.assertEqual(run["durability"], "2 of 3 memories (NATS)")
        after = self.recover_alike(self.data)
        self.assertEqual(after["state_digest"], run["state_digest"])

        # All come back with nothing: the log is lost, that is told, and nothing is changed.
        before = fingerprint(self.data)
        for number in (1, 2):
            self.script("kill", str(number))
        for number in range(3):
            self.script("restart", str(number))
        # Until they have a leader it may yet be there.
        deadline = time.monotonic() + LONGEST_COMMAND_SECONDS
        while time.monotonic() < deadline:
            result = subprocess.run([BINARY, "recover", str(self.data), "--quiet"], capture_output=True, text=True, check=False)
            if result.returncode != FAILED:
                break
            time.sleep(0.25)
        self.assertEqual(result.returncode, DAMAGED, self.told(result))
        self.assertIn("the log is lost", result.stderr)
        self.assertIn("backup", result.stderr)
        self.assertEqual(fingerprint(self.data), before)

    def test_a_run_outlives_the_leader(self):
        process = self.start_run(*SMALL, "--duration", 300, "--commit", "sync", "--data-dir", self.data,
                                 *self.device("--log-stream", "bank"))
        self.wait_for_messages(10)
        leader = self.script("leader", "bank")
        self.script("kill", leader)
        # The others choose a leader within nine seconds; until then commits wait.
        self.wait_for(lambda: self.messages("bank")[1] not in (None, f"n{leader}"), "there is no new leader")
        count = self.messages("bank")[0]
        self.wait_for(lambda: self.messages("bank")[0] > count + 10, "it doesn't go on with two of three")
        self.assertIsNone(process.poll(), "it goes on")
        process.kill()
        process.wait()
        self.assertGreater(self.recover_alike(self.data)["transactions"], 20)

    def test_the_newest_engine_is_obeyed_alone(self):
        process = self.start_run(*SMALL, "--duration", 300, "--data-dir", self.data, *self.device())
        self.wait_for_messages(10)
        process.send_signal(signal.SIGSTOP)
        copy = self.folder / "copy"
        copy_database(self.data, copy)
        run = self.report("run", "smallbank", "--resume", "--threads", 1, "--execution", "interpreted", "--transactions", 100,
                          "--data-dir", copy, *self.device())
        process.send_signal(signal.SIGCONT)
        _, errors = process.communicate(timeout=LONGEST_COMMAND_SECONDS)
        self.assertEqual(process.returncode, FAILED, errors)
        self.assertIn("refuses this engine", errors)
        self.assertEqual(self.recover_alike(copy)["state_digest"], run["state_digest"])
        self.refuse(DAMAGED, ["older than its log"], "recover", self.data, "--quiet")

    def test_crashes_lose_nothing_that_a_majority_has(self):
        crash = self.report("crash", *SMALL, "--rounds", 3, "--longest-run", 0.2, *self.device(), "--data-dir",
                            self.folder / "crash")
        self.assertGreater(crash["acknowledged"], 0)
        self.assertEqual((crash["lost"], crash["invented"]), (0, 0))

    def test_options_that_make_no_sense_are_refused(self):
        data = ("--data-dir", self.data)
        self.refuse(BAD_ARGUMENTS, ["--log-server"], "run", *SMALL, *data, "--log-device", "nats")
        self.refuse(BAD_ARGUMENTS, ["--log-stream"], "run", *SMALL, *data, "--log-stream", "x")
        self.refuse(BAD_ARGUMENTS, ["--log-stream"], "run", *SMALL, *data, *self.device("--log-stream", "a.b"))
        self.refuse(BAD_ARGUMENTS, ["--log-replicas", "5 copies"], "run", *SMALL, *data, *self.device("--log-replicas", 5))
        self.refuse(BAD_ARGUMENTS, ["epoch"], "run", *SMALL, *data, *self.device("--log-buffer", "epoch"))
        self.refuse(FAILED, ["no NATS server answers"], "run", *SMALL, *data, "--log-device", "nats", "--log-server", "127.0.0.1:1")
        self.refuse(FAILED, ["no Kafka broker answers"], "run", *SMALL, *data, "--log-device", "kafka", "--log-server",
                    "127.0.0.1:1")
        self.assertFalse(self.data.exists(), "what is refused leaves nothing behind")


if __name__ == "__main__":
    unittest.main()
