"""Goal: the help shows what the command and workload at hand need, a line each, and all of it on request; shells complete it; a manual page has it;
values take units.

Method: the outputs by their shape, the same for every command; bash itself completes.
"""

import json
import re
import subprocess
import unittest

from program import BAD_ARGUMENTS, BINARY, DONE, EndToEndTest, mneme

INNER = {"native", "crash-target"}
LONGEST_LINE = 110


class Help(EndToEndTest):
    def text(self, *arguments):
        result = mneme(*arguments)
        self.assertEqual(result.returncode, DONE, self.told(result))
        self.assertEqual(result.stderr, "")
        return result.stdout

    def commands(self):
        shown = re.findall(r"^  ([a-z][a-z-]*) +\S", self.text("--help").split("Subcommands:")[1], re.MULTILINE)
        self.assertGreater(len(shown), 15)
        self.assertEqual(INNER & set(shown), set())
        return shown

    @staticmethod
    def options(text):
        return set(re.findall(r"^  (?:-\w, )?(--[a-z][a-z-]*)", text, re.MULTILINE))

    def test_each_command(self):
        for command in self.commands():
            with self.subTest(command=command):
                text = self.text(command, "--help")
                usage, _, *lines = text.splitlines()
                self.assertTrue(usage.startswith(f"Usage: mneme {command}"), usage)
                for line in lines:
                    self.assertLessEqual(len(line), LONGEST_LINE)
                everything = self.text(command, "--help-all")
                self.assertLessEqual(self.options(text), self.options(everything))
                more = re.search(r"^(\d+) more, and all that there is to say: mneme \S+ --help-all$", text, re.MULTILINE)
                # A second name of one option counts as none of its own.
                self.assertEqual(len(self.options(everything)) - len(self.options(text)), int(more[1]) if more else 0)

    def test_a_workload_has_its_own_options(self):
        tpcc = self.text("run", "tpcc", "--help")
        self.assertIn("--warehouses", tpcc)
        self.assertIn("--terminals", tpcc)
        for other in ("--hotspot-percent", "--ycsb", "--skew", "--rows", "--huge-pages"):
            self.assertNotIn(other, tpcc)
        self.assertRegex(tpcc, r"--warehouses, --scale +warehouses, about 100 MiB each")
        self.assertIn("--hotspot-percent", self.text("run", "smallbank", "--help"))
        self.assertIn("--ycsb", self.text("run", "ycsb", "--help"))
        anything = self.text("run", "--help")
        for option in ("--hotspot-percent", "--ycsb", "--rows", "--warehouses"):
            self.assertIn(option, anything)
        # What is said for other commands is not said here.
        self.assertNotIn("logbench", anything)
        self.assertRegex(anything, r"--duration +seconds: of the run \[10\]")
        self.assertRegex(anything, r"--commit +pipelined, sync, group, async \[pipelined\]")
        self.assertRegex(anything, r"--cc +concurrency control: occ, 2pl \[occ\]")

    def test_bash_completes(self):
        script = self.folder / "mneme.bash"
        script.write_text(self.text("completion", "bash"))

        def completed(*words):
            listed = " ".join(f"'{word}'" for word in words)
            asked = f"source {script}; COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _mneme; printf '%s\\n' \"${{COMPREPLY[@]}}\""
            result = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, cwd=self.folder, check=False)
            self.assertEqual(result.returncode, 0, self.told(result))
            return result.stdout.split()

        self.assertEqual(sorted(completed("mneme", "re")), ["recover"])
        self.assertIn("acid", completed("mneme", ""))
        self.assertEqual(completed("mneme", "run", "tp"), ["tpcc", "tpcb"])
        self.assertEqual(sorted(completed("mneme", "run", "tpcc", "--ware")), ["--warehouses"])
        self.assertEqual(sorted(completed("mneme", "run", "tpcc", "--worker-cores", "")), ["any", "auto"])
        self.assertEqual(sorted(completed("mneme", "recover", str(self.folder)[:-1])), [str(self.folder)])
        self.assertEqual(completed("mneme", "recover", "--warehouses"), [])

    def test_zsh_and_the_manual(self):
        zsh = self.text("completion", "zsh")
        self.assertTrue(zsh.startswith("#compdef mneme\n"))
        manual = self.text("manual")
        for command in self.commands():
            self.assertIn(f"'{command}:", zsh)
            self.assertIn(f"\n.SH {command.upper().replace('-', chr(92) + '-')}\n", manual)
        self.assertIn("\n.B \\-\\-warehouses, \\-\\-scale\n", manual)
        # No line of text is taken for a request.
        for line in manual.splitlines():
            self.assertRegex(line, r"^(\.(TH|SH|TP|B|I)\b|[^.'])")
        result = mneme("completion", "fish")
        self.assertEqual(result.returncode, BAD_ARGUMENTS, self.told(result))

    def test_values_have_units(self):
        ran = self.report("run", "smallbank", "--log", "off", "--duration", "200ms", "--warmup", "0s")
        self.assertEqual(ran["duration_seconds"], 0.2)
        self.assertEqual(ran["warmup_seconds"], 0)
        self.refuse(BAD_ARGUMENTS, ["10x has no unit that is known here: say 10, 10s, 500ms or 2min"], "run", "smallbank", "--duration", "10x")
        result = subprocess.run([BINARY, "logbench", "--record-bytes", "1KiB", "--duration", "50ms", "--threads", "1", "--rounds", "1", "--json", "-", "--quiet"],
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, DONE, self.told(result))
        told = json.loads(result.stdout)
        self.assertEqual(told["record_bytes"], 1024)


if __name__ == "__main__":
    unittest.main()
