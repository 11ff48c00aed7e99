"""Goal: a transaction does the same as a block of statements and as a CALL, in Mneme and in PostgreSQL.

Method: TPC-C's five transactions through psycopg, prepared, with rows and arguments from one seed (tests/clients/tpcc_client.py): as the statements that
BenchBase runs in a block, and as calls of workloads/tpcc/tpcc.sql. The four runs must return the same, and leave equal tables. What Mneme's
servers leave in their logs must recover to the same tables, too.
"""

import re
import signal
import subprocess
import unittest

from postgres import Postgres
from program import LONGEST_COMMAND_SECONDS, REPOSITORY, EndToEndTest
from serve_test import POSTGRES, Server

CLIENT = REPOSITORY / "tests" / "clients" / "tpcc_client.py"
SCHEMA = REPOSITORY / "workloads" / "tpcc" / "tpcc.sql"
PYTHON = "/usr/bin/python3"
TABLES = re.findall(r"CREATE TABLE (\w+)", SCHEMA.read_text())
TRANSACTIONS = 400


class BlocksAndCalls(EndToEndTest):
    def command(self, environment, *arguments, **popen):
        result = subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True, env=environment,
                                timeout=LONGEST_COMMAND_SECONDS, check=False, **popen)
        self.assertEqual(result.returncode, 0, self.told(result))
        return result.stdout

    def psql(self, environment, *options):
        return self.command(environment, POSTGRES / "psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", *options)

    def tables(self, environment):
        return {table: sorted(self.psql(environment, "-c", f"COPY {table} TO STDOUT").splitlines()) for table in TABLES}

    def run_all(self, environment, way):
        """What the transactions returned, and the tables that they left."""
        self.psql(environment, "-f", SCHEMA)
        told = self.command(environment, PYTHON, "-B", CLIENT, "--as", way, "--transactions", TRANSACTIONS).splitlines()
        return told, self.tables(environment)

    def test_tpcc(self):
        postgres = Postgres()
        self.addCleanup(postgres.close)
        self.assertEqual(len(TABLES), 9)
        told, tables = self.run_all(postgres.new_database(), "blocks")
        self.assertEqual(len(told), TRANSACTIONS)
        for kind in ("new_order", "payment", "order_status", "delivery", "stock_level"):
            self.assertTrue(any(line.startswith(f"{kind} (") for line in told), kind)
        self.assertIn("new_order None", told)
        self.same(self.run_all(postgres.new_database(), "calls"), (told, tables), "PostgreSQL, as calls")
        for way in ("blocks", "calls"):
            directory = self.folder / way
            server = Server(directory, "--create")
            self.addCleanup(server.close)
            self.same(self.run_all(server.environment, way), (told, tables), f"Mneme, as {way}")
            server.end(signal.SIGKILL)
            self.recover_alike(directory)
            again = Server(directory)
            self.addCleanup(again.close)
            self.same((told, self.tables(again.environment)), (told, tables), f"Mneme, as {way}, recovered")
            again.close()

    def same(self, one, other, how):
        """Without the whole tables in the message."""
        self.assertEqual(one[0], other[0], how)
        for table in TABLES:
            differing = set(one[1][table]) ^ set(other[1][table])
            self.assertEqual(sorted(differing)[:4], [], f"{table} of {how}: {len(differing)} rows differ")
            self.assertEqual(len(one[1][table]), len(other[1][table]), table)


if __name__ == "__main__":
    unittest.main()
