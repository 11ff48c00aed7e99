-- YCSB (Cooper et al., Benchmarking Cloud Serving Systems with YCSB, SoCC 2010): one table, and the operations of the
-- core workloads A to F, each a transaction.
--
-- Loads unchanged in Mneme and in PostgreSQL 15. Results are INOUT (r_), passed in as NULL.
-- The key is a number, where YCSB's is that number's digits behind "user". The fields' length, 100, is YCSB's default:
-- another one, given to Mneme by --field-bytes, replaces it everywhere.

CREATE TABLE usertable (
    ycsb_key BIGINT NOT NULL,
    field0   VARCHAR(100) NOT NULL,
    field1   VARCHAR(100) NOT NULL,
    field2   VARCHAR(100) NOT NULL,
    field3   VARCHAR(100) NOT NULL,
    field4   VARCHAR(100) NOT NULL,
    field5   VARCHAR(100) NOT NULL,
    field6   VARCHAR(100) NOT NULL,
    field7   VARCHAR(100) NOT NULL,
    field8   VARCHAR(100) NOT NULL,
    field9   VARCHAR(100) NOT NULL,
    PRIMARY KEY (ycsb_key)
);

CREATE OR REPLACE PROCEDURE read_record(
    p_key BIGINT,
    INOUT r_field0 VARCHAR(100), INOUT r_field1 VARCHAR(100), INOUT r_field2 VARCHAR(100),
    INOUT r_field3 VARCHAR(100), INOUT r_field4 VARCHAR(100), INOUT r_field5 VARCHAR(100),
    INOUT r_field6 VARCHAR(100), INOUT r_field7 VARCHAR(100), INOUT r_field8 VARCHAR(100),
    INOUT r_field9 VARCHAR(100)
)
LANGUAGE plpgsql
AS $$
BEGIN
    SELECT field0, field1, field2, field3, field4, field5, field6, field7, field8, field9
    INTO r_field0, r_field1, r_field2, r_field3, r_field4, r_field5, r_field6, r_field7, r_field8, r_field9
    FROM usertable
    WHERE ycsb_key = p_key;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such record';
    END IF;
END;
$$;

-- Gives field number p_field, from 0, a new value. A statement for each field, so that only that field is written.
CREATE OR REPLACE PROCEDURE update_record(p_key BIGINT, p_field INT, p_value VARCHAR(100))
LANGUAGE plpgsql
AS $$
BEGIN
    CASE p_field
        WHEN 0 THEN
            UPDATE usertable SET field0 = p_value WHERE ycsb_key = p_key;
        WHEN 1 THEN
            UPDATE usertable SET field1 = p_value WHERE ycsb_key = p_key;
        WHEN 2 THEN
            UPDATE usertable SET field2 = p_value WHERE ycsb_key = p_key;
        WHEN 3 THEN
            UPDATE usertable SET field3 = p_value WHERE ycsb_key = p_key;
        WHEN 4 THEN
            UPDATE usertable SET field4 = p_value WHERE ycsb_key = p_key;
        WHEN 5 THEN
            UPDATE usertable SET field5 = p_value WHERE ycsb_key = p_key;
        WHEN 6 THEN
            UPDATE usertable SET field6 = p_value WHERE ycsb_key = p_key;
        WHEN 7 THEN
            UPDATE usertable SET field7 = p_value WHERE ycsb_key = p_key;
        WHEN 8 THEN
            UPDATE usertable SET field8 = p_value WHERE ycsb_key = p_key;
        WHEN 9 THEN
            UPDATE usertable SET field9 = p_value WHERE ycsb_key = p_key;
    END CASE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such record';
    END IF;
END;
$$;

-- p_fields are the ten fields.
CREATE OR REPLACE PROCEDURE insert_record(p_key BIGINT, p_fields VARCHAR(100)[])
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO usertable (ycsb_key, field0, field1, field2, field3, field4, field5, field6, field7, field8, field9)
    VALUES (p_key, p_fields[1], p_fields[2], p_fields[3], p_fields[4], p_fields[5],
            p_fields[6], p_fields[7], p_fields[8], p_fields[9], p_fields[10]);
END;
$$;

-- The first p_count records from p_key on: r_keys, and in r_fields ten fields for each of them.
CREATE OR REPLACE PROCEDURE scan_records(
    p_key BIGINT, p_count INT,
    INOUT r_keys BIGINT[], INOUT r_fields VARCHAR(100)[]
)
LANGUAGE plpgsql
AS $$
DECLARE
    v_record RECORD;
BEGIN
    r_keys := '{}';
    r_fields := '{}';
    FOR v_record IN
        SELECT ycsb_key, field0, field1, field2, field3, field4, field5, field6, field7, field8, field9
        FROM usertable
        WHERE ycsb_key >= p_key
        ORDER BY ycsb_key
        LIMIT p_count
    LOOP
        r_keys := array_append(r_keys, v_record.ycsb_key);
        r_fields := array_append(r_fields, v_record.field0);
        r_fields := array_append(r_fields, v_record.field1);
        r_fields := array_append(r_fields, v_record.field2);
        r_fields := array_append(r_fields, v_record.field3);
        r_fields := array_append(r_fields, v_record.field4);
        r_fields := array_append(r_fields, v_record.field5);
        r_fields := array_append(r_fields, v_record.field6);
        r_fields := array_append(r_fields, v_record.field7);
        r_fields := array_append(r_fields, v_record.field8);
        r_fields := array_append(r_fields, v_record.field9);
    END LOOP;
END;
$$;

-- Reads a whole record, then gives its field number p_field a new value.
CREATE OR REPLACE PROCEDURE read_modify_write(
    p_key BIGINT, p_field INT, p_value VARCHAR(100),
    INOUT r_field0 VARCHAR(100), INOUT r_field1 VARCHAR(100), INOUT r_field2 VARCHAR(100),
    INOUT r_field3 VARCHAR(100), INOUT r_field4 VARCHAR(100), INOUT r_field5 VARCHAR(100),
    INOUT r_field6 VARCHAR(100), INOUT r_field7 VARCHAR(100), INOUT r_field8 VARCHAR(100),
    INOUT r_field9 VARCHAR(100)
)
LANGUAGE plpgsql
AS $$
BEGIN
    SELECT field0, field1, field2, field3, field4, field5, field6, field7, field8, field9
    INTO r_field0, r_field1, r_field2, r_field3, r_field4, r_field5, r_field6, r_field7, r_field8, r_field9
    FROM usertable
    WHERE ycsb_key = p_key;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such record';
    END IF;
    CASE p_field
        WHEN 0 THEN
            UPDATE usertable SET field0 = p_value WHERE ycsb_key = p_key;
        WHEN 1 THEN
            UPDATE usertable SET field1 = p_value WHERE ycsb_key = p_key;
        WHEN 2 THEN
            UPDATE usertable SET field2 = p_value WHERE ycsb_key = p_key;
        WHEN 3 THEN
            UPDATE usertable SET field3 = p_value WHERE ycsb_key = p_key;
        WHEN 4 THEN
            UPDATE usertable SET field4 = p_value WHERE ycsb_key = p_key;
        WHEN 5 THEN
            UPDATE usertable SET field5 = p_value WHERE ycsb_key = p_key;
        WHEN 6 THEN
            UPDATE usertable SET field6 = p_value WHERE ycsb_key = p_key;
        WHEN 7 THEN
            UPDATE usertable SET field7 = p_value WHERE ycsb_key = p_key;
        WHEN 8 THEN
            UPDATE usertable SET field8 = p_value WHERE ycsb_key = p_key;
        WHEN 9 THEN
            UPDATE usertable SET field9 = p_value WHERE ycsb_key = p_key;
    END CASE;
END;
$$;
