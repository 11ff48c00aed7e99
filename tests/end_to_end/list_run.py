"""A database whose clients read lists and append to them (tests/clients/list_append_client.py), through kills and restarts, and the check
of what they saw (tests/isolation/list_history.py). Tests and scripts/isolation share it."""

import collections
import json
import pathlib
import signal
import subprocess
import sys

from program import REPOSITORY, mneme
from serve_test import Server

sys.path.insert(0, str(REPOSITORY / "tests" / "isolation"))
from list_history import ListHistory, explained, read_history  # noqa: E402

CLIENT = REPOSITORY / "tests" / "clients" / "list_append_client.py"
SCHEMA = REPOSITORY / "tests" / "clients" / "list_append.sql"
# The one that Debian's packages are for; another one may come first on the path.
PYTHON = "/usr/bin/python3"
DRIVERS = ("psycopg", "psycopg2")
WITHOUT_END = 10**9
PATIENCE_SECONDS = 3600


class ListRun:
    """Programs of both drivers at once, a life of the server after the other."""

    def __init__(self, folder, options=(), programs=2, threads=4, seed=1, made_with=()):
        self.folder, self.options, self.made_with = pathlib.Path(folder), options, made_with
        self.programs, self.threads, self.seed = programs, threads, seed
        self.lives = 0
        self.place = self.value = 0
        self.acknowledged = self.operations = 0
        self.errors, self.examples = collections.Counter(), {}

    @property
    def directory(self):
        return self.folder / "db"

    def histories(self):
        return sorted(self.folder.glob("history-*"))

    def serve(self):
        server = Server(self.directory, *([] if self.directory.exists() else ["--create", *self.made_with]), *self.options)
        if self.lives == 0:
            load(server.environment)
        self.lives += 1
        return server

    def work(self, environment, transactions, *kill):
        """Runs so many transactions of each program, or, with `kill`, as many as there are until the first program has killed the server."""
        clients = []
        for number in range(self.programs):
            history = self.folder / f"history-{self.lives}-{number}"
            clients.append(start_client(environment, number, history, "--transactions", transactions, "--threads", self.threads, "--seed",
                                        f"{self.seed}/{self.lives}/{number}", "--first-transaction", self.place, "--first-value", self.value,
                                        "--program", number, "--programs", self.programs, *(kill if number == 0 else ())))
        # None begins before all are connected: the first may kill the server soon. One that has failed has said nothing.
        if all([client.stdout.readline() for client in clients]):
            for client in clients:
                client.stdin.write("go\n")
                client.stdin.flush()
        reports = [report_of(client) for client in clients]
        self.place = max(min(report["place"], self.place + transactions) for report in reports)
        self.value = max(report["value"] for report in reports) + self.programs
        for report in reports:
            self.acknowledged += report["acknowledged"]
            self.operations += report["operations"]
            self.errors.update(report["errors"])
            self.examples |= report["examples"]

    def life_that_is_killed(self, kill_after):
        """Kills the server once the first program has so many acknowledged transactions."""
        server = self.serve()
        try:
            self.work(server.environment, WITHOUT_END, "--kill", server.process.pid, "--kill-after", kill_after)
            server.process.communicate(timeout=PATIENCE_SECONDS)
        finally:
            server.close()
        if server.process.returncode != -signal.SIGKILL:
            raise AssertionError(f"the server has ended by itself, with status {server.process.returncode}")

    def last_life(self, transactions):
        """Ends with a read of all lists."""
        server = self.serve()
        try:
            self.work(server.environment, transactions)
            self.read_all(server.environment)
            status, output = server.end()
        finally:
            server.close()
        if status != 0:
            raise AssertionError(f"the server ended with status {status}: {output}")

    def read_all(self, environment):
        report = report_of(start_client(environment, 0, self.folder / "history-all", "--all", "--seed", "last"))
        if report["acknowledged"] != 1:
            raise AssertionError(f"the lists were not read: {report['examples']}")

    def recover_alike(self, schemes):
        """Holds that all schemes recover the same state from the directory, which no server has open."""
        digests = {}
        for scheme in schemes:
            execution = ["--execution", "interpreted"] if scheme.startswith("clr") else []
            done = mneme("recover", self.directory, "--scheme", scheme, *execution, "--quiet", "--json", "-")
            if done.returncode != 0:
                raise AssertionError(f"recovery by {scheme} failed: {done.stderr}")
            report = json.loads(done.stdout)
            digests[scheme] = (report["state_digest"], report["durable_lsn"])
        if len(set(digests.values())) != 1:
            raise AssertionError(f"the schemes differ: {digests}")

    def check(self):
        history = ListHistory(read_history(self.histories()))
        return history, explained(history.check())


def load(environment):
    done = subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", SCHEMA], env=environment, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)


def start_client(environment, number, history, *options):
    command = [PYTHON, "-B", CLIENT, "--driver", DRIVERS[number % len(DRIVERS)], "--history", history, *options]
    return subprocess.Popen([str(each) for each in command], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def report_of(client):
    with client:
        try:
            output, errors = client.communicate(timeout=PATIENCE_SECONDS)
        finally:
            client.kill()
    if client.returncode != 0:
        raise AssertionError(f"the client has failed: {errors[-4000:]}")
    return json.loads(output)
