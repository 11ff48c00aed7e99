-- Arrays as arguments of CALL: written, cast, and made of expressions.
CREATE TABLE t (id INT PRIMARY KEY, a INT, b NUMERIC(8,2), c VARCHAR(10));
CREATE PROCEDURE fill(ids INT[], amounts NUMERIC(8,2)[], names VARCHAR(10)[], INOUT n INT) LANGUAGE plpgsql AS $$ BEGIN n := 0; FOR i IN 1..cardinality(ids) LOOP n := n + ids[i]; INSERT INTO t VALUES (ids[i], n, amounts[i], names[i]); END LOOP; END $$;
CALL fill(ARRAY[1, 2], ARRAY[1.25, 2.50], ARRAY['a', 'b'], NULL);
CALL fill(ARRAY[1 + 2, 4], ARRAY[3.50, 4.25]::NUMERIC[], ARRAY['c', lower('D')], NULL);
CALL fill(ARRAY[abs(-5), 3 * 2]::INT[], ARRAY[5, 6]::NUMERIC[], ARRAY[upper('e'), NULL], NULL);
CALL fill('{7,8}'::INT[], '{7.25,8}'::NUMERIC[], '{g,NULL}'::VARCHAR[], NULL);
CALL fill(ARRAY[9, NULL], ARRAY[NULL, 1.00], ARRAY['i', 'j'], NULL);
CALL fill(ARRAY['9', '10']::INT[], ARRAY[9.00, 10.00], ARRAY['i', 'j'], NULL);
CALL fill(ARRAY[1.5, 2 + 1], ARRAY[9.00, 10.00], ARRAY['i', 'j'], NULL);
CALL fill(ARRAY[11, 1 / 0], ARRAY[9.00, 10.00], ARRAY['i', 'j'], NULL);
CALL fill(ARRAY['x' || 'y', 'z'], ARRAY[9.00, 10.00], ARRAY['i', 'j'], NULL);
CALL fill(ARRAY[true, 1 = 1], ARRAY[9.00, 10.00], ARRAY['i', 'j'], NULL);
CALL fill(11, ARRAY[9.00], ARRAY['i'], NULL);
CALL fill(ARRAY[11, 12], 9, ARRAY['i'], NULL);
CALL fill(ARRAY[]::INT[], ARRAY[]::NUMERIC[], ARRAY[]::VARCHAR[], NULL);
CALL fill(NULL, ARRAY[1.00], ARRAY['i'], NULL);
SELECT * FROM t ORDER BY id;
