CREATE PROCEDURE fees(p_least NUMERIC(12,2))
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE account SET balance = balance - 1 WHERE balance < p_least;
END;
$$;
