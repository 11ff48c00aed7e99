"""Goal: what is installed is enough: the program runs its workloads as machine code without the source tree, a program of one's own is
built against the library and keeps what it told over a SIGKILL, and the Debian package holds all of it.

Method: `cmake --install` into a folder; the example in examples/embedding configured, built and run there; CPack's package unpacked.
"""

import os
import pathlib
import signal
import subprocess
import unittest

from program import REPOSITORY, EndToEndTest

BUILD = pathlib.Path(os.environ.get("MNEME", "./mneme")).resolve().parent
EXAMPLE = REPOSITORY / "examples" / "embedding"


class Embedding(EndToEndTest):
    def do(self, *command, **popen):
        result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, check=False, **popen)
        self.assertEqual(result.returncode, 0, self.told(result))
        return result.stdout

    def test_a_program_of_ones_own_is_built_and_keeps_what_it_told(self):
        prefix, build, data = self.folder / "prefix", self.folder / "build", self.folder / "data"
        self.do("cmake", "--install", BUILD, "--prefix", prefix)
        for page, word in [("bash-completion/completions/mneme", "complete -o filenames -F _mneme mneme"), ("zsh/vendor-completions/_mneme", "#compdef mneme"),
                           ("man/man1/mneme.1", ".TH MNEME 1")]:
            self.assertIn(word, (prefix / "share" / page).read_text(), page)
        self.do("cmake", "-G", "Ninja", "-S", EXAMPLE, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
        self.do("cmake", "--build", build)
        bank = build / "bank"
        installed = {**os.environ, "MNEME_HEADERS": str(prefix / "include" / "mneme"), "XDG_CACHE_HOME": str(self.folder / "cache")}
        balances = [self.do(bank, data, *wait, env=installed).strip() for wait in ([], ["--compile"], [])]
        self.assertEqual(balances, ["2.50", "5.00", "7.50"])
        self.assertTrue(list((data / "native").glob("*.so")), "the procedure was compiled, against the installed headers")

        # Killed anywhere, the deposits go on from the last one that was told, or from one that nobody was told of.
        last = 7.5
        for milliseconds in (5, 20, 60, 120):
            process = subprocess.Popen([bank, data], stdout=subprocess.PIPE, text=True)
            try:
                process.wait(milliseconds / 1000)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
            told = process.communicate()[0].strip()
            balance = float(self.do(bank, data))
            self.assertIn(balance, (last + 2.5, last + 5.0))
            if told:
                self.assertGreater(balance, float(told))
            last = balance

    def test_the_package_holds_a_program_that_needs_no_compiler_for_its_workloads(self):
        package = self.folder / "package"
        self.do("cpack", "-G", "DEB", "-B", package, cwd=BUILD)
        (deb,) = package.glob("*.deb")
        root = self.folder / "root"
        self.do("dpkg-deb", "-x", deb, root)
        told = self.do("dpkg-deb", "-f", deb, "Package", "Depends")
        self.assertIn("Package: mneme", told)
        self.assertIn("libtbb", told)
        environment = {**os.environ, "MNEME_HEADERS": "/nonexistent", "XDG_CACHE_HOME": str(self.folder / "cache")}
        shown = self.do(root / "usr/bin/mneme", "run", "smallbank", "--log", "off", "--transactions", 100, "--quiet", "--json", "-",
                        env=environment)
        self.assertIn('"execution": "native"', shown)
        self.assertTrue((root / "usr/include/mneme/embedding/embedded_database.h").exists())


if __name__ == "__main__":
    unittest.main()
