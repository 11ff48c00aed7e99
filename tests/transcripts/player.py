"""Plays the client's side of a transcript against a server, and tells both sides as they then are.

A client that has asked reads its answers before it says more: behind Startup, Query and Sync those up to ReadyForQuery, or up to
CopyInResponse, behind which its rows follow; behind Flush as many as the transcript has.
"""

import itertools
import re
import select
import socket

from messages import Stream, bytes_of, fields_of, line_of, server_line

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


OID_TYPE = 26
FIRST_NUMBER_OF_A_USER = 16384


class Numbers:
    """The numbers of tables and their like, which are each server's own: those of the transcript, and those of the server at hand. What a client
    was told of them it asks for later."""

    def __init__(self):
        self.now = {}
        self.types = []

    def line_for(self, line):
        return re.sub(r"\b\d{5,7}\b", lambda number: self.now.get(number.group(), number.group()), line)

    def learn(self, recorded, got):
        """The lines that came, with the transcript's numbers in place of the server's own."""
        told = []
        for before, line in itertools.zip_longest(recorded, got):
            if line is None:
                break
            if before is not None and name_of(before) == "RowDescription":
                self.types = [column[3] for column in fields_of(before)[2]]
            if before is not None and name_of(before) == name_of(line) == "DataRow":
                line = self.same_row(before, line)
            told.append(line)
        return told

    def same_row(self, before, line):
        old, new = fields_of(before)[2], fields_of(line)[2]
        if len(old) != len(new) or len(old) != len(self.types):
            return line
        for i, (was, is_now) in enumerate(zip(old, new)):
            if self.types[i] == OID_TYPE and is_number(was) and is_number(is_now) and self.now.setdefault(was, is_now) == is_now:
                new[i] = was
        return line_of("<", "DataRow", *new)


def is_number(value):
    return isinstance(value, str) and value.isdecimal() and int(value) >= FIRST_NUMBER_OF_A_USER


def play(environment, lines, is_recording=False):
    """The lines of one session: those of the client, and what the server says now. While it is recorded, a client waits behind Flush until
    the server is quiet."""
    player = Player(environment)
    numbers = Numbers()
    told, copies, skips = [], None, False

    def answers(at, *names):
        got = player.until(*names)
        recorded = list(itertools.takewhile(lambda line: line.startswith("<"), lines[at + 1:]))
        return got if is_recording else numbers.learn(recorded, got)

    try:
        for at, line in enumerate(lines):
            if not line.startswith(">"):
                continue
            name = name_of(line)
            told.append(line)
            if skips:  # the rows of a COPY that has not begun
                skips = name not in ENDS_COPY
                continue
            player.socket.sendall(bytes_of(line if is_recording else numbers.line_for(line)))
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
                told += answers(at, "ReadyForQuery", "CopyInResponse")
                copies = "query" if name_of(told[-1]) == "CopyInResponse" else None
            elif copies == "sync" and name == "Sync":
                copies = None
                told += answers(at, "ReadyForQuery")
            elif copies is None and name in ("Startup", "Query", "Sync"):
                told += answers(at, "ReadyForQuery", "CopyInResponse")
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

