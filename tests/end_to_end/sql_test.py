"""Goal: what `mneme sql` told to be done is there after kill -9, whatever recovers it; so are changes of the schema,
in their order among calls and rows.

Method: a database is made by statements alone, by a child that is killed once it has told of the last one; every scheme
that the log serves recovers it, and all digests, and what SELECT shows, are compared. Scripts, errors and blocks are
looked at from outside: exit status, streams, JSON.
"""

import subprocess
import unittest

from program import BAD_ARGUMENTS, BINARY, DONE, FAILED, EndToEndTest, mneme

SCHEMES = {
    "command": ("clr", "clr-p"),
    "logical": ("llr", "llr-p"),
    "physical": ("plr",),
    "all": ("clr", "clr-p", "llr", "llr-p", "plr"),
}

SCHEMA = """
CREATE TABLE account (id INT PRIMARY KEY, branch INT NOT NULL, balance BIGINT NOT NULL);
CREATE PROCEDURE deposit(p_id INT, p_amount BIGINT) LANGUAGE plpgsql AS $$
BEGIN UPDATE account SET balance = balance + p_amount WHERE id = p_id; END $$;
CREATE PROCEDURE open_account(p_id INT, p_branch INT) LANGUAGE plpgsql AS $$
BEGIN INSERT INTO account VALUES (p_id, p_branch, 0); END $$;
"""

CHANGES = """
CALL open_account(1, 10); CALL open_account(2, 10); CALL open_account(3, 20);
CALL deposit(1, 5); CALL deposit(2, 7);
CREATE OR REPLACE PROCEDURE deposit(p_id INT, p_amount BIGINT) LANGUAGE plpgsql AS $$
BEGIN UPDATE account SET balance = balance + 100 * p_amount WHERE id = p_id; END $$; -- from here on a hundredfold
CALL deposit(1, 5);
CREATE TABLE note (account INT, number INT, line VARCHAR(20) NOT NULL, PRIMARY KEY (account, number));
CREATE PROCEDURE write_note(p_account INT, p_number INT, p_line VARCHAR(20)) LANGUAGE plpgsql AS $$
BEGIN INSERT INTO note VALUES (p_account, p_number, p_line); END $$;
CALL write_note(1, 1, 'first'); CALL write_note(2, 1, 'second');
CREATE INDEX account_by_branch ON account (branch);
CREATE PROCEDURE give_branch(p_branch INT, p_amount BIGINT) LANGUAGE plpgsql AS $$
BEGIN UPDATE account SET balance = balance + p_amount WHERE branch = p_branch; END $$;
CALL give_branch(10, 1000);
CREATE TABLE idle (id INT PRIMARY KEY);
CREATE UNIQUE INDEX note_line ON note (account, line, number);
DROP TABLE idle;
DROP PROCEDURE write_note;
CALL give_branch(20, 3);
DROP INDEX note_line;
"""

ROWS = """
INSERT INTO account VALUES (4, 20, 44);
UPDATE account SET balance = balance + 1 WHERE branch = 20;
BEGIN; DELETE FROM account WHERE id = 3; CALL deposit(4, 1); COMMIT;
BEGIN; DELETE FROM account WHERE id = 1; ROLLBACK;
"""


class Sql(EndToEndTest):
    def sql(self, directory, *arguments):
        return self.report("sql", directory, *arguments)["statements"]

    def rows(self, directory, query):
        (statement,) = self.sql(directory, "--command", query)
        return statement["rows"]

    def killed_after(self, directory, script, *options):
        """Lets a child run the script, and kills it when it has told of the last statement's end."""
        command = [BINARY, "sql", str(directory), *options]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
            child.stdin.write(script + "\nSELECT count(*) FROM account;\n")
            child.stdin.flush()
            told = []
            for line in child.stdout:
                told.append(line.rstrip("\n"))
                if line.startswith("(1 row)"):
                    break
            child.kill()
        self.assertIn("(1 row)", told)
        return told

    def check_recovery(self, directory, log):
        digests = {}
        for scheme in SCHEMES[log]:
            for threads in (1, 3):
                options = {} if scheme == "clr" else {"threads": threads, "batch": 3}
                if scheme.startswith("clr"):
                    options["execution"] = "interpreted"
                recovered = self.recover(directory, scheme, **options)
                digests[scheme, threads] = recovered["state_digest"]
        self.assertEqual(len(set(digests.values())), 1, digests)

    def check_schema_changes(self, log):
        directory = self.folder / log
        self.killed_after(directory, SCHEMA + CHANGES, "--create", "--log", log)
        self.check_recovery(directory, log)
        expected = [["1", "10", "1505"], ["2", "10", "1007"], ["3", "20", "3"]]
        self.assertEqual(self.rows(directory, "SELECT * FROM account ORDER BY id"), expected)
        self.assertEqual(self.rows(directory, "SELECT line FROM note ORDER BY account"), [["first"], ["second"]])
        self.refuse_statement(directory, "CALL write_note(3, 1, 'x')", "42883", "does not exist")
        self.refuse_statement(directory, "SELECT id FROM idle", "42P01", "relation \"idle\" does not exist")
        # Once more from the directory, and gone on with.
        self.sql(directory, "--command", "CALL deposit(3, 1); DROP PROCEDURE give_branch; DROP INDEX account_by_branch;")
        self.check_recovery(directory, log)
        self.assertEqual(self.rows(directory, "SELECT balance FROM account WHERE branch = 20"), [["103"]])

    def test_an_opening_speaks_of_interpreted_procedures_only_where_calls_were(self):
        without, uncalled, called = (self.folder / name for name in ("without", "uncalled", "called"))
        rows = "INSERT INTO account VALUES (9, 1, 1); UPDATE account SET balance = 2;"
        self.sql(without, "--create", "--command", "CREATE TABLE account (id INT PRIMARY KEY, branch INT, balance INT);" + rows)
        self.sql(uncalled, "--create", "--command", SCHEMA + rows)
        self.sql(called, "--create", "--command", SCHEMA + rows + "CALL deposit(9, 1); CREATE TABLE other (id INT PRIMARY KEY);")
        for directory, is_said in ((without, False), (uncalled, False), (called, True)):
            told = self.succeed("sql", directory, "--command", "SELECT balance FROM account").stderr
            self.assertEqual("were interpreted" in told, is_said, told)

    def refuse_statement(self, directory, text, sqlstate, words):
        result = mneme("sql", directory, "--command", text)
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertIn(f"ERROR:  {sqlstate}: ", result.stderr)
        self.assertIn(words, result.stderr)

    def test_schema_changes_among_calls(self):
        self.check_schema_changes("command")

    def test_schema_changes_among_rows(self):
        self.check_schema_changes("logical")

    def test_schema_changes_among_located_rows(self):
        self.check_schema_changes("physical")

    def test_schema_changes_among_all(self):
        self.check_schema_changes("all")

    def check_rows(self, log):
        directory = self.folder / log
        told = self.killed_after(directory, SCHEMA + CHANGES + ROWS, "--create", "--log", log)
        self.assertEqual(told.count("ROLLBACK"), 1)
        self.check_recovery(directory, log)
        expected = [["1", "1505"], ["2", "1007"], ["4", "145"]]
        self.assertEqual(self.rows(directory, "SELECT id, balance FROM account ORDER BY id"), expected)

    def test_rows_among_calls(self):
        self.check_rows("command")

    def test_rows_among_rows(self):
        self.check_rows("logical")

    def test_rows_among_located_rows(self):
        self.check_rows("physical")

    def test_rows_among_all(self):
        self.check_rows("all")

    def test_statements_on_a_workloads_directory(self):
        directory = self.folder / "bank"
        self.report("run", "smallbank", "--data-dir", directory, "--scale", 1, "--log", "all", "--transactions", 2000)
        before = int(self.rows(directory, "SELECT count(*) FROM savings")[0][0])
        self.assertGreater(before, 0)
        change = "UPDATE savings SET s_balance = 12.5 WHERE s_customer_id < 10; DELETE FROM savings WHERE s_customer_id = 3;"
        self.sql(directory, "--command", change)
        self.check_recovery(directory, "all")
        self.assertEqual(self.rows(directory, "SELECT count(*) FROM savings"), [[str(before - 1)]])
        self.report("run", "smallbank", "--data-dir", directory, "--resume", "--transactions", 2000)
        self.check_recovery(directory, "all")

    def test_verify_tells_what_a_statement_broke(self):
        database = self.folder / "database"
        self.succeed("run", "tpcb", "--data-dir", database, "--transactions", 100)
        self.succeed("sql", database, "--command", "UPDATE account SET a_balance = a_balance + 1 WHERE a_id = 1;")
        result = mneme("verify", database)
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertIn(f"2 of 9 checks of {database} do not hold", result.stderr, self.told(result))
        broken = [line.split()[1] for line in result.stdout.splitlines() if not line.startswith("ok ")]
        self.assertEqual(broken, ["branch_accounts:", "accounts:"], self.told(result))

    def test_what_others_need_is_not_dropped(self):
        directory = self.folder / "database"
        self.sql(directory, "--create", "--command", SCHEMA)
        self.refuse_statement(directory, "DROP TABLE account", "2BP01", "procedure deposit uses it")
        self.refuse_statement(directory, "DROP INDEX account_pkey", "2BP01", "constraint account_pkey on table account")
        self.refuse_statement(directory, "DROP TABLE nothing", "42P01", 'table "nothing" does not exist')
        self.refuse_statement(directory, "CREATE TABLE account (id INT PRIMARY KEY)", "42P07", "already exists")
        self.refuse_statement(directory, "CREATE INDEX i ON nothing (id)", "42P01", 'relation "nothing" does not exist')
        self.refuse_statement(
            directory,
            "CREATE OR REPLACE PROCEDURE deposit(p INT) LANGUAGE plpgsql AS $$ BEGIN NULL; END $$",
            "42P13",
            "DROP PROCEDURE deposit first",
        )
        self.refuse_statement(directory, "BEGIN; SELECT branch FROM account FOR UPDATE; DROP PROCEDURE deposit", "25001", "transaction block")
        self.sql(directory, "--command", "CALL open_account(1, 1); CALL open_account(2, 1)")
        self.refuse_statement(
            directory, "CREATE UNIQUE INDEX one ON account (branch)", "23505", 'could not create unique index "one"'
        )
        self.check_recovery(directory, "command")
        self.assertEqual(self.rows(directory, "SELECT count(*) FROM account"), [["2"]])

    def test_scripts(self):
        directory = self.folder / "database"
        script = self.folder / "script.sql"
        script.write_text(SCHEMA + "CALL open_account(1, 2);\n/* a ; */\nSELECT nothing FROM account;\nCALL open_account(2, 2);\n")
        result = mneme("sql", directory, "--create", "--file", script)
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertIn(f"{script}:9: ERROR:  42703: ", result.stderr)
        self.assertEqual(result.stdout, "CREATE TABLE\nCREATE PROCEDURE\nCREATE PROCEDURE\nCALL\n")
        self.assertEqual(self.rows(directory, "SELECT id FROM account"), [["1"]])

        result = mneme("sql", directory, "--keep-going", "--command", "SELECT x FROM y; CALL open_account(2, 2)")
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertEqual(self.rows(directory, "SELECT id FROM account ORDER BY id"), [["1"], ["2"]])

        result = mneme("sql", directory, input="SELECT id, balance FROM account WHERE id = 2;\nBEGIN; CALL deposit(1, 1);\n")
        self.assertEqual(result.returncode, DONE, self.told(result))
        table = " id | balance \n----+---------\n  2 |       0\n(1 row)\n\nBEGIN\nCALL\n"
        self.assertEqual(result.stdout, table)
        self.assertIn("rolled back", result.stderr)
        self.assertEqual(self.rows(directory, "SELECT balance FROM account WHERE id = 1"), [["0"]])

        self.refuse(BAD_ARGUMENTS, ["--create"], "sql", directory, "--log", "all")
        self.refuse(BAD_ARGUMENTS, ["holds a database already"], "sql", directory, "--create")
        self.refuse(BAD_ARGUMENTS, ["--file", "--command"], "sql", directory, "--file", script, "--command", "x")

    def test_inspect_shows_what_changed_the_schema(self):
        directory = self.folder / "database"
        self.sql(directory, "--create", "--command", SCHEMA + CHANGES)
        shown = self.report("inspect", directory, "--limit", 100)["records"]
        kinds = [record["kind"] for record in shown]
        self.assertEqual(kinds.count("schema"), 13)
        replaced = next(i for i, record in enumerate(shown) if "OR REPLACE" in record["call"])
        self.assertTrue(shown[replaced + 1]["call"].startswith("CALL deposit('1'::int,"), shown[replaced + 1])


if __name__ == "__main__":
    unittest.main()
