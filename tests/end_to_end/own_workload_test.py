"""Goal: a user's own workload, a .sql file and CSV files, is run, killed, recovered and gone on with as those that come with the
program are.

Method: the example in examples/shop, whose procedures loop over arrays, ask for the time and raise.
"""

import shutil
import unittest

from program import BAD_ARGUMENTS, FAILED, REPOSITORY, EndToEndTest, mneme

SHOP = REPOSITORY / "examples" / "shop"
# Compiling the procedures takes longer than most of these tests.
INTERPRETED = ("--execution", "interpreted")
FILES = (SHOP / "shop.sql", "--calls", SHOP / "calls.csv", "--rows", SHOP / "rows.csv")


class OwnWorkload(EndToEndTest):
    def run_shop(self, directory, *more):
        return self.report("run", *FILES, "--data-dir", directory, "--threads", 2, *more)

    def test_a_run_recovers_and_goes_on_without_its_files(self):
        directory = self.folder / "database"
        first = self.run_shop(directory, "--transactions", 3000)
        self.assertEqual((first["workload"], first["execution"]), ("shop.sql", "native"))
        self.assertEqual(set(first["by_procedure"]), {"buy", "pay", "restock", "last_purchase"})
        self.assertAlmostEqual(first["by_procedure"]["buy"]["committed"] / 3000, 0.5, delta=0.1)
        self.assertEqual(self.recover_alike(directory)["state_digest"], first["state_digest"])
        self.succeed("verify", directory)

        moved = self.folder / "moved"
        shutil.copytree(directory, moved)
        # The .sql file that --resume names need not be there: the directory has its own.
        second = self.report("run", "shop.sql", "--resume", "--data-dir", moved, "--transactions", 1000)
        self.assertEqual(self.recover_alike(moved)["state_digest"], second["state_digest"])
        self.assertGreater(second["by_procedure"]["buy"]["committed"], 300)

    def test_the_same_calls_leave_the_same_state(self):
        # Without `buy`, whose rows hold the time.
        ways = [self.report("run", *FILES, "--log", "off", "--threads", 1, "--transactions", 500, "--seed", seed,
                            "--mix", "pay=50,restock=50", *INTERPRETED)["state_digest"] for seed in (1, 1, 2)]
        self.assertEqual(ways[0], ways[1])
        self.assertNotEqual(ways[0], ways[2])

    def test_nothing_acknowledged_is_lost(self):
        for log in ("command", "logical"):
            # The first answer, from which on the kill may come, can be that of a call that only reads.
            report = self.report("crash", *FILES, "--rounds", 2, "--longest-run", 3, "--threads", 2, "--log", log,
                                 "--data-dir", self.folder / log, *INTERPRETED)
            self.assertGreater(report["acknowledged"], 0)
            self.assertEqual((report["lost"], report["invented"], report["wrong_results"]), (0, 0, 0))
            self.assertTrue(all(outcome["digest_equal"] for outcome in report["schemes"].values()))

    def test_its_checks_are_run_by_verify_and_crash(self):
        directory = self.folder / "database"
        self.run_shop(directory, "--checks", SHOP / "checks.sql", "--transactions", 500, *INTERPRETED)
        checked = {check["name"]: check for check in self.report("verify", directory, *INTERPRETED)["checks"]}
        self.assertTrue(checked["no more of an article is sold than there was"]["ok"])
        report = self.report("crash", *FILES, "--checks", SHOP / "checks.sql", "--rounds", 1, "--longest-run", 3, "--threads", 2,
                             "--data-dir", self.folder / "killed", *INTERPRETED)
        self.assertEqual((report["lost"], report["invented"]), (0, 0))

        wrong = self.folder / "wrong.sql"
        wrong.write_text("-- all articles are sold out\nSELECT id, name FROM article WHERE stock > 0 AND id <= 2 ORDER BY id;\n")
        broken = self.folder / "broken"
        self.run_shop(broken, "--checks", wrong, "--transactions", 10, *INTERPRETED)
        result = mneme("verify", broken, *INTERPRETED)
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertIn("1 of 4 checks", result.stderr)
        self.assertIn("BAD   all articles are sold out: 2 rows break it, the first with id 1", result.stdout)
        result = mneme("crash", *FILES, "--checks", wrong, "--rounds", 1, "--longest-run", 3, "--data-dir", self.folder / "killed_again",
                       *INTERPRETED)
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertIn("all articles are sold out does not hold: 2 rows break it", result.stdout + result.stderr)

        for text, words in (("DELETE FROM article;", "a check is a SELECT"), ("SELECT 1 FROM nowhere;", "nowhere"), ("-- none\n", "holds no check"),
                            ("SELECT FROM WHERE;", "line 1")):
            wrong.write_text(text)
            self.refuse(BAD_ARGUMENTS, [str(wrong), words], "run", *FILES, "--checks", wrong, "--data-dir", self.folder / "none")

    def test_a_trace_is_called_line_by_line(self):
        calls = self.folder / "trace.csv"
        calls.write_text("".join(f"restock,{article},1\n" for article in range(1, 11)))
        directory = self.folder / "database"
        self.report("run", SHOP / "shop.sql", "--calls", calls, "--rows", SHOP / "rows.csv", "--data-dir", directory,
                    "--threads", 2, "--transactions", 10, *INTERPRETED)
        shown = self.report("inspect", directory, "--limit", 20)
        called = sorted(record["call"] for record in shown["records"])
        self.assertEqual(called, sorted(f"CALL restock('{article}'::int, '1'::int)" for article in range(1, 11)))

    def test_rows_without_a_primary_key_are_changed_and_recovered(self):
        schema = self.folder / "inn.sql"
        schema.write_text("""CREATE TABLE guest (room INT, nights INT);
CREATE INDEX guest_by_room ON guest (room);
CREATE PROCEDURE come(p INT) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO guest VALUES (p, 1); END $$;
CREATE PROCEDURE stay(p INT) LANGUAGE plpgsql AS $$ BEGIN UPDATE guest SET nights = nights + 1 WHERE room = p; END $$;
CREATE PROCEDURE swap(p INT) LANGUAGE plpgsql AS $$ DECLARE v INT;
BEGIN SELECT nights INTO v FROM guest WHERE room = p; UPDATE guest SET nights = v WHERE room = 1; END $$;
""")
        come, stay, swap = (self.folder / f"{name}.csv" for name in ("come", "stay", "swap"))
        come.write_text("come,=1..5\n")
        stay.write_text("come,=1..5\nstay,=1..5\n")
        swap.write_text("come,=1..5\nswap,=1..5\n")
        directory = self.folder / "database"

        def run(calls, log):
            return ("run", schema, "--calls", calls, "--data-dir", directory, "--log", log, "--transactions", 200, *INTERPRETED)
        self.refuse(BAD_ARGUMENTS, ["procedure stay changes rows of table guest, which has no primary key", "choose another log"],
                    *run(stay, "all"))
        self.assertFalse(directory.exists())
        schemes = {"all": ("clr", "clr-p", "llr-p", "plr"), "command": ("clr", "clr-p"), "logical": ("llr", "llr-p"), "physical": ("plr",)}
        for calls, log in ((come, "all"), (stay, "command"), (stay, "logical"), (stay, "physical"), (swap, "command"), (swap, "logical"),
                           (swap, "physical")):
            ran = self.report(*run(calls, log))
            self.assertGreater(ran["committed"], 0)
            for scheme in schemes[log]:
                with self.subTest(calls=calls.name, log=log, scheme=scheme):
                    recovered = self.report("recover", directory, "--scheme", scheme)
                    self.assertEqual(recovered["state_digest"], ran["state_digest"])
            shutil.rmtree(directory)

    def test_keys_of_hundreds_of_bytes_are_recovered(self):
        schema = self.folder / "club.sql"
        schema.write_text("""CREATE TABLE member (email VARCHAR(255) PRIMARY KEY, name VARCHAR(255) NOT NULL UNIQUE, visits INT NOT NULL);
CREATE INDEX member_by_visits ON member (visits, name);
CREATE PROCEDURE visit(p INT) LANGUAGE plpgsql AS $$
BEGIN
    UPDATE member SET visits = visits + 1 WHERE email = lpad(p::text, 250, 'e');
    IF NOT FOUND THEN
        INSERT INTO member VALUES (lpad(p::text, 250, 'e'), lpad(p::text, 240, 'n'), 1);
    END IF;
END $$;
CREATE PROCEDURE quit(p INT) LANGUAGE plpgsql AS $$ BEGIN DELETE FROM member WHERE name = lpad(p::text, 240, 'n'); END $$;
CREATE PROCEDURE cut(p INT) LANGUAGE plpgsql AS $$
BEGIN DELETE FROM member WHERE visits = 3 AND name > lpad(p::text, 240, 'n') AND name <= lpad(p::text, 239, 'n') || 'z'; END $$;
""")
        calls = self.folder / "calls.csv"
        calls.write_text("visit,=1..400\n" * 8 + "quit,=1..400\ncut,=1..400\n")
        for execution in ("interpreted", "native"):
            directory = self.folder / execution
            ran = self.report("run", schema, "--calls", calls, "--data-dir", directory, "--log", "all", "--transactions", 3000,
                              "--threads", 2, "--execution", execution)
            self.assertGreater(ran["committed"], 2000)
            for scheme in ("clr", "clr-p", "llr", "llr-p", "plr"):
                how = ("--execution", execution) if scheme.startswith("clr") else ()
                with self.subTest(execution=execution, scheme=scheme):
                    recovered = self.report("recover", directory, "--scheme", scheme, "--threads", 2, *how)
                    self.assertEqual(recovered["state_digest"], ran["state_digest"])
            self.succeed("verify", directory)

    def test_intervals_are_recovered(self):
        schema = self.folder / "trips.sql"
        schema.write_text("""CREATE TABLE trip (id INT PRIMARY KEY, lasts INTERVAL NOT NULL, rest INTERVAL, ends TIMESTAMP);
CREATE PROCEDURE travel(p INT, p_by INTERVAL) LANGUAGE plpgsql AS $$
DECLARE v INTERVAL;
BEGIN
    UPDATE trip SET lasts = lasts + p_by, rest = p_by, ends = TIMESTAMP '2024-01-31' + p_by WHERE id = p RETURNING lasts INTO v;
    IF NOT FOUND THEN
        INSERT INTO trip VALUES (p, p_by * 1.5, NULL, NULL);
    ELSIF v > INTERVAL '10 years' THEN
        UPDATE trip SET lasts = ends - TIMESTAMP '2023-12-24' WHERE id = p;
    END IF;
END $$;
CREATE PROCEDURE count_up(p INT) LANGUAGE plpgsql AS $$ BEGIN UPDATE trip SET ends = ends + INTERVAL '1 hour' WHERE id = p; END $$;
CREATE PROCEDURE cut(p INT) LANGUAGE plpgsql AS $$ BEGIN DELETE FROM trip WHERE id = p AND rest = INTERVAL '30 days'; END $$;
""")
        calls = self.folder / "calls.csv"
        calls.write_text("travel,=1..50,=1 mon|30 days|-1 mon +2 days|1 year 00:00:00.5\n" * 6 + "count_up,=1..50\ncut,=1..50\n")
        for execution in ("interpreted", "native"):
            directory = self.folder / execution
            ran = self.report("run", schema, "--calls", calls, "--data-dir", directory, "--log", "all", "--transactions", 2000,
                              "--threads", 2, "--execution", execution)
            self.assertGreater(ran["committed"], 1500)
            for scheme in ("clr", "clr-p", "llr", "llr-p", "plr"):
                how = ("--execution", execution) if scheme.startswith("clr") else ()
                with self.subTest(execution=execution, scheme=scheme):
                    recovered = self.report("recover", directory, "--scheme", scheme, "--threads", 2, *how)
                    self.assertEqual(recovered["state_digest"], ran["state_digest"])
            self.succeed("verify", directory)

    def test_refuses_what_does_not_fit(self):
        directory = self.folder / "database"
        self.refuse(BAD_ARGUMENTS, ["--calls FILE.csv"], "run", FILES[0], "--data-dir", directory)
        self.refuse(BAD_ARGUMENTS, ["--warehouses", "shop.sql"], "run", *FILES, "--scale", 2, "--data-dir", directory)
        self.refuse(BAD_ARGUMENTS, ["--calls", "your own workloads"], "run", "tpcc", "--calls", FILES[2])
        self.refuse(FAILED, ["none.csv"], "run", FILES[0], "--calls", self.folder / "none.csv", "--data-dir", directory)
        same_name = self.folder / "calls.csv"
        shutil.copy(SHOP / "rows.csv", same_name)
        self.refuse(BAD_ARGUMENTS, ["have one name"], "run", *FILES[:3], "--rows", same_name, "--data-dir", directory)
        self.run_shop(directory, "--transactions", 10, *INTERPRETED)
        self.refuse(BAD_ARGUMENTS, ["holds a database"], "run", *FILES, "--data-dir", directory)
        self.refuse(BAD_ARGUMENTS, ["--mix"], "run", "shop.sql", "--resume", "--data-dir", directory, "--mix", "pay=100")
        changed = self.folder / "shop.sql"
        changed.write_text(FILES[0].read_text() + "-- more\n")
        self.refuse(BAD_ARGUMENTS, [str(changed), "--resume keeps"], "run", changed, "--resume", "--data-dir", directory)


if __name__ == "__main__":
    unittest.main()
