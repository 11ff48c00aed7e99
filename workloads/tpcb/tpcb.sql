-- TPC-B (standard specification, revision 2.0): a bank's branches, their tellers and accounts, and one transaction.
--
-- Loads unchanged in Mneme and in PostgreSQL 15. Numbers in brackets are the specification's clauses.
-- The time is an argument (p_), what the teller's terminal shows is INOUT (r_), passed in as NULL.
-- The fillers bring rows to the size of [3.2]: 100 bytes, and 50 in history.
-- The foreign keys of [3.2] are left out: Mneme has none, and this procedure changes no key.

CREATE TABLE branch (
    b_id      INT NOT NULL,
    b_balance BIGINT NOT NULL,
    b_filler  VARCHAR(88) NOT NULL,
    PRIMARY KEY (b_id)
);

CREATE TABLE teller (
    t_id      INT NOT NULL,
    t_b_id    INT NOT NULL,
    t_balance BIGINT NOT NULL,
    t_filler  VARCHAR(84) NOT NULL,
    PRIMARY KEY (t_id)
);

CREATE TABLE account (
    a_id      INT NOT NULL,
    a_b_id    INT NOT NULL,
    a_balance BIGINT NOT NULL,
    a_filler  VARCHAR(84) NOT NULL,
    PRIMARY KEY (a_id)
);

-- Has no primary key: two rows may be alike.
CREATE TABLE history (
    h_t_id   INT NOT NULL,
    h_b_id   INT NOT NULL,
    h_a_id   INT NOT NULL,
    h_delta  BIGINT NOT NULL,
    h_time   TIMESTAMP NOT NULL,
    h_filler VARCHAR(22) NOT NULL
);

-- [1.2] A teller of branch p_b_id adds p_delta, which may be negative, to an account of that branch or of another.
CREATE OR REPLACE PROCEDURE account_update(
    p_a_id INT, p_t_id INT, p_b_id INT, p_delta BIGINT, p_time TIMESTAMP,
    INOUT r_a_balance BIGINT
)
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE account SET a_balance = a_balance + p_delta WHERE a_id = p_a_id RETURNING a_balance INTO r_a_balance;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such account';
    END IF;
    INSERT INTO history (h_t_id, h_b_id, h_a_id, h_delta, h_time, h_filler)
    VALUES (p_t_id, p_b_id, p_a_id, p_delta, p_time, 'updated by the cashier');
    UPDATE teller SET t_balance = t_balance + p_delta WHERE t_id = p_t_id;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such teller';
    END IF;
    UPDATE branch SET b_balance = b_balance + p_delta WHERE b_id = p_b_id;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such branch';
    END IF;
END;
$$;
