"""Records what clients and PostgreSQL say to each other: a proxy between the two, and a PostgreSQL server of its own.

A transcript is a file of sessions that begin with an empty database, in the order in which they began. The proxy takes down each side by itself;
a session's lines are then put in the order in which a client reads its answers before it says more.
"""

import pathlib
import socket
import struct
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "end_to_end"))

from bridge import Acceptor
from messages import Stream, client_line, server_line, startup_line
from player import ENDS_COPY, name_of, play
from postgres import PROGRAMS, Postgres

USER, DATABASE = "tester", "bank"
SESSION = "== session"


class RecordingServer:
    """A PostgreSQL server, and an empty database for each transcript."""

    def __init__(self):
        self.postgres = Postgres()
        self.sql("postgres", f"CREATE ROLE {USER} SUPERUSER LOGIN", "ALTER SYSTEM SET timezone = 'UTC'", "SELECT pg_reload_conf()")

    def sql(self, database, *statements):
        commands = [word for each in statements for word in ("-c", each)]
        subprocess.run([PROGRAMS / "psql", "-X", "-q", *commands], env=self.postgres.environment(database), check=True,
                       stdout=subprocess.DEVNULL)

    def empty_database(self):
        self.sql("postgres", f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)", f"CREATE DATABASE {DATABASE}")
        return {**self.postgres.environment(DATABASE), "PGUSER": USER}

    def close(self):
        self.postgres.close()


def received(connection):
    """The bytes that have arrived; none where the other side has ended the connection."""
    try:
        return connection.recv(1 << 16)
    except ConnectionResetError:
        return b""


class Session:
    """What the two sides of a connection have said."""

    def __init__(self):
        self.client, self.server = [], []

    def lines(self):
        client, server, merged, copies = list(self.client), list(self.server), [], None

        def answers(*names):
            while server:
                merged.append(server.pop(0))
                if name_of(merged[-1]) in names:
                    return name_of(merged[-1])
            return None

        for line in client:
            merged.append(line)
            name = name_of(line)
            if copies == "Query" and name in ENDS_COPY or copies is None and name in ("Startup", "Query", "Sync"):
                ended = answers("ReadyForQuery", "CopyInResponse")
                copies = (copies or name) if ended == "CopyInResponse" else None
            elif copies == "Sync" and name == "Sync":
                answers("ReadyForQuery")
                copies = None
        return merged + server


class Proxy(Acceptor):
    """Takes down each session with the server behind the socket."""

    def __init__(self, path):
        self.path = path
        self.sessions = []
        super().__init__(self.take_down)

    def take_down(self, client):
        server = socket.socket(socket.AF_UNIX)
        server.connect(self.path)
        stream, session, answering = Stream(True), None, None
        while more := received(client):
            for kind, body in stream.add(more):
                if kind:
                    session.client.append(client_line(kind, body))
                elif (line := startup_line(body)) is None:
                    if len(body) == 4:  # it asks for TLS, or GSS
                        client.sendall(b"N")
                        continue
                else:
                    session = Session()
                    session.client.append(line)
                    self.sessions.append(session)
                    stream.has_startup = False
                    answering = threading.Thread(target=self.answer, args=(server, client, session), daemon=True)
                    answering.start()
                server.sendall(kind.encode() + struct.pack("!i", len(body) + 4) + body)
        server.shutdown(socket.SHUT_WR)
        if answering is not None:
            answering.join()
        client.close()
        server.close()

    @staticmethod
    def answer(server, client, session):
        stream = Stream(False)
        while more := received(server):
            session.server += [server_line(kind, body) for kind, body in stream.add(more)]
            try:
                client.sendall(more)
            except (BrokenPipeError, ConnectionResetError):
                pass

    def close(self):
        super().close()
        for thread in self.threads:
            thread.join(10)


def write(path, title, sessions):
    text = [f"# {title}"]
    for number, lines in enumerate(sessions, 1):
        text += [f"{SESSION} {number}", *lines]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


def read(path):
    """The sessions of a transcript: lists of lines."""
    sessions = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith(SESSION):
            sessions.append([])
        elif line.startswith((">", "<")):
            sessions[-1].append(line)
    return sessions


def record_client(server, command, title, path, setup=()):
    """Runs the command, a client, through the proxy."""
    environment = server.empty_database()
    if setup:
        server.sql(DATABASE, *setup)
    proxy = Proxy(f"{environment['PGHOST']}/.s.PGSQL.5432")
    environment = {**environment, "PGHOST": "127.0.0.1", "PGPORT": str(proxy.port), "PGSSLMODE": "disable", "PGGSSENCMODE": "disable",
                   "TZ": "UTC", "PGAPPNAME": ""}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    proxy.close()
    if result.returncode != 0:
        raise RuntimeError(f"{command}: {result.stdout[-2000:]}{result.stderr[-2000:]}")
    write(path, title, [each.lines() for each in proxy.sessions])
    return len(proxy.sessions)


def record_raw(server, sessions, title, path):
    """Plays sessions that were written by hand."""
    environment = server.empty_database()
    write(path, title, [play(environment, lines, is_recording=True) for lines in sessions])
    return len(sessions)
