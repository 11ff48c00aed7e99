"""Goal: texts without a length hold any text, and a server that is killed has them all again, whatever its log holds and however it is recovered.

Method: one script of statements and calls with texts up to 100 kB, in keys' neighbours, in several columns, in blocks that are rolled back, beside
checkpoints; what psql sees before the kill, and after each kind of restart.
"""

import signal
import unittest

from program import EndToEndTest
from serve_test import Server

SCHEMA = """
CREATE TABLE doc (id INT PRIMARY KEY, title VARCHAR, body TEXT NOT NULL, notes VARCHAR(5000), data JSON, bytes BYTEA, reads INT NOT NULL DEFAULT 0);
CREATE TABLE heap (n INT, body TEXT);
CREATE TABLE tag (name TEXT PRIMARY KEY, about TEXT);
CREATE PROCEDURE put(p_id INT, p_body TEXT) LANGUAGE plpgsql AS $$
BEGIN INSERT INTO doc (id, title, body, notes) VALUES (p_id, left(p_body, 300), p_body, left(p_body, 4000)); END $$;
CREATE PROCEDURE append(p_id INT, p_more TEXT) LANGUAGE plpgsql AS $$
DECLARE old TEXT;
BEGIN SELECT body INTO old FROM doc WHERE id = p_id; UPDATE doc SET body = old || p_more, reads = reads + 1 WHERE id = p_id; END $$;
CREATE PROCEDURE exchange(p_id INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE doc SET body = notes, notes = left(body, 5000) WHERE id = p_id AND notes IS NOT NULL; END $$;
CREATE PROCEDURE move(p_id INT, p_to INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE doc SET id = p_to WHERE id = p_id; END $$;
"""
SCRIPT = """
INSERT INTO doc (id, body) VALUES (1, repeat('a', 100000)), (2, 'short'), (3, repeat('é', 40000));
INSERT INTO doc (id, body, data, bytes) VALUES (4, '', ('[' || repeat('1, ', 2000) || '1]')::json, decode(repeat('ab', 1000), 'hex'));
CALL put(10, repeat('p', 60000));
CALL put(11, 'p');
CALL put(12, repeat('q', 100000));
CALL append(10, repeat('r', 1000));
CALL append(11, repeat('s', 63));
CALL append(2, '!');
CALL exchange(10);
CALL move(12, 13);
UPDATE doc SET body = body || 'x' WHERE id = 1;
UPDATE doc SET title = body WHERE id = 10;
UPDATE doc SET reads = reads + 1 WHERE id IN (2, 4, 10);
UPDATE doc SET notes = NULL WHERE id = 11;
BEGIN; UPDATE doc SET body = repeat('z', 70000) WHERE id = 1; SAVEPOINT s; DELETE FROM doc WHERE id = 3; ROLLBACK TO s; ROLLBACK;
BEGIN; UPDATE doc SET body = repeat('y', 5000) WHERE id = 4; SAVEPOINT s; UPDATE doc SET body = 'w' WHERE id = 4; ROLLBACK TO s; COMMIT;
DELETE FROM doc WHERE id = 11;
INSERT INTO tag VALUES ('short', repeat('t', 3000));
UPDATE tag SET name = 'other', about = about || about;
"""
HEAP = "INSERT INTO heap VALUES (1, repeat('h', 3000)), (2, NULL), (3, 'h'); UPDATE heap SET body = repeat('i', 2000) WHERE n = 2; DELETE FROM heap WHERE n = 1;"
STATE = """
SELECT id, length(title), length(body), md5(body), length(notes), md5(notes), length(data::text), length(bytes), reads FROM doc ORDER BY id;
SELECT n, length(body), md5(body) FROM heap ORDER BY n;
SELECT name, length(about), md5(about) FROM tag;
"""


class LongTexts(EndToEndTest):
    def serve(self, *options, name="db"):
        server = Server(self.folder / name, *options)
        self.addCleanup(server.close)
        return server

    def check_log(self, log, schemes, heap, *options):
        name = "-".join([log, *options]).replace("--", "")
        server = self.serve("--create", "--log", log, *options, name=name)
        server.ask(self, SCHEMA + SCRIPT + (HEAP if heap else ""))
        for _ in range(3):
            server.ask(self, "UPDATE doc SET body = substr(body, 2) || right(body, 1) || 'k' WHERE length(body) > 0 AND id < 5;")
        state = server.ask(self, STATE)
        self.assertEqual(state.splitlines()[1].split("|")[2], "100004")
        server.end(signal.SIGKILL)
        directory = self.folder / name
        ways = {"clr": [{"execution": "native"}, {"execution": "interpreted"}],
                "clr-p": [{"execution": "native"}, {"threads": 4, "batch": 3, "execution": "interpreted"}]}
        found = [self.recover(directory, scheme, **way) for scheme in schemes for way in ways.get(scheme, [{}])]
        self.assertEqual(len({each["state_digest"] for each in found}), 1, found)
        again = self.serve(*options, name=name)
        self.assertEqual(again.ask(self, STATE), state)
        again.ask(self, "CALL append(10, 'once more'); DELETE FROM doc WHERE id = 1; INSERT INTO doc (id, body) VALUES (1, repeat('n', 50000));")
        state = again.ask(self, STATE)
        self.assertEqual(again.end()[0], 0)
        last = self.serve(*options, name=name)
        self.assertEqual(last.ask(self, STATE), state)

    def test_calls(self):
        self.check_log("command", ["clr", "clr-p"], True)

    def test_rows(self):
        self.check_log("logical", ["llr", "llr-p"], True)

    def test_located_rows(self):
        self.check_log("physical", ["plr"], True)

    def test_calls_and_rows(self):
        self.check_log("all", ["clr", "clr-p", "llr", "llr-p", "plr"], False)

    def test_checkpoints_beside_them(self):
        self.check_log("command", ["clr", "clr-p"], True, "--checkpoint-every", "0.05")


if __name__ == "__main__":
    unittest.main()
