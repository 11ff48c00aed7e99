"""Goal: docs/sql.md is true: what it calls accepted PostgreSQL and Mneme answer alike, and what it calls refused Mneme refuses so, while what
stands for it is answered alike.

Method: psql sends each statement of tests/data/sql_table.toml to both, in the order of the file.
"""

import pathlib
import re
import tomllib
import unittest

from postgres import Postgres
from program import EndToEndTest
from same_as_postgres_test import answers, same, statements_of
from serve_test import Server

TABLE = pathlib.Path(__file__).resolve().parents[1] / "data" / "sql_table.toml"


class SqlTable(EndToEndTest):
    def test_each_line_of_the_table(self):
        parts = tomllib.loads(TABLE.read_text(encoding="utf-8"))["part"]
        postgres = Postgres()
        self.addCleanup(postgres.close)
        server = Server(self.folder / "db", "--create")
        self.addCleanup(server.close)
        # (what it is, the statement, the SQLSTATE that Mneme refuses it with)
        lines = []
        for part in parts:
            title = part["title"]
            lines += [(f"{title}: set up", statement, None) for statement in part.get("set_up", [])]
            lines += [(f"{title}: {what}", statement, None) for what, statement in part["accepted"]]
            for what, statement, sqlstate, instead in part["refused"]:
                lines.append((f"{title}: {what}", statement, sqlstate))
                if instead:
                    lines.append((f"{title}: {what}, instead", instead, None))
        asked = [f"{statement};" for _, statement, _ in lines]
        here = answers(server.environment, ["SET client_min_messages = warning;", *statements_of("schema.sql"), *asked])[-len(asked):]
        # What Mneme refuses, and PostgreSQL does, is not done there, so that the tables stay the same.
        of_postgres = [statement if not sqlstate else "SELECT 'not asked';" for statement, (_, _, sqlstate) in zip(asked, lines)]
        there = answers(postgres.new_database(), ["SET client_min_messages = warning;", *statements_of("schema.sql"), *of_postgres])[-len(asked):]
        differences = []
        for (what, statement, sqlstate), got, wanted in zip(lines, here, there):
            if sqlstate:
                if not re.fullmatch(rf"ERROR:  {sqlstate}", got):
                    differences.append(f"{what}\n{statement}\nnot refused with {sqlstate}, but:\n{got}")
            elif not same(statement, wanted, got):
                differences.append(f"{what}\n{statement}\nPostgreSQL:\n{wanted}\nMneme:\n{got}")
            elif what.startswith("ERROR") and "an error" not in what:
                differences.append(f"{what}\n{statement}\nboth refuse it:\n{got}")
        self.assertEqual(differences, [], "\n\n".join(differences))

    def test_what_is_refused_is_postgresqls(self):
        """PostgreSQL takes each of them, so that a statement that is wrong anywhere is not taken for one that is refused here."""
        parts = tomllib.loads(TABLE.read_text(encoding="utf-8"))["part"]
        postgres = Postgres()
        self.addCleanup(postgres.close)
        for part in parts:
            asked = [f"{statement};" for _, statement, _, _ in part["refused"]]
            script = [*statements_of("schema.sql"), *(f"{each};" for each in part.get("set_up", []))]
            for statement in asked:
                answer = answers(postgres.new_database(), [*script, statement])[-1]
                # Its own settings keep PostgreSQL from preparing transactions.
                if "PREPARE TRANSACTION" not in statement:
                    self.assertNotIn("ERROR", answer, statement)


if __name__ == "__main__":
    unittest.main()
