SELECT * FROM customer ORDER BY id;
SELECT * FROM sale ORDER BY id;
SELECT nextval('ticket') > 5, nextval('customer_id_seq') > 2;
SELECT conname, contype FROM pg_constraint WHERE conrelid IN ('customer'::regclass, 'sale'::regclass) ORDER BY conname;
SELECT indexname FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname;
SELECT next_year(2023);
