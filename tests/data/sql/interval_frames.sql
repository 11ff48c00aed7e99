-- Window frames of RANGE with intervals.
create table e (id int primary key, t timestamp, z timestamptz, d date, tt time, iv interval, x int); insert into e values (1,'2020-01-01 00:00','2020-01-01 00:00+00','2020-01-01','10:00','1 day',1),(2,'2020-01-01 12:00','2020-01-01 12:00+00','2020-01-02','11:30','2 days',2),(3,'2020-01-03','2020-01-03 00:00+00','2020-01-05','23:00','30 days',3),(4,null,null,null,null,null,4),(5,'2020-01-31','2020-01-31 00:00+00','2020-01-31','23:30','1 mon',5),(6,'2020-02-29','2020-02-29 00:00+00','2020-02-29','00:10','-3 hours',6);
select id, sum(x) over (ORDER BY t range between '1 day' preceding and current row) from e ORDER BY id;
select id, sum(x) over (ORDER BY z range between interval '1 month' preceding and interval '1 day' following) from e ORDER BY id;
select id, sum(x) over (ORDER BY d desc range between interval '1 month' preceding and interval '36 hours' following) from e ORDER BY id;
select id, sum(x) over (ORDER BY tt range between interval '1 hour' preceding and interval '2 hours' following) from e ORDER BY id;
select id, sum(x) over (ORDER BY iv range between interval '1 day' preceding and interval '2 days' following) from e ORDER BY id;
select id, sum(x) over (ORDER BY d range between 1 preceding and current row) from e ORDER BY id;
select id, sum(x) over (ORDER BY t range between interval '-1 day' preceding and current row) from e ORDER BY id;
select id, sum(x) over (ORDER BY t nulls first range between interval '1 day' preceding and interval '1 day' following exclude current row) from e ORDER BY id;
select id, sum(x) over (ORDER BY x range between interval '1 day' preceding and current row) from e;
select id, sum(x) over (ORDER BY tt range between interval '-1 month' preceding and current row) from e ORDER BY id;
select id, first_value(id) over (ORDER BY t range between interval '10 days' following and unbounded following) from e ORDER BY id;
select d, count(*) over (order by d range between interval '1 month' preceding and current row) from (values (date '2020-02-14'), (date '2020-03-15')) v(d) ORDER BY d;
