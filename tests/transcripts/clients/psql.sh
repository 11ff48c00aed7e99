# Sessions of psql: each call is one.
set -e
run() { /usr/lib/postgresql/15/bin/psql -X -q -At -v ON_ERROR_STOP=0 "$@" >/dev/null 2>&1 || true; }
run -c "CREATE TABLE item (id int PRIMARY KEY, name varchar(20), price numeric(8,2), made date DEFAULT '2024-02-29')"
run -c "INSERT INTO item VALUES (1, 'one', 1.5), (2, 'two', NULL)" -c "SELECT * FROM item ORDER BY id"
run -c "SELECT 1; SELECT 2"
run -1 -c "INSERT INTO item VALUES (3, 'three', 3)" -c "SELECT 1 / 0"
run <<'S'
\set ON_ERROR_ROLLBACK on
BEGIN;
INSERT INTO item VALUES (4, 'four', 4);
INSERT INTO item VALUES (4, 'again', 4);
SELECT count(*) FROM item;
COMMIT;
S
run <<'S'
\set FETCH_COUNT 2
SELECT id, name FROM item ORDER BY id;
SELECT count(*) FROM item;
S
run <<'S'
SELECT id, name FROM item WHERE id = 1 \gdesc
SELECT 'SELECT ' || id FROM item ORDER BY id \gexec
SELECT name AS wanted FROM item WHERE id = 2 \gset
SELECT :'wanted' = 'two';
S
run <<'S'
COPY item (id, name) FROM STDIN;
10	ten
11	eleven
\.
COPY item TO STDOUT;
\copy (SELECT id FROM item ORDER BY id) TO /dev/null
S
run -v AUTOCOMMIT=off <<'S'
DELETE FROM item WHERE id = 10;
ROLLBACK;
SELECT count(*) FROM item;
COMMIT;
S
run -c "EXPLAIN SELECT 1"
run -c "\conninfo" -c "\encoding"
run -c "SELECT * FROM nowhere" -c "\errverbose"
run -c "\x" -c "SELECT * FROM item WHERE id = 1" -c "\timing" -c "SELECT 1"
run -c "DROP TABLE item"
