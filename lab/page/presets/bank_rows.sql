-- Two couples, a single, and their nation's statistics.
INSERT INTO family VALUES ('amy', 'bob'), ('bob', 'amy'), ('cid', 'dot'), ('dot', 'cid'), ('eve', NULL);
INSERT INTO current VALUES ('amy', 9800), ('bob', 500), ('cid', 9900), ('dot', 700), ('eve', 9950);
INSERT INTO saving VALUES ('amy', 1000), ('bob', 200), ('cid', 300), ('dot', 400), ('eve', 50);
INSERT INTO stats VALUES (1, 0), (2, 0);

-- Not of the paper: each of the two rows gets what was read from the other, so replay must have both at once.
CREATE PROCEDURE swap(p_one VARCHAR(20), p_other VARCHAR(20)) LANGUAGE plpgsql AS $$
DECLARE
    v_one   NUMERIC(12,2);
    v_other NUMERIC(12,2);
BEGIN
    SELECT value INTO v_one FROM current WHERE name = p_one;
    SELECT value INTO v_other FROM current WHERE name = p_other;
    UPDATE current SET value = v_other WHERE name = p_one;
    UPDATE current SET value = v_one WHERE name = p_other;
END;
$$;
