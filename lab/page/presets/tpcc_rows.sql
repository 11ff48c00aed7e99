-- A very small TPC-C: two warehouses of two districts, three customers in each, and five items.
INSERT INTO warehouse VALUES (1, 'north', 'a', 'b', 'york', 'ny', '123411111', 0.1000, 300000.00),
  (2, 'south', 'a', 'b', 'bath', 'me', '432111111', 0.0500, 300000.00);
INSERT INTO district VALUES (1, 1, 'one', 'a', 'b', 'york', 'ny', '123411111', 0.0200, 30000.00, 1), (1, 2, 'two', 'a', 'b', 'york', 'ny', '123411111', 0.0300, 30000.00, 1),
  (2, 1, 'one', 'a', 'b', 'bath', 'me', '432111111', 0.0200, 30000.00, 1), (2, 2, 'two', 'a', 'b', 'bath', 'me', '432111111', 0.0300, 30000.00, 1);
INSERT INTO customer VALUES
  (1, 1, 1, 'ann', 'OE', 'BAR', 'a', 'b', 'york', 'ny', '123411111', '0123456789012345', '2024-01-01 00:00:00', 'GC', 50000.00, 0.1000, -10.00, 10.00, 1, 0, 'first'),
  (1, 1, 2, 'ben', 'OE', 'OUGHT', 'a', 'b', 'york', 'ny', '123411111', '0123456789012345', '2024-01-01 00:00:00', 'BC', 50000.00, 0.0500, -10.00, 10.00, 1, 0, 'second'),
  (1, 2, 1, 'cat', 'OE', 'BAR', 'a', 'b', 'york', 'ny', '123411111', '0123456789012345', '2024-01-01 00:00:00', 'GC', 50000.00, 0.1000, -10.00, 10.00, 1, 0, 'third'),
  (2, 1, 1, 'dan', 'OE', 'BAR', 'a', 'b', 'bath', 'me', '432111111', '0123456789012345', '2024-01-01 00:00:00', 'GC', 50000.00, 0.2000, -10.00, 10.00, 1, 0, 'fourth'),
  (2, 2, 1, 'eve', 'OE', 'ABLE', 'a', 'b', 'bath', 'me', '432111111', '0123456789012345', '2024-01-01 00:00:00', 'GC', 50000.00, 0.1000, -10.00, 10.00, 1, 0, 'fifth');
INSERT INTO item VALUES (1, 1, 'kettle', 24.50, 'ORIGINAL'), (2, 2, 'lamp', 39.00, 'plain'), (3, 3, 'rug', 89.90, 'plain'), (4, 4, 'bowl', 4.20, 'ORIGINAL'), (5, 5, 'cup', 2.10, 'plain');
INSERT INTO stock VALUES (1, 1, 27, 'd01', 'd02', 'd03', 'd04', 'd05', 'd06', 'd07', 'd08', 'd09', 'd10', 0, 0, 0, 'ORIGINAL');
INSERT INTO stock VALUES (1, 2, 34, 'd01', 'd02', 'd03', 'd04', 'd05', 'd06', 'd07', 'd08', 'd09', 'd10', 0, 0, 0, 'ORIGINAL');
INSERT INTO stock VALUES (1, 3, 41, 'd01', 'd02', 'd03', 'd04', 'd05', 'd06', 'd07', 'd08', 'd09', 'd10', 0, 0, 0, 'ORIGINAL');
INSERT INTO stock VALUES (1, 4, 48, 'd01', 'd02', 'd03', 'd04', 'd05', 'd06', 'd07', 'd08', 'd09', 'd10', 0, 0, 0, 'ORIGINAL');
INSERT INTO stock VALUES (1, 5, 55, 'd01', 'd02', 'd03', 'd04', 'd05', 'd06', 'd07', 'd08', 'd09', 'd10', 0, 0, 0, 'ORIGINAL');
INSERT INTO stock VALUES (2, 1, 27, 'd01', 'd02', 'd03', 'd04', 'd05', 'd06', 'd07', 'd08', 'd09', 'd10', 0, 0, 0, 'ORIGINAL');
INSERT INTO stock VALUES (2, 2, 34, 'd01', 'd02', 'd03', 'd04', 'd05', 'd06', 'd07', 'd08', 'd09', 'd10', 0, 0, 0, 'ORIGINAL');
INSERT INTO stock VALUES (2, 3, 41, 'd01', 'd02', 'd03', 'd04', 'd05', 'd06', 'd07', 'd08', 'd09', 'd10', 0, 0, 0, 'ORIGINAL');
INSERT INTO stock VALUES (2, 4, 48, 'd01', 'd02', 'd03', 'd04', 'd05', 'd06', 'd07', 'd08', 'd09', 'd10', 0, 0, 0, 'ORIGINAL');
INSERT INTO stock VALUES (2, 5, 55, 'd01', 'd02', 'd03', 'd04', 'd05', 'd06', 'd07', 'd08', 'd09', 'd10', 0, 0, 0, 'ORIGINAL');
