-- LIKE over char(n), whose blanks count; numbers that functions do not take; literals without a type beside UNION.
SELECT 'ab'::char(4) LIKE 'ab', 'ab'::char(4) LIKE 'ab%', 'ab'::char(4) LIKE 'ab  ', 'ab'::char(4) ILIKE 'A_', 'ab'::char(4) ILIKE 'AB  ', 'ab'::char(4) ~ '^ab$', 'ab'::char(4) ~ 'b  $', 'ab' LIKE 'ab'::char(4), 'ab'::char(4) SIMILAR TO 'ab', 'ab'::char(4) NOT LIKE 'ab';
SELECT id, code LIKE 'a1', code LIKE 'b____', code ~ '^[a-f]+$' FROM emp ORDER BY id;
SELECT div(5.0::double precision, 2);
SELECT div(7.5, 2), div(7, 2::bigint), trim_scale(8.4100);
SELECT trim_scale(1.5::real);
SELECT scale(1.5::double precision);
SELECT 0 UNION SELECT DISTINCT NULL;
SELECT DATE '2000-01-01' UNION ALL SELECT DISTINCT NULL;
SELECT 0 UNION SELECT NULL ORDER BY 1;
SELECT NULL UNION SELECT DISTINCT 5 ORDER BY 1;
