-- A small shop: people fill baskets and order, and the shop fills its shelves.
CREATE TABLE article (
    id INT NOT NULL,
    name VARCHAR(30) NOT NULL,
    price NUMERIC(8,2) NOT NULL,
    stock INT NOT NULL,
    PRIMARY KEY (id)
);
CREATE TABLE customer (
    id INT NOT NULL,
    name VARCHAR(20) NOT NULL,
    due NUMERIC(12,2) NOT NULL,
    PRIMARY KEY (id)
);
CREATE TABLE purchase (
    id BIGINT NOT NULL,
    customer INT NOT NULL,
    placed TIMESTAMP NOT NULL,
    total NUMERIC(12,2) NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX purchase_customer ON purchase (customer, id);

CREATE PROCEDURE buy(p_id BIGINT, p_customer INT, p_articles INT[], INOUT p_total NUMERIC(12,2))
LANGUAGE plpgsql
AS $$
DECLARE
    v_price NUMERIC(8,2);
    v_stock INT;
BEGIN
    p_total := 0;
    FOR i IN 1..cardinality(p_articles) LOOP
        SELECT price, stock INTO v_price, v_stock FROM article WHERE id = p_articles[i];
        IF v_stock = 0 THEN
            RAISE EXCEPTION 'article % is sold out', p_articles[i];
        END IF;
        UPDATE article SET stock = stock - 1 WHERE id = p_articles[i];
        p_total := p_total + v_price;
    END LOOP;
    INSERT INTO purchase (id, customer, placed, total) VALUES (p_id, p_customer, localtimestamp, p_total);
    UPDATE customer SET due = due + p_total WHERE id = p_customer;
END;
$$;

CREATE PROCEDURE pay(p_customer INT, p_amount NUMERIC(12,2))
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE customer SET due = due - p_amount WHERE id = p_customer;
END;
$$;

CREATE PROCEDURE restock(p_article INT, p_pieces INT)
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE article SET stock = stock + p_pieces WHERE id = p_article;
END;
$$;

CREATE PROCEDURE last_purchase(p_customer INT, INOUT p_id BIGINT, INOUT p_total NUMERIC(12,2))
LANGUAGE plpgsql
AS $$
BEGIN
    SELECT id, total INTO p_id, p_total FROM purchase WHERE customer = p_customer ORDER BY id DESC LIMIT 1;
END;
$$;
