-- A small inn: procedures as a user of Mneme may write them, with every kind of loop.
CREATE TABLE room (
    id INT NOT NULL,
    seats INT NOT NULL,
    price NUMERIC(8,2) NOT NULL,
    PRIMARY KEY (id)
);
CREATE TABLE booking (
    room INT NOT NULL,
    day INT NOT NULL,
    guest VARCHAR(20) NOT NULL,
    seats INT NOT NULL,
    PRIMARY KEY (room, day)
);
CREATE TABLE guest (
    name VARCHAR(20) NOT NULL,
    visits INT NOT NULL,
    due NUMERIC(10,2) NOT NULL,
    PRIMARY KEY (name)
);
CREATE TABLE larder (
    item INT NOT NULL,
    stock INT NOT NULL,
    PRIMARY KEY (item)
);
CREATE TABLE journal (
    day INT NOT NULL,
    entries INT NOT NULL,
    PRIMARY KEY (day)
);

CREATE PROCEDURE book(p_room INT, p_from INT, p_nights INT, p_guest VARCHAR(20), p_seats INT)
LANGUAGE plpgsql
AS $$
DECLARE
    v_seats INT;
    v_price NUMERIC(8,2);
    v_night INT := 0;
BEGIN
    SELECT seats, price INTO v_seats, v_price FROM room WHERE id = p_room;
    IF v_seats < p_seats THEN
        RAISE EXCEPTION 'room % is too small', p_room;
    END IF;
    WHILE v_night < p_nights LOOP
        INSERT INTO booking (room, day, guest, seats) VALUES (p_room, p_from + v_night, p_guest, p_seats);
        UPDATE journal SET entries = entries + 1 WHERE day = p_from + v_night;
        v_night := v_night + 1;
    END LOOP;
    UPDATE guest SET visits = visits + 1, due = due + v_price * p_nights WHERE name = p_guest;
END;
$$;

CREATE PROCEDURE breakfast(p_day INT, p_items INT[])
LANGUAGE plpgsql
AS $$
DECLARE
    v_booking RECORD;
    v_eaters INT := 0;
BEGIN
    FOR v_booking IN SELECT guest, seats FROM booking WHERE day = p_day ORDER BY room LOOP
        v_eaters := v_eaters + v_booking.seats;
        UPDATE guest SET due = due + 9.50 WHERE name = v_booking.guest;
    END LOOP;
    FOR i IN 1..cardinality(p_items) LOOP
        UPDATE larder SET stock = stock - v_eaters WHERE item = p_items[i];
    END LOOP;
END;
$$;

CREATE PROCEDURE look(p_guest VARCHAR(20), INOUT r_due NUMERIC(10,2))
LANGUAGE plpgsql
AS $$
BEGIN
    SELECT due INTO r_due FROM guest WHERE name = p_guest;
END;
$$;
