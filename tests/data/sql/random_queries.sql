-- What random queries have found: nullif() of two types, concat() as output functions print, and tables of WITH that nothing reads.
SELECT nullif(rank, 2), pg_typeof(nullif(rank, 2)), pg_typeof(nullif(1, 2::bigint)), pg_typeof(nullif(1::bigint, 2::smallint)) FROM emp ORDER BY id;
SELECT pg_typeof(nullif(1::real, 2)), pg_typeof(nullif(1::real, 2.5)), pg_typeof(nullif(1::real, 2::double precision)), pg_typeof(nullif(1, 2::real)), pg_typeof(nullif(1.5, 2::real)), pg_typeof(nullif(2, 2.0));
SELECT nullif(0.5::real, 1), nullif(2::real, 2.0), nullif(3, 3::real), nullif(4::smallint, 5::bigint), nullif(7::bigint, 7::smallint);
SELECT rank / nullif(rank - 2, 0) FROM emp ORDER BY id;
SELECT concat(active, '-', id > 2, NULL) FROM emp ORDER BY id;
SELECT concat(code, '|', 'a'::char(3), '|'), concat_ws('-', code, ''::char(2), 0), format('%s|', code) FROM emp ORDER BY id;
SELECT code || '|', length(concat(code)), octet_length(code) FROM emp ORDER BY id;
CREATE PROCEDURE told(b BOOLEAN, INOUT t TEXT) LANGUAGE plpgsql AS $$ BEGIN t := concat(b, '|', NOT b, nullif(1::smallint, 2)); END $$;
CALL told(true, NULL);
CALL told(NULL, NULL);
WITH unused AS (SELECT 1 FROM nowhere) SELECT id FROM dept ORDER BY 1;
WITH unused AS (SELECT missing FROM dept) SELECT id FROM dept ORDER BY 1;
WITH unused AS (SELECT 1 / 0 AS x), also_unused AS (SELECT * FROM unused) SELECT id FROM dept ORDER BY 1;
WITH RECURSIVE unused(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM unused) SELECT 5;
DELETE FROM dept WHERE concat_ws('-', name, id) LIKE 'empty-_' RETURNING id;
UPDATE dept SET budget = budget + 1 WHERE format('%s', name) = 'hr' RETURNING id, budget;
UPDATE emp SET bonus = pi() WHERE id = 1 RETURNING id, bonus;
