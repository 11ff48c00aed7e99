CREATE TABLE customer (
  id SERIAL PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE, balance NUMERIC(10,2) DEFAULT 0 CHECK (balance >= 0), day DATE, at TIMESTAMP,
  note TEXT, CONSTRAINT named CHECK (name <> '')
);
CREATE TABLE sale (
  id INT PRIMARY KEY, customer INT REFERENCES customer (id) ON DELETE CASCADE, size DOUBLE PRECISION, done BOOLEAN NOT NULL DEFAULT false,
  UNIQUE (customer, size)
);
CREATE INDEX sale_size ON sale (size);
CREATE SEQUENCE ticket START 5 INCREMENT 3;
CREATE FUNCTION next_year(y INT) RETURNS INT LANGUAGE plpgsql AS $$ BEGIN RETURN y + 1; END $$;
COMMENT ON TABLE customer IS 'who buys';
INSERT INTO customer (name, day, note) VALUES ('ann', '2024-02-29', E'a\ttab'), ('bob', NULL, NULL);
INSERT INTO sale VALUES (1, 1, 1.5), (2, 2, NULL);
SELECT nextval('ticket');
