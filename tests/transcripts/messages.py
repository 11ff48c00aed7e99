"""Messages of PostgreSQL's protocol, version 3, as lines that a person can read, and back.

A line is a direction, `>` from the client or `<` from the server, the message's name, and its fields as JSON, but for these parts, which differ
from one server or run to the next and stand as `*`: a session's keys, the server's version, the number of a table. A value that is no text is
written as {"hex": ...}.

Source: PostgreSQL 15, chapter 55.7 (message formats).
"""

import json
import struct

FIRST_NUMBER_OF_A_USER = 16384
TLS_REQUEST, GSS_REQUEST, CANCEL_REQUEST = 80877103, 80877104, 80877102
# Fields of ErrorResponse and NoticeResponse; those that name a place in PostgreSQL's source are left out.
REPORT_FIELDS = {"S": "severity", "C": "sqlstate", "M": "message", "D": "detail", "H": "hint", "P": "position", "W": "context", "s": "schema",
                 "t": "table", "c": "column", "d": "type", "n": "constraint"}
BARE = {"1": "ParseComplete", "2": "BindComplete", "3": "CloseComplete", "n": "NoData", "I": "EmptyQueryResponse", "s": "PortalSuspended",
        "c": "CopyDone"}
CLIENT_BARE = {"S": "Sync", "H": "Flush", "X": "Terminate", "c": "CopyDone"}


def line_of(direction, name, *fields):
    return " ".join([direction, name, *(json.dumps(field, ensure_ascii=False) for field in fields)])


def fields_of(line):
    """(direction, name, fields) of a line."""
    direction, name, *rest = line.split(" ", 2)
    decoder, fields = json.JSONDecoder(), []
    text = rest[0] if rest else ""
    while text:
        value, end = decoder.raw_decode(text)
        fields.append(value)
        text = text[end:].lstrip()
    return direction, name, fields


def shown(value):
    """A value of a row or of a parameter."""
    if value is None:
        return None
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return {"hex": value.hex()}
    return text if text.isprintable() or all(each.isprintable() or each in "\n\t\r" for each in text) else {"hex": value.hex()}


def hidden(value):
    """The bytes of what shown() has made."""
    if value is None:
        return None
    return bytes.fromhex(value["hex"]) if isinstance(value, dict) else value.encode()


class Reader:
    """The fields of a message's body."""

    def __init__(self, body):
        self.body = body
        self.at = 0

    def number(self, form):
        value = struct.unpack_from(f"!{form}", self.body, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def numbers(self, form):
        return [self.number(form) for _ in range(self.number("h"))]

    def text(self):
        end = self.body.index(b"\0", self.at)
        text = self.body[self.at:end].decode()
        self.at = end + 1
        return text

    def value(self):
        length = self.number("i")
        if length < 0:
            return None
        self.at += length
        return shown(self.body[self.at - length:self.at])

    def values(self):
        return [self.value() for _ in range(self.number("h"))]

    def rest(self):
        return self.body[self.at:]


def copy_data(body):
    return shown(body)


def server_line(kind, body):
    """The line of a message of the server's."""
    reader = Reader(body)
    if kind in BARE:
        return line_of("<", BARE[kind])
    if kind == "R":
        code = reader.number("i")
        return line_of("<", "AuthenticationOk") if code == 0 else line_of("<", "Authentication", code)
    if kind == "S":
        name, value = reader.text(), reader.text()
        return line_of("<", "ParameterStatus", name, "*" if name == "server_version" else value)
    if kind == "K":
        return line_of("<", "BackendKeyData", "*", "*")
    if kind == "Z":
        return line_of("<", "ReadyForQuery", body.decode())
    if kind == "C":
        return line_of("<", "CommandComplete", reader.text())
    if kind == "T":
        columns = []
        for _ in range(reader.number("h")):
            name, table, number, of_type, size, modifier, form = (reader.text(), *(reader.number(each) for each in "IhIhih"))
            columns.append([name, "*" if table >= FIRST_NUMBER_OF_A_USER else table, number, of_type, size, modifier, form])
        return line_of("<", "RowDescription", *columns)
    if kind == "t":
        return line_of("<", "ParameterDescription", *reader.numbers("I"))
    if kind == "D":
        return line_of("<", "DataRow", *reader.values())
    if kind in "EN":
        fields = {}
        while (code := reader.body[reader.at:reader.at + 1].decode()) != "\0":
            reader.at += 1
            text = reader.text()
            if code in REPORT_FIELDS:
                fields[REPORT_FIELDS[code]] = text
        ordered = {name: fields[name] for name in REPORT_FIELDS.values() if name in fields}
        return line_of("<", "ErrorResponse" if kind == "E" else "NoticeResponse", ordered)
    if kind in "GH":
        return line_of("<", "CopyInResponse" if kind == "G" else "CopyOutResponse", reader.number("b"), reader.numbers("h"))
    if kind == "d":
        return line_of("<", "CopyData", copy_data(body))
    raise ValueError(f"a message of the kind {kind}")


def startup_line(body):
    """The line of a startup packet, or None where it asks for something else than a session."""
    reader = Reader(body)
    if reader.number("I") in (TLS_REQUEST, GSS_REQUEST, CANCEL_REQUEST):
        return None
    options = {}
    while name := reader.text():
        options[name] = reader.text()
    return line_of(">", "Startup", options)


def client_line(kind, body):
    """The line of a message of the client's."""
    reader = Reader(body)
    if kind in CLIENT_BARE:
        return line_of(">", CLIENT_BARE[kind])
    if kind == "Q":
        return line_of(">", "Query", reader.text())
    if kind == "P":
        return line_of(">", "Parse", reader.text(), reader.text(), reader.numbers("I"))
    if kind == "B":
        return line_of(">", "Bind", reader.text(), reader.text(), reader.numbers("h"), reader.values(), reader.numbers("h"))
    if kind == "E":
        return line_of(">", "Execute", reader.text(), reader.number("i"))
    if kind in "DC":
        return line_of(">", "Describe" if kind == "D" else "Close", reader.number("c").decode(), reader.text())
    if kind == "d":
        return line_of(">", "CopyData", copy_data(body))
    if kind == "f":
        return line_of(">", "CopyFail", reader.text())
    raise ValueError(f"a message of the kind {kind}")


def text(value):
    return value.encode() + b"\0"


def numbers(form, values):
    return struct.pack("!h", len(values)) + b"".join(struct.pack(f"!{form}", each) for each in values)


def value_bytes(value):
    plain = hidden(value)
    return struct.pack("!i", -1) if plain is None else struct.pack("!i", len(plain)) + plain


def framed(kind, body):
    return kind.encode() + struct.pack("!i", len(body) + 4) + body


def bytes_of(line):
    """The bytes that a client sends for a line of its own."""
    _, name, fields = fields_of(line)
    if name == "Startup":
        body = struct.pack("!i", 3 << 16) + b"".join(text(each) + text(value) for each, value in fields[0].items()) + b"\0"
        return struct.pack("!i", len(body) + 4) + body
    for kind, bare in CLIENT_BARE.items():
        if bare == name:
            return framed(kind, b"")
    if name == "Query":
        return framed("Q", text(fields[0]))
    if name == "Parse":
        return framed("P", text(fields[0]) + text(fields[1]) + numbers("I", fields[2]))
    if name == "Bind":
        portal, statement, forms, values, results = fields
        return framed("B", text(portal) + text(statement) + numbers("h", forms) + struct.pack("!h", len(values))
                      + b"".join(map(value_bytes, values)) + numbers("h", results))
    if name == "Execute":
        return framed("E", text(fields[0]) + struct.pack("!i", fields[1]))
    if name in ("Describe", "Close"):
        return framed(name[0], fields[0].encode() + text(fields[1]))
    if name == "CopyData":
        return framed("d", hidden(fields[0]))
    if name == "CopyFail":
        return framed("f", text(fields[0]))
    raise ValueError(f"no client says {line}")


class Stream:
    """The messages in bytes that arrive in pieces."""

    def __init__(self, has_startup):
        self.bytes = b""
        self.has_startup = has_startup  # the next message has no kind

    def add(self, more):
        """(kind, body) of each message that is there; the kind of a startup packet is empty."""
        self.bytes += more
        while True:
            begin = 0 if self.has_startup else 1
            if len(self.bytes) < begin + 4:
                return
            end = begin + struct.unpack_from("!i", self.bytes, begin)[0]
            if len(self.bytes) < end:
                return
            kind, body = self.bytes[:begin].decode(), self.bytes[begin + 4:end]
            self.bytes = self.bytes[end:]
            yield kind, body
