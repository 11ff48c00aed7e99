"""Goal: drivers and tools that were written for PostgreSQL drive `mneme serve` as they are: SQLAlchemy over psycopg2, psycopg 3, asyncpg, Django,
pgjdbc, node-postgres, sysbench, pg_dump.

Method: programs of tests/clients, each on a fresh database, and sysbench's own workloads. Those in Python check what they are answered; those in
Java and JavaScript print it, and are run against a PostgreSQL server, too, which is to answer the same.
"""

import pathlib
import subprocess
import unittest

from bridge import Bridge
from postgres import Postgres
from program import LONGEST_COMMAND_SECONDS, EndToEndTest
from serve_test import Server

CLIENTS = pathlib.Path(__file__).resolve().parents[1] / "clients"
# The one that Debian's packages are for; another one may come first on the path.
PYTHON = "/usr/bin/python3"
PGJDBC = pathlib.Path("/usr/share/java/postgresql.jar")
WORKLOADS = ("oltp_read_write", "oltp_read_only", "oltp_write_only", "oltp_point_select", "oltp_update_index", "oltp_update_non_index",
             "oltp_insert", "oltp_delete")


class Clients(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.server = Server(self.folder / "db", "--create")
        self.addCleanup(self.server.close)

    def run_client(self, *arguments):
        result = subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True, env=self.server.environment,
                                timeout=LONGEST_COMMAND_SECONDS, check=False)
        self.assertEqual(result.returncode, 0, self.told(result))
        return result.stdout

    def test_sqlalchemy(self):
        self.run_client(PYTHON, "-B", CLIENTS / "orm_client.py", "psycopg2")

    def test_psycopg(self):
        self.run_client(PYTHON, "-B", CLIENTS / "driver_client.py")

    def test_asyncpg(self):
        self.run_client(PYTHON, "-B", CLIENTS / "asyncpg_client.py")

    def test_django(self):
        self.run_client(PYTHON, "-B", CLIENTS / "django_client.py")

    def test_pg_dump(self):
        """What pg_dump writes of a database makes the same one in PostgreSQL, and here."""
        def psql(environment, *arguments):
            result = subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-A", "-t", *arguments], capture_output=True, text=True,
                                    env={**environment, "PGOPTIONS": "-c client_min_messages=error"}, timeout=LONGEST_COMMAND_SECONDS,
                                    check=False)
            self.assertEqual(result.returncode, 0, self.told(result))
            return result.stdout

        psql(self.server.environment, "-f", CLIENTS / "dumped.sql")
        dump = self.folder / "dump.sql"
        self.run_client("pg_dump", "--no-owner", "-f", dump)
        postgres = Postgres()
        self.addCleanup(postgres.close)
        again = Server(self.folder / "again", "--create")
        self.addCleanup(again.close)
        asked = (CLIENTS / "dumped_asked.sql").read_text(encoding="utf-8")
        first = psql(self.server.environment, "-c", asked)
        for environment in (postgres.new_database(), again.environment):
            psql(environment, "-f", dump)
            self.assertEqual(psql(environment, "-c", asked), first)

    def same_as_postgres(self, *command):
        """Runs the command against both servers."""
        postgres = Postgres()
        self.addCleanup(postgres.close)
        bridge = Bridge(postgres.folder / ".s.PGSQL.5432")
        self.addCleanup(bridge.close)
        told = []
        for environment in ({**postgres.new_database(), "PGHOST": "127.0.0.1", "PGPORT": str(bridge.port)}, self.server.environment):
            result = subprocess.run([str(word) for word in command], capture_output=True, text=True, encoding="utf-8",
                                    env={**environment, "TZ": "UTC"}, timeout=LONGEST_COMMAND_SECONDS, check=False)
            self.assertEqual(result.returncode, 0, self.told(result))
            lines = result.stdout.splitlines()
            self.assertEqual(lines[-1], "== end", self.told(result))
            told.append(lines)
        self.assertEqual(told[1], told[0])

    def test_pgjdbc(self):
        classes = self.folder / "classes"
        subprocess.run(["javac", "-cp", PGJDBC, "-d", classes, *sorted(CLIENTS.glob("*.java"))], check=True)
        self.same_as_postgres("java", "-cp", f"{classes}:{PGJDBC}", "JdbcClient")

    def test_node_postgres(self):
        if not (CLIENTS / "node" / "node_modules" / "pg").is_dir():
            self.skipTest("npm has not fetched node-postgres (scripts/setup)")
        self.same_as_postgres("node", CLIENTS / "node" / "node_client.js")

    def test_sysbench(self):
        environment = self.server.environment
        common = ("sysbench", "--db-driver=pgsql", f"--pgsql-host={environment['PGHOST']}", f"--pgsql-port={environment['PGPORT']}",
                  f"--pgsql-user={environment['PGUSER']}", f"--pgsql-db={environment['PGDATABASE']}", "--tables=2", "--table-size=500")
        for workload in WORKLOADS:
            with self.subTest(workload):
                self.run_client(*common, workload, "prepare")
                told = self.run_client(*common, "--threads=2", "--events=100", "--time=0", workload, "run")
                self.assertRegex(told, r"total number of events: +100\n")
                self.run_client(*common, workload, "cleanup")


if __name__ == "__main__":
    unittest.main()
