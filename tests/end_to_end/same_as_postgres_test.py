"""Goal: what a client asks in SQL is answered as PostgreSQL answers it: the same rows, columns, tags and SQLSTATEs.

Method: psql sends the same statements to a PostgreSQL server and to `mneme serve`, one after the other, over the same tables: the cases of
tests/data/sql. Rows are compared in order where the statement has an ORDER BY, and in any order where it has none.
"""

import pathlib
import re
import subprocess
import unittest

from postgres import Postgres
from program import LONGEST_COMMAND_SECONDS, EndToEndTest
from serve_test import POSTGRES, Server

CASES = pathlib.Path(__file__).resolve().parents[1] / "data" / "sql"
MARK = "-- end of a statement --"


def statements_of(name):
    """The file's statements, one a line."""
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("--")]


def answers(environment, statements, verbosity="sqlstate"):
    """What psql tells of each statement."""
    # A psql that a COPY's rows would follow may look for their end, also where the COPY fails.
    end = {True: "\\.\n", False: ""}
    script = "".join(f"{statement}\n{end['FROM STDIN' in statement]}\\echo {MARK}\n" for statement in statements)
    result = subprocess.run([POSTGRES / "psql", "-X", "-q", "-A", "-P", "null=<NULL>", "-v", f"VERBOSITY={verbosity}",
                             "-v", "SHOW_CONTEXT=never", "-v", "QUIET=off"],
                            input=script, text=True, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            timeout=LONGEST_COMMAND_SECONDS, check=False)
    return [re.sub(r"psql:<stdin>:\d+: ", "", answer.strip()) for answer in result.stdout.split(MARK)[:-1]]


def in_any_order(answer):
    lines = answer.splitlines()
    return [lines[0], *sorted(lines[1:])] if lines else []


def is_ordered(statement):
    return re.search(r"\bORDER BY\b", statement) is not None


def same(statement, one, other):
    return one == other or (not is_ordered(statement) and in_any_order(one) == in_any_order(other))


class SameAsPostgres(EndToEndTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.postgres = Postgres()
        cls.addClassCleanup(cls.postgres.close)

    def compare(self, statements, verbosity="sqlstate"):
        """Runs them on fresh tables of both, and says where they differ."""
        server = Server(self.folder / "db", "--create")
        self.addCleanup(server.close)
        both = []
        for environment in (self.postgres.new_database(), server.environment):
            answers(environment, ["SET client_min_messages = warning;", *statements_of("schema.sql")])
            both.append(answers(environment, statements, verbosity))
        self.assertEqual([len(each) for each in both], [len(statements)] * 2, both[1][-2:])
        differences = [f"{statement}\nPostgreSQL:\n{expected}\nMneme:\n{got}"
                       for statement, expected, got in zip(statements, *both) if not same(statement, expected, got)]
        self.assertEqual(differences, [], "\n\n".join(differences))


# Of these messages are compared, too, and not SQLSTATEs alone.
VERBOSE = {"raise.sql", "duplicate_keys.sql"}


def case_of(name):
    return lambda self: self.compare(statements_of(name), "default" if name in VERBOSE else "sqlstate")


# Each file of statements is a test, test_queries and so on.
for file in sorted(CASES.glob("*.sql")):
    if file.name != "schema.sql":
        setattr(SameAsPostgres, f"test_{file.stem}", case_of(file.name))


if __name__ == "__main__":
    unittest.main()
