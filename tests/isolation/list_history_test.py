"""Goal: the check of lists (list_history.py) finds each anomaly, gives it its name, and accepts what is strictly serializable.

Method: histories made by hand. A transaction is a text: `r1:ab` reads the values a and b in key 1, `a1:c` appends c to it, `(` is a savepoint,
`)` a rollback to it. Times are given where real time matters; otherwise all are concurrent.
"""

import random
import unittest

from list_history import ListHistory, explained


def transaction(name, text, outcome="ok", begin=0, end=1000):
    operations = []
    for word in text.split():
        if word in "()":
            operations.append(["savepoint" if word == "(" else "rollback to"])
        else:
            key, values = word[1:].split(":")
            operations.append(["read", key, list(values)] if word[0] == "r" else ["append", key, values])
    return {"name": name, "begin": begin, "end": end if outcome != "unknown" else None, "outcome": outcome, "operations": operations}


class ListHistoryTest(unittest.TestCase):
    def anomalies(self, *texts, **named):
        """Texts alone are concurrent transactions that were acknowledged."""
        transactions = [transaction(f"T{number + 1}", text) if isinstance(text, str) else transaction(f"T{number + 1}", *text)
                        for number, text in enumerate(texts)]
        found = ListHistory(transactions).check()
        if "explains" in named:
            for words in named["explains"]:
                self.assertIn(words, explained(found))
        return sorted({anomaly.name for anomaly in found})

    def test_serial_histories_have_none(self):
        self.assertEqual(self.anomalies(), [])
        self.assertEqual(self.anomalies("a1:x r1:x", "r1:x a1:y a2:z", "r1:xy r2:z", "r1: r2:"), [])
        self.assertEqual(self.anomalies("r1: a1:x", ("a1:y r2:", "failed"), "r1:x a1:z r1:xz", "r1:xz"), [])

    def test_what_is_unknown_may_be_there_or_not(self):
        self.assertEqual(self.anomalies(("a1:x", "unknown"), "r1:", ("a1:y", "unknown"), "r1:y"), [])
        # Once seen it has committed, and so its reads count, and what they saw.
        self.assertEqual(self.anomalies(("a1:x", "failed"), ("r1:x a2:y", "unknown"), "r2:y"), ["G1a"])
        self.assertEqual(self.anomalies(("a1:x", "failed"), ("r1:x a2:y", "unknown"), "r2:"), [])

    def test_g0(self):
        self.assertEqual(self.anomalies("a1:a a2:b", "a1:c a2:d", "r1:ac", "r2:db",
                                        explains=["T1 precedes T2 (write-write): T2 appended c to key 1 next",
                                                  "T2 precedes T1 (write-write): T1 appended b to key 2 next"]), ["G0"])
        # Between two appends of one transaction there is another's.
        self.assertEqual(self.anomalies("a1:a a1:b", "a1:c", "r1:acb"), ["G0"])

    def test_g1a(self):
        self.assertEqual(self.anomalies(("a1:x", "failed"), "r1:x", explains=["T2 saw x in key 1, which was rolled back"]), ["G1a"])
        self.assertEqual(self.anomalies("( a1:x ) a2:y", "r1:x"), ["G1a"])
        self.assertEqual(self.anomalies(("a1:x", "failed"), ("r1:x", "failed")), [])

    def test_g1b(self):
        self.assertEqual(self.anomalies("a1:x a1:y", "r1:x"), ["G-single", "G1b"])
        self.assertEqual(self.anomalies("a1:x ( a1:y )", "r1:x"), [])

    def test_g1c(self):
        self.assertEqual(self.anomalies("a1:x r2:y", "a2:y r1:x", explains=["T1 precedes T2 (write-read): T2 saw x as the last of key 1"]),
                         ["G1c"])

    def test_g_single(self):
        # Read skew: the first key of before, the second of after.
        self.assertEqual(self.anomalies("a1:x a2:y", "r1: r2:y", "r1:x",
                                        explains=["T2 precedes T1 (read-write): T2 did not see x, which comes next in key 1"]), ["G-single"])

    def test_lost_update(self):
        # Both read the same list, and append.
        self.assertEqual(self.anomalies("r1: a1:x", "r1: a1:y", "r1:xy"), ["G-single"])

    def test_g2(self):
        self.assertEqual(self.anomalies("r1: a2:x", "r2: a1:y", "r1:y r2:x"), ["G2"])
        # Three that go round.
        self.assertEqual(self.anomalies("r1: a2:x", "r2: a3:y", "r3: a1:z", "r1:z r2:x r3:y"), ["G2"])

    def test_g2_of_what_no_list_shows(self):
        self.assertEqual(self.anomalies("r1: a2:x", "r2: a1:y"), ["G2"])

    def test_appends_that_no_list_shows(self):
        # Each has read the list without the appends of the others.
        self.assertEqual(self.anomalies("r1: a1:x", "r1: a1:y", "r1: a1:z", explains=["T1 did not see y, which comes next in key 1"]), ["G2"])
        # A reader comes before the appends of others, and not before its own, of which there may be several.
        self.assertEqual(self.anomalies("a1:v", "r1: a1:x a1:y", "a1:z", "r1:"), [])
        self.assertEqual(self.anomalies("a1:w a2:u", "r1: a1:x a1:y r2:u", "a1:z"), ["G-single"])
        self.assertEqual(self.anomalies("a1:w", "r1: a1:x a1:y r2:u", "a1:z a2:u"), ["G-single"])
        # They come behind the appends that lists show.
        self.assertEqual(self.anomalies("a1:v r2:", "r1:v", "a1:w a2:u", "a1:x a2:t", "r2:ut"), [])
        self.assertEqual(self.anomalies("a1:v r2:u", "r1:v", "a1:w a2:u"), ["G1c"])

    def test_incompatible_orders(self):
        self.assertIn("incompatible order", self.anomalies("a1:x", "a1:y", "r1:xy", "r1:y"))

    def test_values_from_nowhere_and_twice(self):
        self.assertEqual(self.anomalies("r1:x"), ["garbage read"])
        self.assertIn("duplicate append", self.anomalies("a1:x", "r1:xx"))
        with self.assertRaisesRegex(ValueError, "twice"):
            self.anomalies("a1:x", "a1:x")

    def test_internal(self):
        self.assertEqual(self.anomalies("a1:x r1:"), ["internal"])
        self.assertEqual(self.anomalies("a1:x r1:xy", "a1:y"), ["internal"])
        self.assertIn("internal", self.anomalies("r1: r1:x", "a1:x"))
        self.assertEqual(self.anomalies("a1:x a1:y r1:yx"), ["internal"])

    def test_savepoints(self):
        self.assertEqual(self.anomalies("a1:x ( a1:y r1:xy ) r1:x a1:z r1:xz", "r1:xz"), [])
        self.assertEqual(self.anomalies("a1:x ( a1:y ) r1:xy"), ["internal"])
        self.assertEqual(self.anomalies("a1:x ( a1:y ) a1:z r1:x"), ["internal"])
        # Reads that were taken back were seen by the client all the same.
        self.assertEqual(self.anomalies("( r1: ) a2:x", "r2: a1:y", "r1:y r2:x"), ["G2"])

    def test_lost_append(self):
        self.assertEqual(self.anomalies(("a1:x", "ok", 0, 10), ("r1:", "ok", 20, 30), explains=["x in key 1 was acknowledged, and is in no list"]),
                         ["lost append", "real-time violation, G-single"])
        # As concurrent ones the order is free.
        self.assertEqual(self.anomalies(("a1:x", "ok", 0, 10), ("r1:", "ok", 10, 30)), [])

    def test_real_time(self):
        # A stale read: later ones have the value.
        self.assertEqual(self.anomalies(("a1:x", "ok", 0, 10), ("r1:", "ok", 20, 30), ("r1:x", "ok", 40, 50),
                                        explains=["T1 precedes T2 (real-time): T1 was acknowledged before T2 began"]),
                         ["real-time violation, G-single"])
        self.assertEqual(self.anomalies(("a1:x", "ok", 20, 30), ("r1:x", "ok", 0, 10)), ["real-time violation"])
        # Serializable, and not strictly so: T3 sees y and not x, which was acknowledged before y was begun.
        self.assertEqual(self.anomalies(("a1:x", "ok", 0, 10), ("a2:y", "ok", 20, 30), ("r1: r2:y", "ok", 5, 40), ("r1:x", "ok", 50, 60)),
                         ["real-time violation, G-single"])

    def test_a_random_serial_history_has_none_and_a_changed_one_has(self):
        for seed in range(20):
            chance = random.Random(seed)
            lists, transactions = {key: [] for key in "123"}, []
            for number in range(200):
                operations = []
                for place in range(chance.randint(1, 4)):
                    key = chance.choice("123")
                    if chance.random() < 0.5:
                        lists[key] = [*lists[key], f"{number}.{place}"]
                        operations.append(["append", key, lists[key][-1]])
                    else:
                        operations.append(["read", key, lists[key]])
                transactions.append({"name": f"T{number}", "begin": 2 * number, "end": 2 * number + chance.randint(1, 9), "outcome": "ok",
                                     "operations": operations})
            transactions.append({"name": "last", "begin": 1000, "end": 1001, "outcome": "ok",
                                 "operations": [["read", key, values] for key, values in lists.items()]})
            self.assertEqual(ListHistory(transactions).check(), [], seed)
            # One that appended is said to have come after all the others.
            late = next(each for each in transactions if ["append"] == [operation[0] for operation in each["operations"]][:1])
            late.update(begin=2000, end=2001)
            self.assertIn("real-time", explained(ListHistory(transactions).check()), seed)

    def test_a_cycle_in_a_component_of_many_transactions_is_named(self):
        """Each transaction is concurrent with the next one, and so it is with the first one only that the last one makes a cycle of all."""
        def history(last):
            texts = [("a1:x r2:", 1, 4), *[(f"r{number}:", 2 * number, 2 * number + 3) for number in range(3, 20000)], (last, 40002, 40005)]
            return [transaction(f"T{number}", text, "ok", begin, end) for number, (text, begin, end) in enumerate(texts)]

        for last, names in (("r1:x", []), ("a2:y", []), ("r1:", ["lost append", "real-time violation, G-single"])):
            self.assertEqual([each.name for each in ListHistory(history(last)).check()], names, last)
        # A value is seen before it is appended; and what was read is changed by a transaction that ended long before.
        seen_early = [transaction("T", "r2:y", "ok", 0, 1), *history("a2:y")[1:]]
        self.assertEqual([each.name for each in ListHistory(seen_early).check()], ["real-time violation"])
        # Two values that are read in both orders, by transactions that all the others lie between.
        skewed = [transaction("T", "r1: r2:y", "ok", 0, 40005), *history("a2:y")[1:], transaction("U", "a1:x", "ok", 1, 2),
                  transaction("V", "r1:x", "ok", 50000, 50001)]
        self.assertEqual([each.name for each in ListHistory(skewed).check()], ["real-time violation, G-single"])


if __name__ == "__main__":
    unittest.main()
