"""Goal: at a terminal `mneme sql` edits lines, keeps their history, completes words, ends a statement at Ctrl-C, and has psql's commands.

Method: the program runs on a pseudo-terminal that is its controlling one. A test types, and waits for what the program prints; it waits for
no time. What \\d and its kin print is held against what psql prints of the same database on `mneme serve`.
"""

import codecs
import os
import pty
import re
import select
import signal
import subprocess
import unittest

from program import BINARY, DONE, FAILED, LONGEST_COMMAND_SECONDS, EndToEndTest, mneme
from serve_test import POSTGRES, Server

SCHEMA = """
CREATE TABLE account (id INT PRIMARY KEY, balance NUMERIC(12,2) NOT NULL DEFAULT 0, owner VARCHAR(20), CONSTRAINT one_owner UNIQUE (owner),
  CONSTRAINT is_positive CHECK (balance >= 0));
CREATE TABLE entry (id SERIAL PRIMARY KEY, account INT NOT NULL REFERENCES account (id) ON DELETE CASCADE, at TIMESTAMP, line VARCHAR(20));
CREATE INDEX entry_by_account ON entry (account, at);
CREATE UNIQUE INDEX entry_lines ON entry (account, line);
CREATE VIEW rich AS SELECT id, balance FROM account WHERE balance > 100;
CREATE SEQUENCE numbers START 5 INCREMENT 5;
CREATE PROCEDURE deposit(p_id INT, p_amount NUMERIC(12,2)) LANGUAGE plpgsql AS $$
BEGIN UPDATE account SET balance = balance + p_amount WHERE id = p_id; END $$;
"""
# Statements are ended by it only: it never ends by itself.
ENDLESS = "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b;"
CTRL_C, CTRL_D, TAB, UP = "\x03", "\x04", "\t", "\x1b[A"


class Terminal:
    """`mneme sql` on a pseudo-terminal."""

    def __init__(self, *arguments, **environment):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            # What starts this test may have left signals blocked or ignored; a shell at a terminal does not.
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.environ.update(environment, TERM="xterm")
            os.execv(BINARY, [BINARY, "sql", *map(str, arguments)])
        self.seen = ""  # behind what was waited for last
        self.unread = ""  # the begin of a control sequence, the rest of which is still to come
        self.decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.status = None

    def type(self, text):
        os.write(self.terminal, text.encode())

    def read(self):
        """False: the program has closed the terminal."""
        ready, _, _ = select.select([self.terminal], [], [], LONGEST_COMMAND_SECONDS)
        if not ready:
            raise AssertionError(f"nothing more is printed behind {self.seen!r}")
        try:
            more = os.read(self.terminal, 65536)
        except OSError:
            more = b""
        # Without what moves the cursor and clears parts of lines.
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", self.unread + self.decoder.decode(more))
        self.unread = re.search(r"(\x1b(\[[0-9;?]*)?)?$", text).group()
        self.seen += text.removesuffix(self.unread)
        return bool(more)

    def wait_for(self, text):
        """Returns what is printed up to there."""
        while text not in self.seen:
            if not self.read():
                raise AssertionError(f"the program has ended without {text!r}, behind {self.seen!r}")
        before, self.seen = self.seen.split(text, 1)
        return before

    def end(self):
        """Returns the exit status, once the program has ended by itself."""
        while self.read():
            pass
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        return self.status

    def close(self):
        if self.status is None:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        os.close(self.terminal)


class TerminalTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.database = self.folder / "db"
        script = self.folder / "schema.sql"
        script.write_text(SCHEMA)
        self.succeed("sql", self.database, "--create", "--file", script)
        self.history = self.folder / "history"

    def open(self):
        terminal = Terminal(self.database, MNEME_HISTORY=str(self.history))
        self.addCleanup(terminal.close)
        terminal.wait_for("mneme=> ")
        return terminal

    def test_statements_and_their_errors(self):
        terminal = self.open()
        terminal.type("SELECT 40 + 2 AS answer;\n")
        terminal.wait_for(" answer \n--------\n     42\n(1 row)\n")
        terminal.type("SELECT 1,\n")
        terminal.wait_for("mneme-> ")
        terminal.type("  nothing;\n")
        terminal.wait_for("ERROR:  42703: column \"nothing\" does not exist\nLINE 2:   nothing;\n          ^\n")
        terminal.type("BEGIN;\n")
        terminal.wait_for("mneme=*> ")
        terminal.type("INSERT INTO account VALUES (7, 1); SELECT 1 / 0;\n")
        terminal.wait_for("division by zero")
        terminal.wait_for("mneme=!> ")
        terminal.type("ROLLBACK;\n")
        terminal.wait_for("mneme=> ")
        terminal.type("quit\n")
        self.assertEqual(terminal.end(), DONE)

    def test_ways_to_end(self):
        for words in ("\\q\n", "exit\n", "quit;\n", CTRL_D):
            terminal = self.open()
            terminal.type(words)
            self.assertEqual(terminal.end(), DONE, words)
        terminal = self.open()
        terminal.type("SELECT\n")
        terminal.wait_for("mneme-> ")
        terminal.type("quit\n")
        terminal.wait_for("Use \\q to quit.")
        terminal.type("\\q\n")
        self.assertEqual(terminal.end(), DONE)

    def test_ctrl_c_ends_the_statement(self):
        terminal = self.open()
        # Once the first one has printed, a signal is of this line, and ends what runs; the last one is dropped.
        terminal.type(f"SELECT 'it ' || 'begins'; {ENDLESS} SELECT 'is ' || 'dropped';\n")
        terminal.wait_for("it begins\n(1 row)\n")
        terminal.type(CTRL_C)
        terminal.wait_for("ERROR:  57014: canceling statement due to user request")
        self.assertNotIn("is dropped", terminal.wait_for("mneme=> "))
        # So is a file's rest.
        script = self.folder / "endless.sql"
        script.write_text(f"SELECT 'file ' || 'begins';\n{ENDLESS}\nSELECT 'is ' || 'dropped';\n")
        terminal.type(f"\\i {script}\n")
        terminal.wait_for("file begins\n(1 row)\n")
        terminal.type(CTRL_C)
        terminal.wait_for("ERROR:  57014: canceling statement due to user request")
        self.assertNotIn("is dropped", terminal.wait_for("mneme=> "))
        terminal.type("SELECT 'go ' || 'on';\n")
        terminal.wait_for("go on\n(1 row)\n")
        terminal.type("\\q\n")
        self.assertEqual(terminal.end(), DONE)

    def test_ctrl_c_at_the_prompt_gives_the_line_up(self):
        terminal = self.open()
        terminal.type("SELECT 'half")
        terminal.wait_for("SELECT 'half")
        terminal.type(CTRL_C)
        terminal.wait_for("^C")
        terminal.wait_for("mneme=> ")
        terminal.type("SELECT 1 +\n")
        terminal.wait_for("mneme-> ")
        terminal.type(CTRL_C)
        terminal.wait_for("mneme=> ")
        terminal.type("SELECT 'who' || 'le';\n")
        terminal.wait_for("whole\n(1 row)\n")

    def test_history(self):
        terminal = self.open()
        terminal.type("SELECT 'one' || ' line';\n")
        terminal.wait_for("one line\n(1 row)\n")
        terminal.wait_for("mneme=> ")
        terminal.type("\\q\n")
        self.assertEqual(terminal.end(), DONE)
        self.assertEqual(self.history.stat().st_mode & 0o777, 0o600)
        terminal = self.open()
        terminal.type(UP + UP)
        terminal.wait_for("SELECT 'one' || ' line';")
        terminal.type("\n")
        terminal.wait_for("one line\n(1 row)\n")

    def test_completion(self):
        terminal = self.open()
        terminal.type("sel" + TAB)
        terminal.wait_for("select ")
        terminal.type("count(*) FROM acc" + TAB)
        terminal.wait_for("account ")
        terminal.type(";\n")
        terminal.wait_for("(1 row)\n")
        terminal.type("CALL " + TAB)
        terminal.wait_for("deposit ")
        terminal.type(CTRL_C)
        terminal.wait_for("mneme=> ")
        # There are several: they are listed.
        terminal.type("\\d entry" + TAB)
        terminal.wait_for("entry\nentry_id_seq\n")
        terminal.type(CTRL_C)
        terminal.wait_for("mneme=> ")

    def test_commands(self):
        terminal = self.open()
        terminal.type("\\timing\n")
        terminal.wait_for("Timing is on.\n")
        terminal.type("SELECT 1;\n")
        self.assertRegex(terminal.wait_for(" ms\n"), r"\(1 row\)\n\nTime: \d+\.\d{3}$")
        terminal.type("\\timing off\n")
        terminal.wait_for("Timing is off.\n")
        terminal.type("\\?\n")
        terminal.wait_for("end the session")
        terminal.type("\\nothing\n")
        terminal.wait_for("invalid command \\nothing\nTry \\? for help.\n")
        terminal.type("\\i " + str(self.folder / "missing.sql") + "\n")
        terminal.wait_for("missing.sql")
        terminal.wait_for("mneme=> ")
        terminal.type("\\d nowhere\n")
        terminal.wait_for("Did not find any relation named \"nowhere\".\n")
        terminal.type("SELECT 1\n")
        terminal.wait_for("mneme-> ")
        terminal.type("\\r\n")
        terminal.wait_for("Query buffer reset (cleared).\n")
        terminal.wait_for("mneme=> ")


class CommandsTest(EndToEndTest):
    """Without a terminal."""

    def run_script(self, script, *arguments):
        return mneme("sql", self.folder / "db", *arguments, input=script)

    def test_descriptions_are_those_of_psql(self):
        self.assertEqual(self.run_script(SCHEMA, "--create").returncode, DONE)
        commands = ["\\d", "\\dt", "\\di", "\\df", "\\dv", "\\ds", "\\d account", "\\d entry", "\\d rich", "\\d numbers", "\\d entry_id_seq",
                    "\\d account_pkey", "\\d entry_by_account", "\\d entry_lines", "\\dt a*", "\\d e?try", "\\df dep*", "\\di *account*", "\\dt public.*"]
        printed = [self.run_script(command + "\n") for command in commands]
        server = Server(self.folder / "db")
        self.addCleanup(server.close)
        for command, result in zip(commands, printed):
            wanted = subprocess.run([POSTGRES / "psql", "-X", "-c", command], env={**server.environment, "PGUSER": "mneme"}, capture_output=True, text=True, check=True)
            self.assertEqual((result.stdout, result.stderr), (wanted.stdout, wanted.stderr), command)

    def test_scripts(self):
        inner = self.folder / "inner.sql"
        inner.write_text("SELECT 'inner';\nSELECT 1,\n  nothing;\nSELECT 'behind';\n\\q\nSELECT 'never';\n")
        result = self.run_script(f"\\i {inner}\nSELECT 'outer';\n", "--create", "--keep-going")
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertEqual(re.findall(r"^ (inner|behind|never|outer)$", result.stdout, re.MULTILINE), ["inner", "behind", "outer"])
        self.assertEqual(result.stderr.split("mneme:")[0],
                         f"{inner}:3: ERROR:  42703: column \"nothing\" does not exist\n      nothing;\n      ^\n")
        # The first failure ends it, without --keep-going.
        result = self.run_script(f"\\i {inner}\nSELECT 'outer';\n")
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertEqual(re.findall(r"^ (inner|behind|outer)$", result.stdout, re.MULTILINE), ["inner"])
        # A backslash in a string begins no command.
        result = self.run_script("SELECT 'two\n\\q lines';\n")
        self.assertEqual((result.returncode, result.stderr), (DONE, ""), self.told(result))
        result = self.run_script("\\nothing\n")
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertIn("stdin: invalid command \\nothing", result.stderr)
        # A file that includes itself.
        inner.write_text(f"\\i {inner}\n")
        self.assertIn("include each other", self.run_script(f"\\i {inner}\n").stderr)


if __name__ == "__main__":
    unittest.main()
