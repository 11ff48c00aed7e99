# What psql asks to describe a database: each call is a session.
set -e
run() { /usr/lib/postgresql/15/bin/psql -X -q -At "$@" >/dev/null 2>&1 || true; }
run <<'S'
CREATE TABLE customer (id serial PRIMARY KEY, code varchar(10) NOT NULL UNIQUE, credit numeric(12,2) DEFAULT 0 CHECK (credit >= 0));
CREATE TABLE orders (customer int REFERENCES customer ON DELETE CASCADE, number bigint, note char(5), PRIMARY KEY (customer, number));
CREATE INDEX orders_note ON orders (note, number);
CREATE VIEW rich AS SELECT id FROM customer WHERE credit > 1000;
CREATE FUNCTION twice(a int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN a * 2; END $$;
CREATE PROCEDURE put(p_id int, p_code varchar(10)) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO customer (id, code) VALUES (p_id, p_code); END $$;
S
for what in '\d' '\dt' '\di' '\ds' '\dv' '\df' '\dn' '\d customer' '\d orders' '\d orders_note' '\d nowhere' '\dt c*' '\di orders*' '\sf twice' '\sf put' '\l'; do
  run -c "$what"
done
