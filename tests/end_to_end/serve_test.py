"""Goal: PostgreSQL's own clients, unmodified, drive `mneme serve`: they load, query, measure; and what a client was told is there after the
server was killed, whatever scheme recovers it.

Method: psql and pgbench against a server on a port that the system chose. Clients insert number after number, and write down each that was
acknowledged, until the server is killed in the middle; it is started again on the directory, and has them all, each client's without a gap.
"""

import os
import pathlib
import signal
import subprocess
import time
import unittest

from program import BAD_ARGUMENTS, BINARY, LONGEST_COMMAND_SECONDS, EndToEndTest

POSTGRES = pathlib.Path("/usr/lib/postgresql/15/bin")

SCHEMA = """
CREATE TABLE account (id INT PRIMARY KEY, owner VARCHAR(20), balance NUMERIC(12,2) NOT NULL DEFAULT 10, opened TIMESTAMP DEFAULT now());
CREATE TABLE told (client INT, number INT, PRIMARY KEY (client, number));
CREATE PROCEDURE deposit(p_id INT, p_amount NUMERIC(12,2), INOUT r_balance NUMERIC(12,2)) LANGUAGE plpgsql AS $$
BEGIN UPDATE account SET balance = balance + p_amount WHERE id = p_id RETURNING balance INTO r_balance; END $$;
COPY account (id, owner) FROM STDIN (FORMAT csv);
1,ann
2,"b, c"
3,
\\.
"""


class Server:
    """A running `mneme serve`."""

    def __init__(self, directory, *options, listen="127.0.0.1:0", threads=2, blocks=16):
        self.start("serve", directory, "--listen", listen, "--threads", threads, "--blocks", blocks, *options)

    def start(self, *arguments):
        """Until it answers clients."""
        self.process = subprocess.Popen([BINARY, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ready = self.process.stdout.readline().split()
        if ready[:1] != ["ready:"]:
            raise AssertionError(self.process.communicate()[1])
        self.environment = {**os.environ, "PGHOST": ready[1], "PGPORT": ready[2], "PGUSER": "tester", "PGDATABASE": "bank",
                            "PGCONNECT_TIMEOUT": "60"}

    def ask(self, test, script):
        """Returns what psql prints of a script, which must end well and without a warning."""
        done = self.client("psql", "-X", "-q", "-A", "-v", "ON_ERROR_STOP=1", "-c", "SET client_min_messages = warning", "-f", "-", input=script)
        test.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def client(self, name, *arguments, **popen):
        return subprocess.run([str(POSTGRES / name), *map(str, arguments)], capture_output=True, text=True, env=self.environment,
                              timeout=LONGEST_COMMAND_SECONDS, check=False, **popen)

    def close(self):
        if self.process.returncode is None:
            self.process.kill()
            self.process.communicate()

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        output = self.process.communicate(timeout=LONGEST_COMMAND_SECONDS)
        return self.process.returncode, output


class Serve(EndToEndTest):
    def serve(self, *options, name="db"):
        server = Server(self.folder / name, *options)
        self.addCleanup(server.close)
        return server

    def psql(self, server, text, *options):
        result = server.client("psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", *options, input=text)
        self.assertEqual(result.returncode, 0, self.told(result))
        return result.stdout.splitlines()

    def pgbench(self, server, *options):
        result = server.client("pgbench", *options)
        self.assertEqual(result.returncode, 0, self.told(result))
        return result.stdout + result.stderr

    def test_psql_loads_queries_and_is_told_of_errors(self):
        server = self.serve("--create")
        self.psql(server, SCHEMA)
        self.assertEqual(self.psql(server, "SELECT id, owner, balance FROM account ORDER BY id; CALL deposit(2, 2.5, NULL);"),
                         ["1|ann|10.00", "2|b, c|10.00", "3||10.00", "12.50"])
        self.assertEqual(self.psql(server, "BEGIN; DELETE FROM account; ROLLBACK; SELECT count(*) FROM account;"), ["3"])
        self.assertEqual(self.psql(server, "COPY account (id, owner) TO STDOUT;"), ["1\tann", "2\tb, c", "3\t\\N"])
        self.assertEqual(self.psql(server, "", "-c", "SELECT owner FROM account WHERE id = 1"), ["ann"])
        result = server.client("psql", "-X", "-c", "SELECT owner\nFROM acount", "-v", "VERBOSITY=verbose")
        self.assertIn("ERROR:  42P01", result.stderr)
        self.assertIn("LINE 2: FROM acount", result.stderr)
        status, output = server.end()
        self.assertEqual(status, 0, output)
        # What was done is the directory's.
        again = self.serve()
        self.assertEqual(self.psql(again, "SELECT balance FROM account WHERE id = 2"), ["12.50"])

    def test_psql_describes_the_database(self):
        server = self.serve("--create")
        self.psql(server, SCHEMA)
        self.psql(server, "CREATE INDEX account_owner ON account (owner); CREATE TABLE item (id SERIAL PRIMARY KEY, name TEXT);")
        self.assertEqual(self.psql(server, "\\dt"),
                         ["public|account|table|tester", "public|item|table|tester", "public|told|table|tester"])
        self.assertEqual(self.psql(server, "\\di account*"),
                         ["public|account_owner|index|tester|account", "public|account_pkey|index|tester|account"])
        self.assertEqual(self.psql(server, "\\ds"), ["public|item_id_seq|sequence|tester"])
        self.assertEqual(self.psql(server, "\\df"),
                         ["public|deposit||IN p_id integer, IN p_amount numeric, INOUT r_balance numeric|proc"])
        described = self.psql(server, "\\d account")
        self.assertIn("balance|numeric(12,2)||not null|10", described)
        self.assertEqual(self.psql(server, "SELECT indexdef FROM pg_indexes WHERE indexname = 'account_owner';"),
                         ["CREATE INDEX account_owner ON public.account USING btree (owner)"])
        self.assertIn("id|integer||not null|nextval('item_id_seq'::regclass)", self.psql(server, "\\d item"))

    def test_no_number_of_a_sequence_is_given_again_after_a_kill(self):
        server = self.serve("--create")
        self.psql(server, "CREATE TABLE item (id SERIAL PRIMARY KEY, name TEXT);")
        insert = "INSERT INTO item (name) VALUES ('x') RETURNING id;"
        given = [int(line) for _ in range(3) for line in self.psql(server, insert * 20)]
        self.assertEqual(given, list(range(1, 61)))
        server.end(signal.SIGKILL)
        server = self.serve()
        self.assertGreater(int(self.psql(server, insert)[0]), 60)
        self.assertEqual(self.psql(server, "SELECT count(*), count(DISTINCT id) FROM item;"), ["61|61"])

    def test_explain_shows_the_steps_and_their_indexes(self):
        server = self.serve("--create")
        self.psql(server, "CREATE TABLE t (id int PRIMARY KEY, v int); CREATE INDEX t_v ON t (v);")
        self.assertEqual(self.psql(server, "EXPLAIN SELECT * FROM t WHERE id = 1;"), ["Point Lookup on t using t_pkey", "  Key: id"])
        joined = self.psql(server, "EXPLAIN SELECT v, count(*) FROM t a JOIN t b USING (v) GROUP BY v ORDER BY 2;")
        self.assertEqual([line.strip(" ->") for line in joined],
                         ["Sort", "Sort Key: 2", "HashAggregate", "Nested Loop", "Scan on t a", "Range Scan on t b using t_v", "Key: v"])
        self.assertEqual(self.psql(server, "EXPLAIN (COSTS OFF) UPDATE t SET v = 1 WHERE v > 3;")[0], "Update on t")
        for refused in ("EXPLAIN ANALYZE DELETE FROM t", "EXPLAIN VERBOSE SELECT 1", "EXPLAIN (BUFFERS) SELECT 1"):
            result = server.client("psql", "-X", "-c", refused, "-v", "VERBOSITY=sqlstate")
            self.assertIn("0A000", result.stderr, refused)
        self.assertEqual(self.psql(server, "SELECT count(*) FROM t;"), ["0"])

    def test_explain_analyze_counts_the_rows_of_nodes(self):
        server = self.serve("--create")
        self.psql(server, """CREATE TABLE t (id int PRIMARY KEY, v int); CREATE TABLE u (id int PRIMARY KEY, t int);
            INSERT INTO t SELECT g, g % 3 FROM generate_series(1, 10) g; INSERT INTO u SELECT g, g % 4 FROM generate_series(1, 20) g;""")
        counted = self.psql(server, "EXPLAIN (ANALYZE, SUMMARY OFF) SELECT v, count(*) FROM t JOIN u ON u.t = t.id GROUP BY v ORDER BY 1 LIMIT 2;")
        self.assertEqual([line.strip(" ->") for line in counted if "rows=" in line][:4],
                         ["Limit (actual rows=2)", "Sort (actual rows=2)", "HashAggregate (actual rows=3)",
                          "Hash Join (actual rows=15)"])
        self.assertEqual(self.psql(server, "EXPLAIN (ANALYZE ON, TIMING OFF) SELECT * FROM t WHERE id = 1;"),
                         ["Point Lookup on t using t_pkey (actual rows=1)", "  Key: id"])
        timed = self.psql(server, "PREPARE of(int) AS SELECT DISTINCT v FROM t WHERE id > $1; EXPLAIN ANALYZE EXECUTE of(3);")
        self.assertEqual(timed[0], "Unique (actual rows=3)")
        self.assertRegex(timed[-1], r"^Execution Time: \d+\.\d{3} ms$")
        self.assertEqual(self.psql(server, "BEGIN; EXPLAIN ANALYZE SELECT 1; INSERT INTO t VALUES (11, 0); COMMIT; SELECT count(*) FROM t;")[-1], "11")

    def test_explain_of_a_call_shows_slices_and_lanes(self):
        server = self.serve("--create")
        self.psql(server, """CREATE TABLE account (id int PRIMARY KEY, owner int NOT NULL, balance int NOT NULL);
            CREATE TABLE owner (id int PRIMARY KEY, accounts int NOT NULL);
            CREATE TABLE note (id int PRIMARY KEY, text varchar(20));""")
        self.psql(server, """CREATE PROCEDURE pay(p int, amount int) LANGUAGE plpgsql AS $$ DECLARE o int; b int; BEGIN
            SELECT owner INTO o FROM account WHERE id = p;
            SELECT accounts INTO b FROM owner WHERE id = o;
            IF b = 0 THEN RAISE EXCEPTION 'none'; END IF;
            UPDATE owner SET accounts = accounts + 1 WHERE id = o;
            UPDATE account SET balance = balance + amount WHERE id = p; END $$;""")
        self.psql(server, """CREATE PROCEDURE look(p int, INOUT b int) LANGUAGE plpgsql AS $$ BEGIN SELECT balance INTO b FROM account WHERE id = p; END $$;""")
        self.psql(server, """CREATE PROCEDURE careful(p int) LANGUAGE plpgsql AS $$ BEGIN BEGIN INSERT INTO note VALUES (p, 'x');
            EXCEPTION WHEN unique_violation THEN NULL; END; END $$;""")
        plan = self.psql(server, "EXPLAIN CALL pay(1, 2);")
        self.assertEqual(plan[:2], ["Call of pay", "  Log: the call and its arguments"])
        said = "\n".join(plan)
        for line in ("Slice: P1 in block", "not replayed, as no write needs it", "Lane: owner by id", "Lane: account by id",
                     "Point Lookup on owner using owner_pkey"):
            self.assertIn(line, said)
        self.assertIn("  Log: nothing, as it only reads", self.psql(server, "EXPLAIN CALL look(1, NULL);"))
        careful = self.psql(server, "EXPLAIN CALL careful(1);")
        self.assertIn("Log: the rows that it changes (", careful[1])
        self.assertIn("Lane: any, as no replayed call touches note", "\n".join(careful))
        self.assertIn("  Log: the rows that it changes, as a part of its block",
                      self.psql(server, "BEGIN; EXPLAIN CALL pay(1, 2); COMMIT;"))
        insert = self.psql(server, "EXPLAIN INSERT INTO note VALUES (1, 'x');")
        self.assertEqual(insert, ["Insert on note", "  Log: the rows that it changes", "  Lane: any, as no replayed call touches note"])
        update = self.psql(server, "EXPLAIN UPDATE account SET balance = 0 WHERE id = 1;")
        self.assertIn("  Log: the rows that it changes", update)
        self.assertRegex("\n".join(update), "Lane: account by id, in block ")
        self.assertEqual(self.psql(server, "SELECT count(*) FROM note;"), ["0"])

    def test_explain_of_a_call_where_the_log_holds_rows(self):
        server = self.serve("--create", "--log", "logical")
        self.psql(server, "CREATE TABLE t (id int PRIMARY KEY, v int);")
        self.psql(server, "CREATE PROCEDURE put(p int) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t VALUES (p, 1); END $$;")
        self.assertEqual(self.psql(server, "EXPLAIN CALL put(1);"),
                         ["Call of put", "  Log: the rows that it changes, as this log holds rows", "  ->  Insert on t",
                          "        Statement: INSERT INTO t VALUES (p, 1)"])

    def test_a_change_behind_lock_table_fails_the_block(self):
        server = self.serve("--create")
        self.psql(server, "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int PRIMARY KEY); INSERT INTO t VALUES (1);")
        psql = POSTGRES / "psql"
        for mode, expected in (("SHARE", "40001"), ("ROW SHARE", "")):
            self.psql(server, "DELETE FROM t WHERE id > 1;")
            result = server.client("psql", "-X", "-q", "-v", "VERBOSITY=sqlstate", input=f"""
                BEGIN;
                LOCK TABLE t IN {mode} MODE;
                \\! {psql} -X -q -c 'INSERT INTO t VALUES (2)'
                INSERT INTO u VALUES ({len(mode)});
                COMMIT;
                """)
            self.assertEqual(result.stderr.strip().removeprefix("ERROR:").strip(), expected, self.told(result))

    def test_constraints_hold_after_a_kill(self):
        server = self.serve("--create")
        self.psql(server, """
            CREATE TABLE shop (id int PRIMARY KEY, rating int CHECK (rating > 0));
            CREATE TABLE item (id int PRIMARY KEY, shop int REFERENCES shop ON DELETE CASCADE);
            CREATE PROCEDURE close_shop(i int) LANGUAGE plpgsql AS $$ BEGIN DELETE FROM shop WHERE id = i; END $$;
            INSERT INTO shop VALUES (1, 5), (2, 4);
            INSERT INTO item VALUES (1, 1), (2, 1), (3, 2);
            ALTER TABLE item ADD COLUMN note varchar(9) NOT NULL DEFAULT 'none';
            INSERT INTO item VALUES (3, 2, 'kept') ON CONFLICT (id) DO UPDATE SET note = excluded.note;
            CALL close_shop(1);""")
        rows = "SELECT * FROM item ORDER BY id;"
        self.assertEqual(self.psql(server, rows), ["3|2|kept"])
        server.end(signal.SIGKILL)
        server = self.serve()
        self.assertEqual(self.psql(server, rows), ["3|2|kept"])
        for statement, state in (("INSERT INTO item VALUES (4, 1, 'x')", "23503"), ("INSERT INTO shop VALUES (3, 0)", "23514"),
                                 ("INSERT INTO item VALUES (3, 2, 'x')", "23505")):
            result = server.client("psql", "-X", "-c", statement, "-v", "VERBOSITY=sqlstate")
            self.assertIn(state, result.stderr, statement)
        self.psql(server, "INSERT INTO item (id, shop) VALUES (5, 2); CALL close_shop(2);")
        self.assertEqual(self.psql(server, rows), [])

    def test_text_beyond_ascii_outlives_a_kill_and_goes_through_copy(self):
        server = self.serve("--create")
        self.psql(server, """
            CREATE TABLE word (id INT PRIMARY KEY, v VARCHAR(20), c CHAR(8), t TEXT);
            CREATE PROCEDURE put(p_id INT, p_v VARCHAR(20), p_t TEXT[]) LANGUAGE plpgsql AS $$
            BEGIN INSERT INTO word VALUES (p_id, upper(p_v), left(p_v, 2), p_t[1] || p_t[2]); END $$;
            INSERT INTO word VALUES (1, 'naïve', 'é', '日本語');
            CALL put(2, 'éàü', '{"a é","😀"}');""")
        self.psql(server, "CALL put(:'id', :'v', NULL);", "-v", "id=3", "-v", "v=Ångström")
        # Escapes in COPY's text may spell the bytes of a character; bytes that are no text are refused.
        self.psql(server, "COPY word FROM STDIN;\n4\té\\\\\t\\xc3\\xa9\t\\N\n\\.\n")
        self.psql(server, 'COPY word FROM STDIN (FORMAT csv);\n5,"ü, ""ö""",ß,"€\n€"\n\\.\n')
        wrong = server.client("psql", "-X", "-v", "VERBOSITY=sqlstate", input="COPY word FROM STDIN;\n6\tx\t\\xc3\tx\n\\.\n")
        self.assertIn("22021", wrong.stderr)
        text = self.psql(server, "COPY word TO STDOUT;")
        csv = self.psql(server, "COPY word TO STDOUT (FORMAT csv);")
        self.assertEqual(text, ["1\tnaïve\té       \t日本語", "2\téàü\téà      \ta é😀", "3\tÅNGSTRöM\tÅn      \t\\N",
                                "4\té\\\\\té       \t\\N", '5\tü, "ö"\tß       \t€\\n€'])
        self.assertEqual(csv[4:], ['5,"ü, ""ö""",ß       ,"€', '€"'])
        no_room = server.client("psql", "-X", "-v", "VERBOSITY=verbose", "-c", "INSERT INTO word VALUES (7, NULL, 'éééééé', NULL)")
        self.assertIn("22001", no_room.stderr)
        self.assertIn('the value takes 12 bytes in UTF-8, and column "c" of relation "word", a char(8), has room for 8 bytes', no_room.stderr)
        server.end(signal.SIGKILL)
        self.recover_alike(self.folder / "db")
        again = self.serve()
        self.assertEqual(self.psql(again, "COPY word TO STDOUT;"), text)
        # What COPY wrote it reads back as the same.
        self.psql(again, "TRUNCATE word;\nCOPY word FROM STDIN;\n" + "\n".join(text) + "\n\\.\n")
        self.assertEqual(self.psql(again, "COPY word TO STDOUT (FORMAT csv);"), csv)
        self.psql(again, "TRUNCATE word;\nCOPY word FROM STDIN (FORMAT csv);\n" + "\n".join(csv) + "\n\\.\n")
        self.assertEqual(self.psql(again, "COPY word TO STDOUT;"), text)

    def test_pgbench_loads_and_runs(self):
        server = self.serve("--create")
        self.pgbench(server, "-i", "-q")
        for mode in ("simple", "extended", "prepared"):
            output = self.pgbench(server, "-n", "-M", mode, "-c", "4", "-t", "20", "--max-tries", "1000")
            self.assertIn("number of transactions actually processed: 80/80", output)
        self.pgbench(server, "-n", "-S", "-M", "prepared", "-c", "4", "-t", "50")
        counts = self.psql(server, "SELECT count(*) FROM pgbench_history; SELECT count(*) FROM pgbench_accounts;")
        self.assertEqual(counts, ["240", "100000"])
        sums = self.psql(server, "SELECT sum(bbalance) FROM pgbench_branches; SELECT sum(delta) FROM pgbench_history; "
                                 "SELECT sum(abalance) FROM pgbench_accounts;")
        self.assertEqual(len(set(sums)), 1, sums)
        # The changes of the schema among the rows are replayed in their place.
        server.end(signal.SIGKILL)
        self.recover_alike(self.folder / "db")

    def test_a_workloads_calls_by_pgbench(self):
        server = self.serve("--create", "--workload", "smallbank", "--scale", "1")
        script = self.folder / "call.sql"
        name = self.psql(server, "SELECT a_name FROM account LIMIT 1")[0]
        script.write_text(f"\\set amount random(1, 100)\nCALL deposit_checking('{name}', :amount);\n")
        for mode in ("simple", "prepared"):
            result = server.client("pgbench", "-n", "-M", mode, "-f", script, "-c", "2", "-t", "20")
            self.assertIn("transactions actually processed: 40/40", result.stdout, self.told(result))

    def test_a_query_of_many_rows_ends_beside_writers(self):
        server = self.serve("--create")
        self.psql(server, "CREATE TABLE purse (id int PRIMARY KEY, coins int NOT NULL)")
        self.psql(server, "COPY purse FROM STDIN;\n" + "".join(f"{i}\t10\n" for i in range(1, 300_001)) + "\\.\n")
        script = self.folder / "move.sql"
        script.write_text("\\set a random(1, 300000)\n\\set b random(1, 300000)\n"
                          "UPDATE purse SET coins = coins + CASE id WHEN :a THEN 1 ELSE -1 END WHERE id IN (:a, :b) AND :a <> :b;\n")
        writers = subprocess.Popen([str(POSTGRES / "pgbench"), "-n", "-f", str(script), "-c", "4", "-T", "1000", "--max-tries", "100"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=server.environment)
        self.addCleanup(writers.wait)
        self.addCleanup(writers.kill)
        limit = "SET statement_timeout = '60s'; "
        while not self.psql(server, limit + "SELECT id FROM purse WHERE coins <> 10 LIMIT 1"):
            self.assertIsNone(writers.poll())
        # Beside them each try meets a conflict: it reads as they go on.
        for _ in range(5):
            self.assertEqual(self.psql(server, limit + "SELECT count(*), sum(coins) FROM purse"), ["300000|3000000"])
        self.assertIsNone(writers.poll())

    def test_rows_of_a_workloads_table_without_a_key_are_read(self):
        server = self.serve("--create", "--workload", "tpcb", "--scale", "1")
        self.psql(server, "INSERT INTO history SELECT t_id, t_b_id, 1, 5, '2026-01-01', 'x' FROM teller WHERE t_id < 4")
        for _ in range(2):
            self.assertEqual(self.psql(server, "SELECT count(*), sum(h_delta) FROM history"), ["3|15"])
            self.assertEqual(len(self.psql(server, "COPY history TO STDOUT")), 3)
            server.end(signal.SIGTERM)
            server = self.serve()

    def test_what_was_acknowledged_outlives_a_kill(self):
        server = self.serve("--create")
        self.psql(server, SCHEMA)
        clients = []
        for client in range(4):
            statements = "".join(f"INSERT INTO told VALUES ({client}, {number});\n\\echo {number}\n" for number in range(20_000))
            source = self.folder / f"client{client}.sql"
            source.write_text(statements)
            output = (self.folder / f"client{client}.out").open("w")
            self.addCleanup(output.close)
            clients.append(subprocess.Popen([str(POSTGRES / "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", str(source)],
                                            stdout=output, stderr=subprocess.DEVNULL, env=server.environment))
        deadline = time.monotonic() + LONGEST_COMMAND_SECONDS
        while min((self.folder / f"client{client}.out").stat().st_size for client in range(4)) < 200:
            self.assertLess(time.monotonic(), deadline, "the clients get nothing done")
            time.sleep(0.01)
        server.end(signal.SIGKILL)
        for client in clients:
            client.wait(timeout=LONGEST_COMMAND_SECONDS)
        again = self.serve()
        for client in range(4):
            acknowledged = len((self.folder / f"client{client}.out").read_text().splitlines())
            rows = [int(row) for row in self.psql(again, f"SELECT number FROM told WHERE client = {client} ORDER BY number")]
            self.assertIn(len(rows), (acknowledged, acknowledged + 1))
            self.assertEqual(rows, list(range(len(rows))))

    def test_passwords(self):
        users = self.folder / "users"
        users.write_text("ann secret\n")
        self.refuse(BAD_ARGUMENTS, ["chmod 600"], "serve", self.folder / "db", "--create", "--auth", "scram", "--users", users)
        users.chmod(0o600)
        self.refuse(BAD_ARGUMENTS, ["--auth scram", "--users"], "serve", self.folder / "db", "--create", "--users", users)
        server = self.serve("--create", "--auth", "scram", "--users", users)
        for user, password, wanted in (("ann", "secret", "1\n"), ("ann", "Secret", ""), ("bob", "secret", ""), ("ann", "", "")):
            server.environment.update(PGUSER=user, PGPASSWORD=password)
            result = server.client("psql", "-X", "-At", "-w", "-c", "SELECT 1")
            self.assertEqual(result.stdout, wanted, self.told(result))
            if not wanted:
                self.assertRegex(result.stderr, "authentication failed|no password supplied")

    def test_what_cannot_be_served_is_refused(self):
        directory = self.folder / "none"
        self.refuse(BAD_ARGUMENTS, ["holds no database", "--create"], "serve", directory)
        self.refuse(BAD_ARGUMENTS, ["reachable from other machines", "--tls-cert", "--auth scram"], "serve", directory, "--create",
                    "--listen", "0.0.0.0:0")
        self.refuse(BAD_ARGUMENTS, ["--workload", "--create"], "serve", directory, "--workload", "tpcc")
        self.refuse(BAD_ARGUMENTS, ["--scale", "--workload"], "serve", directory, "--create", "--scale", "2")
        self.refuse(BAD_ARGUMENTS, ["--log", "--create"], "serve", directory, "--log", "logical")
        self.refuse(BAD_ARGUMENTS, ["--log off"], "serve", directory, "--create", "--log", "off")
        self.refuse(BAD_ARGUMENTS, ["HOST:PORT", "--socket"], "serve", directory, "--create", "--listen", "unix:/tmp/x")
        server = self.serve("--create", "--connections", "1")
        with subprocess.Popen([str(POSTGRES / "psql"), "-X", "-q"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              env=server.environment) as first:
            first.stdin.write("SELECT 1;\n")
            first.stdin.flush()
            first.stdout.readline()
            second = server.client("psql", "-X", "-c", "SELECT 1")
            self.assertIn("too many clients", second.stderr)
            first.stdin.close()


if __name__ == "__main__":
    unittest.main()
