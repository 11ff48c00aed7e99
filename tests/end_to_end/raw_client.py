"""A client that writes the bytes of PostgreSQL's protocol itself, inside of TLS or in the clear."""

import select
import socket
import ssl
import struct

from program import LONGEST_COMMAND_SECONDS

SSL_REQUEST = struct.pack("!ii", 8, 80877103)


def message(kind, body):
    return kind + struct.pack("!i", len(body) + 4) + body


def startup(user=b"tester"):
    body = struct.pack("!i", 3 << 16) + b"user\0" + user + b"\0\0"
    return struct.pack("!i", len(body) + 4) + body


def query(text):
    return message(b"Q", text.encode() + b"\0")


class RawClient:
    """A connection whose bytes the test writes."""

    def __init__(self, server, host=None):
        address = (host or server.environment["PGHOST"], int(server.environment["PGPORT"]))
        self.socket = socket.create_connection(address, timeout=LONGEST_COMMAND_SECONDS)
        self.received = b""
        self.key = None  # of a cancel request

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def ask_for_tls(self):
        self.socket.sendall(SSL_REQUEST)
        return self.socket.recv(1)

    def encipher(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        self.socket = context.wrap_socket(self.socket)

    def begin(self, tls=True):
        """A session."""
        if tls:
            if self.ask_for_tls() != b"S":
                raise AssertionError("the server offers no TLS")
            self.encipher()
        self.socket.sendall(startup())
        self.key = next(body for kind, body in self.until_ready() if kind == b"K")
        return self

    def has_answer(self, seconds):
        """Whether bytes arrive within the time."""
        if self.received or (hasattr(self.socket, "pending") and self.socket.pending()):
            return True
        return bool(select.select([self.socket], [], [], seconds)[0])

    def query(self, text):
        self.socket.sendall(query(text))
        return self.until_ready()

    def messages(self):
        """Those that come until the server closes the connection."""
        while True:
            while len(self.received) >= 5:
                length = 1 + struct.unpack("!i", self.received[1:5])[0]
                if len(self.received) < length:
                    break
                kind, body = self.received[:1], self.received[5:length]
                self.received = self.received[length:]
                yield kind, body
            try:
                more = self.socket.recv(1 << 20)
            except (ConnectionResetError, ssl.SSLError):
                return
            if not more:
                return
            self.received += more

    def until_ready(self):
        seen = []
        for each in self.messages():
            seen.append(each)
            if each[0] == b"Z":
                return seen
        raise AssertionError(f"the connection has ended behind {seen}")

    def rest(self):
        """All bytes until the server closes the connection."""
        seen = b""
        while True:
            try:
                more = self.socket.recv(1 << 16)
            except ConnectionResetError:
                return seen
            if not more:
                return seen
            seen += more
