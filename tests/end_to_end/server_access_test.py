"""Goal: a log on NATS servers that ask who the engine is, and that encrypt, is written, recovered and followed by those who have the key
file, and by nobody else; no password is in an error.

Method: one real nats-server with a user, a password and a certificate that this test makes; then the file is wrong in one way at a time. Kafka's broker
is a few lines that know no password.
"""

import os
import socketserver
import struct
import subprocess
import threading
import unittest

from program import BAD_ARGUMENTS, FAILED, REPOSITORY, EndToEndTest

SECRET = "the-words-of-this-test"


class Broker:
    """What of Kafka's protocol a client needs until its password is refused, which this one does with every password."""

    VERSIONS, HANDSHAKE, AUTHENTICATE = 18, 17, 36
    UNSUPPORTED_VERSION, AUTHENTICATION_FAILED = 35, 58

    def __init__(self):
        broker = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                while length := self.rfile.read(4):
                    request = self.rfile.read(struct.unpack(">i", length)[0])
                    kind, version, number = struct.unpack(">hhi", request[:8])
                    answer = struct.pack(">i", number) + broker.answer(kind, version)
                    self.wfile.write(struct.pack(">i", len(answer)) + answer)

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def answer(self, kind, version):
        if kind == self.VERSIONS:
            known = [(3, 0, 1), (self.HANDSHAKE, 0, 1), (self.VERSIONS, 0, 0), (self.AUTHENTICATE, 0, 0)]
            return struct.pack(">hi", self.UNSUPPORTED_VERSION if version > 0 else 0, len(known)) + b"".join(struct.pack(">hhh", *each) for each in known)
        if kind == self.HANDSHAKE:
            return struct.pack(">hi", 0, 1) + struct.pack(">h", 5) + b"PLAIN"
        text = b"Wrong user or password"
        return struct.pack(">hh", self.AUTHENTICATION_FAILED, len(text)) + text + struct.pack(">i", 0)

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class ServerAccess(EndToEndTest):
    @classmethod
    def setUpClass(cls):
        cls.place = os.path.abspath(f"serveraccess-nats-{os.getpid()}")
        os.mkdir(cls.place)
        cls.addClassCleanup(subprocess.run, ["rm", "-r", cls.place], check=True)
        for name in ("server", "other"):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                            "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", f"{cls.place}/{name}.key",
                            "-out", f"{cls.place}/{name}.crt"], check=True, capture_output=True)
        with open(f"{cls.place}/more.conf", "w") as more:
            more.write(f'''authorization {{ user: engine, password: "{SECRET}" }}
tls {{ cert_file: "{cls.place}/server.crt", key_file: "{cls.place}/server.key" }}
''')
        script = REPOSITORY / "scripts/replicated-log"
        started = subprocess.run([script, "nats", "start", f"{cls.place}/servers", "--servers", "1", "--with", f"{cls.place}/more.conf"],
                                 capture_output=True, text=True, check=True, timeout=90)
        cls.addClassCleanup(subprocess.run, [script, "nats", "stop", f"{cls.place}/servers"], check=True, timeout=60)
        cls.servers = started.stdout.strip()

    def key_file(self, name="access", **lines):
        """The right file, but for what `lines` says otherwise."""
        said = {"user": "engine", "password": SECRET, "tls_ca": f"{self.place}/server.crt", **lines}
        path = self.folder / name
        path.write_text("# who the engine is\n" + "".join(f"{name} = {value}\n" for name, value in said.items() if value is not None))
        path.chmod(0o600)
        return path

    def run_on(self, directory, key, *more):
        access = ("--log-key", key) if key else ()
        return ("run", "smallbank", "--threads", 2, "--transactions", 2000, "--log-device", "nats", "--log-server", self.servers, "--log-replicas", 1,
                "--data-dir", directory, *access, *more)

    def test_who_has_the_file_writes_and_recovers(self):
        key = self.key_file()
        ran = self.report(*self.run_on(self.folder / "db", key))
        self.assertEqual(ran["durability"], "1 memory (NATS)")
        # The manifest names the file: nobody has to say it again.
        recovered = self.report("recover", self.folder / "db")
        self.assertEqual(recovered["state_digest"], ran["state_digest"])
        ran = self.report("run", "smallbank", "--resume", "--threads", 2, "--transactions", 1000, "--data-dir", self.folder / "db", "--log-device", "nats",
                          "--log-server", self.servers, "--log-replicas", 1, "--log-key", key)
        self.assertEqual(self.report("recover", self.folder / "db")["state_digest"], ran["state_digest"])
        # Where it is gone, that is said; a standby may have a file of its own.
        own = self.key_file("own")
        key.unlink()
        self.refuse(FAILED, [key], "recover", self.folder / "db")
        told = self.report("follow", self.folder / "standby", "--from", self.folder / "db", "--promote", "--log-key", own)
        self.assertTrue(told["promoted"])
        self.assertEqual(self.report("recover", self.folder / "standby")["state_digest"], ran["state_digest"])

    def test_who_has_another_file_is_refused(self):
        for name, key in [("nobody", None), ("password", self.key_file("a", password="wrong")), ("user", self.key_file("b", user="other")),
                          ("authority", self.key_file("c", tls_ca=f"{self.place}/other.crt"))]:
            with self.subTest(wrong=name):
                result = self.refuse(FAILED, ["refuse"], *self.run_on(self.folder / name, key))
                self.assertNotIn(SECRET, result.stderr)
                self.assertFalse((self.folder / name / "MANIFEST").exists())
        # What an address says of a user is not repeated.
        with_user = self.servers.replace("nats://", f"nats://engine:{SECRET}-not@")
        result = self.refuse(FAILED, [self.servers], "run", "smallbank", "--transactions", 10, "--log-device", "nats", "--log-server", with_user,
                             "--log-replicas", 1, "--data-dir", self.folder / "url")
        self.assertNotIn(SECRET, result.stderr)
        # A name that the certificate does not have.
        self.refuse(FAILED, ["refuse"], *self.run_on(self.folder / "host", self.key_file("d", tls_hostname="example.org")))

    def test_a_file_that_is_none(self):
        open_to_all = self.key_file("open")
        open_to_all.chmod(0o644)
        for words, key in [(["open"], open_to_all), (["user and password belong together"], self.key_file("e", password=None)),
                           (["line 5", "the names are user, password"], self.key_file("f", passwort=SECRET)),
                           (["tls is required, or left out"], self.key_file("h", tls="yes")),
                           (["tls_certificate and tls_key belong together"], self.key_file("i", tls_key=f"{self.place}/other.key")),
                           (["more than once who the engine is"], self.key_file("j", token="t")),
                           (["tls has no value"], self.key_file("k", tls="")),
                           (["tls_ca"], self.key_file("g", tls_ca="/none"))]:
            with self.subTest(words=words):
                result = self.refuse(BAD_ARGUMENTS, words, *self.run_on(self.folder / "db", key))
                self.assertNotIn(SECRET, result.stderr)
        lacking = self.folder / "lacking"
        lacking.write_text("security.protocol=SASL_SSL\nsasl.mechanisms=SCRAM-SHA-256\nssl.ca.location=/none\n")
        lacking.chmod(0o600)
        self.refuse(BAD_ARGUMENTS, [lacking, "the Kafka library cannot connect so"], "run", "smallbank", "--transactions", 10, "--log-device", "kafka",
                    "--log-server", "127.0.0.1:1", "--log-replicas", 1, "--data-dir", self.folder / "db", "--log-key", lacking)
        kafka = self.folder / "kafka"
        kafka.write_text(f"security.protocol=no such\nsasl.password={SECRET}\n")
        kafka.chmod(0o600)
        result = self.refuse(BAD_ARGUMENTS, ["does not take this value of security.protocol"], "run", "smallbank", "--transactions", 10, "--log-device", "kafka",
                             "--log-server", "127.0.0.1:1", "--log-replicas", 1, "--data-dir", self.folder / "db", "--log-key", kafka)
        self.assertNotIn(SECRET, result.stderr)

    def test_a_broker_that_refuses_the_password(self):
        broker = Broker()
        self.addCleanup(broker.close)
        kafka = self.folder / "kafka"
        kafka.write_text(f"security.protocol=SASL_PLAINTEXT\nsasl.mechanisms=PLAIN\nsasl.username=engine\nsasl.password={SECRET}\n")
        kafka.chmod(0o600)
        result = self.refuse(FAILED, [f"the Kafka brokers {broker.address} refuse the engine: SASL authentication error: ", "Wrong user or password: see the file that --log-key names"],
                             "run", "smallbank", "--transactions", 10, "--log-device", "kafka", "--log-server", broker.address, "--log-replicas", 1,
                             "--data-dir", self.folder / "db", "--log-key", kafka)
        self.assertNotIn(SECRET, result.stderr)
        self.assertFalse((self.folder / "db" / "MANIFEST").exists())


if __name__ == "__main__":
    unittest.main()
