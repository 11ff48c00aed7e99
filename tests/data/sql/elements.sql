-- ANY and ALL of arrays with every operator, slices, OVERLAPS.
SELECT 3 > ALL(ARRAY[1,2]), 3 > ANY('{5,6}'), 1 <> ALL(ARRAY[1,2]), 1 <> ANY(ARRAY[1,1]), NULL > ANY(ARRAY[1]), 1 > ANY(NULL::int[]), 1 > ANY('{}'::int[]), 1 > ALL('{}'::int[]);
SELECT 2.5 = ANY(ARRAY[1.5, 2.50]), 1.0 <= ALL(ARRAY[1, 2.5]), 'b' > ANY(ARRAY['a','c']), 2 > ANY(ARRAY[NULL,1]), 0 > ANY(ARRAY[NULL,1]), 2 > ALL(ARRAY[NULL,1]), date '2020-01-01' < ANY('{2020-01-02}'), interval '1 day' = ANY(ARRAY[interval '24 hours']);
SELECT 'abc' LIKE ANY(ARRAY['x%','a%']), 'abc' NOT LIKE ALL('{x%,a%}'), 'abc' ~ ANY(ARRAY['^b','c$']), 'abc' ILIKE ALL(ARRAY['A%','%C']), 'abc' LIKE ANY(NULL::text[]), 'a' LIKE ANY('{}'), x LIKE ANY(array_append(ARRAY['q'], x)) FROM (VALUES ('z')) v(x);
SELECT id, name FROM dept WHERE id >= ALL(ARRAY(SELECT dept FROM emp WHERE dept IS NOT NULL)) ORDER BY id;
SELECT id FROM emp WHERE salary > ANY(ARRAY[100.5, 4000]) ORDER BY id;
SELECT (ARRAY[1,2,3])[2:3], (ARRAY[1,2,3])[:2], (ARRAY['a','b','c'])[2:], (ARRAY[1,2,3])[5:6], (ARRAY[1,2,3])[2:1], (ARRAY[1,2])[NULL:2], a[1:2] FROM (VALUES (ARRAY[5,6,7])) v(a);
SELECT unnest(ARRAY[1.5::numeric(6,2), NULL]), unnest(ARRAY(SELECT 2.250 UNION ALL SELECT 1));
SELECT sum(x), max(x) FROM unnest(ARRAY[1.5::numeric(6,2), 2.255::numeric(6,3)]) x;
SELECT (array_agg(salary ORDER BY id))[1], array_length(array_agg(id), 1) FROM emp;
SELECT (date '2020-01-01', date '2020-02-01') OVERLAPS (date '2020-01-15', date '2020-03-01') AS a, (date '2020-01-01', interval '10 days') OVERLAPS (date '2020-01-15', date '2020-03-01') AS b, (timestamp '2020-01-01', NULL) OVERLAPS (timestamp '2019-01-15', timestamp '2020-03-01') AS c, (time '10:00', time '11:00') OVERLAPS (time '11:00', time '12:00') AS d, (date '2020-01-01', date '2020-01-01') OVERLAPS (date '2020-01-01', date '2020-01-01') AS e;
SELECT (timestamp '2020-01-02', timestamp '2020-01-01') OVERLAPS (timestamp '2020-01-01 12:00', interval '1 hour'), (NULL::date, NULL) OVERLAPS (date '2020-01-01', date '2020-01-02'), (date '2020-01-01', NULL) OVERLAPS (date '2020-01-01', date '2020-01-02'), (date '2020-01-03', NULL) OVERLAPS (date '2020-01-01', NULL);
SELECT (date '2020-01-01', date '2020-02-01', 1) OVERLAPS (date '2020-01-15', date '2020-03-01');
