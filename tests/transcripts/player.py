"""Plays the client's side of a transcript against a server, and tells both sides as they then are.

A client that has asked reads its answers before it says more: behind Startup, Query and Sync those up to ReadyForQuery, or up to
CopyInResponse, behind which its rows follow; behind Flush as many as the transcript has.
"""

import select
import socket

from messages import Stream, bytes_of, fields_of, server_line

LONGEST_WAIT_SECONDS = 300
QUIET_SECONDS = 0.5
ENDS_COPY = ("CopyDone", "CopyFail")


def name_of(line):
    return line.split(" ", 2)[1]


class Player:
    def __init__(self, environment):
        host, port = environment["PGHOST"], int(environment.get("PGPORT", 5432))
        if host.startswith("/"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(LONGEST_WAIT_SECONDS)
            self.socket.connect(f"{host}/.s.PGSQL.{port}")
        else:
            self.socket = socket.create_connection((host, port), timeout=LONGEST_WAIT_SECONDS)
        self.stream = Stream(False)
        self.waiting = []  # lines of the server that have not been told yet

    def close(self):
        self.socket.close()

    def receive(self):
        """The server's next line, or None where it has ended the connection."""
        while not self.waiting:
            try:
                more = self.socket.recv(1 << 16)
            except ConnectionResetError:
                more = b""
            if not more:
                return None
            self.waiting += [server_line(kind, body) for kind, body in self.stream.add(more)]
        return self.waiting.pop(0)

    def until(self, *names):
        told = []
        while (line := self.receive()) is not None:
            told.append(line)
            if name_of(line) in names:
                break
        return told

    def until_quiet(self):
        told = []
        while self.waiting or select.select([self.socket], [], [], QUIET_SECONDS)[0]:
            line = self.receive()
            if line is None:
                break
            told.append(line)
        return told


def play(environment, lines, is_recording=False):
    """The lines of one session: those of the client, and what the server says now. While it is recorded, a client waits behind Flush until
    the server is quiet."""
    player = Player(environment)
    told, copies, skips = [], None, False
    try:
        for at, line in enumerate(lines):
            if not line.startswith(">"):
                continue
            name = name_of(line)
            told.append(line)
            if skips:  # the rows of a COPY that has not begun
                skips = name not in ENDS_COPY
                continue
            player.socket.sendall(bytes_of(line))
            if name == "Flush":
                if is_recording:
                    told += player.until_quiet()
                else:
                    wanted = 0
                    while at + 1 + wanted < len(lines) and lines[at + 1 + wanted].startswith("<"):
                        wanted += 1
                    for _ in range(wanted):
                        answer = player.receive()
                        if answer is None:
                            break
                        told.append(answer)
                        if name_of(answer) == "ErrorResponse":
                            break
                continue
            if copies == "query" and name in ENDS_COPY:
                told += player.until("ReadyForQuery", "CopyInResponse")
                copies = "query" if name_of(told[-1]) == "CopyInResponse" else None
            elif copies == "sync" and name == "Sync":
                copies = None
                told += player.until("ReadyForQuery")
            elif copies is None and name in ("Startup", "Query", "Sync"):
                told += player.until("ReadyForQuery", "CopyInResponse")
                if name_of(told[-1]) == "CopyInResponse":
                    copies = name.lower()
                elif at + 1 < len(lines) and begins_copy(lines[at + 1:]):
                    skips = True
            elif name == "Terminate":
                break
    finally:
        player.close()
    return told


def begins_copy(lines):
    """Whether the server began a COPY here in the transcript, before the client said anything else."""
    for line in lines:
        if line.startswith(">"):
            return False
        if name_of(line) == "CopyInResponse":
            return True
    return False


def sqlstate_of(line):
    return fields_of(line)[2][0].get("sqlstate")
