CALL buy(1, 1, '{1,4}', NULL);
CALL buy(2, 2, '{2}', NULL);
CALL pay(1, 20.00);
CALL restock(3, 5);
CALL buy(3, 3, '{3,4,4}', NULL);
CALL buy(4, 1, '{2,2}', NULL);
CALL buy(5, 2, '{2}', NULL);       -- sold out: rolled back
CALL pay(3, 50.00);
SYNC;
CALL restock(2, 4);
CALL buy(6, 2, '{2,1}', NULL);
CALL pay(2, 39.00);
CALL buy(7, 3, '{4}', NULL);
CALL last_purchase(2, NULL, NULL);
