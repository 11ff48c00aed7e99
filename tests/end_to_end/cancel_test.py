"""Goal: what takes long ends where its client cancels it, its time is over, its client is lost, or the server ends; and the session goes on
as after any error.

Method: queries, calls and scans that would take days. A cancel may come before its statement runs, and then does nothing, as in PostgreSQL:
so it is sent again and again until the statement has ended.
"""

import signal
import struct
import subprocess
import time
import unittest

from program import LONGEST_COMMAND_SECONDS, EndToEndTest
from raw_client import RawClient, message, query
from serve_test import POSTGRES, Server

ENDLESS = "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b"
SCHEMA = """
CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(10));
INSERT INTO item VALUES (1, 'one'), (2, 'two');
CREATE PROCEDURE spin(p_n INT, INOUT r_sum BIGINT) LANGUAGE plpgsql AS $$
BEGIN
  r_sum := 0;
  INSERT INTO item VALUES (p_n, 'spin');
  FOR i IN 1 .. 2000000000 LOOP
    FOR j IN 1 .. 2000000000 LOOP
      r_sum := (r_sum + i * j) % 1000;
    END LOOP;
  END LOOP;
END $$;
"""
CANCELED = b"C57014\0Mcanceling statement due to user request\0"
TIMED_OUT = b"C57014\0Mcanceling statement due to statement timeout\0"


class Cancel(EndToEndTest):
    def serve(self):
        # The compiler of a server that is killed would go on beside the other tests.
        server = Server(self.folder / "db", "--create", "--execution", "interpreted")
        self.addCleanup(server.close)
        self.assertEqual(server.client("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", input=SCHEMA).returncode, 0)
        return server

    def session(self, server):
        client = RawClient(server).begin(tls=False)
        self.addCleanup(client.socket.close)
        return client

    def cancel(self, server, key):
        """Sends the request, and does not wait until it is handled."""
        request = RawClient(server)
        self.addCleanup(request.socket.close)
        request.socket.sendall(struct.pack("!ii", 16, 80877102) + key)

    def canceled(self, server, client, text):
        """The reply to a statement that is canceled while it runs."""
        client.socket.sendall(query(text))
        deadline = time.monotonic() + LONGEST_COMMAND_SECONDS
        while not client.has_answer(0.05):
            self.assertLess(time.monotonic(), deadline, "it goes on")
            self.cancel(server, client.key)
        return client.until_ready()

    def error(self, reply, wanted, state):
        self.assertEqual([kind for kind, _ in reply], [b"E", b"Z"], reply)
        self.assertIn(wanted, reply[0][1])
        self.assertEqual(reply[1][1], state)

    def value(self, client, text):
        return next(body[6:].decode() for kind, body in client.query(text) if kind == b"D")

    def test_a_query_is_canceled_and_its_session_goes_on(self):
        server = self.serve()
        client = self.session(server)
        sorts = "SELECT a FROM generate_series(1, 1000) a, generate_series(1, 10000) b ORDER BY b % 7, a"
        for text in (ENDLESS, f"{sorts} LIMIT 1; {ENDLESS}", f"SELECT id FROM item WHERE id = ({ENDLESS})",
                     f"DELETE FROM item WHERE id = ({ENDLESS})",
                     "SELECT a % 10, count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b GROUP BY a % 10",
                     f"SELECT x.id FROM item x, item y, ({ENDLESS}) z"):
            reply = [each for each in self.canceled(server, client, text) if each[0] in (b"E", b"Z")]
            self.error(reply, CANCELED, b"I")
        self.assertEqual(self.value(client, "SELECT count(*) FROM item"), "2")

    def test_a_block_fails_and_a_savepoint_saves_it(self):
        server = self.serve()
        client = self.session(server)
        client.query("BEGIN")
        client.query("INSERT INTO item VALUES (3, 'three')")
        client.query("SAVEPOINT here")
        self.error(self.canceled(server, client, ENDLESS), CANCELED, b"E")
        self.error(client.query("SELECT 1"), b"C25P02\0", b"E")
        client.query("ROLLBACK TO here")
        client.query("COMMIT")
        self.assertEqual(self.value(client, "SELECT count(*) FROM item"), "3")
        client.query("BEGIN")
        client.query("INSERT INTO item VALUES (4, 'four')")
        self.error(self.canceled(server, client, ENDLESS), CANCELED, b"E")
        self.assertIn((b"C", b"ROLLBACK\0"), client.query("COMMIT"))
        self.assertEqual(self.value(client, "SELECT count(*) FROM item"), "3")

    def test_calls_are_canceled_and_have_changed_nothing(self):
        for execution in ("native", "interpreted"):
            with self.subTest(execution):
                server = Server(self.folder / execution, "--create", "--execution", execution)
                self.addCleanup(server.close)
                self.assertEqual(server.client("psql", "-X", "-q", input=SCHEMA).returncode, 0)
                client = self.session(server)
                self.error(self.canceled(server, client, "CALL spin(7, NULL)"), CANCELED, b"I")
                client.query("BEGIN")
                self.error(self.canceled(server, client, "CALL spin(8, NULL)"), CANCELED, b"E")
                client.query("ROLLBACK")
                self.assertEqual(self.value(client, "SELECT count(*) FROM item"), "2")
                client.socket.close()
                self.assertEqual(server.end()[0], 0)
                self.recover_alike(self.folder / execution)

    def test_a_request_with_another_secret_or_before_its_statement_does_nothing(self):
        server = self.serve()
        client = self.session(server)
        client.socket.sendall(query("SELECT count(*) FROM generate_series(1, 3000) a, generate_series(1, 1000) b"))
        for _ in range(20):
            self.cancel(server, client.key[:4] + bytes(byte ^ 1 for byte in client.key[4:]))
        self.assertIn((b"D", b"\0\x01\0\0\0\x073000000"), client.until_ready())
        with RawClient(server) as request:  # handled once the server has closed the connection
            request.socket.sendall(struct.pack("!ii", 16, 80877102) + client.key)
            self.assertEqual(request.rest(), b"")
        self.assertEqual(self.value(client, "SELECT count(*) FROM item i, generate_series(1, 10) a"), "20")

    def test_a_pipeline_goes_on_behind_its_sync(self):
        server = self.serve()
        client = self.session(server)

        def extended(text):
            return (message(b"P", b"\0" + text.encode() + b"\0\0\0") + message(b"B", b"\0\0\0\0\0\0\0\0") + message(b"E", b"\0\0\0\0\0"))

        client.socket.sendall(extended(ENDLESS) + extended("SELECT 5") + message(b"S", b"") + query("SELECT 6"))
        deadline = time.monotonic() + LONGEST_COMMAND_SECONDS
        while not client.has_answer(0.05):
            self.assertLess(time.monotonic(), deadline, "it goes on")
            self.cancel(server, client.key)
        seen = client.until_ready()
        while seen[-1] != (b"Z", b"I") or not any(kind == b"E" for kind, _ in seen):
            seen += client.until_ready()
        self.assertFalse(any(kind == b"D" for kind, _ in seen), seen)
        self.assertIn((b"D", b"\0\x01\0\0\0\x016"), client.until_ready())

    def test_psql_by_control_c(self):
        server = self.serve()
        with subprocess.Popen([str(POSTGRES / "psql"), "-X", "-At", "-c", "\\echo begins", "-c", ENDLESS, "-c", "SELECT 'goes on'"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=server.environment) as psql:
            self.assertEqual(psql.stdout.readline(), "begins\n")
            deadline = time.monotonic() + LONGEST_COMMAND_SECONDS
            while True:
                psql.send_signal(signal.SIGINT)
                try:
                    output, errors = psql.communicate(timeout=0.2)
                    break
                except subprocess.TimeoutExpired:
                    self.assertLess(time.monotonic(), deadline, "it goes on")
        self.assertIn("ERROR:  canceling statement due to user request", errors)

    def test_statement_timeout(self):
        server = self.serve()
        client = self.session(server)
        self.assertEqual(self.value(client, "SHOW statement_timeout"), "0")
        for given, shown in (("100", "100ms"), ("'2 min'", "2min"), ("5000", "5s"), ("'1.5s'", "1500ms"), ("'0.2s'", "200ms")):
            client.query(f"SET statement_timeout = {given}")
            self.assertEqual(self.value(client, "SHOW statement_timeout"), shown)
        for bad in ("-1", "'x'", "'1 year'", "'99999999999'"):
            self.error(client.query(f"SET statement_timeout = {bad}"), b"C22023\0", b"I")
        self.error(client.query(ENDLESS), TIMED_OUT, b"I")
        # A call runs on the thread of its client's loop, and looks at the time itself.
        self.error(client.query("CALL spin(9, NULL)"), TIMED_OUT, b"I")
        self.assertEqual(self.value(client, "SELECT count(*) FROM item"), "2")
        client.query("BEGIN")
        client.query("SET LOCAL statement_timeout = 0")
        self.assertEqual(self.value(client, "SELECT count(*) FROM generate_series(1, 3000) a, generate_series(1, 1000) b"), "3000000")
        client.query("ROLLBACK")
        self.assertEqual(self.value(client, "SHOW statement_timeout"), "200ms")
        client.query("RESET statement_timeout")
        self.assertEqual(self.value(client, "SHOW statement_timeout"), "0")

    def test_a_query_that_waits_for_others_is_canceled(self):
        server = self.serve()
        others = [self.session(server) for _ in range(4)]
        for other in others:
            other.socket.sendall(query(ENDLESS))
        self.error(self.canceled(server, self.session(server), ENDLESS), CANCELED, b"I")
        self.assertFalse(any(other.has_answer(0) for other in others))

    def test_lost_clients_queries_end(self):
        server = self.serve()
        for _ in range(4):  # more than there are helpers
            client = self.session(server)
            client.socket.sendall(query(ENDLESS))
            client.socket.close()
        self.assertEqual(self.value(self.session(server), "SELECT count(*) FROM item i, generate_series(1, 10) a"), "20")

    def test_the_server_ends_in_the_middle_of_queries(self):
        server = self.serve()
        clients = [self.session(server) for _ in range(4)]
        for client in clients:
            client.socket.sendall(query(ENDLESS))
        status, output = server.end()
        self.assertEqual(status, 0, output)
        for client in clients:
            errors = [body for kind, body in client.messages() if kind == b"E"]
            self.assertIn(b"SFATAL\0", errors[-1])
            self.assertIn(b"C57P01\0", errors[-1])


if __name__ == "__main__":
    unittest.main()
