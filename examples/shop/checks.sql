-- What holds whatever is bought, paid and delivered: each of these returns no row.

-- nobody's purchases are without a customer
SELECT p.id, p.customer FROM purchase p LEFT JOIN customer c ON c.id = p.customer WHERE c.id IS NULL;

-- no more of an article is sold than there was
SELECT id, stock FROM article WHERE stock < 0;

-- what customers have bought is what they owe, and have paid
SELECT c.id, c.due, sum(p.total) FROM customer c JOIN purchase p ON p.customer = c.id GROUP BY c.id, c.due HAVING c.due > sum(p.total);
