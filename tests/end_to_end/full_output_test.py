"""Goal: a result that could not be written is never told as done. Method: standard output, and each file for the user, on a full device."""

import os
import subprocess
import unittest

from program import BINARY, DONE, FAILED, EndToEndTest

SCRIPT = "CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1); SELECT id FROM t;"
SUBCOMMANDS = ("demo", "run", "crash", "recover", "verify", "inspect", "slice", "native", "logbench", "sql", "serve", "crash-target", "logd", "follow",
               "bench", "acid", "experiment", "compare", "completion", "manual")


class FullOutput(EndToEndTest):
    def on_full_device(self, *arguments):
        """Must fail with a sentence that names standard output."""
        with self.subTest(command=arguments), open("/dev/full", "w", encoding="ascii") as full:
            result = subprocess.run([BINARY, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(result.returncode, FAILED, result.stderr)
            self.assertIn("cannot write the result to standard output: No space left on device", result.stderr)

    def test_help_and_version(self):
        self.on_full_device("--help")
        self.on_full_device("--version")
        for command in SUBCOMMANDS:
            self.on_full_device(command, "--help")
        self.on_full_device("completion", "bash")
        self.on_full_device("manual")

    def test_results(self):
        directory = self.folder / "database"
        self.on_full_device("sql", directory, "--create", "--command", SCRIPT)
        for command in (("sql", directory, "--command", "SELECT id FROM t;"), ("recover", directory), ("inspect", directory), ("slice", "smallbank")):
            self.on_full_device(*command)
            self.on_full_device(*command, "--quiet", "--json", "-")
        self.on_full_device("slice", "smallbank", "--dot")

    def test_files(self):
        directory = self.folder / "database"
        self.succeed("sql", directory, "--create", "--command", SCRIPT, "--quiet")
        for command in (("slice", "smallbank", "--html", "/dev/full"), ("slice", "smallbank", "--svg", "/dev/full"), ("recover", directory, "--trace", "/dev/full"),
                        ("recover", directory, "--trace-html", "/dev/full"), ("inspect", directory, "--json", "/dev/full")):
            with self.subTest(command=command):
                self.refuse(FAILED, ["No space left on device"], *command, "--quiet")

    def test_page_goes_into_a_pipe(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
            self.succeed("slice", "smallbank", "--quiet", "--html", pipe)
            self.assertIn("smallbank", reader.communicate()[0])

    def test_a_reader_that_has_gone_is_no_error(self):
        """As with any program: the signal ends it, without a word."""
        with subprocess.Popen([BINARY, "slice", "tpcc"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            process.stdout.close()
            self.assertEqual(process.stderr.read(), "")
            self.assertIn(process.wait(), (DONE, -13))


class SmallStack(EndToEndTest):
    """The same statements that procedures/session/depth_test.cc runs on a small stack, by the program with one."""

    def test_deep_statements(self):
        directory = self.folder / "database"
        many = ", ".join(f"{i}{'.0' * (i % 2)}" for i in range(5000))
        deep = "(" * 95 + "1" + ")" * 95
        script = self.folder / "script.sql"
        script.write_text(f"CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES ({deep});\n"
                          f"SELECT id FROM t WHERE id IN ({many});\nSELECT id FROM t WHERE id = 1{' + 0' * 490};\n"
                          f"SELECT id FROM t WHERE id = 1{'::int' * 100_000};\n")
        command = f"ulimit -s 512; exec {BINARY} sql {directory} --create --file {script} --quiet"
        result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, FAILED, result.stderr)
        self.assertIn("ERROR:  54001", result.stderr)


if __name__ == "__main__":
    unittest.main()
