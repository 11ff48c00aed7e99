-- Two tables, each of which gets what the other holds.
CREATE TABLE euro (
    id INT NOT NULL,
    amount NUMERIC(12,2) NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE dollar (
    id INT NOT NULL,
    amount NUMERIC(12,2) NOT NULL,
    PRIMARY KEY (id)
);

CREATE PROCEDURE exchange(p_id INT)
LANGUAGE plpgsql
AS $$
DECLARE
    v_euro NUMERIC(12,2);
    v_dollar NUMERIC(12,2);
BEGIN
    SELECT amount INTO v_euro FROM euro WHERE id = p_id;
    SELECT amount INTO v_dollar FROM dollar WHERE id = p_id;
    UPDATE dollar SET amount = v_euro WHERE id = p_id;
    UPDATE euro SET amount = v_dollar WHERE id = p_id;
END;
$$;
