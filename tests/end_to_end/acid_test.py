"""Goal: `mneme acid tpcc` passes on Mneme and on a serializable PostgreSQL, by every concurrency control, and fails exactly the clauses that a
weaker isolation, or a disk that nothing syncs, breaks.

Method: one warehouse, few and short crashes. What is seen depends on time; what is right does not: each clause accepts both orders of two
transactions.
"""

import json
import unittest

from postgres import Postgres
from program import BAD_ARGUMENTS, DONE, FAILED, EndToEndTest, mneme
from serve_test import Server

ISOLATION = [f"3.4.2.{number}" for number in range(1, 10)]


class Acid(EndToEndTest):
    def acid(self, *arguments, status=DONE):
        """The outcome of each clause, and what was said on standard error."""
        file = self.folder / "acid.json"
        file.unlink(missing_ok=True)
        result = mneme("acid", "tpcc", *arguments, "--json", file)
        self.assertEqual(result.returncode, status, self.told(result))
        told = json.loads(file.read_text())
        self.assertEqual(told["ok"], status == DONE, told)
        self.assertFalse(told["partial"])
        return told, result.stderr

    @staticmethod
    def of(told, outcome):
        return [clause["clause"] for clause in told["clauses"] if clause["outcome"] == outcome]

    def on_own_server(self, *arguments, rounds=1, status=DONE):
        return self.acid("--data-dir", self.folder / "own", "--clients", 3, "--duration", 1, "--rounds", rounds, *arguments, status=status)

    def test_own_server(self):
        told, _ = self.on_own_server("--seed", 5)
        self.assertEqual(self.of(told, "failed"), [])
        self.assertEqual(self.of(told, "not run"), ["3.5.3.1"])
        self.assertEqual([clause for clause in self.of(told, "passed") if clause in ISOLATION], ISOLATION)
        self.assertIn("3.5.3.2", self.of(told, "passed"))
        self.assertIn("Mneme", told["server_version"])
        self.assertEqual(told["seed"], 5)
        # All has passed: nothing is left behind.
        self.assertFalse((self.folder / "own").exists())

    def test_locks_and_a_disk_that_nothing_syncs(self):
        # Of one crash it may keep all that was acknowledged.
        told, errors = self.on_own_server("--cc", "2pl", "--power-device", "lossy-unsynced", rounds=5, status=FAILED)
        self.assertEqual(self.of(told, "failed"), ["3.5.3.2"])
        self.assertIn("1 of the 17 clauses that were tested", errors)
        self.assertTrue((self.folder / "own" / "power").exists())
        # What is left there is not overwritten.
        result = mneme("acid", "tpcc", "--data-dir", self.folder / "own")
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertIn("nothing in it was changed", result.stderr)

    def test_postgres(self):
        postgres = Postgres()
        self.addCleanup(postgres.close)
        environment = postgres.new_database()
        target = f"host={environment['PGHOST']} user={environment['PGUSER']} dbname={environment['PGDATABASE']} password=hidden"
        told, _ = self.acid("--target", target, "--isolation", "read-committed", "--duration", 1, "--clients", 1, status=FAILED)
        self.assertEqual(self.of(told, "failed"), ["3.4.2.7", "3.4.2.8", "3.4.2.9"])
        self.assertEqual(self.of(told, "not run"), ["3.5.3.3", "3.5.3.2", "3.5.3.1"])
        self.assertNotIn("hidden", str(told))
        result = mneme("acid", "tpcc", "--target", target)
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertIn("nothing was changed: --reload", result.stderr)
        told, _ = self.acid("--target", target, "--reload", "--duration", 1, "--clients", 2, "--rounds", 1,
                            "--kill-command", postgres.command("pg_ctl", "-D", "data", "-m", "immediate", "stop"),
                            "--start-command", postgres.command(*postgres.start))
        self.assertEqual((self.of(told, "failed"), self.of(told, "not run")), ([], ["3.5.3.2", "3.5.3.1"]))
        self.assertIn("3.5.3.3", self.of(told, "passed"))

    def test_commands_that_fail(self):
        server = Server(self.folder / "served", "--create")
        self.addCleanup(server.close)
        target = f"postgresql://tester@{server.environment['PGHOST']}:{server.environment['PGPORT']}/shop"
        file = self.folder / "acid.json"
        common = ("acid", "tpcc", "--target", target, "--clients", 2, "--duration", "300ms", "--rounds", 1)
        result = mneme(*common, "--kill-command", "false", "--start-command", "true")
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertIn("the command of --kill-command failed: false", result.stderr)
        result = mneme(*common, "--reload", "--kill-command", "echo no more than words", "--start-command", "true", "--json", "-")
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertIn("did not end the server, which still answers", result.stderr)
        # What a command prints is no part of the result.
        self.assertIn("no more than words", result.stderr)
        self.assertNotIn("no more than words", result.stdout)
        # A server that does not start again does not endure.
        kill = f"kill -KILL {server.process.pid}; while kill -0 {server.process.pid} 2>/dev/null && ! grep -q '^State:.Z' /proc/{server.process.pid}/status; do sleep 0.01; done"
        result = mneme(*common, "--reload", "--kill-command", kill, "--start-command", "false", "--json", file)
        self.assertEqual(result.returncode, FAILED, self.told(result))
        failed = [clause for clause in json.loads(file.read_text())["clauses"] if clause["outcome"] == "failed"]
        self.assertEqual([clause["clause"] for clause in failed], ["3.5.3.3"])
        self.assertIn("the command of --start-command failed: false", failed[0]["detail"])

    def test_refusals(self):
        for arguments, words in [
                (("smallbank",), "smallbank is another workload"),
                (("tpcc", "--reload"), "--reload is of another server"),
                (("tpcc", "--target", "dbname=x", "--cc", "2pl"), "--cc is of the tests' own server"),
                (("tpcc", "--target", "dbname=x", "--kill-command", "true"), "say both, or neither"),
                (("tpcc", "--target", "dbname=x", "--rounds", 2), "--rounds is of crashes"),
                (("tpcc", "--isolation", "read-committed"), "serializable in any case"),
        ]:
            with self.subTest(arguments=arguments):
                result = mneme("acid", *arguments)
                self.assertEqual(result.returncode, BAD_ARGUMENTS, self.told(result))
                self.assertIn(words, result.stderr)


if __name__ == "__main__":
    unittest.main()
