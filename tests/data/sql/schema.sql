-- The tables of the cases in this folder: small, with NULLs, and values that meet in every join.
CREATE TABLE dept (id int PRIMARY KEY, name varchar(20) NOT NULL, budget numeric(12,2));
CREATE TABLE emp (id int PRIMARY KEY, dept int, name varchar(30), salary numeric(10,2), bonus double precision, manager int, hired timestamp, active boolean, rank smallint, code char(5));
CREATE INDEX emp_dept ON emp (dept);
CREATE TABLE sale (emp int, day int, amount bigint, PRIMARY KEY (emp, day));
INSERT INTO dept VALUES (1,'dev',100000.50),(2,'ops',50000),(3,'hr',NULL),(4,'empty',0.01);
INSERT INTO emp VALUES (1,1,'ann',5000.25,1.5,NULL,'2020-01-01 10:00:00',true,1,'a1'),(2,1,'bob',4000,2.25,1,'2021-02-03',true,2,'b'),(3,2,'cid',3000.10,NULL,1,'2021-05-05',false,2,'c'),(4,2,'dee',3000.10,0.1,3,NULL,NULL,3,NULL),(5,NULL,'eve',NULL,0,3,'2022-01-01',true,NULL,'eeeee'),(6,3,'fay',2500,100,1,'2019-01-01',false,1,'f');
INSERT INTO sale VALUES (1,1,100),(1,2,250),(2,1,75),(3,1,NULL),(3,5,20),(6,1,9000000000);
