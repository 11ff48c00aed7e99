-- Each statement is a transaction. Four records are flushed together; SYNC flushes what there is.
CALL transfer('amy', 100);
CALL deposit('cid', 250, 1);
CALL transfer('dot', 20);
CALL deposit('eve', 80, 2);
CALL transfer('eve', 10);       -- eve has no spouse: nothing changes
CALL deposit('amy', 400, 1);
CALL transfer('cid', 30);
SYNC;
CALL deposit('bob', 60, 2);
CALL swap('amy', 'eve');
UPDATE current SET value = value + 1 WHERE name = 'bob';
CALL deposit('dot', 45, 1);
CALL transfer('bob', 7);
CALL deposit('eve', 15, 2);
