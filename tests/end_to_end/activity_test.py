"""Goal: pg_stat_activity shows what each session does, and which one waits for another's transaction, under either way to keep them apart.

Method: one session has put a row in a block that stays open; another inserts the same key, and a third one looks until it sees that one wait.
Nothing but the block's end ends the wait, so that no clock has a part.
"""

import time
import unittest

from program import LONGEST_COMMAND_SECONDS, EndToEndTest
from raw_client import RawClient, query
from serve_test import Server

WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND state = 'active'"


class Activity(EndToEndTest):
    def serve(self, *options):
        server = Server(self.folder / "db", "--create", "--execution", "interpreted", *options)
        self.addCleanup(server.close)
        schema = "CREATE TABLE item (id INT PRIMARY KEY, n INT NOT NULL); INSERT INTO item VALUES (1, 1)"
        self.assertEqual(server.client("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", input=schema).returncode, 0)
        return server

    def session(self, server):
        client = RawClient(server).begin(tls=False)
        self.addCleanup(client.socket.close)
        return client

    def ask(self, server, text):
        told = server.client("psql", "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", input=text)
        self.assertEqual(told.returncode, 0, told.stderr)
        return told.stdout.strip()

    def await_waiting(self, server, count):
        deadline = time.monotonic() + LONGEST_COMMAND_SECONDS
        while self.ask(server, WAITING) != str(count):
            self.assertLess(time.monotonic(), deadline, self.ask(server, "TABLE pg_stat_activity"))
            time.sleep(0.01)

    def hold_up(self, server, first, second, told):
        holder, waiter = self.session(server), self.session(server)
        for statement in ("BEGIN", first):
            holder.query(statement)
        self.assertEqual(self.ask(server, WAITING), "0")
        self.assertEqual(self.ask(server, f"SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND query = '{first}'"), "1")
        waiter.socket.sendall(query(second))
        self.await_waiting(server, 1)
        text = second.replace("'", "''")
        self.assertEqual(self.ask(server, f"SELECT wait_event, xact_start <= query_start FROM pg_stat_activity WHERE query = '{text}'"), "transactionid|t")
        holder.query("COMMIT")
        self.assertIn(told, b"".join(body for _, body in waiter.until_ready()))
        self.await_waiting(server, 0)

    def test_an_optimistic_insert_waits_for_an_open_block(self):
        self.hold_up(self.serve(), "INSERT INTO item VALUES (2, 2)", "INSERT INTO item VALUES (2, 3)", b"C23505")

    def test_a_change_waits_for_a_lock(self):
        self.hold_up(self.serve("--cc", "2pl"), "UPDATE item SET n = 2 WHERE id = 1", "UPDATE item SET n = n + 1 WHERE id = 1", b"UPDATE 1")

    def test_what_sessions_are(self):
        server = self.serve()
        row = self.ask(server, "SELECT state, usename = current_user, datname = current_database(), pid = pg_backend_pid(), wait_event_type IS NULL, "
                               "backend_type, backend_start <= query_start, application_name, client_addr IS NULL "
                               "FROM pg_stat_activity WHERE pid = pg_backend_pid()")
        self.assertEqual(row, "active|t|t|t|t|client backend|t|psql|t")
        idle = self.session(server)
        idle.query("SELECT 4711")
        self.assertEqual(self.ask(server, "SELECT state, wait_event_type, wait_event, xact_start IS NULL FROM pg_stat_activity WHERE query = 'SELECT 4711'"),
                         "idle|Client|ClientRead|t")
        # A view of it shows what is now, too, and a view of that view.
        self.ask(server, "CREATE VIEW work AS SELECT state, query FROM pg_stat_activity; CREATE VIEW idle AS SELECT query FROM work WHERE state = 'idle'")
        watcher = self.session(server)
        for number in range(3):
            idle.query(f"SELECT {number} + 4711")
            rows = [body for kind, body in watcher.query("SELECT query FROM idle WHERE query LIKE '%4711'") if kind == b"D"]
            self.assertEqual([row[6:] for row in rows], [f"SELECT {number} + 4711".encode()])
        watcher.socket.close()
        # A longer text is cut behind its first 1023 bytes, and not within a character.
        idle.query("SELECT '" + "ä" * 600 + "'")
        self.assertEqual(self.ask(server, "SELECT max(length(query)) FROM pg_stat_activity WHERE state = 'idle'"), "515")
        idle.socket.close()
        deadline = time.monotonic() + LONGEST_COMMAND_SECONDS
        while self.ask(server, "SELECT count(*) FROM pg_stat_activity") != "1":
            self.assertLess(time.monotonic(), deadline)


if __name__ == "__main__":
    unittest.main()
