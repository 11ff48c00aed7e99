-- TPC-C (standard specification, revision 5.11): nine tables and five transactions.
--
-- Loads unchanged in Mneme and in PostgreSQL 15. Numbers in brackets are the specification's clauses.
-- Inputs that a terminal would choose, times included, are arguments (p_); what it would display is INOUT (r_), passed
-- in as NULL. A procedure is one transaction; RAISE EXCEPTION rolls all of it back.
-- The foreign keys of [1.3] are left out: Mneme has none, and only these procedures write the tables.

CREATE TABLE warehouse (
    w_id       INT NOT NULL,
    w_name     VARCHAR(10) NOT NULL,
    w_street_1 VARCHAR(20) NOT NULL,
    w_street_2 VARCHAR(20) NOT NULL,
    w_city     VARCHAR(20) NOT NULL,
    w_state    CHAR(2) NOT NULL,
    w_zip      CHAR(9) NOT NULL,
    w_tax      NUMERIC(4,4) NOT NULL,
    w_ytd      NUMERIC(12,2) NOT NULL,
    PRIMARY KEY (w_id)
);

CREATE TABLE district (
    d_w_id      INT NOT NULL,
    d_id        INT NOT NULL,
    d_name      VARCHAR(10) NOT NULL,
    d_street_1  VARCHAR(20) NOT NULL,
    d_street_2  VARCHAR(20) NOT NULL,
    d_city      VARCHAR(20) NOT NULL,
    d_state     CHAR(2) NOT NULL,
    d_zip       CHAR(9) NOT NULL,
    d_tax       NUMERIC(4,4) NOT NULL,
    d_ytd       NUMERIC(12,2) NOT NULL,
    d_next_o_id INT NOT NULL,
    PRIMARY KEY (d_w_id, d_id)
);

CREATE TABLE customer (
    c_w_id         INT NOT NULL,
    c_d_id         INT NOT NULL,
    c_id           INT NOT NULL,
    c_first        VARCHAR(16) NOT NULL,
    c_middle       CHAR(2) NOT NULL,
    c_last         VARCHAR(16) NOT NULL,
    c_street_1     VARCHAR(20) NOT NULL,
    c_street_2     VARCHAR(20) NOT NULL,
    c_city         VARCHAR(20) NOT NULL,
    c_state        CHAR(2) NOT NULL,
    c_zip          CHAR(9) NOT NULL,
    c_phone        CHAR(16) NOT NULL,
    c_since        TIMESTAMP NOT NULL,
    c_credit       CHAR(2) NOT NULL,
    c_credit_lim   NUMERIC(12,2) NOT NULL,
    c_discount     NUMERIC(4,4) NOT NULL,
    c_balance      NUMERIC(12,2) NOT NULL,
    c_ytd_payment  NUMERIC(12,2) NOT NULL,
    c_payment_cnt  INT NOT NULL,
    c_delivery_cnt INT NOT NULL,
    c_data         VARCHAR(500) NOT NULL,
    PRIMARY KEY (c_w_id, c_d_id, c_id)
);

-- Payment and Order-Status pick a customer by last name, in order of first names.
CREATE INDEX customer_by_name ON customer (c_w_id, c_d_id, c_last, c_first);

-- The one table without a primary key [1.3.1].
CREATE TABLE history (
    h_c_id   INT NOT NULL,
    h_c_d_id INT NOT NULL,
    h_c_w_id INT NOT NULL,
    h_d_id   INT NOT NULL,
    h_w_id   INT NOT NULL,
    h_date   TIMESTAMP NOT NULL,
    h_amount NUMERIC(6,2) NOT NULL,
    h_data   VARCHAR(24) NOT NULL
);

CREATE TABLE new_order (
    no_w_id INT NOT NULL,
    no_d_id INT NOT NULL,
    no_o_id INT NOT NULL,
    PRIMARY KEY (no_w_id, no_d_id, no_o_id)
);

CREATE TABLE orders (
    o_w_id       INT NOT NULL,
    o_d_id       INT NOT NULL,
    o_id         INT NOT NULL,
    o_c_id       INT NOT NULL,
    o_entry_d    TIMESTAMP NOT NULL,
    o_carrier_id SMALLINT,              -- NULL until delivered
    o_ol_cnt     SMALLINT NOT NULL,
    o_all_local  SMALLINT NOT NULL,
    PRIMARY KEY (o_w_id, o_d_id, o_id)
);

-- Order-Status picks a customer's newest order.
CREATE UNIQUE INDEX orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);

CREATE TABLE order_line (
    ol_w_id        INT NOT NULL,
    ol_d_id        INT NOT NULL,
    ol_o_id        INT NOT NULL,
    ol_number      INT NOT NULL,
    ol_i_id        INT NOT NULL,
    ol_supply_w_id INT NOT NULL,
    ol_delivery_d  TIMESTAMP,           -- NULL until delivered
    ol_quantity    SMALLINT NOT NULL,
    ol_amount      NUMERIC(6,2) NOT NULL,
    ol_dist_info   CHAR(24) NOT NULL,
    PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)
);

CREATE TABLE item (
    i_id    INT NOT NULL,
    i_im_id INT NOT NULL,
    i_name  VARCHAR(24) NOT NULL,
    i_price NUMERIC(5,2) NOT NULL,
    i_data  VARCHAR(50) NOT NULL,
    PRIMARY KEY (i_id)
);

CREATE TABLE stock (
    s_w_id       INT NOT NULL,
    s_i_id       INT NOT NULL,
    s_quantity   SMALLINT NOT NULL,
    s_dist_01    CHAR(24) NOT NULL,
    s_dist_02    CHAR(24) NOT NULL,
    s_dist_03    CHAR(24) NOT NULL,
    s_dist_04    CHAR(24) NOT NULL,
    s_dist_05    CHAR(24) NOT NULL,
    s_dist_06    CHAR(24) NOT NULL,
    s_dist_07    CHAR(24) NOT NULL,
    s_dist_08    CHAR(24) NOT NULL,
    s_dist_09    CHAR(24) NOT NULL,
    s_dist_10    CHAR(24) NOT NULL,
    s_ytd        INT NOT NULL,
    s_order_cnt  INT NOT NULL,
    s_remote_cnt INT NOT NULL,
    s_data       VARCHAR(50) NOT NULL,
    PRIMARY KEY (s_w_id, s_i_id)
);

-- New-Order [2.4]: orders p_quantities[n] of item p_i_ids[n] from warehouse p_supply_w_ids[n], for each n.
-- An unused item number, which [2.4.1.4] wants in one order of a hundred, rolls the order back.
CREATE OR REPLACE PROCEDURE new_order(
    p_w_id INT, p_d_id INT, p_c_id INT, p_entry_d TIMESTAMP,
    p_i_ids INT[], p_supply_w_ids INT[], p_quantities INT[],
    INOUT r_o_id INT, INOUT r_w_tax NUMERIC(4,4), INOUT r_d_tax NUMERIC(4,4),
    INOUT r_c_last VARCHAR(16), INOUT r_c_credit CHAR(2), INOUT r_c_discount NUMERIC(4,4),
    INOUT r_i_names VARCHAR(24)[], INOUT r_s_quantities SMALLINT[], INOUT r_brand_generics CHAR(1)[],
    INOUT r_i_prices NUMERIC(5,2)[], INOUT r_amounts NUMERIC(6,2)[], INOUT r_total_amount NUMERIC(12,2)
)
LANGUAGE plpgsql
AS $$
DECLARE
    v_i_price       NUMERIC(5,2);
    v_i_name        VARCHAR(24);
    v_i_data        VARCHAR(50);
    v_s_quantity    SMALLINT;
    v_s_data        VARCHAR(50);
    v_dist_info     CHAR(24);
    v_brand_generic CHAR(1);
    v_amount        NUMERIC(6,2);
    v_sum           NUMERIC(12,2) := 0;
    v_total         NUMERIC(12,2);
    v_all_local     SMALLINT := 1;
BEGIN
    SELECT w_tax INTO r_w_tax FROM warehouse WHERE w_id = p_w_id;

    SELECT c_last, c_credit, c_discount INTO r_c_last, r_c_credit, r_c_discount
    FROM customer
    WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_id = p_c_id;

    UPDATE district SET d_next_o_id = d_next_o_id + 1
    WHERE d_w_id = p_w_id AND d_id = p_d_id
    RETURNING d_next_o_id - 1, d_tax INTO r_o_id, r_d_tax;

    FOR v_n IN 1..cardinality(p_supply_w_ids) LOOP
        IF p_supply_w_ids[v_n] <> p_w_id THEN
            v_all_local := 0;
        END IF;
    END LOOP;

    INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (p_w_id, p_d_id, r_o_id, p_c_id, p_entry_d, NULL, cardinality(p_i_ids), v_all_local);

    INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (p_w_id, p_d_id, r_o_id);

    r_i_names := '{}';
    r_s_quantities := '{}';
    r_brand_generics := '{}';
    r_i_prices := '{}';
    r_amounts := '{}';
    FOR v_n IN 1..cardinality(p_i_ids) LOOP
        SELECT i_price, i_name, i_data INTO v_i_price, v_i_name, v_i_data
        FROM item
        WHERE i_id = p_i_ids[v_n];
        IF NOT FOUND THEN
            RAISE EXCEPTION 'item number is not valid';
        END IF;

        -- [2.4.2.2] The stock is refilled by 91 once fewer than ten would be left.
        UPDATE stock
        SET s_quantity = CASE WHEN s_quantity >= p_quantities[v_n] + 10 THEN s_quantity - p_quantities[v_n]
                              ELSE s_quantity - p_quantities[v_n] + 91 END,
            s_ytd = s_ytd + p_quantities[v_n],
            s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + CASE WHEN p_supply_w_ids[v_n] <> p_w_id THEN 1 ELSE 0 END
        WHERE s_w_id = p_supply_w_ids[v_n] AND s_i_id = p_i_ids[v_n]
        RETURNING s_quantity, s_data,
                  CASE p_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
                              WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
                              WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
                              ELSE s_dist_10 END
        INTO v_s_quantity, v_s_data, v_dist_info;

        v_amount := p_quantities[v_n] * v_i_price;
        v_sum := v_sum + v_amount;

        INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,
                                ol_quantity, ol_amount, ol_dist_info)
        VALUES (p_w_id, p_d_id, r_o_id, v_n, p_i_ids[v_n], p_supply_w_ids[v_n], NULL,
                p_quantities[v_n], v_amount, v_dist_info);

        IF strpos(v_i_data, 'ORIGINAL') > 0 AND strpos(v_s_data, 'ORIGINAL') > 0 THEN
            v_brand_generic := 'B';
        ELSE
            v_brand_generic := 'G';
        END IF;
        r_i_names := array_append(r_i_names, v_i_name);
        r_s_quantities := array_append(r_s_quantities, v_s_quantity);
        r_brand_generics := array_append(r_brand_generics, v_brand_generic);
        r_i_prices := array_append(r_i_prices, v_i_price);
        r_amounts := array_append(r_amounts, v_amount);
    END LOOP;

    v_total := v_sum * (1 - r_c_discount) * (1 + r_w_tax + r_d_tax);
    r_total_amount := v_total;
END;
$$;

-- Payment [2.5]: customer (p_c_w_id, p_c_d_id) pays p_h_amount at district (p_w_id, p_d_id). The customer is given by
-- number, or by last name where p_c_id is NULL.
CREATE OR REPLACE PROCEDURE payment(
    p_w_id INT, p_d_id INT, p_c_w_id INT, p_c_d_id INT, p_c_id INT, p_c_last VARCHAR(16),
    p_h_amount NUMERIC(6,2), p_h_date TIMESTAMP,
    INOUT r_w_street_1 VARCHAR(20), INOUT r_w_street_2 VARCHAR(20), INOUT r_w_city VARCHAR(20),
    INOUT r_w_state CHAR(2), INOUT r_w_zip CHAR(9),
    INOUT r_d_street_1 VARCHAR(20), INOUT r_d_street_2 VARCHAR(20), INOUT r_d_city VARCHAR(20),
    INOUT r_d_state CHAR(2), INOUT r_d_zip CHAR(9),
    INOUT r_c_id INT, INOUT r_c_first VARCHAR(16), INOUT r_c_middle CHAR(2), INOUT r_c_last VARCHAR(16),
    INOUT r_c_street_1 VARCHAR(20), INOUT r_c_street_2 VARCHAR(20), INOUT r_c_city VARCHAR(20),
    INOUT r_c_state CHAR(2), INOUT r_c_zip CHAR(9), INOUT r_c_phone CHAR(16), INOUT r_c_since TIMESTAMP,
    INOUT r_c_credit CHAR(2), INOUT r_c_credit_lim NUMERIC(12,2), INOUT r_c_discount NUMERIC(4,4),
    INOUT r_c_balance NUMERIC(12,2), INOUT r_c_data VARCHAR(200)
)
LANGUAGE plpgsql
AS $$
DECLARE
    v_w_name VARCHAR(10);
    v_d_name VARCHAR(10);
    v_count  INT;
BEGIN
    UPDATE warehouse SET w_ytd = w_ytd + p_h_amount
    WHERE w_id = p_w_id
    RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip
    INTO v_w_name, r_w_street_1, r_w_street_2, r_w_city, r_w_state, r_w_zip;

    UPDATE district SET d_ytd = d_ytd + p_h_amount
    WHERE d_w_id = p_w_id AND d_id = p_d_id
    RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip
    INTO v_d_name, r_d_street_1, r_d_street_2, r_d_city, r_d_state, r_d_zip;

    -- [2.5.2.2] Of n customers with the name, the one at position n/2, rounded up, in order of first names.
    IF p_c_id IS NULL THEN
        SELECT count(*) INTO v_count
        FROM customer
        WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_last = p_c_last;
        IF v_count = 0 THEN
            RAISE EXCEPTION 'no customer has this last name';
        END IF;
        SELECT c_id INTO r_c_id
        FROM customer
        WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_last = p_c_last
        ORDER BY c_first, c_id
        LIMIT 1 OFFSET (v_count - 1) / 2;
    ELSE
        r_c_id := p_c_id;
    END IF;

    UPDATE customer
    SET c_balance = c_balance - p_h_amount,
        c_ytd_payment = c_ytd_payment + p_h_amount,
        c_payment_cnt = c_payment_cnt + 1
    WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = r_c_id
    RETURNING c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since,
              c_credit, c_credit_lim, c_discount, c_balance
    INTO r_c_first, r_c_middle, r_c_last, r_c_street_1, r_c_street_2, r_c_city, r_c_state, r_c_zip, r_c_phone,
         r_c_since, r_c_credit, r_c_credit_lim, r_c_discount, r_c_balance;

    -- [2.5.2.2] Bad credit: the payment is written in front of the customer's data, which loses its tail.
    r_c_data := NULL;
    IF r_c_credit = 'BC' THEN
        UPDATE customer
        SET c_data = substr(r_c_id || ' ' || p_c_d_id || ' ' || p_c_w_id || ' ' || p_d_id || ' ' || p_w_id || ' '
                            || p_h_amount || ' ' || c_data, 1, 500)
        WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = r_c_id
        RETURNING substr(c_data, 1, 200) INTO r_c_data;
    END IF;

    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (r_c_id, p_c_d_id, p_c_w_id, p_d_id, p_w_id, p_h_date, p_h_amount, v_w_name || '    ' || v_d_name);
END;
$$;

-- Order-Status [2.6]: a customer's newest order and its lines. The customer is given as in Payment.
CREATE OR REPLACE PROCEDURE order_status(
    p_w_id INT, p_d_id INT, p_c_id INT, p_c_last VARCHAR(16),
    INOUT r_c_id INT, INOUT r_c_first VARCHAR(16), INOUT r_c_middle CHAR(2), INOUT r_c_last VARCHAR(16),
    INOUT r_c_balance NUMERIC(12,2),
    INOUT r_o_id INT, INOUT r_o_entry_d TIMESTAMP, INOUT r_o_carrier_id SMALLINT,
    INOUT r_supply_w_ids INT[], INOUT r_i_ids INT[], INOUT r_quantities SMALLINT[],
    INOUT r_amounts NUMERIC(6,2)[], INOUT r_delivery_ds TIMESTAMP[]
)
LANGUAGE plpgsql
AS $$
DECLARE
    v_count INT;
    v_line  RECORD;
BEGIN
    IF p_c_id IS NULL THEN
        SELECT count(*) INTO v_count
        FROM customer
        WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_last = p_c_last;
        IF v_count = 0 THEN
            RAISE EXCEPTION 'no customer has this last name';
        END IF;
        SELECT c_id, c_first, c_middle, c_last, c_balance
        INTO r_c_id, r_c_first, r_c_middle, r_c_last, r_c_balance
        FROM customer
        WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_last = p_c_last
        ORDER BY c_first, c_id
        LIMIT 1 OFFSET (v_count - 1) / 2;
    ELSE
        SELECT c_id, c_first, c_middle, c_last, c_balance
        INTO r_c_id, r_c_first, r_c_middle, r_c_last, r_c_balance
        FROM customer
        WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_id = p_c_id;
    END IF;

    SELECT o_id, o_entry_d, o_carrier_id INTO r_o_id, r_o_entry_d, r_o_carrier_id
    FROM orders
    WHERE o_w_id = p_w_id AND o_d_id = p_d_id AND o_c_id = r_c_id
    ORDER BY o_id DESC
    LIMIT 1;

    r_supply_w_ids := '{}';
    r_i_ids := '{}';
    r_quantities := '{}';
    r_amounts := '{}';
    r_delivery_ds := '{}';
    FOR v_line IN
        SELECT ol_supply_w_id, ol_i_id, ol_quantity, ol_amount, ol_delivery_d
        FROM order_line
        WHERE ol_w_id = p_w_id AND ol_d_id = p_d_id AND ol_o_id = r_o_id
        ORDER BY ol_number
    LOOP
        r_supply_w_ids := array_append(r_supply_w_ids, v_line.ol_supply_w_id);
        r_i_ids := array_append(r_i_ids, v_line.ol_i_id);
        r_quantities := array_append(r_quantities, v_line.ol_quantity);
        r_amounts := array_append(r_amounts, v_line.ol_amount);
        r_delivery_ds := array_append(r_delivery_ds, v_line.ol_delivery_d);
    END LOOP;
END;
$$;

-- Delivery [2.7]: delivers the oldest undelivered order of each of a warehouse's ten districts, all in one transaction.
-- r_o_ids[d] is district d's order, NULL where none was left.
CREATE OR REPLACE PROCEDURE delivery(
    p_w_id INT, p_carrier_id INT, p_delivery_d TIMESTAMP,
    INOUT r_o_ids INT[]
)
LANGUAGE plpgsql
AS $$
DECLARE
    v_o_id   INT;
    v_c_id   INT;
    v_amount NUMERIC(12,2);
BEGIN
    r_o_ids := '{}';
    FOR v_d_id IN 1..10 LOOP
        SELECT no_o_id INTO v_o_id
        FROM new_order
        WHERE no_w_id = p_w_id AND no_d_id = v_d_id
        ORDER BY no_o_id
        LIMIT 1;
        IF FOUND THEN
            DELETE FROM new_order WHERE no_w_id = p_w_id AND no_d_id = v_d_id AND no_o_id = v_o_id;

            UPDATE orders SET o_carrier_id = p_carrier_id
            WHERE o_w_id = p_w_id AND o_d_id = v_d_id AND o_id = v_o_id
            RETURNING o_c_id INTO v_c_id;

            UPDATE order_line SET ol_delivery_d = p_delivery_d
            WHERE ol_w_id = p_w_id AND ol_d_id = v_d_id AND ol_o_id = v_o_id;

            SELECT sum(ol_amount) INTO v_amount
            FROM order_line
            WHERE ol_w_id = p_w_id AND ol_d_id = v_d_id AND ol_o_id = v_o_id;

            UPDATE customer
            SET c_balance = c_balance + v_amount,
                c_delivery_cnt = c_delivery_cnt + 1
            WHERE c_w_id = p_w_id AND c_d_id = v_d_id AND c_id = v_c_id;
        ELSE
            v_o_id := NULL;
        END IF;
        r_o_ids := array_append(r_o_ids, v_o_id);
    END LOOP;
END;
$$;

-- Stock-Level [2.8]: how many of the items in a district's last twenty orders are low in stock.
CREATE OR REPLACE PROCEDURE stock_level(
    p_w_id INT, p_d_id INT, p_threshold INT,
    INOUT r_low_stock INT
)
LANGUAGE plpgsql
AS $$
DECLARE
    v_next_o_id INT;
BEGIN
    SELECT d_next_o_id INTO v_next_o_id
    FROM district
    WHERE d_w_id = p_w_id AND d_id = p_d_id;

    SELECT count(DISTINCT s_i_id) INTO r_low_stock
    FROM order_line
    JOIN stock ON s_w_id = p_w_id AND s_i_id = ol_i_id
    WHERE ol_w_id = p_w_id AND ol_d_id = p_d_id
      AND ol_o_id >= v_next_o_id - 20 AND ol_o_id < v_next_o_id
      AND s_quantity < p_threshold;
END;
$$;
