-- Two couples, a single, and their nation's statistics.
INSERT INTO family VALUES ('amy', 'bob'), ('bob', 'amy'), ('cid', 'dot'), ('dot', 'cid'), ('eve', NULL);
INSERT INTO current VALUES ('amy', 9800), ('bob', 500), ('cid', 9900), ('dot', 700), ('eve', 9950);
INSERT INTO saving VALUES ('amy', 1000), ('bob', 200), ('cid', 300), ('dot', 400), ('eve', 50);
INSERT INTO stats VALUES (1, 0), (2, 0);
