INSERT INTO article VALUES (1, 'red kettle', 24.50, 12), (2, 'blue lamp', 39.00, 3), (3, 'green rug', 89.90, 1), (4, 'red bowl', 4.20, 60);
INSERT INTO customer VALUES (1, 'ada', 0), (2, 'ben', 0), (3, 'cleo', 0);
