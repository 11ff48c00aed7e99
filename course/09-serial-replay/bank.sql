-- A bank that pays interest: the order of calls matters.
CREATE TABLE account (
    id INT NOT NULL,
    balance NUMERIC(12,2) NOT NULL,
    PRIMARY KEY (id)
);

CREATE PROCEDURE deposit(p_id INT, p_amount NUMERIC(12,2))
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE account SET balance = balance + p_amount WHERE id = p_id;
END;
$$;

CREATE PROCEDURE interest(p_id INT)
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE account SET balance = balance * 1.1 WHERE id = p_id;
END;
$$;
