-- Rows that refer to rows of their own statement, which a query feeds.
create table fk (id int primary key, up int references fk(id), s text); insert into fk select x, nullif(x+1,34), 'q' from generate_series(30,33) x;
select id, up from fk where id>=30 ORDER BY 1;
insert into fk select x, x+1, 'q' from generate_series(40,43) x;
insert into fk select x, nullif(x+1,54), 'q' from generate_series(50,53) x on conflict (id) do nothing;
insert into fk select x, x+1, 'q' from generate_series(30,32) x on conflict (id) do update set s='u';
select count(*) from fk; select s, count(*) from fk group by s ORDER BY 1;
begin; savepoint a; insert into fk select 81, 82, 'w' union all select 82, null, 'w'; rollback to a; insert into fk select 91, 92, 'w' union all select 92, null, 'w'; commit; select count(*) from fk;
