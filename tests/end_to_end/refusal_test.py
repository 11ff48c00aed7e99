"""Goal: what can't be done is refused before anything is done, with the exit status for it and a sentence that says what to do instead.

Method: a table of command lines, each with what it must be told. DB is a database of Smallbank, NEW a directory that is not there and must
not be there afterwards.
"""

import shutil
import socket
import subprocess
import unittest

from program import BAD_ARGUMENTS, BINARY, DAMAGED, FAILED, EndToEndTest, fingerprint, mneme, set_manifest

OPTIONS = (
    ("recover DB --scheme clr --batch 3", "--batch is for schemes that replay in parallel"),
    ("recover DB --scheme clr --lanes 3", "--lanes is clr-p's: clr cuts nothing into lanes"),
    ("recover DB --scheme clr --conflicts table", "clr takes no procedure apart"),
    ("recover DB --scheme clr --replay static", "--replay is clr-p's"),
    ("recover DB --coalesce maybe", "--coalesce: maybe is none of on, off, default"),
    ("recover DB --conflicts row", "--conflicts: row is none of column, table"),
    ("recover DB --decompose much", "--decompose: much is none of pacman, chopping, whole"),
    ("recover DB --progress loud", "loud is no style of progress"),
    ("run smallbank --data-dir NEW --prefetch maybe", "--prefetch: maybe is none of on, off"),
    ("run smallbank --data-dir NEW --huge-pages off", "only with --log off"),
    ("run smallbank --data-dir NEW --touch-ahead some", "--touch-ahead some: say auto, off, or a size"),
    ("run smallbank --data-dir NEW --io pigeon", "--io: pigeon is none of uring, uring-polled, threads, inline"),
    ("run smallbank --data-dir NEW --io-sync never", "--io-sync: never is none of flush, write-through"),
    ("run smallbank --data-dir NEW --io threads --io-registered on", "--io threads has no use for --io-registered"),
    ("run smallbank --data-dir NEW --io inline --io-depth 2", "--io inline has one write in flight"),
    ("run smallbank --data-dir NEW --io-unit 5000", "--io-unit 5000: a multiple of 4096"),
    ("run smallbank --data-dir NEW --log-buffer grasshopper --grasshopper fly", "--grasshopper: fly is none of both, crawl, hop"),
    ("run smallbank --data-dir NEW --log-buffer scan --scan-bits 2", "--scan-bits"),
    ("run smallbank --data-dir NEW --checkpoint-every 1 --checkpoint-share most", "--checkpoint-share most: give percent"),
    ("run smallbank --data-dir NEW --log-buffer distributed --log-device remote --log-server 127.0.0.1:1",
     "the streams of --log-buffer distributed write files"),
    ("run smallbank --data-dir NEW --log-buffer epoch --log-device remote", "--log-device remote needs --log-server HOST:PORT"),
    ("run smallbank --data-dir NEW --log-device nats --log-server ,", "--log-server names no NATS server"),
    ("run smallbank --data-dir NEW --log-device nats --log-server nats://127.0.0.1:port", "say nats://HOST:PORT, with commas between several"),
    ("run smallbank --data-dir NEW --log-device remote --log-server 127.0.0.1:1,127.0.0.1:2,127.0.0.1:3,127.0.0.1:4",
     "4 log servers: there are 3 at most"),
    ("run smallbank --data-dir NEW --threads 257 --log-buffer epoch --loggers 257", "257 loggers: there are 256 at most"),
    ("run smallbank --data-dir NEW --log-device kafka --log-server ,", "--log-server names no Kafka broker"),
    ("run smallbank --data-dir NEW --log-device remote --log-server nowhere", '"nowhere" names no server: say HOST:PORT'),
    ("run tpcb --resume --data-dir DB", "holds smallbank, not tpcb: resume that, or choose another directory"),
    ("run smallbank --scale 3 --resume --data-dir DB", "with --scale 1, which --resume keeps: leave the option out"),
    ("crash smallbank --data-dir DB", "a crash test needs a directory of its own"),
    ("crash smallbank --data-dir NEW --log-device striped --log-directory /tmp/one --log-directory /tmp/two", "keeps its log in it; name a directory inside"),
    ("run smallbank --data-dir NEW --log-device remote --log-server unix:", '"unix:" names no socket'),
    ("logd --data-dir NEW --listen 127.0.0.1:0 --key FILE --no-key", "say the opposite"),
    ("logd --data-dir NEW --socket NEW/socket --no-key", "has no use for --no-key"),
    ("logd --data-dir NEW --socket NEW/socket --listen 127.0.0.1:0", "has no use for --listen"),
    ("logd --shut-down 127.0.0.1:1 --data-dir NEW", "--shut-down ends another server"),
    ("logbench --data-dir DB --log-device file", "name a directory that logbench may make, write to and remove"),
    ("recover DB --log-archive .", "give the archive of its runs"),
    ("sql NEW --create --log-device remote --log-server 127.0.0.1:1", "needs the checkpoints that `mneme run` takes"),
    # The options' own checks, and the parser's.
    ("run smallbank --data-dir NEW --threads 0", "--threads"),
    ("run smallbank --data-dir NEW --duration -1", "--duration"),
    ("run smallbank --data-dir NEW --json /nowhere/report", "there is no folder /nowhere for /nowhere/report"),
    ("run smallbank --data-dir NEW --nonesuch", "mneme run has no option --nonesuch\nRun `mneme run --help`"),
    ("run smallbank --data-dir NEW --thread=2 5", "mneme run has no option --thread; did you mean --threads?"),
    ("run smallbank NEW 5", 'mneme run has no use for "'),
    ("nonesuch", "there is no command nonesuch\nRun `mneme --help`"),
    ("verfy DB", "there is no command verfy; did you mean verify?"),
    ("--nonesuch", "mneme has no option --nonesuch"),
    ("", "say what to do: one of demo, run, crash, recover, verify"),
)
FAILURES = (
    ("slice DB", "check that it is a file and that you may read it"),
    ("demo --in /nowhere", "cannot make a directory in /nowhere: No such file or directory; name another place with --in"),
    ("run smallbank --data-dir /proc/new", "cannot make the directory /proc/new"),
    ("logd --data-dir /proc/new", "cannot make the directory /proc/new"),
    ("run smallbank --data-dir NEW --log-device remote --log-server nohost.invalid:1", "cannot find the host nohost.invalid"),
)


class Refusals(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.database, self.new = self.folder / "database", self.folder / "new"
        self.succeed("run", "smallbank", "--data-dir", self.database, "--transactions", 100)

    def check(self, status, table):
        before = fingerprint(self.database)
        for line, words in table:
            with self.subTest(line):
                shutil.rmtree(self.new, ignore_errors=True)
                names = {"DB": self.database, "NEW": self.new}
                result = mneme(*(names.get(word, word) for word in line.split()))
                self.assertEqual(result.returncode, status, self.told(result))
                self.assertIn(words, result.stderr + result.stdout, self.told(result))
                if status == BAD_ARGUMENTS:
                    self.assertFalse(self.new.exists(), self.told(result))
        self.assertEqual(fingerprint(self.database), before)

    def test_what_cannot_be_asked_for(self):
        self.check(BAD_ARGUMENTS, OPTIONS)

    def test_what_the_machine_refuses(self):
        self.check(FAILED, FAILURES)

    def test_a_changed_schema(self):
        self.succeed("sql", self.database, "--command", "DROP PROCEDURE balance;")
        self.refuse(BAD_ARGUMENTS, ["has no procedure balance any more", "create it as it was"], "run", "smallbank", "--resume", "--data-dir",
                    self.database, "--transactions", 10)
        # That there were two graphs is known once it is recovered.
        result = mneme("recover", self.database, "--simulate-cores", "2")
        self.assertEqual(result.returncode, BAD_ARGUMENTS, self.told(result))
        self.assertIn("--simulate-cores takes the costs of one graph", result.stderr, self.told(result))

    def test_a_name_that_a_primary_key_needs(self):
        result = mneme("sql", self.new, "--create", "--command",
                       "CREATE TABLE a_pkey (x INT PRIMARY KEY); CREATE TABLE a (y INT CONSTRAINT a_pkey PRIMARY KEY);")
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertIn("already exists", result.stderr + result.stdout, self.told(result))

    def test_two_log_servers_in_one_directory(self):
        command = [BINARY, "logd", "--listen", "127.0.0.1:0", "--no-key", "--data-dir", self.new]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                self.assertIn("there is no key", server.stdout.readline())
                self.assertIn("listening on", server.stdout.readline())
                self.refuse(BAD_ARGUMENTS, ["another log server works in", "give this one a directory of its own"], *command[1:])
            finally:
                server.kill()

    def test_a_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            self.refuse(FAILED, [f"127.0.0.1:{port}", "in use"], "logd", "--listen", f"127.0.0.1:{port}", "--no-key", "--data-dir", self.new)

    def test_a_manifest_that_says_nothing_of_a_workload(self):
        set_manifest(self.database, lambda content: content["attributes"].clear())
        self.refuse(BAD_ARGUMENTS, ["names no workload", "the directory was not made by `mneme run`"], "run", "smallbank", "--resume",
                    "--data-dir", self.database)

    def test_a_manifest_whose_log_nobody_can_follow(self):
        set_manifest(self.database, lambda content: content["attributes"].update(log_kind="file"))
        self.refuse(DAMAGED, ["the manifest of", self.database, "says that the log lies on file"], "follow", self.database)

    def test_manifests_of_unknown_kinds(self):
        manifest = (self.database / "MANIFEST").read_text()
        for field in ("records", "tuple_image", "layout"):
            with self.subTest(field):
                (self.database / "MANIFEST").write_text(manifest)
                set_manifest(self.database, lambda content: content.update({field: "nonesuch"}))
                result = mneme("recover", self.database)
                self.assertNotEqual(result.returncode, 0, self.told(result))
                self.assertIn(f'its "{field}"', result.stderr, self.told(result))


if __name__ == "__main__":
    unittest.main()
