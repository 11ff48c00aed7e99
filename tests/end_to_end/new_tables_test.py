"""Goal: what CREATE TABLE AS, SELECT INTO, LIKE and DO have made is there after the server was killed, whatever its log holds.

Method: a server makes the tables, is killed, and is started again; a query of all rows gives the same before and after.
"""

import signal
import unittest

from program import EndToEndTest
from serve_test import Server

STATEMENTS = """
CREATE TABLE kind (id INT PRIMARY KEY, name VARCHAR(10) NOT NULL UNIQUE, size INT DEFAULT 3 CHECK (size > 0));
INSERT INTO kind SELECT n, 'kind ' || n FROM generate_series(1, 9) AS n;
CREATE TABLE large AS SELECT id, name FROM kind WHERE id > 5;
SELECT id, size INTO sizes FROM kind WHERE id < 3;
CREATE TABLE many AS SELECT n, repeat('x', 200) AS filler FROM generate_series(1, 3000) AS n;
CREATE TABLE kind_too (LIKE kind INCLUDING ALL);
DROP TABLE kind;
DO $$ BEGIN FOR i IN 1..5 LOOP INSERT INTO kind_too (id, name) VALUES (i, 'too ' || i); END LOOP; UPDATE kind_too SET size = 9 WHERE id = 2; END $$;
CREATE PROCEDURE add_kind(n INT) LANGUAGE plpgsql AS 'BEGIN INSERT INTO kind_too (id, name) VALUES (n, ''called''); END';
CALL add_kind(100);
"""
QUESTION = """
SELECT count(*), sum(n), sum(length(filler)) FROM many;
SELECT * FROM large ORDER BY id;
SELECT * FROM sizes ORDER BY id;
SELECT * FROM kind_too ORDER BY id;
"""


class NewTables(EndToEndTest):
    def test_they_outlive_a_crash(self):
        for log in ("command", "logical", "physical"):
            with self.subTest(log=log):
                directory = self.folder / log
                first = Server(directory, "--create", "--log", log)
                self.addCleanup(first.close)
                first.ask(self, STATEMENTS)
                before = first.ask(self, QUESTION)
                self.assertIn("100|called|3", before)
                first.end(signal.SIGKILL)
                second = Server(directory)
                self.addCleanup(second.close)
                self.assertEqual(second.ask(self, QUESTION), before)
                duplicate = second.client("psql", "-X", "-q", "-c", "INSERT INTO kind_too VALUES (1, 'y', 1)")
                self.assertIn("duplicate key", duplicate.stderr)
                second.end(signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
