"""TPC-C's five transactions over psycopg, each as the statements that BenchBase runs in a block, or as a CALL of workloads/tpcc/tpcc.sql.

    tpcc_client.py --as blocks|calls --transactions 300 --seed 1     on the server that the environment names, which has the tables

It fills the tables, and runs the transactions one after the other. The seed decides rows and arguments, so that all servers and both ways
must end with equal tables. The statements are BenchBase's (src/main/java/com/oltpbenchmark/benchmarks/tpcc/procedures), with the columns and the
customer's data as tpcc.sql has them. It prints what each transaction returned, a line each: the same in both ways.
"""

import argparse
import datetime
import decimal
import random

import psycopg

WAREHOUSES, DISTRICTS, CUSTOMERS, ITEMS, ORDERS, UNDELIVERED = 2, 10, 30, 100, 30, 10
SYLLABLES = ("BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING")
BEGIN = datetime.datetime(2024, 1, 1)
D = decimal.Decimal


def last_name(number):
    return "".join(SYLLABLES[int(digit)] for digit in f"{number:03}")


class Population:
    def __init__(self, seed):
        self.chance = random.Random(f"population {seed}")

    def text(self, least, most):
        return "".join(self.chance.choices("abcdefghijklmnopqrstuvwxyz", k=self.chance.randint(least, most)))

    def data(self):
        return self.text(20, 30) + ("ORIGINAL" if self.chance.random() < 0.3 else "")

    def money(self, least, most, digits=2):
        return D(self.chance.randint(least * 10**digits, most * 10**digits)).scaleb(-digits)

    def address(self):
        return [self.text(10, 20), self.text(10, 20), self.text(10, 20), self.text(2, 2).upper(), "123411111"]

    def tables(self):
        yield "item", [(i, self.chance.randint(1, 10_000), self.text(14, 24), self.money(1, 100), self.data()) for i in range(1, ITEMS + 1)]
        yield "warehouse", [(w, self.text(6, 10), *self.address(), self.money(0, 0, 4) + D("0.1250"), D("300000.00"))
                            for w in range(1, WAREHOUSES + 1)]
        yield "stock", [(w, i, self.chance.randint(10, 100), *[self.text(24, 24) for _ in range(10)], 0, 0, 0, self.data())
                        for w in range(1, WAREHOUSES + 1) for i in range(1, ITEMS + 1)]
        places = [(w, d) for w in range(1, WAREHOUSES + 1) for d in range(1, DISTRICTS + 1)]
        yield "district", [(w, d, self.text(6, 10), *self.address(), D("0.0750"), D("30000.00"), ORDERS + 1) for w, d in places]
        yield "customer", [(w, d, c, self.text(8, 16), "OE", last_name(self.chance.randrange(12)), *self.address(), "1234567890123456", BEGIN,
                            "BC" if self.chance.random() < 0.3 else "GC", D("50000.00"), self.money(0, 0, 4) + D("0.0500"), D("-10.00"),
                            D("10.00"), 1, 0, self.text(300, 500)) for w, d in places for c in range(1, CUSTOMERS + 1)]
        orders, lines, new_orders = [], [], []
        for w, d in places:
            for o in range(1, ORDERS + 1):
                is_new, count = o > ORDERS - UNDELIVERED, self.chance.randint(5, 15)
                orders.append((w, d, o, self.chance.randint(1, CUSTOMERS), BEGIN, None if is_new else self.chance.randint(1, 10), count, 1))
                lines += [(w, d, o, n, self.chance.randint(1, ITEMS), w, None if is_new else BEGIN, 5, self.money(1, 99), self.text(24, 24))
                          for n in range(1, count + 1)]
                if is_new:
                    new_orders.append((w, d, o))
        yield "orders", orders
        yield "order_line", lines
        yield "new_order", new_orders


class Arguments:
    """What a terminal chooses, transaction by transaction."""

    def __init__(self, seed):
        self.chance = random.Random(f"arguments {seed}")
        self.number = 0

    def next(self):
        self.number += 1
        at = BEGIN + datetime.timedelta(days=1, seconds=self.number)
        w, d = self.chance.randint(1, WAREHOUSES), self.chance.randint(1, DISTRICTS)
        customer = (None, last_name(self.chance.randrange(12))) if self.chance.random() < 0.6 else (self.chance.randint(1, CUSTOMERS), None)
        kind = self.chance.choices(("new_order", "payment", "order_status", "delivery", "stock_level"), (40, 40, 8, 6, 6))[0]
        if kind == "new_order":
            items = self.chance.sample(range(1, ITEMS + 1), self.chance.randint(5, 15))
            if self.chance.random() < 0.05:
                items[-1] = 100_000
            supply = [w if self.chance.random() < 0.9 else self.chance.randint(1, WAREHOUSES) for _ in items]
            return kind, (w, d, self.chance.randint(1, CUSTOMERS), at, items, supply, [self.chance.randint(1, 10) for _ in items])
        if kind == "payment":
            other = (w, d) if self.chance.random() < 0.85 else (self.chance.randint(1, WAREHOUSES), self.chance.randint(1, DISTRICTS))
            return kind, (w, d, *other, *customer, D(self.chance.randint(100, 500_000)).scaleb(-2), at)
        if kind == "order_status":
            return kind, (w, d, *customer)
        if kind == "delivery":
            return kind, (w, self.chance.randint(1, 10), at)
        return kind, (w, d, self.chance.randint(10, 50))


class NoSuchCustomer(Exception):
    pass


class Blocks:
    """The transactions as blocks of prepared statements. Each returns what is compared, or None where it was rolled back."""

    def __init__(self, connection):
        self.connection = connection

    def run(self, text, *parameters):
        return self.connection.execute(text, parameters, prepare=True)

    def row(self, text, *parameters):
        return self.run(text, *parameters).fetchone()

    def transaction(self, kind, arguments):
        with self.connection.transaction() as block:
            result = getattr(self, kind)(*arguments)
            if result is None:
                raise psycopg.Rollback(block)
        return result

    def customer(self, w, d, number, name):
        """Returns the number, as BenchBase finds it by the name; None: no customer has it."""
        if number is not None:
            return number
        found = self.run("SELECT c_first, c_middle, c_id, c_balance FROM customer WHERE c_w_id = %s AND c_d_id = %s AND c_last = %s "
                         "ORDER BY c_first, c_id", w, d, name).fetchall()
        return found[(len(found) - 1) // 2][2] if found else None

    def new_order(self, w, d, c, at, items, supply, quantities):
        discount, _, _ = self.row("SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = %s AND c_d_id = %s AND c_id = %s", w, d, c)
        w_tax, = self.row("SELECT w_tax FROM warehouse WHERE w_id = %s", w)
        order, d_tax = self.row("SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = %s AND d_id = %s FOR UPDATE", w, d)
        self.run("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = %s AND d_id = %s", w, d)
        self.run("INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) VALUES (%s, %s, %s, %s, %s, %s, %s)",
                 order, d, w, c, at, len(items), int(all(each == w for each in supply)))
        self.run("INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (%s, %s, %s)", order, d, w)
        total = D(0)
        for number, (item, from_w, quantity) in enumerate(zip(items, supply, quantities), 1):
            found = self.row("SELECT i_price, i_name, i_data FROM item WHERE i_id = %s", item)
            if found is None:
                return None
            price = found[0]
            stock = self.row("SELECT s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, "
                             "s_dist_09, s_dist_10 FROM stock WHERE s_i_id = %s AND s_w_id = %s FOR UPDATE", item, from_w)
            left = stock[0] - quantity if stock[0] - quantity >= 10 else stock[0] - quantity + 91
            self.run("UPDATE stock SET s_quantity = %s, s_ytd = s_ytd + %s, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + %s "
                     "WHERE s_i_id = %s AND s_w_id = %s", left, quantity, int(from_w != w), item, from_w)
            total += quantity * price
            self.run("INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) "
                     "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)", order, d, w, number, item, from_w, quantity, quantity * price, stock[1 + d])
        return order, (total * (1 - discount) * (1 + w_tax + d_tax)).quantize(D("0.01"), decimal.ROUND_HALF_UP)

    def payment(self, w, d, c_w, c_d, number, name, amount, at):
        self.run("UPDATE warehouse SET w_ytd = w_ytd + %s WHERE w_id = %s", amount, w)
        w_name = self.row("SELECT w_street_1, w_street_2, w_city, w_state, w_zip, w_name FROM warehouse WHERE w_id = %s", w)[-1]
        self.run("UPDATE district SET d_ytd = d_ytd + %s WHERE d_w_id = %s AND d_id = %s", amount, w, d)
        d_name = self.row("SELECT d_street_1, d_street_2, d_city, d_state, d_zip, d_name FROM district WHERE d_w_id = %s AND d_id = %s", w, d)[-1]
        c = self.customer(c_w, c_d, number, name)
        if c is None:
            return None
        balance, paid, count, credit = self.row("SELECT c_balance, c_ytd_payment, c_payment_cnt, c_credit FROM customer "
                                                "WHERE c_w_id = %s AND c_d_id = %s AND c_id = %s", c_w, c_d, c)
        balance, paid, count = balance - amount, paid + amount, count + 1
        if credit == "BC":
            data, = self.row("SELECT c_data FROM customer WHERE c_w_id = %s AND c_d_id = %s AND c_id = %s", c_w, c_d, c)
            data = f"{c} {c_d} {c_w} {d} {w} {amount:.2f} {data}"[:500]
            self.run("UPDATE customer SET c_balance = %s, c_ytd_payment = %s, c_payment_cnt = %s, c_data = %s "
                     "WHERE c_w_id = %s AND c_d_id = %s AND c_id = %s", balance, paid, count, data, c_w, c_d, c)
        else:
            self.run("UPDATE customer SET c_balance = %s, c_ytd_payment = %s, c_payment_cnt = %s WHERE c_w_id = %s AND c_d_id = %s AND c_id = %s",
                     balance, paid, count, c_w, c_d, c)
        self.run("INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
                 c_d, c_w, c, d, w, at, amount, f"{w_name}    {d_name}")
        return c, balance

    def order_status(self, w, d, number, name):
        c = self.customer(w, d, number, name)
        if c is None:
            return None
        order, carrier, _ = self.row("SELECT o_id, o_carrier_id, o_entry_d FROM orders WHERE o_w_id = %s AND o_d_id = %s AND o_c_id = %s "
                                     "ORDER BY o_id DESC LIMIT 1", w, d, c) or (None, None, None)
        lines = self.run("SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line "
                         "WHERE ol_o_id = %s AND ol_d_id = %s AND ol_w_id = %s", order, d, w).fetchall()
        return c, order, carrier, len(lines)

    def delivery(self, w, carrier, at):
        delivered = []
        for d in range(1, DISTRICTS + 1):
            found = self.row("SELECT no_o_id FROM new_order WHERE no_d_id = %s AND no_w_id = %s ORDER BY no_o_id ASC LIMIT 1", d, w)
            delivered.append(found and found[0])
            if found is None:
                continue
            order, = found
            self.run("DELETE FROM new_order WHERE no_o_id = %s AND no_d_id = %s AND no_w_id = %s", order, d, w)
            c, = self.row("SELECT o_c_id FROM orders WHERE o_id = %s AND o_d_id = %s AND o_w_id = %s", order, d, w)
            self.run("UPDATE orders SET o_carrier_id = %s WHERE o_id = %s AND o_d_id = %s AND o_w_id = %s", carrier, order, d, w)
            self.run("UPDATE order_line SET ol_delivery_d = %s WHERE ol_o_id = %s AND ol_d_id = %s AND ol_w_id = %s", at, order, d, w)
            total, = self.row("SELECT sum(ol_amount) AS ol_total FROM order_line WHERE ol_o_id = %s AND ol_d_id = %s AND ol_w_id = %s", order, d, w)
            self.run("UPDATE customer SET c_balance = c_balance + %s, c_delivery_cnt = c_delivery_cnt + 1 "
                     "WHERE c_w_id = %s AND c_d_id = %s AND c_id = %s", total, w, d, c)
        return tuple(delivered)

    def stock_level(self, w, d, threshold):
        following, = self.row("SELECT d_next_o_id FROM district WHERE d_w_id = %s AND d_id = %s", w, d)
        return self.row("SELECT count(DISTINCT (s_i_id)) AS stock_count FROM order_line, stock WHERE ol_w_id = %s AND ol_d_id = %s "
                        "AND ol_o_id < %s AND ol_o_id >= %s AND s_w_id = %s AND s_i_id = ol_i_id AND s_quantity < %s",
                        w, d, following, following - 20, w, threshold)


class Calls:
    """The same transactions as calls. The results are picked out by their places among the INOUT parameters."""

    RESULTS = {"new_order": 12, "payment": 26, "order_status": 13, "delivery": 1, "stock_level": 1}

    def __init__(self, connection):
        self.connection = connection

    def transaction(self, kind, arguments):
        # Mneme has to know an amount's scale, as it becomes part of a text.
        given = ["CAST(%s AS numeric(6,2))" if isinstance(each, D) else "%s" for each in arguments]
        parameters = ", ".join(given + ["NULL"] * self.RESULTS[kind])
        try:
            row = self.connection.execute(f"CALL {kind}({parameters})", arguments, prepare=True).fetchone()
        except psycopg.errors.RaiseException:
            return None
        return {"new_order": lambda: (row[0], row[-1]), "payment": lambda: (row[10], row[-2]),
                "order_status": lambda: (row[0], row[5], row[7], len(row[8])), "delivery": lambda: tuple(row[0]),
                "stock_level": lambda: row}[kind]()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--as", dest="way", choices=("blocks", "calls"), required=True)
    parser.add_argument("--transactions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with psycopg.connect(autocommit=True) as connection:
        for table, rows in Population(options.seed).tables():
            with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        way = {"blocks": Blocks, "calls": Calls}[options.way](connection)
        arguments = Arguments(options.seed)
        for _ in range(options.transactions):
            kind, values = arguments.next()
            print(kind, way.transaction(kind, values))


if __name__ == "__main__":
    main()
