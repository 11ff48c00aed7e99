"""Goal: rows of uuid, json, jsonb, bytea and numeric without precision are the same after a crash, by each log and each scheme of recovery.

Method: a server fills tables of these types by statements and by calls, with uuids that a DEFAULT draws, and is killed. Every scheme that the log serves
recovers the same digest, and a server that is started again answers a query of all rows as before.
"""

import signal
import unittest

from program import EndToEndTest
from serve_test import Server

STATEMENTS = """
CREATE TABLE item (id UUID PRIMARY KEY DEFAULT gen_random_uuid(), n INT NOT NULL UNIQUE, body JSONB, raw JSON, data BYTEA, price NUMERIC);
CREATE INDEX item_price ON item (price);
CREATE TABLE parts (item UUID REFERENCES item (id), part INT, share NUMERIC NOT NULL DEFAULT 1.50, PRIMARY KEY (item, part));
INSERT INTO item (n, body, price) VALUES (1, '{"b": 1, "a": [1.50, null]}', 1.50), (2, '[]', 2), (3, NULL, -0.001);
INSERT INTO item (n, data, price) SELECT n, decode(repeat('0' || n % 10, n % 7), 'hex'), n / 8.0 FROM generate_series(4, 40) AS n;
CREATE PROCEDURE add_item(p_id UUID, p_n INT, p_body JSONB, p_raw JSON, p_data BYTEA, p_price NUMERIC) LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO item VALUES (p_id, p_n, p_body, p_raw, p_data, p_price);
  INSERT INTO parts (item, part) VALUES (p_id, 1), (p_id, 2);
END $$;
CREATE PROCEDURE raise_price(p_n INT, p_factor NUMERIC) LANGUAGE plpgsql AS $$ DECLARE v_price NUMERIC; v_id UUID; BEGIN
  SELECT id, price INTO v_id, v_price FROM item WHERE n = p_n;
  UPDATE item SET price = v_price * p_factor + 0.10 WHERE n = p_n;
  UPDATE parts SET share = share / 3 WHERE item = v_id;
END $$;
CREATE PROCEDURE set_body(p_n INT, p_body TEXT) LANGUAGE plpgsql AS $$ BEGIN UPDATE item SET body = p_body::jsonb, data = '\\x00ff' WHERE n = p_n; END $$;
CALL add_item('A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 50, '{"z":1,"a":2}', '{"z" : 1}', '\\xDEADBEEF', 10);
CALL add_item('b0eebc999c0b4ef8bb6d6bb9bd380a11', 51, NULL, '[]', '', 1e3);
CALL raise_price(50, 1.10);
CALL raise_price(50, 2);
CALL raise_price(1, 1.0);
CALL set_body(2, '{"z": [1, 2.50], "a": {"c": 1, "b": 1}}');
UPDATE item SET body = body || '{"more": true}', price = price / 3 WHERE n = 50;
UPDATE item SET price = 2.00 WHERE n = 2;
DELETE FROM item WHERE n = 3;
"""
QUESTION = """
SELECT * FROM item ORDER BY n;
SELECT * FROM parts ORDER BY item, part;
SELECT n FROM item WHERE price >= 1.6 ORDER BY price;
SELECT n FROM item WHERE price = 2;
SELECT n FROM item WHERE id = 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11';
"""
WAYS = {"command": [(scheme, {"execution": execution}) for scheme in ("clr", "clr-p") for execution in ("native", "interpreted")],
        "logical": [("llr", {}), ("llr-p", {})], "physical": [("plr", {})], "all": [("clr", {}), ("clr-p", {}), ("plr", {})]}


class FormTypes(EndToEndTest):
    def test_rows_outlive_a_crash(self):
        for log, ways in WAYS.items():
            with self.subTest(log=log):
                directory = self.folder / log
                first = Server(directory, "--create", "--log", log)
                self.addCleanup(first.close)
                first.ask(self, STATEMENTS)
                before = first.ask(self, QUESTION)
                self.assertIn('{"a": 2, "z": 1, "more": true}', before)
                first.end(signal.SIGKILL)
                digests = {self.recover(directory, scheme, **options)["state_digest"] for scheme, options in ways}
                self.assertEqual(len(digests), 1)
                second = Server(directory)
                self.addCleanup(second.close)
                self.assertEqual(second.ask(self, QUESTION), before)
                # A server's end leaves a checkpoint, from which the next one begins.
                second.end()
                third = Server(directory)
                self.addCleanup(third.close)
                self.assertEqual(third.ask(self, QUESTION), before)


if __name__ == "__main__":
    unittest.main()
