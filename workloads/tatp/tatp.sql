-- TATP (Telecom Application Transaction Processing benchmark, description 1.0): a mobile network's register of
-- subscribers: four tables and seven transactions.
--
-- Loads unchanged in Mneme and in PostgreSQL 15. What a transaction looks up is INOUT (r_), passed in as NULL.
-- Where the benchmark counts a transaction as unsuccessful, its row missing or already there, the procedure raises.
-- A subscriber number is the subscriber's id in 15 digits.
-- The foreign keys are left out, as Mneme has none: insert_call_forwarding looks for the special facility itself, and
-- nothing deletes one.

CREATE TABLE subscriber (
    s_id         INT NOT NULL,
    sub_nbr      VARCHAR(15) NOT NULL,
    bit_1        SMALLINT NOT NULL,
    bit_2        SMALLINT NOT NULL,
    bit_3        SMALLINT NOT NULL,
    bit_4        SMALLINT NOT NULL,
    bit_5        SMALLINT NOT NULL,
    bit_6        SMALLINT NOT NULL,
    bit_7        SMALLINT NOT NULL,
    bit_8        SMALLINT NOT NULL,
    bit_9        SMALLINT NOT NULL,
    bit_10       SMALLINT NOT NULL,
    hex_1        SMALLINT NOT NULL,
    hex_2        SMALLINT NOT NULL,
    hex_3        SMALLINT NOT NULL,
    hex_4        SMALLINT NOT NULL,
    hex_5        SMALLINT NOT NULL,
    hex_6        SMALLINT NOT NULL,
    hex_7        SMALLINT NOT NULL,
    hex_8        SMALLINT NOT NULL,
    hex_9        SMALLINT NOT NULL,
    hex_10       SMALLINT NOT NULL,
    byte2_1      SMALLINT NOT NULL,
    byte2_2      SMALLINT NOT NULL,
    byte2_3      SMALLINT NOT NULL,
    byte2_4      SMALLINT NOT NULL,
    byte2_5      SMALLINT NOT NULL,
    byte2_6      SMALLINT NOT NULL,
    byte2_7      SMALLINT NOT NULL,
    byte2_8      SMALLINT NOT NULL,
    byte2_9      SMALLINT NOT NULL,
    byte2_10     SMALLINT NOT NULL,
    msc_location BIGINT NOT NULL,
    vlr_location BIGINT NOT NULL,
    PRIMARY KEY (s_id)
);

CREATE UNIQUE INDEX subscriber_by_number ON subscriber (sub_nbr);

CREATE TABLE access_info (
    s_id    INT NOT NULL,
    ai_type SMALLINT NOT NULL,
    data1   SMALLINT NOT NULL,
    data2   SMALLINT NOT NULL,
    data3   CHAR(3) NOT NULL,
    data4   CHAR(5) NOT NULL,
    PRIMARY KEY (s_id, ai_type)
);

CREATE TABLE special_facility (
    s_id        INT NOT NULL,
    sf_type     SMALLINT NOT NULL,
    is_active   SMALLINT NOT NULL,
    error_cntrl SMALLINT NOT NULL,
    data_a      SMALLINT NOT NULL,
    data_b      CHAR(5) NOT NULL,
    PRIMARY KEY (s_id, sf_type)
);

CREATE TABLE call_forwarding (
    s_id       INT NOT NULL,
    sf_type    SMALLINT NOT NULL,
    start_time SMALLINT NOT NULL,
    end_time   SMALLINT NOT NULL,
    numberx    VARCHAR(15) NOT NULL,
    PRIMARY KEY (s_id, sf_type, start_time)
);

-- All that is known of a subscriber.
CREATE OR REPLACE PROCEDURE get_subscriber_data(
    p_s_id INT,
    INOUT r_sub_nbr VARCHAR(15),
    INOUT r_bit_1 SMALLINT, INOUT r_bit_2 SMALLINT, INOUT r_bit_3 SMALLINT, INOUT r_bit_4 SMALLINT,
    INOUT r_bit_5 SMALLINT, INOUT r_bit_6 SMALLINT, INOUT r_bit_7 SMALLINT, INOUT r_bit_8 SMALLINT,
    INOUT r_bit_9 SMALLINT, INOUT r_bit_10 SMALLINT,
    INOUT r_hex_1 SMALLINT, INOUT r_hex_2 SMALLINT, INOUT r_hex_3 SMALLINT, INOUT r_hex_4 SMALLINT,
    INOUT r_hex_5 SMALLINT, INOUT r_hex_6 SMALLINT, INOUT r_hex_7 SMALLINT, INOUT r_hex_8 SMALLINT,
    INOUT r_hex_9 SMALLINT, INOUT r_hex_10 SMALLINT,
    INOUT r_byte2_1 SMALLINT, INOUT r_byte2_2 SMALLINT, INOUT r_byte2_3 SMALLINT, INOUT r_byte2_4 SMALLINT,
    INOUT r_byte2_5 SMALLINT, INOUT r_byte2_6 SMALLINT, INOUT r_byte2_7 SMALLINT, INOUT r_byte2_8 SMALLINT,
    INOUT r_byte2_9 SMALLINT, INOUT r_byte2_10 SMALLINT,
    INOUT r_msc_location BIGINT, INOUT r_vlr_location BIGINT
)
LANGUAGE plpgsql
AS $$
BEGIN
    SELECT sub_nbr, bit_1, bit_2, bit_3, bit_4, bit_5, bit_6, bit_7, bit_8, bit_9, bit_10,
           hex_1, hex_2, hex_3, hex_4, hex_5, hex_6, hex_7, hex_8, hex_9, hex_10,
           byte2_1, byte2_2, byte2_3, byte2_4, byte2_5, byte2_6, byte2_7, byte2_8, byte2_9, byte2_10,
           msc_location, vlr_location
    INTO r_sub_nbr, r_bit_1, r_bit_2, r_bit_3, r_bit_4, r_bit_5, r_bit_6, r_bit_7, r_bit_8, r_bit_9, r_bit_10,
         r_hex_1, r_hex_2, r_hex_3, r_hex_4, r_hex_5, r_hex_6, r_hex_7, r_hex_8, r_hex_9, r_hex_10,
         r_byte2_1, r_byte2_2, r_byte2_3, r_byte2_4, r_byte2_5, r_byte2_6, r_byte2_7, r_byte2_8, r_byte2_9,
         r_byte2_10, r_msc_location, r_vlr_location
    FROM subscriber
    WHERE s_id = p_s_id;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such subscriber';
    END IF;
END;
$$;

-- Where a call that lasts from p_start_time to p_end_time is forwarded to, for each rule that applies, the earliest
-- first.
CREATE OR REPLACE PROCEDURE get_new_destination(
    p_s_id INT, p_sf_type SMALLINT, p_start_time SMALLINT, p_end_time SMALLINT,
    INOUT r_numbers VARCHAR(15)[]
)
LANGUAGE plpgsql
AS $$
DECLARE
    v_number VARCHAR(15);
BEGIN
    r_numbers := '{}';
    FOR v_number IN
        SELECT cf.numberx
        FROM special_facility sf
        JOIN call_forwarding cf ON cf.s_id = sf.s_id AND cf.sf_type = sf.sf_type
        WHERE sf.s_id = p_s_id AND sf.sf_type = p_sf_type AND sf.is_active = 1
          AND cf.start_time <= p_start_time AND cf.end_time > p_end_time
        ORDER BY cf.start_time
    LOOP
        r_numbers := array_append(r_numbers, v_number);
    END LOOP;
    IF cardinality(r_numbers) = 0 THEN
        RAISE EXCEPTION 'the call is not forwarded';
    END IF;
END;
$$;

CREATE OR REPLACE PROCEDURE get_access_data(
    p_s_id INT, p_ai_type SMALLINT,
    INOUT r_data1 SMALLINT, INOUT r_data2 SMALLINT, INOUT r_data3 CHAR(3), INOUT r_data4 CHAR(5)
)
LANGUAGE plpgsql
AS $$
BEGIN
    SELECT data1, data2, data3, data4 INTO r_data1, r_data2, r_data3, r_data4
    FROM access_info
    WHERE s_id = p_s_id AND ai_type = p_ai_type;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such access info';
    END IF;
END;
$$;

-- Changes the subscriber and one of its special facilities, or neither.
CREATE OR REPLACE PROCEDURE update_subscriber_data(
    p_s_id INT, p_bit_1 SMALLINT, p_sf_type SMALLINT, p_data_a SMALLINT
)
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE subscriber SET bit_1 = p_bit_1 WHERE s_id = p_s_id;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such subscriber';
    END IF;
    UPDATE special_facility SET data_a = p_data_a WHERE s_id = p_s_id AND sf_type = p_sf_type;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such special facility';
    END IF;
END;
$$;

CREATE OR REPLACE PROCEDURE update_location(p_sub_nbr VARCHAR(15), p_vlr_location BIGINT)
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE subscriber SET vlr_location = p_vlr_location WHERE sub_nbr = p_sub_nbr;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such subscriber';
    END IF;
END;
$$;

-- Adds a rule to a special facility. One that starts at the same time must not be there: that is the primary key's to
-- find. r_sf_types is what the benchmark reads, all of the subscriber's facilities.
CREATE OR REPLACE PROCEDURE insert_call_forwarding(
    p_sub_nbr VARCHAR(15), p_sf_type SMALLINT, p_start_time SMALLINT, p_end_time SMALLINT, p_numberx VARCHAR(15),
    INOUT r_sf_types SMALLINT[]
)
LANGUAGE plpgsql
AS $$
DECLARE
    v_s_id    INT;
    v_sf_type SMALLINT;
    v_has     BOOLEAN := FALSE;
BEGIN
    SELECT s_id INTO v_s_id FROM subscriber WHERE sub_nbr = p_sub_nbr;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such subscriber';
    END IF;
    r_sf_types := '{}';
    FOR v_sf_type IN SELECT sf_type FROM special_facility WHERE s_id = v_s_id ORDER BY sf_type LOOP
        r_sf_types := array_append(r_sf_types, v_sf_type);
        IF v_sf_type = p_sf_type THEN
            v_has := TRUE;
        END IF;
    END LOOP;
    IF NOT v_has THEN
        RAISE EXCEPTION 'no such special facility';
    END IF;
    INSERT INTO call_forwarding (s_id, sf_type, start_time, end_time, numberx)
    VALUES (v_s_id, p_sf_type, p_start_time, p_end_time, p_numberx);
END;
$$;

CREATE OR REPLACE PROCEDURE delete_call_forwarding(p_sub_nbr VARCHAR(15), p_sf_type SMALLINT, p_start_time SMALLINT)
LANGUAGE plpgsql
AS $$
DECLARE
    v_s_id INT;
BEGIN
    SELECT s_id INTO v_s_id FROM subscriber WHERE sub_nbr = p_sub_nbr;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such subscriber';
    END IF;
    DELETE FROM call_forwarding WHERE s_id = v_s_id AND sf_type = p_sf_type AND start_time = p_start_time;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such call forwarding';
    END IF;
END;
$$;
