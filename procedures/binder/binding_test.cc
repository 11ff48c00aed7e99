// Goal: what is accepted means what PostgreSQL means by it: names, types, casts, access paths, order.
// Method: one row a construct: the statements and the IR that they become, as printed.
#include <gtest/gtest.h>

#include "procedures/testing/test_program.h"

namespace mneme {
namespace {

struct BindingRow {
  const char* text;
  const char* ir;
};

// clang-format off
const BindingRow kBindingRows[] = {
    {R"(SELECT balance INTO n FROM account WHERE id = p_id;)",
     R"(
#0 select account point account_pkey(id = p_id)
    reads account(id, balance)
    into n := balance
)"},
    {R"(SELECT balance INTO STRICT n FROM account WHERE p_id = id FOR UPDATE;)",
     R"(
#0 select strict account point account_pkey(id = p_id)
    reads account(id, balance)
    into n := balance
)"},
    {R"(SELECT INTO n, t balance, name FROM account WHERE id = p_id;)",
     R"(
#0 select account point account_pkey(id = p_id)
    reads account(id, name, balance)
    into n := balance
    into t := name
)"},
    {R"(SELECT * INTO r FROM entry WHERE account = 1 AND number = 2; n := r.amount;)",
     R"(
#0 select entry point entry_pkey(account = 1, number = 2)
    reads entry(account, number, amount, note)
    into r.account := account
    into r.number := number
    into r.amount := amount
    into r.note := note
n := r.amount
)"},
    {R"(SELECT id AS ident, balance * 2 AS twice INTO r FROM account WHERE id = p_id; v := r.ident;)",
     R"(
#0 select account point account_pkey(id = p_id)
    reads account(id, balance)
    into r.ident := id
    into r.twice := (balance * 2)
v := r.ident
)"},
    {R"(SELECT id INTO v FROM account WHERE branch = 3;)",
     R"(
#0 select account range account_by_branch(branch = 3) order id by sort
    reads account(id, branch, name)
    into v := id
)"},
    {R"(SELECT id INTO v FROM account WHERE branch = 3 AND name = 'x' LIMIT 1;)",
     R"(
#0 select account range account_by_branch(branch = 3, name = 'x') order id by path limit 1::bigint
    reads account(id, branch, name)
    into v := id
)"},
    {R"(SELECT id INTO v FROM account WHERE branch = 3 ORDER BY name LIMIT 1 OFFSET v;)",
     R"(
#0 select account range account_by_branch(branch = 3) order name, id by path limit 1::bigint offset bigint(v)
    reads account(id, branch, name)
    into v := id
)"},
    {R"(SELECT id INTO v FROM account WHERE branch = 3 ORDER BY name DESC, id DESC LIMIT 1;)",
     R"(
#0 select account range account_by_branch(branch = 3) order name desc, id desc by path backward limit 1::bigint
    reads account(id, branch, name)
    into v := id
)"},
    {R"(SELECT id INTO v FROM account WHERE branch = 3 ORDER BY name DESC LIMIT 1;)",
     R"(
#0 select account range account_by_branch(branch = 3) order name desc, id desc by path backward limit 1::bigint
    reads account(id, branch, name)
    into v := id
)"},
    {R"(SELECT id INTO v FROM account WHERE branch = 3 ORDER BY name, id DESC LIMIT 1;)",
     R"(
#0 select account range account_by_branch(branch = 3) order name, id desc by sort limit 1::bigint
    reads account(id, branch, name)
    into v := id
)"},
    {R"(SELECT id INTO v FROM account WHERE branch = 3 ORDER BY branch, name LIMIT 1;)",
     R"(
#0 select account range account_by_branch(branch = 3) order name, id by path limit 1::bigint
    reads account(id, branch, name)
    into v := id
)"},
    {R"(SELECT id INTO v FROM account ORDER BY balance DESC LIMIT 1;)",
     R"(
#0 select account range account_pkey() order balance desc, id desc by sort limit 1::bigint
    reads account(id, balance)
    into v := id
)"},
    {R"(SELECT id INTO v FROM account ORDER BY balance + 1, id LIMIT 1;)",
     R"(
#0 select account range account_pkey() order (balance + 1.00), id by sort limit 1::bigint
    reads account(id, balance)
    into v := id
)"},
    {R"(SELECT number INTO v FROM entry WHERE account = p_id ORDER BY number DESC LIMIT 1;)",
     R"(
#0 select entry range entry_pkey(account = p_id) order number desc by path backward limit 1::bigint
    reads entry(account, number)
    into v := number
)"},
    {R"(SELECT min(number), max(number) INTO v, w FROM entry WHERE account = p_id;)",
     R"(
#0 select entry range entry_pkey(account = p_id)
    reads entry(account, number)
    into v := min(number)
    into w := bigint(max(number))
)"},
    {R"(SELECT min(number) INTO v FROM entry WHERE account = p_id;)",
     R"(
#0 select entry range entry_pkey(account = p_id) first row decides
    reads entry(account, number)
    into v := min(number)
)"},
    {R"(SELECT max(number) INTO v FROM entry WHERE account = p_id AND amount > 0;)",
     R"(
#0 select entry range entry_pkey(account = p_id) where (amount > 0.00) last row decides
    reads entry(account, number, amount)
    into v := max(number)
)"},
    {R"(SELECT max(amount) INTO n FROM entry WHERE account = p_id;)",
     R"(
#0 select entry range entry_pkey(account = p_id)
    reads entry(account, number, amount)
    into n := max(amount)
)"},
    {R"(SELECT count(*), count(note), count(DISTINCT note), sum(number) + sum(amount) INTO v, w, r_sum, n FROM entry;)",
     R"(
#0 select entry range entry_pkey()
    reads entry(account, number, amount, note)
    into v := int(count(*))
    into w := count(note)
    into r_sum := numeric(12,2)(count(distinct note))
    into n := numeric(12,2)((numeric(*,2)(sum(number)) + sum(amount)))
)"},
    {R"(SELECT count(*) + 1 INTO v FROM entry WHERE account = p_id AND number BETWEEN 2 AND 5;)",
     R"(
#0 select entry range entry_pkey(account = p_id, number >= 2, number <= 5)
    reads entry(account, number)
    into v := int((count(*) + 1::bigint))
)"},
    {R"(SELECT count(*) INTO v FROM entry WHERE account = p_id AND number > 2 AND number <= 9 AND number < 7;)",
     R"(
#0 select entry range entry_pkey(account = p_id, number > 2, number <= 9) where (number < 7)
    reads entry(account, number)
    into v := int(count(*))
)"},
    {R"(SELECT count(*) INTO v FROM entry WHERE account IN (3, 1, p_id) AND number >= 2;)",
     R"(
#0 select entry range entry_pkey(account in (3, 1, p_id), number >= 2)
    reads entry(account, number)
    into v := int(count(*))
)"},
    {R"(SELECT count(*) INTO v FROM entry WHERE account = ANY (p_ids) AND number NOT IN (1, 2);)",
     R"(
#0 select entry range entry_pkey(account = any p_ids) where not (number in (1, 2))
    reads entry(account, number)
    into v := int(count(*))
)"},
    {R"(SELECT count(*) INTO v FROM account WHERE id = w;)",
     R"(
#0 select account point account_pkey(id = w)
    reads account(id)
    into v := int(count(*))
)"},
    {R"(SELECT count(*) INTO v FROM account WHERE id = n;)",
     R"(
#0 select account range account_pkey() where (numeric(*,2)(id) = n)
    reads account(id)
    into v := int(count(*))
)"},
    {R"(SELECT count(*) INTO v FROM account WHERE small = 1 OR big IS NULL;)",
     R"(
#0 select account range account_pkey() where ((int(small) = 1) or (big is null))
    reads account(id, small, big)
    into v := int(count(*))
)"},
    {R"(SELECT count(*) INTO v FROM account WHERE NOT open AND code = 'ab  ';)",
     R"(
#0 select account range account_pkey() where (not open and (code = 'ab'))
    reads account(id, code, open)
    into v := int(count(*))
)"},
    {R"(SELECT count(*) INTO v FROM tally WHERE kind = 1;)",
     R"(
#0 select tally range tally_by_kind(kind = 1)
    reads tally(kind)
    into v := int(count(*))
)"},
    {R"(SELECT count(*) INTO v FROM account a JOIN entry e ON e.account = a.id WHERE a.branch = 3 AND e.amount > a.balance;)",
     R"(
#0 select account range account_by_branch(branch = 3) join entry range entry_pkey(account = outer.id) where (inner.amount > outer.balance)
    reads account(id, branch, name, balance) entry(account, number, amount)
    into v := int(count(*))
)"},
    {R"(SELECT count(*) INTO v FROM entry e, account a WHERE e.account = a.id AND e.account = p_id;)",
     R"(
#0 select entry range entry_pkey(account = p_id) join account point account_pkey(id = outer.account)
    reads entry(account, number) account(id)
    into v := int(count(*))
)"},
    {R"(SELECT e.number, a.name INTO v, t FROM entry e INNER JOIN account a ON a.id = e.account WHERE e.account > 5 ORDER BY e.account DESC, e.number DESC LIMIT 1;)",
     R"(
#0 select entry range entry_pkey(account > 5) join account point account_pkey(id = outer.account) order outer.account desc, outer.number desc by path backward limit 1::bigint
    reads entry(account, number) account(id, name)
    into v := outer.number
    into t := inner.name
)"},
    {R"(SELECT e.number INTO v FROM entry e, account a WHERE e.account > 5 AND a.id = e.account ORDER BY a.id LIMIT 1;)",
     R"(
#0 select entry range entry_pkey(account > 5) join account point account_pkey(id = outer.account) order inner.id, outer.account, outer.number by sort limit 1::bigint
    reads entry(account, number) account(id)
    into v := outer.number
)"},
    {R"(SELECT a.id INTO v FROM account a, entry e WHERE a.branch = 1 AND e.account = a.id LIMIT 1;)",
     R"(
#0 select account range account_by_branch(branch = 1) join entry range entry_pkey(account = outer.id) order outer.id, inner.number by sort limit 1::bigint
    reads account(id, branch, name) entry(account, number)
    into v := outer.id
)"},
    {R"(PERFORM 1 FROM account WHERE branch = 1; b := FOUND;)",
     R"(
#0 select account range account_by_branch(branch = 1) limit 1::bigint sets found
    reads account(branch, name)
b := found
)"},
    {R"(UPDATE account SET balance = balance + 1, small = 2, rate = balance WHERE id = p_id RETURNING balance, id INTO n, v;)",
     R"(
#0 update account point account_pkey(id = p_id)
    reads account(id, balance)
    writes account(balance, rate, small)
    set balance := numeric(12,2)((balance + 1.00))
    set small := 2
    set rate := double precision(balance)
    into n := balance
    into v := id
)"},
    {R"(UPDATE account AS a SET name = a.name || p_name || 1 WHERE branch = 2 AND a.name >= 'm';)",
     R"(
#0 update account range account_by_branch(branch = 2, name >= 'm')
    reads account(branch, name)
    writes account(name)
    set name := varchar(20)(((name || p_name) || '1'))
)"},
    {R"(UPDATE entry SET note = NULL WHERE account = p_id;)",
     R"(
#0 update entry range entry_pkey(account = p_id)
    reads entry(account, number)
    writes entry(note)
    set note := null::text
)"},
    {R"(DELETE FROM entry WHERE account = p_id AND number = v RETURNING amount INTO n;)",
     R"(
#0 delete entry point entry_pkey(account = p_id, number = v)
    reads entry(account, number, amount)
    writes entry(account, number, amount, note)
    into n := amount
)"},
    {R"(DELETE FROM tally WHERE kind BETWEEN 1 AND 2;)",
     R"(
#0 delete tally range tally_by_kind(kind >= 1, kind <= 2)
    reads tally(kind)
    writes tally(kind, amount)
)"},
    {R"(INSERT INTO entry VALUES (1, 2, 3.456, 'note');)",
     R"(
#0 insert entry
    values 1, 2, 3.46, 'note'
)"},
    {R"(INSERT INTO entry (number, account, amount) VALUES (v, p_id, '1.50') RETURNING number INTO w;)",
     R"(
#0 insert entry
    reads entry(number)
    values p_id, v, 1.50, null::text
    into w := bigint(number)
)"},
    {R"(INSERT INTO journal (account, line) VALUES (1, p_name);)",
     R"(
#0 insert journal
    values 1, varchar(10)(p_name)
)"},
    {R"(FOR i IN 1..10 LOOP v := v + i; EXIT WHEN v > 100; END LOOP;)",
     R"(
for i in 1 .. 10
  v := (v + i)
  exit 0 when (v > 100)
)"},
    {R"(FOR i IN REVERSE 10..1 BY 2 LOOP CONTINUE WHEN i = 4; v := i; END LOOP; b := NOT FOUND;)",
     R"(
for i in reverse 10 .. 1 by 2 sets found
  continue 0 when (i = 4)
  v := i
b := not found
)"},
    {R"(FOR r IN SELECT number, amount FROM entry WHERE account = p_id LOOP n := n + r.amount; END LOOP;)",
     R"(
for each row of
    #0 select entry range entry_pkey(account = p_id) order number by path
        reads entry(account, number, amount)
        into r.number := number
        into r.amount := amount
  n := numeric(12,2)((n + r.amount))
)"},
    {R"(FOR v, n IN SELECT number, amount FROM entry WHERE account = p_id ORDER BY amount LOOP r_ids := array_append(r_ids, v); END LOOP;)",
     R"(
for each row of
    #0 select entry range entry_pkey(account = p_id) order amount, number by sort
        reads entry(account, number, amount)
        into v := number
        into n := amount
  append to r_ids v
)"},
    {R"(<<outside>> LOOP WHILE v < 3 LOOP v := v + 1; EXIT outside WHEN v = 2; CONTINUE outside; END LOOP; END LOOP outside;)",
     R"(
while true
  while (v < 3)
    v := (v + 1)
    exit 1 when (v = 2)
    continue 1 when true
)"},
    {R"(IF v = 1 THEN v := 2; ELSIF v IS NULL THEN v := 3; ELSEIF b THEN NULL; ELSE RETURN; END IF;)",
     R"(
if (v = 1)
  v := 2
else
  if (v is null)
    v := 3
  else
    if b
    else
      return
)"},
    {R"(CASE v WHEN 1, 2 THEN t := 'a'; ELSE t := 'b'; END CASE;)",
     R"(
if ((v = 1) or (v = 2))
  t := 'a'
else
  t := 'b'
)"},
    {R"(CASE WHEN v > 1 THEN t := 'a'; END CASE;)",
     R"(
if (v > 1)
  t := 'a'
else
  raise 'case not found'
)"},
    {R"(RAISE EXCEPTION 'no % of 100%%', p_id;)",
     R"(
raise 'no % of 100%%', p_id
)"},
    {R"(DECLARE x INT := v; y entry.note%TYPE; z INT[] := '{}'; BEGIN x := x + 1; z := array_append(z, x); r_ids := z; END;)",
     R"(
x := v
y := null::text
z := {}
x := (x + 1)
append to z x
r_ids := z
)"},
    {R"(n := v * 1.25 + w - 3;)",
     R"(
n := numeric(12,2)((((numeric(*,0)(v) * 1.25) + numeric(*,2)(w)) - 3.00))
)"},
    {R"(d := n * d + v / 2;)",
     R"(
d := ((double precision(n) * d) + double precision((v / 2)))
)"},
    {R"(v := n; w := d; n := d; d := n;)",
     R"(
v := int(n)
w := bigint(d)
n := numeric(12,2)(d)
d := double precision(n)
)"},
    {R"(v := p_ids[v + 1] % 3 + cardinality(p_ids);)",
     R"(
v := ((p_ids[(v + 1)] % 3) + cardinality(p_ids))
)"},
    {R"(c := t; t := c; b := c = t; b := c = 'x'; b := t = 'x' || c;)",
     R"(
c := char(4)(t)
t := varchar(20)(c)
b := (c = char(t))
b := (c = 'x')
b := (t = ('x' || text(c)))
)"},
    {R"(b := v = 1 AND (b OR NOT b) AND t IS DISTINCT FROM 'x' AND b IS NOT TRUE AND d IS NULL;)",
     R"(
b := (((((v = 1) and (b or not b)) and (t is distinct from 'x')) and (b is not true)) and (d is null))
)"},
    {R"(t := CASE v WHEN 1 THEN 'one' ELSE t END; v := CASE WHEN b THEN 1 END;)",
     R"(
t := case when (v = 1) then 'one' else t end
v := case when b then 1 else null::int end
)"},
    {R"(v := coalesce(v, w, 1); n := greatest(n, v, 2.5); t := nullif(t, '');)",
     R"(
v := int(coalesce(bigint(v), w, 1::bigint))
n := numeric(12,2)(greatest(n, numeric(*,2)(v), 2.50))
t := nullif(t, '')
)"},
    {R"(t := upper(substring(t FROM 2 FOR 3)) || left(p_name, 2) || lpad(t, 5, '0') || trim(t);)",
     R"(
t := varchar(20)((((upper(substring(t, 2, 3)) || left(p_name, 2)) || lpad(t, 5, '0')) || btrim(t)))
)"},
    {R"(v := length(t) + position('a' IN t) + strpos(t, 'b');)",
     R"(
v := ((length(t) + strpos(t, 'a')) + strpos(t, 'b'))
)"},
    {R"(n := round(n, 1) + abs(v) + mod(v, 3) + trunc(n) + round(n * 1.5); d := sqrt(v) + power(2, v) + floor(v);)",
     R"(
n := numeric(12,2)(((((round(n, 1) + numeric(*,1)(abs(v))) + numeric(*,1)(mod(v, 3))) + numeric(*,1)(trunc(n))) + numeric(*,1)(round((n * 1.5)))))
d := ((sqrt(double precision(v)) + power(2::double precision, double precision(v))) + floor(double precision(v)))
)"},
    {R"(t := CAST(v AS TEXT); v := t::INT; t := CAST(p_name AS VARCHAR(3)); n := '1.5'; n := CAST(n * n AS NUMERIC(6,1));)",
     R"(
t := varchar(20)(text(v))
v := int(t)
t := cut varchar(3)(p_name)
n := 1.50
n := numeric(12,2)(numeric(6,1)((n * n)))
)"},
    {R"(s := TIMESTAMP '2024-02-29 12:34:56'; s := '2000-01-01 00:00:00.5'; b := s > s OR s IS NULL;)",
     R"(
s := 762525296000000::timestamp
s := 500000::timestamp
b := ((s > s) or (s is null))
)"},
    {R"(b := 2.0 IN (1, v, n) AND v NOT BETWEEN -1 AND +2 AND -v < - -3;)",
     R"(
b := ((((2.0 = numeric(*,1)(v)) or (2.00 = n)) and not ((v >= -1) and (v <= 2))) and (-v < 3))
)"},
    {R"(t := 'it''s -- not /* a */ comment'; /* but /* this */ is */ v := 1; -- and this)",
     R"(
t := varchar(20)('it''s -- not /* a */ comment')
v := 1
)"},
};
// clang-format on

TEST(Binding, GivesEachConstructItsMeaning) {
  for (const BindingRow& row : kBindingRows) EXPECT_EQ(bound_text(row.text), row.ir) << row.text;
}

}  // namespace
}  // namespace mneme
