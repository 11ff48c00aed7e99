"""Goal: what a machine does to a program takes nothing that was acknowledged, and is told in a sentence: a file system that may only be
read, a data directory that somebody removes, memory that runs out, a wall clock that jumps.

Method: each is done to the program for real. A read-only file system needs leave to make a namespace, and is skipped without. Where
an engine at work runs out of memory, clients hold what they were told against what is recovered (trouble.py).
"""

import os
import pathlib
import resource
import shutil
import subprocess
import time
import unittest
import unittest.mock

from program import BINARY, DONE, FAILED, LONGEST_COMMAND_SECONDS, REPOSITORY, EndToEndTest
from program import fingerprint, has_records, preloaded
from trouble import ROUNDS, TroubledTest

IN_A_NAMESPACE = ("unshare", "--mount", "--map-root-user", "sh", "-ceu")
JUMPING_CLOCK = pathlib.Path(os.environ.get("MNEME_JUMPING_CLOCK", "tests/libmneme_jumping_clock.so"))
# The one source that may ask what time it is: what it is told is logged with the call.
# What now() gives in a call, which is logged, and the date of a result, on which nothing rests.
ASK_FOR_THE_TIME = {"procedures/times/timestamp.cc", "measurement/machine/host.cc"}
MIB = 1 << 20


class ReadOnly(EndToEndTest):
    def read_only(self, directory, *arguments):
        script = 'mount --bind "$1" "$1"; mount -o remount,ro,bind "$1"; shift; exec "$@"'
        command = [*IN_A_NAMESPACE, script, "sh", directory, BINARY, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_COMMAND_SECONDS, check=False)

    def test_is_read_and_not_worked_on(self):
        database = self.folder / "database"
        run = self.report("run", "smallbank", "--data-dir", database, "--transactions", 2000)
        probe = subprocess.run([*IN_A_NAMESPACE, 'mount --bind "$1" "$1"; mount -o remount,ro,bind "$1"', "sh", database],
                               capture_output=True, text=True, check=False)
        if probe.returncode != 0:
            self.skipTest(f"no leave to mount a file system of our own: {probe.stderr.strip()}")
        before = fingerprint(database)
        for command in (("recover", database), ("verify", database), ("inspect", database, "--limit", 1)):
            result = self.read_only(database, *command)
            self.assertEqual(result.returncode, DONE, self.told(result))
            if command[0] == "recover":
                self.assertIn(run["state_digest"], result.stdout, self.told(result))
        for command in (("run", "smallbank", "--resume", "--data-dir", database, "--transactions", 10),
                        ("sql", database, "--command", "SELECT 1;")):
            result = self.read_only(database, *command)
            self.assertEqual(result.returncode, FAILED, self.told(result))
            self.assertIn(f"cannot open {database}/lock: Read-only file system", result.stderr, self.told(result))
            self.assertIn("choose another place", result.stderr, self.told(result))
        result = self.read_only(database, "run", "smallbank", "--data-dir", database / "new", "--transactions", 10)
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertIn("Read-only file system", result.stderr, self.told(result))
        self.assertEqual(fingerprint(database), before)


class RemovedDirectory(EndToEndTest):
    def check(self, *options):
        database = self.folder / "database"
        with open(self.folder / "told", "w+") as told:
            run = subprocess.Popen(
                [BINARY, "run", "smallbank", "--data-dir", database, "--duration", "3600", "--threads", "1", "--quiet", *options],
                stdout=told, stderr=subprocess.STDOUT)
            try:
                deadline = time.monotonic() + LONGEST_COMMAND_SECONDS
                while not has_records(database) and run.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.02)
                self.assertIsNone(run.poll(), "the run ended before its directory was removed")
                # Files that the engine makes meanwhile may keep a directory from going at the first try.
                while database.exists() and time.monotonic() < deadline:
                    shutil.rmtree(database, ignore_errors=True)
                # It goes on for an hour where it doesn't notice.
                status = run.wait(timeout=LONGEST_COMMAND_SECONDS)
            finally:
                run.kill()
                run.wait()
            told.seek(0)
            text = told.read()
        self.assertEqual(status, FAILED, text)
        return text

    def test_under_a_run(self):
        text = self.check()
        self.assertIn("was removed while the engine worked", text)
        self.assertIn("nothing more is acknowledged", text)

    def test_under_loggers(self):
        self.assertIn("was removed while the engine worked", self.check("--log-buffer", "epoch", "--loggers", "1"))


class LittleMemory(TroubledTest):
    def run_within(self, mebibytes, *arguments, workload="smallbank"):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (mebibytes * MIB, mebibytes * MIB))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        command = [BINARY, "run", workload, "--threads", "2", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_COMMAND_SECONDS, preexec_fn=limit, check=False)

    def test_ends_with_a_sentence_and_leaves_what_was_acknowledged(self):
        database = self.folder / "database"
        whole = self.report("run", "smallbank", "--data-dir", database, "--transactions", 2000)
        refused = done = 0
        for mebibytes in (30, 45, 60, 75, 90, 110, 130, 160, 200, 300, 450, 700, 1100, 2000, 4000):
            result = self.run_within(mebibytes, "--resume", "--transactions", 500, "--data-dir", database)
            if result.returncode == DONE:
                done += 1
                break
            # At some limits the system's loader can't even map the libraries.
            if result.returncode == 127:
                continue
            refused += 1
            self.assertEqual(result.returncode, FAILED, f"{mebibytes} MiB: {self.told(result)}")
            self.assertRegex(result.stderr, "memory|cannot make|cannot allocate", self.told(result))
            self.assertNotIn("CHECK failed", result.stderr, self.told(result))
        self.assertGreater(refused, 0, "no limit was too little: the test says nothing")
        self.assertEqual(done, 1, "no limit was enough")
        self.assertGreaterEqual(self.recover_alike(database)["durable_lsn"], whole["acknowledged_lsn"])
        self.assertTrue(self.report("verify", database)["ok"])

    def test_a_population_that_does_not_fit_leaves_no_database(self):
        database = self.folder / "database"
        result = self.run_within(1000, "--scale", 16, "--transactions", 10, "--data-dir", database, workload="tpcc")
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertIn("the memory does not hold the population of tpcc: choose a smaller one", result.stderr, self.told(result))
        self.assertFalse((database / "MANIFEST").exists())

    def test_a_call_for_which_there_is_no_row(self):
        database = self.folder / "database"
        command = [BINARY, "run", "tpcb", "--data-dir", database, "--duration", "3600", "--threads", "1", "--execution", "interpreted",
                   "--touch-ahead", "off", "--quiet"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
            try:
                deadline = time.monotonic() + LONGEST_COMMAND_SECONDS
                while not has_records(database) and run.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.02)
                self.assertIsNone(run.poll(), "the run ended before its memory was taken")
                pages = int(pathlib.Path(f"/proc/{run.pid}/statm").read_text().split()[0])
                now = pages * resource.getpagesize()
                resource.prlimit(run.pid, resource.RLIMIT_AS, (now, now))
                told = run.communicate(timeout=LONGEST_COMMAND_SECONDS)[1]
            finally:
                run.kill()
        self.assertEqual(run.returncode, FAILED, told)
        self.assertIn("a call was not run: the database is full: there is no room for another row", told)
        self.assertTrue(self.report("verify", database)["ok"])

    def test_what_was_acknowledged_before_an_engine_at_work_ran_out_of_it(self):
        kibibytes_now = r"sed -n 's/^VmSize:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$MNEME_ENGINE_PROCESS/status"
        no_more = f"prlimit --pid $MNEME_ENGINE_PROCESS --as=$(($({kibibytes_now}) * 1024))"
        # A row can be refused, and the engine closes its log. What a checkpoint is made with can't: the process ends there and then,
        # and with it the cache of this device.
        for sentence, workload, options in (
            ("no room for another row", "tpcb", ("--log", "all")),
            ("the process ends here, as if it had been killed", "smallbank",
             ("--checkpoint-every", 0.1, "--checkpoint-share", 100, "--checkpoint-threads", 2, "--log-device", "lossy")),
        ):
            with self.subTest(sentence=sentence):
                _, told = self.crash(no_more, *options, workload=workload)
                self.assertEqual(told.count(sentence), ROUNDS, told)


class JumpingClock(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.asked = self.folder / "asked"
        changed = unittest.mock.patch.dict(os.environ, LD_PRELOAD=preloaded(JUMPING_CLOCK), MNEME_CLOCK_TO=str(self.asked))
        changed.start()
        self.addCleanup(changed.stop)

    def test_only_the_logged_time_is_asked_for(self):
        words = ("system_clock", "CLOCK_REALTIME", "gettimeofday", "time(nullptr)", "localtime(", "gmtime(")
        asking = set()
        for folder in ("base", "network", "logging", "engine", "procedures", "analyzer", "recovery", "workloads", "measurement", "experiments", "cli"):
            for path in (REPOSITORY / folder).rglob("*.[ch]*"):
                if not path.name.endswith("_test.cc") and any(word in path.read_text() for word in words):
                    asking.add(str(path.relative_to(REPOSITORY)))
        self.assertEqual(asking, ASK_FOR_THE_TIME)

    def test_kills_and_checkpoints(self):
        report = self.report("crash", "smallbank", "--rounds", 3, "--longest-run", "0.4", "--checkpoint-every", "0.1",
                             "--data-dir", self.folder / "database")
        self.assertEqual((report["lost"], report["invented"], report["wrong_results"]), (0, 0, 0))
        self.assertGreater(report["acknowledged"], 0)

    def test_calls_that_ask_for_the_time(self):
        database = self.folder / "database"
        script = self.folder / "script.sql"
        script.write_text("""
            CREATE TABLE visit (id INT PRIMARY KEY, at TIMESTAMP NOT NULL);
            CREATE PROCEDURE come(p_id INT) LANGUAGE plpgsql AS $$
            BEGIN INSERT INTO visit (id, at) VALUES (p_id, LOCALTIMESTAMP); END $$;
            """ + "".join(f"CALL come({number});\n" for number in range(20)))
        self.succeed("sql", database, "--create", "--file", script)
        select = ("sql", database, "--command", "SELECT at FROM visit ORDER BY id;")
        times = self.succeed(*select).stdout
        self.assertTrue(self.asked.exists(), "nobody asked the clock: the test says nothing")
        stamps = [line.strip() for line in times.splitlines() if line.strip()[:1].isdigit()]
        self.assertEqual(len(stamps), 20, times)
        self.assertNotEqual(stamps, sorted(stamps), "the clock did not jump")
        # Replayed from the log, each time anew.
        self.assertEqual(self.succeed(*select).stdout, times)
        self.recover_alike(database)


if __name__ == "__main__":
    unittest.main()
