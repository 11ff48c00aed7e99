-- The bank of PACMAN's Figures 2 to 5: Transfer moves money to the spouse's account and adds a bonus to the savings;
-- Deposit pays in, adds a bonus for a large balance, and counts it for the nation.

CREATE TABLE family (
    f_name   VARCHAR(20) NOT NULL,
    f_spouse VARCHAR(20),
    PRIMARY KEY (f_name)
);

CREATE TABLE checking (
    c_name  VARCHAR(20) NOT NULL,
    c_value NUMERIC(12,2) NOT NULL,
    PRIMARY KEY (c_name)
);

CREATE TABLE saving (
    s_name  VARCHAR(20) NOT NULL,
    s_value NUMERIC(12,2) NOT NULL,
    PRIMARY KEY (s_name)
);

CREATE TABLE stats (
    t_nation INT NOT NULL,
    t_count  INT NOT NULL,
    PRIMARY KEY (t_nation)
);

CREATE OR REPLACE PROCEDURE transfer(p_src VARCHAR(20), p_amount NUMERIC(12,2))
LANGUAGE plpgsql
AS $$
DECLARE
    v_dst     VARCHAR(20);
    v_src_val NUMERIC(12,2);
    v_dst_val NUMERIC(12,2);
    v_bonus   NUMERIC(12,2);
BEGIN
    SELECT f_spouse INTO v_dst FROM family WHERE f_name = p_src;
    IF v_dst IS NOT NULL THEN
        SELECT c_value INTO v_src_val FROM checking WHERE c_name = p_src;
        UPDATE checking SET c_value = v_src_val - p_amount WHERE c_name = p_src;
        SELECT c_value INTO v_dst_val FROM checking WHERE c_name = v_dst;
        UPDATE checking SET c_value = v_dst_val + p_amount WHERE c_name = v_dst;
        SELECT s_value INTO v_bonus FROM saving WHERE s_name = p_src;
        UPDATE saving SET s_value = v_bonus + 1 WHERE s_name = p_src;
    END IF;
END;
$$;

CREATE OR REPLACE PROCEDURE deposit(p_name VARCHAR(20), p_amount NUMERIC(12,2), p_nation INT)
LANGUAGE plpgsql
AS $$
DECLARE
    v_tmp   NUMERIC(12,2);
    v_bonus NUMERIC(12,2);
    v_count INT;
BEGIN
    SELECT c_value INTO v_tmp FROM checking WHERE c_name = p_name;
    UPDATE checking SET c_value = v_tmp + p_amount WHERE c_name = p_name;
    IF v_tmp + p_amount > 10000 THEN
        SELECT s_value INTO v_bonus FROM saving WHERE s_name = p_name;
        UPDATE saving SET s_value = v_bonus + 0.02 * v_tmp WHERE s_name = p_name;
    END IF;
    IF v_tmp + p_amount > 10000 THEN
        SELECT t_count INTO v_count FROM stats WHERE t_nation = p_nation;
        UPDATE stats SET t_count = v_count + 1 WHERE t_nation = p_nation;
    END IF;
END;
$$;
