"""Transactions at random that read lists and append to them, over psycopg or psycopg2, and what their client saw of them.

    list_append_client.py --driver psycopg --history FILE --transactions 1000 --threads 4 --seed 1     on the server that the environment names
    list_append_client.py --driver psycopg --history FILE --all                                        one that reads all lists
    list_append_client.py --driver psycopg --history FILE --steps "1:r0 2:r3 1:a3 2:a0 1:commit 2:commit"   in this order

The history is for tests/isolation/list_history.py, which says what its lines are. The tables are those of list_append.sql; a key's
remainder by three says which of them holds its list. A transaction is a block of statements, a call, a statement by itself, or a block
with calls in it; blocks have savepoints now and then, and some are rolled back. With --kill PID the process of this id is killed by
SIGKILL as soon as --kill-after transactions were acknowledged here. The client ends once all its connections are lost. What runs at
random prints a line once all its connections are there, and begins when it is given one.

What an error means for the outcome: an error of the server, with an SQLSTATE, has rolled the transaction back. If the connection is
lost, the outcome is unknown once COMMIT, or a statement by itself, was sent. Before that the transaction can't have committed.
"""

import argparse
import collections
import importlib
import json
import os
import random
import signal
import sys
import threading
import time

KEYS_AT_ONCE = 6
APPENDS_OF_A_KEY = 20  # on average; a text has room for about 50
ALL_OF = (
    "SELECT key, list FROM text_list WHERE key BETWEEN %s AND %s",
    "SELECT key, string_agg(value::text, ',' ORDER BY place) FROM row_list WHERE key BETWEEN %s AND %s GROUP BY key",
    "SELECT key, string_agg(value::text, ',' ORDER BY place) FROM indexed_list WHERE key BETWEEN %s AND %s GROUP BY key",
)


def parsed(text):
    return [int(value) for value in (text or "").split(",") if value]


class RolledBack(Exception):
    """The transaction gave itself up."""


class Connection:
    """A connection of either driver, each transaction of which is begun and ended as the driver's own programs do it."""

    def __init__(self, driver):
        self.driver = importlib.import_module(driver)
        self.connection = self.driver.connect("")
        self.connection.autocommit = True

    def rows(self, text, parameters=()):
        with self.connection.cursor() as cursor:
            cursor.execute(text, parameters)
            return cursor.fetchall() if cursor.description else []

    def count(self, text, parameters=()):
        with self.connection.cursor() as cursor:
            cursor.execute(text, parameters)
            return cursor.rowcount

    def begin(self, read_only=False):
        self.connection.autocommit = False
        self.set_read_only(read_only or None)

    def set_read_only(self, is_read_only):
        """Of the blocks that follow."""
        if self.driver.__name__ == "psycopg":
            self.connection.read_only = is_read_only
        else:
            self.connection.readonly = is_read_only

    def ended(self):
        self.set_read_only(None)
        self.connection.autocommit = True

    def commit(self):
        self.connection.commit()
        self.ended()

    def roll_back(self):
        self.connection.rollback()
        self.ended()

    def is_lost(self, error):
        return (getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)) is None


class Lists:
    """Reads and appends as statements. Each returns what it saw, in the form of the history."""

    def __init__(self, connection):
        self.connection = connection

    def read(self, key):
        if key % 3 == 0:
            rows = self.connection.rows("SELECT list FROM text_list WHERE key = %s", [key])
            return [["read", key, parsed(rows[0][0] if rows else "")]]
        table = "row_list" if key % 3 == 1 else "indexed_list"
        rows = self.connection.rows(f"SELECT value FROM {table} WHERE key = %s ORDER BY place", [key])
        return [["read", key, [value for value, in rows]]]

    def append(self, key, value):
        if key % 3 == 0:
            self.connection.count("INSERT INTO text_list VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET list = text_list.list || excluded.list",
                                  [key, f",{value}"])
        elif key % 3 == 1:
            self.connection.count("INSERT INTO row_list SELECT %s, coalesce(max(place), 0) + 1, %s FROM row_list WHERE key = %s",
                                  [key, value, key])
        else:
            self.connection.count("INSERT INTO indexed_list SELECT %s, %s, count(*) + 1 FROM indexed_list WHERE key = %s",
                                  [value, key, key])
        return [["append", key, value]]

    def append_to_what_was_read(self, key, value):
        """The client makes the new text, as object-relational mappers do."""
        seen = self.read(key)
        if key % 3 == 0 and seen[0][2]:
            text = "".join(f",{each}" for each in [*seen[0][2], value])
            if self.connection.count("UPDATE text_list SET list = %s WHERE key = %s", [text, key]) != 1:
                raise AssertionError(f"the row of key {key} was read and is not there")
            return [*seen, ["append", key, value]]
        return seen + self.append(key, value)

    def read_all(self, first, last):
        """One statement on all three tables."""
        rows = dict(self.connection.rows(" UNION ALL ".join(ALL_OF), [first, last] * 3))
        return [["read", key, parsed(rows.get(key))] for key in range(first, last + 1)]

    def call(self, operations):
        """Up to four operations as a call: a key, and a value to append or None."""
        places = [*operations, *[(1, None)] * (4 - len(operations))]
        found = self.connection.rows("CALL list_mix(%s, %s, %s, %s, %s, %s, %s, %s, NULL, NULL, NULL, NULL)",
                                     [each for place in places for each in place])[0]
        return [["read", key, parsed(text)] if value is None else ["append", key, value] for (key, value), text in zip(operations, found)]


class Client:
    """One thread's transactions."""

    def __init__(self, work, number):
        self.work, self.number = work, number
        self.chance = random.Random(f"{work.options.seed}/{number}")
        self.connection = Connection(work.options.driver)
        self.lists = Lists(self.connection)

    def run(self):
        while (place := self.work.next_transaction()) is not None:
            first = place // self.work.transactions_of_a_key
            self.keys = range(first, first + KEYS_AT_ONCE)
            shape = self.chance.choices((self.block, self.call, self.alone, self.read_only), (50, 30, 12, 8))[0]
            if not self.transaction(f"{self.work.options.seed}/{self.number}/{place}", shape):
                return

    def transaction(self, name, shape):
        """Returns whether the connection is still there."""
        self.done, self.may_be_committed = [], False
        begin, outcome, is_there, why = time.monotonic_ns(), "failed", True, ""
        try:
            shape()
            outcome = "ok"
        except RolledBack:
            why = "rolled back"
        except self.connection.driver.Error as error:
            why = str(error).strip()
            if self.connection.is_lost(error):
                is_there = False
                outcome = "unknown" if self.may_be_committed else "failed"
            else:
                self.work.count(getattr(error, "sqlstate", None) or error.pgcode, str(error))
        self.work.write({"name": name, "begin": begin, "end": time.monotonic_ns() if outcome != "unknown" else None, "outcome": outcome,
                         "as": shape.__name__.strip("_"), "why": why, "operations": self.done})
        return is_there

    def key(self):
        return self.chance.choice(self.keys)

    def operations(self, most):
        """Each as (key, the value to append, or None)."""
        return [(self.key(), self.work.next_value() if self.chance.random() < 0.5 else None) for _ in range(self.chance.randint(1, most))]

    def in_block(self, body, read_only=False):
        self.connection.begin(read_only)
        try:
            body()
            self.may_be_committed = True
            self.connection.commit()
        except (RolledBack, self.connection.driver.Error) as error:
            if isinstance(error, RolledBack) or not self.connection.is_lost(error):
                self.connection.roll_back()
            raise

    def block(self):
        self.in_block(self.statements)

    def statements(self):
        savepoint = self.chance.random() < 0.3
        for place, (key, value) in enumerate(self.operations(6)):
            if savepoint and place == 1:
                self.connection.count("SAVEPOINT here")
                self.done.append(["savepoint"])
            if self.chance.random() < 0.1:
                self.done += self.lists.call([(key, value), *self.operations(2)])
            elif value is None:
                self.done += self.lists.read(key)
            elif self.chance.random() < 0.3:
                self.done += self.lists.append_to_what_was_read(key, value)
            else:
                self.done += self.lists.append(key, value)
            if savepoint and place >= 1 and self.chance.random() < 0.5:
                self.connection.count("ROLLBACK TO here")
                self.done.append(["rollback to"])
        if self.chance.random() < 0.05:
            raise RolledBack

    def call(self):
        operations = self.operations(4)
        # Of a call without an answer no read is known, and each append may have been done.
        self.may_be_committed = True
        self.done = [["append", *each] for each in operations if each[1] is not None]
        self.done = self.lists.call(operations)

    def alone(self):
        key, value = self.operations(1)[0]
        self.may_be_committed = True
        if value is not None:
            self.done = [["append", key, value]]
            self.lists.append(key, value)
        elif self.chance.random() < 0.5:
            self.done = self.lists.read(key)
        else:
            self.done = self.lists.read_all(self.keys[0], self.keys[-1])

    def read_only(self):
        """As the drivers begin them: BEGIN READ ONLY."""
        self.in_block(self.only_reads, read_only=True)

    def only_reads(self):
        for _ in range(self.chance.randint(1, 4)):
            self.done += self.lists.read(self.key())
        self.done += self.lists.read_all(self.keys[0], self.keys[-1])


class Work:
    """What the threads share."""

    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.file = open(options.history, "a", encoding="utf-8")
        self.place = options.first_transaction
        self.end = options.first_transaction + options.transactions
        # A transaction has about two appends, and this program's clients are not alone.
        self.transactions_of_a_key = max(1, APPENDS_OF_A_KEY // 2 // options.programs)
        self.value = 0
        self.acknowledged = self.operations = 0
        self.errors = collections.Counter()
        self.examples = {}

    def next_transaction(self):
        with self.lock:
            self.place += 1
            return self.place - 1 if self.place <= self.end else None

    def next_value(self):
        """One that no other program appends: they take turns."""
        with self.lock:
            self.value += 1
            return self.options.first_value + self.value * self.options.programs + self.options.program

    def count(self, state, text):
        with self.lock:
            self.errors[state] += 1
            self.examples.setdefault(state, text)

    def write(self, transaction):
        line = json.dumps(transaction, separators=(",", ":"))
        with self.lock:
            self.file.write(line + "\n")
            if transaction["outcome"] == "ok":
                self.acknowledged += 1
                self.operations += sum(each[0] in ("read", "append") for each in transaction["operations"])
                if self.acknowledged == self.options.kill_after:
                    os.kill(self.options.kill, signal.SIGKILL)

    def at_random(self):
        clients = [Client(self, number) for number in range(self.options.threads)]
        # Its starter says when all programs are connected: none kills the server before.
        print("connected", flush=True)
        sys.stdin.readline()
        failures = []

        def run(client):
            try:
                client.run()
            except Exception as error:
                failures.append(error)
                raise

        threads = [threading.Thread(target=run, args=[client]) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return not failures

    def read_all(self):
        client = Client(self, 0)

        def body():
            rows = {}
            for text in ALL_OF:
                rows.update(client.connection.rows(text, [0, 2_000_000_000]))
            client.done = [["read", key, parsed(rows.get(key))] for key in range(max(rows, default=0) + KEYS_AT_ONCE)]

        return client.transaction(f"{self.options.seed}/all", lambda: client.in_block(body))

    def in_steps(self):
        """Transactions of which each step waits for the one before. Those that fail have the rest of their steps left out."""
        clients, begins, over = {}, {}, set()
        for step in self.options.steps.split():
            number, what = step.split(":")
            client = clients.get(number)
            if client is None:
                client = clients[number] = Client(self, number)
                client.done, begins[number] = [], time.monotonic_ns()
                client.connection.begin()
            if number in over:
                continue
            outcome = None
            try:
                if what == "commit":
                    client.connection.commit()
                    outcome = "ok"
                elif what[0] == "r":
                    client.done += client.lists.read(int(what[1:]))
                elif what[0] == "a":
                    client.done += client.lists.append(int(what[1:]), self.next_value())
                else:
                    client.done += client.lists.append_to_what_was_read(int(what[1:]), self.next_value())
            except client.connection.driver.Error as error:
                self.count(getattr(error, "sqlstate", None) or error.pgcode, str(error))
                client.connection.roll_back()
                outcome = "failed"
            if outcome:
                over.add(number)
                self.write({"name": f"T{number}", "begin": begins[number], "end": time.monotonic_ns(), "outcome": outcome,
                            "operations": client.done})
        return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--driver", choices=("psycopg", "psycopg2"), required=True)
    parser.add_argument("--history", required=True)
    parser.add_argument("--transactions", type=int, default=0)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first-transaction", type=int, default=0)
    parser.add_argument("--first-value", type=int, default=0)
    parser.add_argument("--program", type=int, default=0, help="this one's number among those that run at once")
    parser.add_argument("--programs", type=int, default=1)
    parser.add_argument("--kill", type=int)
    parser.add_argument("--kill-after", type=int)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--steps")
    options = parser.parse_args()
    work = Work(options)
    is_good = work.in_steps() if options.steps else work.read_all() if options.all else work.at_random()
    work.file.close()
    print(json.dumps({"acknowledged": work.acknowledged, "operations": work.operations, "place": work.place,
                      "value": options.first_value + work.value * options.programs, "errors": work.errors, "examples": work.examples}))
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
