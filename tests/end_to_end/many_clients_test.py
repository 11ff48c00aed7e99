"""Goal: a thousand clients, and bad ones among them, leave each other alone: none waits for another's thread, and an idle one costs little memory.

Method: a server with four threads. Connections are opened until there are a thousand; a hundred of them open blocks, and all others still get answers.
Memory is the server's resident set, before and after the idle ones. Bad clients send garbage, impossible lengths, half a message, or half a
connection, die in a block, or read nothing of what they ask for, while a good client goes on. In a namespace of its own a client's network is cut.
"""

import os
import pathlib
import resource
import shlex
import socket
import struct
import subprocess
import sys
import unittest

from link_test import why_without_namespaces
from program import DONE, LONGEST_COMMAND_SECONDS, EndToEndTest
from raw_client import RawClient, message, query, startup
from serve_test import POSTGRES, Server

CONNECTIONS, BLOCKS = 1000, 100
MOST_BYTES_OF_AN_IDLE_ONE = 200 * 1024
SCHEMA = "CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL)"
# Bytes in the place of a client's first message, and behind a good start.
BAD_STARTS = (b"\0", b"\xff" * 100, b"GET / HTTP/1.1\r\n\r\n", struct.pack("!i", 0), struct.pack("!i", -1), struct.pack("!ii", 0x7FFFFFFF, 3 << 16),
              startup()[:10], b"")
BAD_MESSAGES = (b"\xff" * 50, b"Q" + struct.pack("!i", 0x7FFFFFFF), b"Q" + struct.pack("!i", -5), b"Q" + struct.pack("!i", 3), query("SELECT 1")[:-4],
                message(b"B", b"\0\0\xff\xff"), message(b"P", b"no end"), message(b"?", b""), b"Q")


class ManyClients(EndToEndTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # The server takes the limit over.
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if limit != resource.RLIM_INFINITY and limit < 2 * CONNECTIONS:
            raise unittest.SkipTest(f"a process may open {limit} files here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (4 * CONNECTIONS if limit == resource.RLIM_INFINITY else limit, limit))

    def serve(self, *options, name="db"):
        server = Server(self.folder / name, "--create", "--execution", "interpreted", "--connections", CONNECTIONS + 50, *options, threads=4,
                        blocks=BLOCKS + 2)
        self.addCleanup(server.close)
        with RawClient(server).begin(tls=False) as client:
            self.done(client, SCHEMA)
            self.done(client, f"INSERT INTO t SELECT i, 0 FROM generate_series(0, {CONNECTIONS}) i")
        return server

    def connect(self, server):
        client = RawClient(server).begin(tls=False)
        self.addCleanup(client.socket.close)
        return client

    def done(self, client, text):
        reply = client.query(text)
        self.assertIn(b"C", [kind for kind, _ in reply], reply)
        self.assertNotIn(b"E", [kind for kind, _ in reply], reply)
        return reply

    def value(self, client, text):
        return next(int(body[6:]) for kind, body in self.done(client, text) if kind == b"D")

    def resident_bytes(self, server):
        fields = pathlib.Path(f"/proc/{server.process.pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")

    def test_a_thousand_connections(self):
        for cc in ("occ", "2pl"):
            with self.subTest(cc):
                self.thousand(cc)

    def thousand(self, cc):
        server = self.serve("--cc", cc, name=cc)
        first = self.connect(server)
        clients = [self.connect(server) for _ in range(BLOCKS)]
        before = self.resident_bytes(server)
        clients += [self.connect(server) for _ in range(CONNECTIONS - BLOCKS)]
        grown = self.resident_bytes(server) - before
        self.assertLess(grown / (CONNECTIONS - BLOCKS), MOST_BYTES_OF_AN_IDLE_ONE)
        # Clients are dealt to the threads in turns, so each thread has blocks, and idle ones beside them.
        for number, client in enumerate(clients[:BLOCKS]):
            self.done(client, "BEGIN")
            self.done(client, f"UPDATE t SET n = n + 1 WHERE id = {number}")
            self.done(client, f"INSERT INTO t VALUES ({CONNECTIONS + 1 + number}, 1)")
        for number, client in enumerate(clients[BLOCKS:], BLOCKS):
            self.done(client, f"UPDATE t SET n = n + 1 WHERE id = {number}")
        # Those that meet the insert of a block wait, and keep no thread meanwhile.
        waiting = clients[BLOCKS:BLOCKS + 8]
        for client in waiting:
            client.socket.sendall(query(f"INSERT INTO t VALUES ({CONNECTIONS + 1}, 2)"))
        for client in clients[BLOCKS + 8:]:
            self.assertEqual(self.value(client, "SELECT 5"), 5)
        for client in clients[1:BLOCKS]:
            self.done(client, "COMMIT")
        self.done(clients[0], "COMMIT")
        for client in waiting:  # one that has waited for ten seconds gives up
            error = next(body for kind, body in client.until_ready() if kind == b"E")
            self.assertRegex(error, b"C(23505|40001)\0")
        self.assertEqual(self.value(first, "SELECT sum(n) FROM t"), CONNECTIONS + BLOCKS)
        for client in (first, *clients):
            client.socket.close()
        self.assertEqual(server.end()[0], DONE)

    def test_bad_clients(self):
        server = self.serve()
        good, expected = self.connect(server), 0

        def goes_on():
            nonlocal expected
            expected += 1
            self.done(good, "UPDATE t SET n = n + 1 WHERE id = 0")
            self.assertEqual(self.value(good, "SELECT n FROM t WHERE id = 0"), expected)

        for bad in BAD_STARTS:
            client = RawClient(server)
            self.addCleanup(client.socket.close)
            client.socket.sendall(bad)
            goes_on()
        for bad in BAD_MESSAGES:
            for in_block in (False, True):
                client = self.connect(server)
                if in_block:
                    self.done(client, "BEGIN")
                    self.done(client, "UPDATE t SET n = n + 1000 WHERE id = 1")
                client.socket.sendall(bad)
                goes_on()
                client.socket.shutdown(socket.SHUT_WR)
                goes_on()
                client.rest()  # until the server has closed it, too
        # One that dies with unread answers, so that its connection is reset, and one that asks for much and reads nothing.
        for number in range(1, 5):
            client = self.connect(server)
            self.done(client, "BEGIN")
            self.done(client, f"INSERT INTO t VALUES (-{number}, 1000)")
            client.socket.sendall(query("SELECT * FROM t") * 20)
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.socket.close()
            goes_on()
        reads_nothing = self.connect(server)
        reads_nothing.socket.sendall(query("SELECT a.id, b.id FROM t a, t b") * 4)
        goes_on()
        # All blocks that were left are rolled back, and their seats are there again.
        clients = [self.connect(server) for _ in range(BLOCKS)]
        for client in clients:
            self.done(client, "BEGIN")
            self.assertEqual(self.value(client, "SELECT n FROM t WHERE id = 1"), 0)
            self.done(client, "COMMIT")
        for number in range(1, 5):
            # Until the block that inserted the row is rolled back it is in the way.
            while b"E" in [kind for kind, _ in good.query(f"INSERT INTO t VALUES (-{number}, 1)")]:
                pass
        goes_on()

    def test_a_client_whose_network_is_gone(self):
        """Under locking, so that others would wait for its block's rows for ever."""
        if why := why_without_namespaces():
            self.skipTest(f"no network namespaces can be made here: {why}")
        as_root = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        inside = shlex.join([sys.executable, "-B", __file__, "--inside", str(self.folder)])
        done = subprocess.run(["unshare", *as_root, "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
                               f"ip link set lo up && exec {inside}"], capture_output=True, text=True, check=False,
                              timeout=LONGEST_COMMAND_SECONDS)
        self.assertEqual(done.returncode, DONE, self.told(done))


def inside_namespace(folder):
    """A server, and a client beyond a link, which is cut while the client has a block open. Another client then changes the block's row."""
    folder = pathlib.Path(folder)
    with subprocess.Popen(["unshare", "--net", "sh", "-c", "ip link set lo up && echo ready && exec cat"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as holder:
        try:
            holder.stdout.readline()
            there = ["nsenter", f"--net=/proc/{holder.pid}/ns/net"]
            for command in (f"ip link add here type veth peer name there netns {holder.pid}", "ip addr add 10.9.0.1/24 dev here",
                            "ip link set here up", f"{shlex.join(there)} ip addr add 10.9.0.2/24 dev there",
                            f"{shlex.join(there)} ip link set there up"):
                subprocess.run(command.split(), check=True)
            lose_a_client(folder, there)
        finally:
            holder.kill()


def lose_a_client(folder, there):
    certificate, key, users = folder / "server.crt", folder / "server.key", folder / "users"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-keyout", key, "-out", certificate], check=True, capture_output=True)
    users.write_text("ann secret\n")
    for secret in (key, users):
        secret.chmod(0o600)
    server = Server(folder / "db", "--create", "--execution", "interpreted", "--cc", "2pl", "--tls-cert", certificate, "--tls-key", key, "--auth",
                    "scram", "--users", users, listen="10.9.0.1:0")
    psql = [POSTGRES / "psql", "-X", "-q", "-At", "-w", "-v", "ON_ERROR_STOP=1"]
    environment = {**server.environment, "PGUSER": "ann", "PGPASSWORD": "secret", "PGSSLMODE": "require"}
    with subprocess.Popen([*there, *psql], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as lost:
        try:
            subprocess.run([*psql, "-c", SCHEMA, "-c", "INSERT INTO t VALUES (1, 0)"], env=environment, check=True)
            lost.stdin.write("BEGIN;\nUPDATE t SET n = 1000 WHERE id = 1 RETURNING 'changed';\n")
            lost.stdin.flush()
            assert lost.stdout.readline() == "changed\n"
            subprocess.run([*there, "ip", "link", "set", "there", "down"], check=True)
            # The server notices the silence after some ten seconds. A statement that waits for the row may give up before.
            while True:
                other = subprocess.run([*psql, "-v", "VERBOSITY=sqlstate", "-c", "UPDATE t SET n = n + 1 WHERE id = 1 RETURNING n"],
                                       env=environment, capture_output=True, text=True, check=False)
                if other.returncode == 0:
                    break
                assert "40001" in other.stderr, other.stderr
            assert other.stdout == "1\n", other.stdout
            assert lost.poll() is None
        finally:
            lost.kill()
            server.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        sys.exit(inside_namespace(sys.argv[2]))
    unittest.main()
