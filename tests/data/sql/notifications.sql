-- LISTEN and NOTIFY, but for what is told: that names a process.
LISTEN news;
NOTIFY "News";
NOTIFY news, 5;
NOTIFY;
LISTEN 5;
UNLISTEN news;
UNLISTEN *;
SELECT pg_notify('news', 'x');
SELECT pg_notify('', 'x');
SELECT pg_notify(NULL, 'x');
SELECT pg_notify('a', NULL);
SELECT pg_notify(repeat('a', 64), 'x');
SELECT pg_notify('a', repeat('x', 8000));
BEGIN; NOTIFY a; LISTEN b; SAVEPOINT s; NOTIFY c; ROLLBACK TO s; UNLISTEN b; COMMIT;
BEGIN; SELECT 1/0; NOTIFY a; ROLLBACK;
SELECT pg_notify('n', g::text) FROM generate_series(1, 3) g;
