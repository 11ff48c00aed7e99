-- Lists, kept in three ways: as text, as rows by their primary key, and as rows by an index. list_append_client.py reads them and appends to them.
CREATE TABLE text_list (key INT PRIMARY KEY, list VARCHAR(400) NOT NULL);
CREATE TABLE row_list (key INT, place INT, value INT NOT NULL, PRIMARY KEY (key, place));
CREATE TABLE indexed_list (value INT PRIMARY KEY, key INT NOT NULL, place INT NOT NULL);
CREATE INDEX indexed_list_key ON indexed_list (key, place);

CREATE PROCEDURE list_append(k INT, v INT) LANGUAGE plpgsql AS $$
DECLARE
  n INT;
  old VARCHAR(400);
BEGIN
  IF k % 3 = 0 THEN
    SELECT list INTO old FROM text_list WHERE key = k;
    IF FOUND THEN
      UPDATE text_list SET list = old || ',' || v WHERE key = k;
    ELSE
      INSERT INTO text_list VALUES (k, ',' || v);
    END IF;
  ELSIF k % 3 = 1 THEN
    SELECT coalesce(max(place), 0) + 1 INTO n FROM row_list WHERE key = k;
    INSERT INTO row_list VALUES (k, n, v);
  ELSE
    SELECT count(*) + 1 INTO n FROM indexed_list WHERE key = k;
    INSERT INTO indexed_list VALUES (v, k, n);
  END IF;
END $$;

CREATE PROCEDURE list_read(k INT, INOUT r VARCHAR(400)) LANGUAGE plpgsql AS $$
DECLARE
  e RECORD;
BEGIN
  r := '';
  IF k % 3 = 0 THEN
    SELECT list INTO r FROM text_list WHERE key = k;
  ELSIF k % 3 = 1 THEN
    FOR e IN SELECT value FROM row_list WHERE key = k ORDER BY place LOOP
      r := r || ',' || e.value;
    END LOOP;
  ELSE
    FOR e IN SELECT value FROM indexed_list WHERE key = k ORDER BY place LOOP
      r := r || ',' || e.value;
    END LOOP;
  END IF;
END $$;

-- Four operations: an append where there is a value, and else a read.
CREATE PROCEDURE list_mix(k1 INT, v1 INT, k2 INT, v2 INT, k3 INT, v3 INT, k4 INT, v4 INT,
                          INOUT r1 VARCHAR(400), INOUT r2 VARCHAR(400), INOUT r3 VARCHAR(400), INOUT r4 VARCHAR(400)) LANGUAGE plpgsql AS $$
BEGIN
  IF v1 IS NULL THEN CALL list_read(k1, r1); ELSE CALL list_append(k1, v1); END IF;
  IF v2 IS NULL THEN CALL list_read(k2, r2); ELSE CALL list_append(k2, v2); END IF;
  IF v3 IS NULL THEN CALL list_read(k3, r3); ELSE CALL list_append(k3, v3); END IF;
  IF v4 IS NULL THEN CALL list_read(k4, r4); ELSE CALL list_append(k4, v4); END IF;
END $$;
