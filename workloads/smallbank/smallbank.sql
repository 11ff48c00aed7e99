-- Smallbank: three tables and six transactions.
--
-- Alomari, Cahill, Fekete, Roehm: The Cost of Serializability on Platforms That Use Snapshot Isolation (ICDE 2008),
-- with SendPayment, which H-Store's version of the benchmark added.
-- Loads unchanged in Mneme and in PostgreSQL 15. A customer is given by name and every transaction begins by looking
-- the name up, as published. Results are INOUT (r_), passed in as NULL. RAISE EXCEPTION rolls the transaction back.
-- The foreign keys are left out: Mneme has none, and these procedures never change which customers there are.

CREATE TABLE account (
    a_name        VARCHAR(20) NOT NULL,
    a_customer_id INT NOT NULL,
    PRIMARY KEY (a_name)
);

CREATE UNIQUE INDEX account_by_customer ON account (a_customer_id);

CREATE TABLE savings (
    s_customer_id INT NOT NULL,
    s_balance     NUMERIC(12,2) NOT NULL,
    PRIMARY KEY (s_customer_id)
);

CREATE TABLE checking (
    c_customer_id INT NOT NULL,
    c_balance     NUMERIC(12,2) NOT NULL,
    PRIMARY KEY (c_customer_id)
);

-- The customer's total, savings and checking.
CREATE OR REPLACE PROCEDURE balance(p_name VARCHAR(20), INOUT r_total NUMERIC(12,2))
LANGUAGE plpgsql
AS $$
DECLARE
    v_customer_id INT;
    v_savings     NUMERIC(12,2);
    v_checking    NUMERIC(12,2);
BEGIN
    SELECT a_customer_id INTO v_customer_id FROM account WHERE a_name = p_name;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such customer';
    END IF;
    SELECT s_balance INTO v_savings FROM savings WHERE s_customer_id = v_customer_id;
    SELECT c_balance INTO v_checking FROM checking WHERE c_customer_id = v_customer_id;
    r_total := v_savings + v_checking;
END;
$$;

-- Pays p_amount into checking; a negative amount is refused.
CREATE OR REPLACE PROCEDURE deposit_checking(p_name VARCHAR(20), p_amount NUMERIC(12,2))
LANGUAGE plpgsql
AS $$
DECLARE
    v_customer_id INT;
BEGIN
    IF p_amount < 0 THEN
        RAISE EXCEPTION 'a deposit cannot be negative';
    END IF;
    SELECT a_customer_id INTO v_customer_id FROM account WHERE a_name = p_name;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such customer';
    END IF;
    UPDATE checking SET c_balance = c_balance + p_amount WHERE c_customer_id = v_customer_id;
END;
$$;

-- Adds p_amount, which may be negative, to savings; savings never fall below zero.
CREATE OR REPLACE PROCEDURE transact_savings(p_name VARCHAR(20), p_amount NUMERIC(12,2))
LANGUAGE plpgsql
AS $$
DECLARE
    v_customer_id INT;
    v_savings     NUMERIC(12,2);
BEGIN
    SELECT a_customer_id INTO v_customer_id FROM account WHERE a_name = p_name;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such customer';
    END IF;
    SELECT s_balance INTO v_savings FROM savings WHERE s_customer_id = v_customer_id;
    IF v_savings + p_amount < 0 THEN
        RAISE EXCEPTION 'savings do not cover the withdrawal';
    END IF;
    UPDATE savings SET s_balance = s_balance + p_amount WHERE s_customer_id = v_customer_id;
END;
$$;

-- Moves all that the first customer has, in savings and checking, into the second one's checking.
CREATE OR REPLACE PROCEDURE amalgamate(p_name_from VARCHAR(20), p_name_to VARCHAR(20))
LANGUAGE plpgsql
AS $$
DECLARE
    v_from     INT;
    v_to       INT;
    v_savings  NUMERIC(12,2);
    v_checking NUMERIC(12,2);
BEGIN
    SELECT a_customer_id INTO v_from FROM account WHERE a_name = p_name_from;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such customer';
    END IF;
    SELECT a_customer_id INTO v_to FROM account WHERE a_name = p_name_to;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such customer';
    END IF;
    SELECT s_balance INTO v_savings FROM savings WHERE s_customer_id = v_from;
    SELECT c_balance INTO v_checking FROM checking WHERE c_customer_id = v_from;
    UPDATE savings SET s_balance = 0 WHERE s_customer_id = v_from;
    UPDATE checking SET c_balance = 0 WHERE c_customer_id = v_from;
    UPDATE checking SET c_balance = c_balance + v_savings + v_checking WHERE c_customer_id = v_to;
END;
$$;

-- Takes a check of p_amount from checking. Where savings and checking together do not cover it, it is paid all the
-- same, and a penalty of 1 with it. r_debited is what was taken.
CREATE OR REPLACE PROCEDURE write_check(p_name VARCHAR(20), p_amount NUMERIC(12,2), INOUT r_debited NUMERIC(12,2))
LANGUAGE plpgsql
AS $$
DECLARE
    v_customer_id INT;
    v_savings     NUMERIC(12,2);
    v_checking    NUMERIC(12,2);
BEGIN
    SELECT a_customer_id INTO v_customer_id FROM account WHERE a_name = p_name;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such customer';
    END IF;
    SELECT s_balance INTO v_savings FROM savings WHERE s_customer_id = v_customer_id;
    SELECT c_balance INTO v_checking FROM checking WHERE c_customer_id = v_customer_id;
    IF v_savings + v_checking < p_amount THEN
        r_debited := p_amount + 1;
    ELSE
        r_debited := p_amount;
    END IF;
    UPDATE checking SET c_balance = c_balance - r_debited WHERE c_customer_id = v_customer_id;
END;
$$;

-- Moves p_amount from one customer's checking to another's.
CREATE OR REPLACE PROCEDURE send_payment(p_name_from VARCHAR(20), p_name_to VARCHAR(20), p_amount NUMERIC(12,2))
LANGUAGE plpgsql
AS $$
DECLARE
    v_from     INT;
    v_to       INT;
    v_checking NUMERIC(12,2);
BEGIN
    SELECT a_customer_id INTO v_from FROM account WHERE a_name = p_name_from;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such customer';
    END IF;
    SELECT a_customer_id INTO v_to FROM account WHERE a_name = p_name_to;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such customer';
    END IF;
    SELECT c_balance INTO v_checking FROM checking WHERE c_customer_id = v_from;
    IF v_checking < p_amount THEN
        RAISE EXCEPTION 'checking does not cover the payment';
    END IF;
    UPDATE checking SET c_balance = c_balance - p_amount WHERE c_customer_id = v_from;
    UPDATE checking SET c_balance = c_balance + p_amount WHERE c_customer_id = v_to;
END;
$$;
