CREATE TABLE account (
    id INT NOT NULL,
    balance NUMERIC(12,2) NOT NULL,
    PRIMARY KEY (id)
);

CREATE PROCEDURE transfer(p_from INT, p_to INT, p_amount NUMERIC(12,2))
LANGUAGE plpgsql
AS $$
DECLARE
    v_left NUMERIC(12,2);
BEGIN
    UPDATE account SET balance = balance - p_amount WHERE id = p_from RETURNING balance INTO v_left;
    IF v_left < 0 THEN
        RAISE EXCEPTION 'account % has too little', p_from;
    END IF;
    UPDATE account SET balance = balance + p_amount WHERE id = p_to;
END;
$$;
