-- PACMAN's bank example: Transfer (figure 2) and Deposit (figure 4), variable for variable.
--
-- Wu et al.: Fast Failure Recovery for Main-Memory DBMSs on Multicores (SIGMOD 2017).
-- Loads unchanged in Mneme and in PostgreSQL 15.

CREATE TABLE family (
    name   VARCHAR(20) NOT NULL,
    spouse VARCHAR(20),
    PRIMARY KEY (name)
);

CREATE TABLE current (
    name  VARCHAR(20) NOT NULL,
    value NUMERIC(12,2) NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE saving (
    name  VARCHAR(20) NOT NULL,
    value NUMERIC(12,2) NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE stats (
    nation INT NOT NULL,
    number INT NOT NULL,
    PRIMARY KEY (nation)
);

-- Moves amount to the spouse's current account, and adds a bonus of one to the payer's saving account.
CREATE OR REPLACE PROCEDURE transfer(src VARCHAR(20), amount NUMERIC(12,2))
LANGUAGE plpgsql
AS $$
DECLARE
    dst     VARCHAR(20);
    src_val NUMERIC(12,2);
    dst_val NUMERIC(12,2);
    bonus   NUMERIC(12,2);
BEGIN
    SELECT spouse INTO dst FROM family WHERE name = src;
    IF dst IS NOT NULL THEN
        SELECT value INTO src_val FROM current WHERE name = src;
        UPDATE current SET value = src_val - amount WHERE name = src;
        SELECT value INTO dst_val FROM current WHERE name = dst;
        UPDATE current SET value = dst_val + amount WHERE name = dst;
        SELECT value INTO bonus FROM saving WHERE name = src;
        UPDATE saving SET value = bonus + 1 WHERE name = src;
    END IF;
END;
$$;

-- Pays amount into a current account. Where it then holds more than 10000, the saving account gets interest, and the
-- nation's number of such payments rises. (The figure's parameter name is p_name here: a column has that name.)
CREATE OR REPLACE PROCEDURE deposit(p_name VARCHAR(20), amount NUMERIC(12,2), p_nation INT)
LANGUAGE plpgsql
AS $$
DECLARE
    tmp   NUMERIC(12,2);
    bonus NUMERIC(12,2);
    count INT;
BEGIN
    SELECT value INTO tmp FROM current WHERE name = p_name;
    UPDATE current SET value = tmp + amount WHERE name = p_name;
    IF tmp + amount > 10000 THEN
        SELECT value INTO bonus FROM saving WHERE name = p_name;
        UPDATE saving SET value = bonus + 0.02 * tmp WHERE name = p_name;
    END IF;
    IF tmp + amount > 10000 THEN
        SELECT number INTO count FROM stats WHERE nation = p_nation;
        UPDATE stats SET number = count + 1 WHERE nation = p_nation;
    END IF;
END;
$$;
