"""Goal: PostgreSQL's clients read a standby: at any time a state that the primary had, never an older one than before, and all that they
ask to wait for; and once it is promoted they go on there, with everything that was acknowledged.

Method: three NATS servers; a primary and a standby that psql drives. Transfers leave a sum as it is, and a table counts them, so that a
reader sees what was never a state.
"""

import signal
import subprocess
import time
import unittest

from on_nats import OnNats
from program import BAD_ARGUMENTS, LONGEST_COMMAND_SECONDS
from serve_test import POSTGRES, Server

SCHEMA = """
CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL);
CREATE TABLE done (id INT PRIMARY KEY, transfers INT NOT NULL);
INSERT INTO account SELECT g, 100 FROM generate_series(1, 50) g;
INSERT INTO done VALUES (1, 0);
CREATE PROCEDURE transfer(p_from INT, p_to INT) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE account SET balance = balance - 1 WHERE id = p_from;
  UPDATE account SET balance = balance + 1 WHERE id = p_to;
  UPDATE done SET transfers = transfers + 1 WHERE id = 1;
END $$;
"""
STATE = "SELECT (SELECT sum(balance) FROM account), (SELECT transfers FROM done);"


class Standby(Server):
    """A running `mneme follow --serve`."""

    def __init__(self, directory, *options):
        self.start("follow", directory, "--serve", "--listen", "127.0.0.1:0", "--threads", 2, "--quiet", *options)


class Client:
    """One psql, which lives on."""

    def __init__(self, server):
        self.process = subprocess.Popen([str(POSTGRES / "psql"), "-X", "-q", "-At", "-v", "VERBOSITY=sqlstate"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=server.environment)
        self.questions = 0

    def ask(self, text):
        """What comes of the statements, line by line."""
        self.questions += 1
        end = f"end of {self.questions}"
        # A psql that a COPY's rows would follow may look for their end, also where the COPY fails.
        no_rows = "\\.\n" if "FROM STDIN" in text else ""
        self.process.stdin.write(f"{text}\n{no_rows}\\echo {end}\n")
        self.process.stdin.flush()
        lines = []
        while True:
            line = self.process.stdout.readline()
            if not line:
                return lines
            if line.rstrip("\n") == end:
                return lines
            if "invalid command" not in line:
                lines.append(line.rstrip("\n"))

    def close(self):
        self.process.kill()
        self.process.communicate()


class FollowServe(OnNats):
    def open(self, kind, *arguments):
        opened = kind(*arguments)
        self.addCleanup(opened.close)
        return opened

    def make_primary(self, *options):
        """With the schema, and a client."""
        self.primary = self.open(Server, self.folder / "primary", "--create", "--log-device", "nats", "--log-server", self.servers, *options)
        self.writer = self.open(Client, self.primary)
        self.assertEqual(self.writer.ask(SCHEMA), [])

    def make(self, *options):
        """A standby besides, and a client of it."""
        self.make_primary()
        self.standby = self.open(Standby, self.folder / "standby", "--from", self.folder / "primary", *options)
        self.reader = self.open(Client, self.standby)

    def see_all(self):
        """The reader sees what the writer has seen."""
        lsn, = self.writer.ask("SHOW mneme.last_lsn;")
        self.assertEqual(self.reader.ask(f"SET mneme.wait_for_lsn = {lsn};"), [])

    def test_it_is_read_and_not_written(self):
        self.make()
        self.see_all()
        self.assertEqual(self.reader.ask(STATE), ["5000|0"])
        self.assertEqual(self.writer.ask("CALL transfer(1, 2);"), [])
        self.see_all()
        self.assertEqual(self.reader.ask("SELECT balance FROM account WHERE id IN (1, 2) ORDER BY id; " + STATE), ["99", "101", "5000|1"])
        for refused in ("INSERT INTO done VALUES (2, 0);", "UPDATE done SET transfers = 7;", "DELETE FROM done;", "CALL transfer(1, 2);",
                        "CREATE TABLE other (id INT);", "DROP TABLE done;", "TRUNCATE done;", "SELECT * FROM done FOR UPDATE;",
                        "COPY done FROM STDIN;", "DO $$ BEGIN UPDATE done SET transfers = 7; END $$;"):
            self.assertEqual(self.reader.ask(refused), ["ERROR:  25006"], refused)
        self.assertEqual(self.reader.ask("BEGIN READ WRITE;"), ["ERROR:  0A000"])
        self.assertEqual(self.reader.ask("BEGIN; SET TRANSACTION READ WRITE; ROLLBACK;"), ["ERROR:  0A000"])
        self.assertEqual(self.reader.ask("SELECT pg_is_in_recovery(); SHOW in_hot_standby; SHOW transaction_read_only;"), ["t", "on", "on"])
        self.assertEqual(self.writer.ask("SELECT pg_is_in_recovery(); SHOW in_hot_standby; SHOW transaction_read_only;"), ["f", "off", "off"])
        self.assertEqual(self.reader.ask("BEGIN; SELECT transfers FROM done; COMMIT;"), ["1"])
        self.assertEqual(self.reader.ask("SET mneme.wait_for_lsn = 'soon';"), ["ERROR:  22023"])
        # What libpq asks a server that it is to choose.
        for session, server in (("read-write", self.primary), ("standby", self.standby), ("primary", self.primary), ("read-only", self.standby)):
            for asked in (self.primary, self.standby):
                answer = subprocess.run([str(POSTGRES / "psql"), "-X", "-c", "SELECT 1"], capture_output=True, check=False,
                                        env={**asked.environment, "PGTARGETSESSIONATTRS": session}, timeout=LONGEST_COMMAND_SECONDS)
                self.assertEqual(answer.returncode == 0, asked is server, (session, answer.stderr))
        # A statement that waits for a log that doesn't come.
        self.reader.ask("SET mneme.wait_for_lsn = 1000000000000; SET statement_timeout = '50ms';")
        self.assertEqual(self.reader.ask("SELECT 1;"), ["ERROR:  57014"])
        self.assertEqual(self.reader.ask("RESET mneme.wait_for_lsn; SELECT 1;"), ["1"])

    def test_it_follows_changes_of_the_schema(self):
        self.make()
        self.writer.ask("CREATE TABLE item (id SERIAL PRIMARY KEY, name TEXT); INSERT INTO item (name) VALUES ('a'), ('b');")
        self.see_all()
        self.reader.ask("PREPARE names AS SELECT * FROM item ORDER BY id;")
        self.assertEqual(self.reader.ask("EXECUTE names; SELECT nextval('item_id_seq');"), ["1|a", "2|b", "ERROR:  25006"])
        self.writer.ask("CREATE INDEX item_name ON item (name); CREATE FUNCTION twice(n INT) RETURNS INT LANGUAGE plpgsql AS "
                        "$$ BEGIN RETURN 2 * n; END $$; DROP PROCEDURE transfer; DROP TABLE done;")
        self.see_all()
        self.assertEqual(self.reader.ask("SELECT id FROM item WHERE name = 'b'; SELECT twice(4); SELECT * FROM done;"),
                         ["2", "8", "ERROR:  42P01"])
        self.writer.ask("ALTER TABLE item ADD COLUMN price INT DEFAULT 3;")
        self.see_all()
        self.assertEqual(self.reader.ask("EXECUTE names; SELECT price FROM item WHERE id = 1;"), ["ERROR:  0A000", "3"])

    def test_readers_see_states_of_the_primary_in_their_order(self):
        self.make()
        self.see_all()
        writes = self.folder / "writes.sql"
        writes.write_text("\\set a random(1, 50)\n\\set b random(1, 50)\nCALL transfer(:a, :b);\n")
        writing = subprocess.Popen([str(POSTGRES / "pgbench"), "-n", "-T", "600", "-c", "4", "-f", str(writes)], env=self.primary.environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(writing.communicate)
        self.addCleanup(writing.kill)
        others = [self.open(Client, self.standby) for _ in range(2)]
        seen = [0] * 3
        deadline = time.monotonic() + LONGEST_COMMAND_SECONDS
        while min(seen) < 100:
            self.assertLess(time.monotonic(), deadline)
            for number, client in enumerate([self.reader, *others]):
                # One by one, or as a block, whose statements see one state.
                if number == 2:
                    answer = client.ask(f"BEGIN; {STATE} {STATE} COMMIT;")
                    self.assertEqual(len(answer), 2, answer)
                    self.assertEqual(answer[0], answer[1])
                else:
                    answer = client.ask(STATE)
                total, transfers = map(int, answer[0].split("|"))
                self.assertEqual(total, 5000, "it was no state of the primary's")
                self.assertGreaterEqual(transfers, seen[number], "it went back")
                seen[number] = transfers
        # What the writer was told, a reader that waits for it sees.
        self.writer.ask("CREATE TABLE mark (id INT PRIMARY KEY);")
        for number in range(20):
            self.writer.ask(f"INSERT INTO mark VALUES ({number});")
            self.see_all()
            self.assertEqual(self.reader.ask("SELECT max(id) FROM mark;"), [str(number)])

    def test_what_is_in_the_way_of_replay_ends(self):
        self.make()
        self.see_all()
        self.assertEqual(self.reader.ask("BEGIN; SELECT transfers FROM done;"), ["0"])
        endless = self.open(Client, self.standby)
        endless.process.stdin.write("SELECT count(*) FROM account a, account b, account c, account d, account e, account f;\n\\echo end of 0\n")
        endless.process.stdin.flush()
        self.assertEqual(self.writer.ask("CALL transfer(1, 2);"), [])
        other = self.open(Client, self.standby)
        lsn, = self.writer.ask("SHOW mneme.last_lsn;")
        self.assertEqual(other.ask(f"SET mneme.wait_for_lsn = {lsn}; {STATE}"), ["5000|1"])
        self.assertEqual(endless.ask(""), ["ERROR:  40001", "end of 0"])
        self.assertIn("FATAL:  40001", self.reader.ask("SELECT 1;"))

    def test_clients_go_on_where_it_is_promoted(self):
        self.make()
        self.see_all()
        acknowledged = 0
        for _ in range(50):
            acknowledged += self.writer.ask("CALL transfer(1, 2);") == []
        self.assertEqual(acknowledged, 50)
        self.standby.process.send_signal(signal.SIGUSR1)
        deadline = time.monotonic() + LONGEST_COMMAND_SECONDS
        while self.reader.ask("SHOW transaction_read_only;") == ["on"]:
            self.assertLess(time.monotonic(), deadline)
        self.assertEqual(self.reader.ask(STATE + " SELECT pg_is_in_recovery(); SHOW in_hot_standby;"), ["5000|50", "f", "off"])
        self.assertEqual(self.reader.ask("CALL transfer(3, 4); CREATE TABLE more (id SERIAL PRIMARY KEY); INSERT INTO more DEFAULT VALUES;"), [])
        # The old primary acknowledges no more.
        self.assertNotEqual(self.writer.ask("CALL transfer(1, 2);"), [])
        self.assertNotEqual(self.primary.process.wait(timeout=LONGEST_COMMAND_SECONDS), 0)
        self.primary.process.communicate()
        # A second standby follows the new primary, which is killed, and recovers.
        second = self.open(Standby, self.folder / "second", "--from", self.folder / "standby")
        far = self.open(Client, second)
        lsn, = self.reader.ask("SHOW mneme.last_lsn;")
        self.assertEqual(far.ask(f"SET mneme.wait_for_lsn = {lsn}; {STATE} SELECT id FROM more;"), ["5000|51", "1"])
        self.reader.ask("CALL transfer(5, 6);")
        self.standby.end(signal.SIGKILL)
        again = self.open(Server, self.folder / "standby", "--log-device", "nats", "--log-server", self.servers)
        self.assertEqual(self.open(Client, again).ask(STATE), ["5000|52"])
        status, output = second.end()
        self.assertEqual(status, 0, output)

    def test_it_takes_over_where_the_primary_is_gone(self):
        self.make("--promote-when-primary-gone", "10s")
        self.see_all()
        # One that has no work is not gone. Ten seconds: on a busy machine one that is there may be silent for some.
        time.sleep(12)
        self.assertEqual(self.reader.ask("SHOW transaction_read_only;"), ["on"])
        self.assertEqual(self.writer.ask("CALL transfer(1, 2);"), [])
        self.primary.end(signal.SIGKILL)
        deadline = time.monotonic() + LONGEST_COMMAND_SECONDS
        while self.reader.ask("CALL transfer(1, 2);") != []:
            self.assertLess(time.monotonic(), deadline)
        self.assertEqual(self.reader.ask(STATE), ["5000|2"])

    def test_options_that_make_no_sense_are_refused(self):
        self.refuse(BAD_ARGUMENTS, ["--listen", "--serve"], "follow", self.folder / "x", "--from", self.folder / "y", "--listen", "127.0.0.1:0")
        self.make_primary("--log", "physical")
        self.refuse(BAD_ARGUMENTS, ["--log command or logical"], "follow", self.folder / "other", "--from", self.folder / "primary", "--serve",
                    "--listen", "127.0.0.1:0")
        self.assertFalse((self.folder / "other").exists())
        self.refuse(BAD_ARGUMENTS, ["--promote-when-primary-gone", "a second at least"], "follow", self.folder / "other",
                    "--promote-when-primary-gone", "100ms")


if __name__ == "__main__":
    unittest.main()
