-- Tickets of a lottery, and notes on them.
CREATE TABLE ticket (
    id INT NOT NULL,
    class INT NOT NULL,
    weight DOUBLE PRECISION NOT NULL,
    drawn TIMESTAMP,
    PRIMARY KEY (id)
);

CREATE TABLE note (
    line INT NOT NULL
);

-- The class's ticket of least weight is drawn. Two may weigh the same.
CREATE PROCEDURE draw(p_class INT)
LANGUAGE plpgsql
AS $$
DECLARE
    v_id INT;
BEGIN
    SELECT id INTO v_id FROM ticket WHERE class = p_class ORDER BY weight LIMIT 1;
    UPDATE ticket SET class = 0 WHERE id = v_id;
END;
$$;

-- Says when a ticket was drawn.
CREATE PROCEDURE stamp(p_id INT)
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE ticket SET drawn = LOCALTIMESTAMP WHERE id = p_id;
END;
$$;

-- Any note gives a ticket its class: notes have no key, so none comes before another.
CREATE PROCEDURE reclass(p_id INT)
LANGUAGE plpgsql
AS $$
DECLARE
    v_line INT;
BEGIN
    SELECT line INTO v_line FROM note LIMIT 1;
    UPDATE ticket SET class = v_line WHERE id = p_id;
END;
$$;
