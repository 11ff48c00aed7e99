CREATE TABLE account (
    id INT NOT NULL,
    balance NUMERIC(12,2) NOT NULL,
    PRIMARY KEY (id)
);

CREATE PROCEDURE swap(p_one INT, p_other INT)
LANGUAGE plpgsql
AS $$
DECLARE
    v_one NUMERIC(12,2);
    v_other NUMERIC(12,2);
BEGIN
    SELECT balance INTO v_one FROM account WHERE id = p_one;
    SELECT balance INTO v_other FROM account WHERE id = p_other;
    UPDATE account SET balance = v_other WHERE id = p_one;
    UPDATE account SET balance = v_one WHERE id = p_other;
END;
$$;

CREATE PROCEDURE interest(p_id INT)
LANGUAGE plpgsql
AS $$
DECLARE
    v_balance NUMERIC(12,2);
BEGIN
    SELECT balance INTO v_balance FROM account WHERE id = p_id;
    UPDATE account SET balance = v_balance * 1.1 WHERE id = p_id;
END;
$$;

