"""Goal: clients reach `mneme serve` by TLS: PostgreSQL's own do what they do in the clear, what travels in the clear is never taken for what
was enciphered, and whoever breaks TLS off harms no other client.

Method: psql with a certificate that the test makes; clients that write the protocol's bytes themselves, in Python's TLS and beside it.
"""

import hashlib
import pathlib
import shutil
import socket
import subprocess
import unittest

from program import BAD_ARGUMENTS, LONGEST_COMMAND_SECONDS, EndToEndTest
from raw_client import SSL_REQUEST, RawClient, message, query, startup
from serve_test import Server


class Tls(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.certificate, self.key = self.make_certificate("server")
        self.users = self.folder / "users"
        self.users.write_text("ann secret\n")
        self.users.chmod(0o600)

    def make_certificate(self, name):
        certificate, key = self.folder / f"{name}.crt", self.folder / f"{name}.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out",
                        certificate], check=True, capture_output=True)
        key.chmod(0o600)
        return certificate, key

    def serve(self, *options, name="db", **settings):
        server = Server(self.folder / name, "--tls-cert", self.certificate, "--tls-key", self.key, *options, **settings)
        self.addCleanup(server.close)
        server.environment["PGSSLMODE"] = "require"
        return server

    def psql(self, server, text, *options):
        result = server.client("psql", "-X", "-q", "-At", "-w", "-v", "ON_ERROR_STOP=1", *options, input=text)
        self.assertEqual(result.returncode, 0, self.told(result))
        return result.stdout.splitlines()

    def refused(self, server, *words, **environment):
        before = dict(server.environment)
        server.environment.update(environment)
        result = server.client("psql", "-X", "-w", "-c", "SELECT 1")
        server.environment = before
        self.assertEqual(result.returncode, 2, self.told(result))
        for word in words:
            self.assertIn(word, result.stderr, self.told(result))

    def test_psql_works_as_in_the_clear(self):
        server = self.serve("--create")
        self.assertIn("TLSv1.3", "".join(self.psql(server, "\\conninfo")))
        self.psql(server, "CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(60) NOT NULL);")
        rows = [f"{i}\t{hashlib.sha256(str(i).encode()).hexdigest()[:60]}" for i in range(100_000)]
        self.psql(server, "COPY item FROM STDIN;\n" + "\n".join(rows) + "\n\\.\n")
        self.assertEqual(self.psql(server, "COPY item TO STDOUT"), rows)
        self.assertEqual(self.psql(server, "SELECT id, name FROM item ORDER BY id", "-F", "\t"), rows)
        server.environment.update(PGSSLMAXPROTOCOLVERSION="TLSv1.2")
        self.assertIn("TLSv1.2", "".join(self.psql(server, "\\conninfo")))
        self.refused(server, "SSL", PGSSLMINPROTOCOLVERSION="TLSv1.1", PGSSLMAXPROTOCOLVERSION="TLSv1.1")
        server.environment.pop("PGSSLMAXPROTOCOLVERSION")
        server.environment.update(PGSSLMODE="verify-full", PGSSLROOTCERT=str(self.certificate))
        self.assertEqual(self.psql(server, "SELECT count(*) FROM item"), ["100000"])
        other, _ = self.make_certificate("other")
        self.refused(server, "certificate verify failed", PGSSLROOTCERT=str(other))
        self.assertEqual(server.end()[0], 0)

    def test_the_clear_is_accepted_on_loopback_unless_tls_is_required(self):
        server = self.serve("--create")
        server.environment["PGSSLMODE"] = "disable"
        self.assertEqual(self.psql(server, "SELECT 1"), ["1"])
        self.assertEqual(server.end()[0], 0)
        sockets = self.folder / "sockets"
        sockets.mkdir(mode=0o700)
        server = self.serve("--tls", "required", "--socket", sockets)
        self.assertEqual(self.psql(server, "SELECT 1"), ["1"])
        self.refused(server, "requires it to use TLS", "sslmode=require", PGSSLMODE="disable")
        with RawClient(server) as client:
            client.socket.sendall(startup())
            self.assertIn(b"C28000\0", client.rest())
        # A Unix socket's bytes pass no network.
        server.environment.update(PGHOST=str(sockets), PGSSLMODE="prefer")
        self.assertEqual(self.psql(server, "SELECT 1"), ["1"])

    def test_passwords_are_tied_to_the_certificate(self):
        server = self.serve("--create", "--auth", "scram", "--users", self.users)
        server.environment.update(PGUSER="ann", PGPASSWORD="secret")
        for binding in ("require", "prefer", "disable"):
            server.environment["PGCHANNELBINDING"] = binding
            self.assertEqual(self.psql(server, "SELECT 1"), ["1"], binding)
        self.refused(server, "authentication failed", PGPASSWORD="Secret", PGCHANNELBINDING="require")
        server.environment.update(PGSSLMODE="disable", PGCHANNELBINDING="prefer")
        self.assertEqual(self.psql(server, "SELECT 1"), ["1"])
        self.refused(server, "channel binding", PGCHANNELBINDING="require")

    def test_bytes_behind_the_request_for_tls_are_refused(self):
        server = self.serve("--create")
        with RawClient(server) as client:
            client.socket.sendall(SSL_REQUEST + startup())
            kind, body = next(client.messages())
            self.assertEqual(kind, b"E")
            self.assertIn(b"C08P01\0", body)
            self.assertEqual(client.rest(), b"")
        self.assertEqual(self.psql(server, "SELECT 1"), ["1"])

    def test_a_pipeline_of_many_queries(self):
        server = self.serve("--create")
        with RawClient(server) as client:
            client.begin()
            count = 20_000
            client.socket.sendall(b"".join(query(f"SELECT {number}") for number in range(count)))
            seen = []
            for kind, body in client.messages():
                if kind == b"D":
                    seen.append(int(body[6:]))
                if kind == b"Z" and len(seen) == count:
                    break
            self.assertEqual(seen, list(range(count)))
            # The client's goodbye in the same bytes as its last query is no error.
            client.socket.sendall(query("CREATE TABLE last (id INT PRIMARY KEY)"))
            client.until_ready()
            client.socket.sendall(message(b"X", b""))
            self.assertEqual(client.rest(), b"")
        self.assertEqual(self.psql(server, "SELECT count(*) FROM last"), ["0"])

    def test_those_who_break_tls_off_harm_no_other(self):
        server = self.serve("--create")
        self.psql(server, "CREATE TABLE item (id INT PRIMARY KEY);")
        with RawClient(server) as half_open, RawClient(server) as silent, RawClient(server) as other:
            other.begin()
            self.assertEqual(half_open.ask_for_tls(), b"S")
            half_open.socket.sendall(b"\x16\x03\x01\x02\x00\x01")  # a record of 512 bytes begins, with its first one
            self.assertEqual(silent.ask_for_tls(), b"S")
            for garbage in (startup(), b"\0" * 100, b"\xff" * 70_000, b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\xff\xff" + b"x" * 70_000):
                with RawClient(server) as bad:
                    self.assertEqual(bad.ask_for_tls(), b"S")
                    try:
                        bad.socket.sendall(garbage)
                    except (BrokenPipeError, ConnectionResetError):
                        pass
                    self.assertLess(len(bad.rest()), 100)  # at most what TLS says of it
            # A record that somebody has changed, and a client that is lost, in the middle of a block.
            for last in (b"\x17\x03\x03\x00\x20" + b"x" * 32, b""):
                with RawClient(server) as lost:
                    lost.begin()
                    lost.socket.sendall(query("BEGIN; INSERT INTO item VALUES (1)"))
                    lost.until_ready()
                    plain = socket.socket(fileno=lost.socket.detach())
                    plain.settimeout(LONGEST_COMMAND_SECONDS)
                    plain.sendall(last)
                    lost.socket = plain
                    if last:
                        lost.rest()
            other.socket.sendall(query("INSERT INTO item VALUES (1)"))
            self.assertIn((b"C", b"INSERT 0 1\0"), other.until_ready())
            # Those that don't go on with the handshake are cut off, and told nothing in the clear.
            self.assertEqual(half_open.rest(), b"")
            self.assertEqual(silent.rest(), b"")
            other.socket.sendall(query("SELECT id FROM item"))
            self.assertIn((b"C", b"SELECT 1\0"), other.until_ready())
        self.assertEqual(server.end()[0], 0)

    def test_clients_of_other_machines_must_use_tls(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:  # sends nothing
            try:
                probe.connect(("192.0.2.1", 9))
            except OSError:
                self.skipTest("this machine has no address but loopback's")
            own = probe.getsockname()[0]
        self.refuse(BAD_ARGUMENTS, ["reachable from other machines", "--auth scram"], "serve", self.folder / "db", "--create", "--listen",
                    "0.0.0.0:0", "--tls-cert", self.certificate, "--tls-key", self.key)
        server = self.serve("--create", "--auth", "scram", "--users", self.users, listen="0.0.0.0:0")
        server.environment.update(PGUSER="ann", PGPASSWORD="secret", PGHOST=own)
        self.assertEqual(self.psql(server, "SELECT 1"), ["1"])
        self.refused(server, "requires it to use TLS", own, PGSSLMODE="disable")
        server.environment.update(PGHOST="127.0.0.1", PGSSLMODE="disable")
        self.assertEqual(self.psql(server, "SELECT 1"), ["1"])

    def test_files_that_do_not_fit_are_refused(self):
        start = ("serve", self.folder / "db", "--create")
        self.refuse(BAD_ARGUMENTS, ["--tls-cert", "--tls-key", "both"], *start, "--tls-cert", self.certificate)
        self.refuse(BAD_ARGUMENTS, ["--tls needs a certificate"], *start, "--tls", "required")
        self.refuse(BAD_ARGUMENTS, ["Unix socket alone"], *start, "--socket", self.folder, "--tls-cert", self.certificate, "--tls-key",
                    self.key)
        other, _ = self.make_certificate("other")
        self.refuse(BAD_ARGUMENTS, ["does not fit the certificate", other, self.key], *start, "--tls-cert", other, "--tls-key", self.key)
        missing = pathlib.Path("missing.crt")
        self.refuse(BAD_ARGUMENTS, ["cannot read the certificate", missing, "PEM"], *start, "--tls-cert", missing, "--tls-key", self.key)
        copy = self.folder / "copy.key"
        shutil.copy(self.certificate, copy)
        copy.chmod(0o600)
        self.refuse(BAD_ARGUMENTS, ["cannot read a private key", copy], *start, "--tls-cert", self.certificate, "--tls-key", copy)
        self.key.chmod(0o640)
        self.refuse(BAD_ARGUMENTS, ["chmod 600", self.key], *start, "--tls-cert", self.certificate, "--tls-key", self.key)


if __name__ == "__main__":
    unittest.main()
