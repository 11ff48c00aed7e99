"""Goal: `mneme bench` makes the same calls on PostgreSQL and on `mneme serve`, finds equal tables where they are equal and the row where they are
not, and refuses what it can't measure with a sentence that says where and what to do.

Method: both servers, small workloads, one client and a number of calls, so that nothing depends on time. Then a row is changed by psql behind the
bench's back. Several clients are judged by the workload's conditions.
"""

import json
import re
import signal
import socket
import struct
import subprocess
import threading
import unittest

import page_test
from postgres import Postgres
from program import BAD_ARGUMENTS, BINARY, DONE, FAILED, LONGEST_COMMAND_SECONDS, REPOSITORY, EndToEndTest, mneme
from serve_test import POSTGRES, Server

PASSWORD = "s3cret-of-the-test"


class Bench(EndToEndTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.postgres = Postgres()
        cls.addClassCleanup(cls.postgres.close)

    def on_postgres(self):
        environment = self.postgres.new_database()
        return f"host={environment['PGHOST']} user={environment['PGUSER']} dbname={environment['PGDATABASE']} password={PASSWORD}"

    def on_mneme(self):
        self.server = Server(self.folder / "served", "--create")
        self.addCleanup(self.server.close)
        return f"postgresql://tester:{PASSWORD}@{self.server.environment['PGHOST']}:{self.server.environment['PGPORT']}/bank"

    def psql(self, target, statement):
        result = subprocess.run([POSTGRES / "psql", "-X", "-At", "-v", "ON_ERROR_STOP=1", "-c", statement, target], capture_output=True,
                                text=True, timeout=LONGEST_COMMAND_SECONDS, check=False)
        self.assertEqual(result.returncode, 0, self.told(result))
        return result.stdout.splitlines()

    def bench(self, *arguments, status=DONE):
        """Its JSON, and what it said on standard error. Passwords are in neither."""
        file = self.folder / "bench.json"
        file.unlink(missing_ok=True)
        result = mneme("bench", *arguments, "--json", file)
        self.assertEqual(result.returncode, status, self.told(result))
        text = file.read_text() if file.exists() else "null"
        self.assertNotIn(PASSWORD, result.stdout + result.stderr + text)
        return json.loads(text), result.stderr

    def both(self, *arguments, status=DONE):
        return self.bench("--target", self.targets[0], "--target", self.targets[1], *arguments, status=status)

    def test_equal_tables_and_a_row_that_was_changed(self):
        self.targets = self.on_postgres(), self.on_mneme()
        told, _ = self.both("smallbank", "--clients", 1, "--transactions", 600, "--seed", 7, "--audit", "--html", self.folder / "bench.html")
        self.assertEqual(told["comparison"], {"equal": True, "differences": []})
        self.assertIn("smallbank", told["command_line"])
        self.assertEqual(told["seed"], 7)
        one, other = told["targets"]
        self.assertIsNone(one["throughput_interval"])  # of one round
        self.assertEqual(one["tables"], other["tables"])
        self.assertEqual(one["tables"]["account"]["rows"], 18000)
        self.assertGreater(one["user_aborts"], 0)
        for field in ("committed", "user_aborts", "user_aborts_by_sqlstate"):
            self.assertEqual(one[field], other[field], field)
        self.assertEqual(one["committed"] + one["user_aborts"], 600)
        self.assertTrue(one["server_version"].startswith("15."))
        self.assertIn("Mneme", other["server_version"])
        self.check_page(self.folder / "bench.html", told)
        # `mneme run` makes the same calls.
        ran = self.report("run", "smallbank", "--threads", 1, "--transactions", 600, "--seed", 7, "--log", "off", "--audit")
        self.assertEqual((ran["committed"], ran["user_aborts"]), (one["committed"], one["user_aborts"]))
        for name, procedure in ran["by_procedure"].items():
            self.assertEqual(procedure["committed"], one["by_procedure"][name]["committed"], name)
        # And they are held against the same book.
        for target in one, other:
            self.assertEqual(target["by_the_book"]["source"], ran["by_the_book"]["source"])
            self.assertEqual(target["by_the_book"]["shares"], ran["by_the_book"]["shares"])
            for name, part in ran["by_the_book"]["audit"].items():
                for field in ("share_percent", "least_percent", "exact", "mix_met"):
                    self.assertEqual(target["by_the_book"]["audit"][name][field], part[field], (name, field))
        # A change of one row is found, on either side.
        self.psql(self.targets[1], "UPDATE savings SET s_balance = s_balance + 1 WHERE s_customer_id = 4711")
        told, _ = self.both("smallbank", "--clients", 1, "--transactions", 5, "--no-load", status=FAILED)
        self.assertFalse(told["comparison"]["equal"])
        self.assertEqual([each["table"] for each in told["comparison"]["differences"]], ["savings"])
        self.assertIn("under s_customer_id '4711': s_balance is ", told["comparison"]["differences"][0]["first_difference"])
        self.psql(self.targets[0], "DELETE FROM checking WHERE c_customer_id = 18000")
        told, _ = self.both("smallbank", "--clients", 1, "--transactions", 1, "--no-load", status=FAILED)
        self.assertEqual(told["comparison"]["differences"][-1]["first_difference"],
                         "only the second has the row of c_customer_id '18000'; the first has 17,999 rows, the second 18,000 rows")
        # And loaded anew, it is as it was.
        told, _ = self.both("smallbank", "--clients", 1, "--transactions", 5, "--reload")
        self.assertTrue(told["comparison"]["equal"])

    def check_page(self, file, told):
        for width in page_test.WIDTHS:
            found = page_test.Pages.look(self, file, width, """({
                title: document.querySelector("h1").textContent, dots: document.querySelectorAll("#throughput circle").length,
                names: [...document.querySelectorAll("#legend li")].map((item) => item.textContent),
                medians: document.querySelectorAll("#medians tr").length, rules: document.querySelectorAll("#rules td").length,
                source: document.getElementById("source").textContent })""")
            self.assertRegex(found["title"], r"^smallbank on (PostgreSQL 15\.\d+|Mneme \d+\.\d+\.\d+) and (PostgreSQL 15|Mneme \d)[.\d]+$")
            self.assertEqual(found["title"], f"smallbank on {' and '.join(found['names'])}")
            self.assertEqual((found["dots"], found["medians"]), (4, 3))  # a round and a median of each
            book = told["targets"][0]["by_the_book"]
            self.assertEqual(found["rules"], 4 * 2 * (len(book["audit"]) + len(book["shares"])))
            self.assertEqual(found["source"], book["source"])

    def test_tpcc(self):
        self.targets = self.on_postgres(), self.on_mneme()
        told, _ = self.both("tpcc", "--warehouses", 1, "--clients", 1, "--transactions", 300)
        self.assertTrue(told["comparison"]["equal"], told["comparison"])
        one, other = told["targets"]
        self.assertEqual(len(one["tables"]), 9)
        self.assertEqual(one["tables"], other["tables"])
        self.assertGreaterEqual(one["tables"]["order_line"]["rows"], 10 * 3000 * 5)

    def test_a_script_starts_both_servers(self):
        output = self.folder / "beside"
        result = subprocess.run([REPOSITORY / "scripts" / "beside-postgresql", "--program", BINARY, "--output", output,
                                 "smallbank", "--clients", "1", "--transactions", "50"], capture_output=True, text=True,
                                timeout=LONGEST_COMMAND_SECONDS, check=False)
        self.assertEqual(result.returncode, DONE, self.told(result))
        told = json.loads((output / "bench.json").read_text())
        self.assertTrue(told["comparison"]["equal"], told["comparison"])
        self.assertEqual([target["server_settings"].get("fsync", "on") for target in told["targets"]], ["on", "on"])
        self.check_page(output / "bench.html", told)

    def test_several_clients_and_rounds_are_judged_by_conditions(self):
        self.targets = self.on_postgres(), self.on_mneme()
        told, _ = self.both("smallbank", "--clients", 3, "--transactions", 300, "--repeat", 2, "--rate", 100000)
        self.assertNotIn("comparison", told)
        self.assertEqual(told["isolation"], "serializable")
        for target in told["targets"]:
            self.assertEqual(len(target["rounds"]), 2)
            low, high = target["throughput_interval"]
            self.assertLessEqual(low, target["throughput_tps"])
            self.assertLessEqual(target["throughput_tps"], high)
            self.assertEqual(target["committed"] + target["user_aborts"], 600)
            # The sum of money follows from what clients were told, the rounds together.
            self.assertTrue([check for check in target["checks"] if check["name"].startswith("money:")])
            self.assertTrue(all(check["ok"] for check in target["checks"]), target["checks"])
        self.psql(self.targets[0], "UPDATE checking SET c_balance = c_balance + 1 WHERE c_customer_id = 1; "
                                   "DELETE FROM savings WHERE s_customer_id = 2")
        told, errors = self.bench("--target", self.targets[0], "smallbank", "--clients", 2, "--transactions", 2, "--no-load", status=FAILED)
        self.assertIn("a condition of the workload does not hold", errors)
        self.assertFalse(all(check["ok"] for check in told["checks"]))

    def test_a_bench_is_held_against_its_specification(self):
        target = self.on_postgres()
        result = self.succeed("bench", "--target", target, "tatp", "--mix", "get_subscriber_data=100", "--transactions", 200, "--audit")
        self.assertIn("get_subscriber_data: 100.00% of the calls, 35% asked for: NOT MET", result.stdout)
        self.assertIn("success of get_subscriber_data: 100.00% of 200 calls, 100.00% asked for: met", result.stdout)
        self.assertRegex(result.stdout, r"subscribers with an even number, by NURand: 7\d\.\d\d% of 100,000 calls, 75.00% asked for: met")
        # What a bench does without --audit: what TPC-C counts is there, the lines are not.
        told, _ = self.bench("--target", self.on_postgres(), "tpcc", "--clients", 2, "--transactions", 100)
        book = told["by_the_book"]
        self.assertEqual(book["measure"], "new_order a minute")
        self.assertAlmostEqual(book["per_minute"], 60 * told["by_procedure"]["new_order"]["committed"] / told["seconds"])
        self.assertEqual(book["shares"], {})
        result = self.succeed("bench", "--target", target, "tatp", "--no-load", "--transactions", 10)
        self.assertNotIn("asked for", result.stdout)

    def own(self):
        """A workload of one's own: counters."""
        (self.folder / "hit.sql").write_text(
            "CREATE TABLE counter (id INT PRIMARY KEY, hits BIGINT NOT NULL);\n"
            "CREATE PROCEDURE hit(p_id INT, INOUT r_hits BIGINT) LANGUAGE plpgsql AS $$\n"
            "BEGIN UPDATE counter SET hits = hits + 1 WHERE id = p_id RETURNING hits INTO r_hits; END $$;\n")
        (self.folder / "calls.csv").write_text("hit,1\nhit,2\n")
        (self.folder / "rows.csv").write_text("counter*2,=number,0\n")
        (self.folder / "checks.sql").write_text("-- no counter is above five\nSELECT id, hits FROM counter WHERE hits > 5;\n")
        return [self.folder / "hit.sql", "--calls", self.folder / "calls.csv", "--rows", self.folder / "rows.csv",
                "--checks", self.folder / "checks.sql"]

    def test_a_workload_of_ones_own(self):
        target, own = self.on_mneme(), self.own()
        told, _ = self.bench("--target", target, *own, "--transactions", 10)
        self.assertEqual(told["checks"], [{"name": "no counter is above five", "ok": True, "detail": "no row breaks it"}])
        _, errors = self.bench("--target", target, *own, "--transactions", 1, "--no-load", status=FAILED)
        self.assertIn("no counter is above five: 1 row breaks it, the first is '1', '6'", errors)

        # A procedure that is another one there.
        def replace(parameters, body):
            self.psql(target, f"DROP PROCEDURE hit; CREATE PROCEDURE hit({parameters}) LANGUAGE plpgsql AS $$ BEGIN {body} END $$;")

        replace("p_id INT, INOUT r NUMERIC(5,1)", "r := 1.5;")
        _, errors = self.bench("--target", target, *own, "--transactions", 1, "--no-load", status=FAILED)
        self.assertIn("by what is no result of it: '1.5' is no bigint", errors)
        replace("p_id INT, r BIGINT", "r := 1;")
        _, errors = self.bench("--target", target, *own, "--transactions", 1, "--no-load", status=FAILED)
        self.assertIn("by what is no result of it: it has too few values", errors)
        replace("p_id INT, INOUT r INT, p INT", "r := 1;")
        _, errors = self.bench("--target", target, *own, "--transactions", 1, "--no-load", status=FAILED)
        self.assertIn("refuses to prepare CALL hit($1::int, $2::bigint)", errors)
        # What the server does not take of the file is told with its line.
        (self.folder / "hit.sql").write_text("CREATE TABLE counter (id INT PRIMARY KEY, hits BIGINT NOT NULL);\n\n"
                                             "CREATE PROCEDURE hit(p_id INT, INOUT r_hits BIGINT) LANGUAGE plpgsql AS $$\nBEGIN r_hits := p_id; END $$;\n"
                                             "CREATE INDEX counter_hits ON counter (hits);\n")
        postgres = self.on_postgres()
        self.psql(postgres, "CREATE SEQUENCE counter_hits")
        _, errors = self.bench("--target", postgres, *own, "--transactions", 1, status=FAILED)
        self.assertIn('refuses to create the tables and procedures of hit.sql: relation "counter_hits" already exists (SQLSTATE 42P07)', errors)

    def begin_endless(self, target, *options):
        """A bench without end, once a call of it has been committed."""
        process = subprocess.Popen([BINARY, "bench", "--target", target, *map(str, self.own()), "--duration", "100000", *map(str, options)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        while process.poll() is None:
            hits = subprocess.run([POSTGRES / "psql", "-X", "-At", "-c", "SELECT sum(hits) FROM counter", target], capture_output=True, text=True,
                                  timeout=LONGEST_COMMAND_SECONDS, check=False)
            if hits.stdout.strip() not in ("", "0"):
                return process
        self.fail(process.communicate())

    def test_ctrl_c_ends_with_the_result_so_far(self):
        file = self.folder / "partial.json"
        process = self.begin_endless(self.on_mneme(), "--json", file)
        process.send_signal(signal.SIGINT)
        output = process.communicate(timeout=LONGEST_COMMAND_SECONDS)
        self.assertEqual(process.returncode, 130, output)
        told = json.loads(file.read_text())
        self.assertTrue(told["partial"])
        self.assertGreater(told["committed"], 0)
        self.assertIn("interrupted", output[1])

    def test_a_lost_connection_is_told_with_what_was_acknowledged(self):
        target = self.on_mneme()
        process = self.begin_endless(target, "--clients", 2)
        self.server.end(signal.SIGKILL)
        output = process.communicate(timeout=LONGEST_COMMAND_SECONDS)
        self.assertEqual(process.returncode, FAILED, output)
        self.assertNotIn(PASSWORD, output[1])
        told = re.search(r"lost its connection to postgresql://tester@.* in CALL hit.* (\d+) commits were acknowledged", output[1])
        self.assertTrue(told, output[1])
        again = Server(self.folder / "served")
        self.addCleanup(again.close)
        hits = again.client("psql", "-X", "-At", "-c", "SELECT sum(hits) FROM counter").stdout
        self.assertGreaterEqual(int(hits), int(told.group(1)))
        # Of two clients one call each may have been on its way.
        self.assertLessEqual(int(hits), int(told.group(1)) + 2)

    def test_what_cannot_be_measured_is_said(self):
        nobody = f"postgresql://ann:{PASSWORD}@127.0.0.1:1/bank"
        _, errors = self.bench("--target", nobody, "smallbank", status=FAILED)
        self.assertIn("cannot connect to postgresql://ann@127.0.0.1:1/bank: ", errors)
        self.assertIn("Connection refused", errors)
        self.assertIn("start the server", errors)
        target = self.on_postgres()
        _, errors = self.bench("--target", target.replace("dbname=", "dbname=no_"), "smallbank", status=FAILED)
        self.assertIn('database "no_', errors)
        # Nothing is loaded on one target while another is not there.
        self.bench("--target", target, "--target", nobody, "smallbank", status=FAILED)
        self.assertEqual(self.psql(target, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), ["0"])
        _, errors = self.bench("--target", target, "smallbank", "--no-load", status=FAILED)
        self.assertIn("lacks account, savings, checking", errors)
        self.psql(target, "CREATE TABLE savings (mine INT); INSERT INTO savings VALUES (1)")
        _, errors = self.bench("--target", target, "smallbank", status=FAILED)
        self.assertIn("holds savings already, and nothing was changed", errors)
        self.assertIn("--reload drops it", errors)
        self.assertEqual(self.psql(target, "SELECT mine FROM savings"), ["1"])
        for words, arguments in ((["is no address of a server"], ["--target", f"http://ann:{PASSWORD}@x/", "smallbank"]),
                                 (["--no-load keeps the tables"], ["--target", target, "smallbank", "--no-load", "--reload"]),
                                 (["two targets or more"], ["--target", target, "smallbank", "--final", "tables", "--transactions", 5]),
                                 (["--target is required"], ["smallbank"]),
                                 (["--skew"], ["--target", target, "smallbank", "--skew", "0.5"])):
            _, errors = self.bench(*arguments, status=BAD_ARGUMENTS)
            for word in words:
                self.assertIn(word, errors)

    def test_a_server_that_goes_away_before_any_call(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def welcome_and_leave():
            client, _ = listener.accept()
            with client:
                client.recv(10000)  # the startup message: trusted, and ready
                client.sendall(b"R" + struct.pack(">II", 8, 0) + b"Z" + struct.pack(">I", 5) + b"I")
                client.recv(10000)

        server = threading.Thread(target=welcome_and_leave)
        server.start()
        target = f"postgresql://ann@127.0.0.1:{listener.getsockname()[1]}/bank?sslmode=disable&gssencmode=disable"
        _, errors = self.bench("--target", target, "smallbank", status=FAILED)
        server.join()
        self.assertRegex(errors, r"the connection to postgresql://ann@127.0.0.1:\d+/bank\?.* failed \(SET .*; start the server again")

    def test_tables_that_are_not_the_workloads(self):
        target = self.on_postgres()
        self.bench("--target", target, "smallbank", "--transactions", 1)
        again = ["--target", target, "smallbank", "--transactions", 1, "--no-load"]
        self.psql(target, "ALTER TABLE account ADD COLUMN more INT")
        _, errors = self.bench(*again, status=FAILED)
        self.assertIn("has a row in the table account that is not of 2 columns", errors)
        self.psql(target, "ALTER TABLE account DROP COLUMN more; ALTER TABLE savings ALTER COLUMN s_balance TYPE TEXT; "
                          "UPDATE savings SET s_balance = 'much' WHERE s_customer_id = 18000")
        _, errors = self.bench(*again, status=FAILED)
        self.assertIn("that is no numeric", errors)
        self.psql(target, "DROP TABLE checking")
        self.psql(target, "CREATE TABLE checking (c_customer_id INT, c_balance INT)")
        # No call is possible: what the server says ends the bench.
        self.psql(target, "DROP TABLE savings, account")
        self.psql(target, "CREATE VIEW savings AS SELECT 1 AS one; CREATE VIEW account AS SELECT 1 AS one")
        _, errors = self.bench(*again, "--final", "off", status=FAILED)
        self.assertRegex(errors, r"refuses CALL \w+\(.*SQLSTATE 42703\); 0 commits were acknowledged")


if __name__ == "__main__":
    unittest.main()
