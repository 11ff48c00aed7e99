"""Goal: machine code is used where it can be had; where it cannot, the program says why, interprets, and is right.

Method: MNEME_CXX names compilers that are missing, fail, or are killed, and one that works but is nobody's: what the
build left beside the program was not compiled by it, so it has to compile. What it leaves in the data directory is then
spoiled. States are compared with those of interpreted runs of the same calls.
"""

import json
import os
import shutil
import unittest

from program import DONE, EndToEndTest, copy_database, fingerprint, flip_bit, mneme

CALLS = 500


class Native(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.database = self.folder / "database"
        compiler = shutil.which("c++") or shutil.which("g++")
        self.compiler = self.script("compiler", f'exec {compiler} "$@"')

    def script(self, name, *lines):
        path = self.folder / name
        path.write_text("\n".join(("#!/bin/sh", *lines)) + "\n")
        path.chmod(0o700)
        return path

    def with_compiler(self, compiler, *arguments):
        """The JSON of a command that succeeds, and what it says on standard error."""
        environment = {**os.environ, "MNEME_CXX": str(compiler), "XDG_CACHE_HOME": str(self.folder / "cache")}
        result = mneme(*arguments, "--json", self.folder / "report", env=environment)
        self.assertEqual(result.returncode, DONE, self.told(result))
        return json.loads((self.folder / "report").read_text()), result.stderr

    def run_of(self, compiler, directory, *options):
        arguments = ("run", "smallbank", "--threads", 1, "--transactions", CALLS, "--data-dir", directory)
        return self.with_compiler(compiler, *arguments, *options)

    def interpreted_digest(self):
        arguments = ("run", "smallbank", "--threads", 1, "--transactions", CALLS, "--data-dir", self.folder / "other")
        report = self.report(*arguments, "--execution", "interpreted")
        self.assertEqual(report["execution"], "interpreted")
        return report["state_digest"]

    def test_what_the_build_left_is_used(self):
        report = self.report("run", "smallbank", "--threads", 1, "--transactions", CALLS, "--data-dir", self.database)
        self.assertEqual(report["execution"], "native")
        self.assertEqual(report["prefetch"], "on")
        self.assertFalse((self.database / "native").exists())
        self.assertEqual(report["state_digest"], self.interpreted_digest())

    def test_interprets_without_a_compiler(self):
        report, told = self.run_of("/nonexistent", self.database, "--execution", "native")
        self.assertEqual(report["execution"], "interpreted")
        self.assertRegex(told, "procedures are interpreted: MNEME_CXX names no compiler: /nonexistent cannot be run")
        self.assertEqual(report["state_digest"], self.interpreted_digest())
        for scheme in ("clr", "clr-p"):
            recovered, told = self.with_compiler("/nonexistent", "recover", self.database, "--scheme", scheme)
            self.assertEqual(recovered["execution"], "interpreted")
            self.assertIn("/nonexistent", told)
            self.assertEqual(recovered["state_digest"], report["state_digest"])

    def test_interprets_where_the_compiler_fails(self):
        failing = self.script("failing", '[ "$1" = --version ] && echo mine && exit 0', "echo I am tired >&2", "exit 3")
        report, told = self.run_of(failing, self.database)
        self.assertEqual(report["execution"], "interpreted")
        self.assertIn("status 3", told)
        log = told.strip().rsplit(" ", 1)[1]
        with open(log, encoding="utf-8") as said:
            self.assertEqual(said.read(), "I am tired\n")

    def test_keeps_what_it_compiles(self):
        report, told = self.run_of(self.compiler, self.database)
        self.assertEqual(report["execution"], "native", told)
        self.assertEqual(report["state_digest"], self.interpreted_digest())
        [kept] = (self.database / "native").glob("*.so")
        before = fingerprint(self.database)
        for scheme in ("clr", "clr-p"):
            recovered, told = self.with_compiler(self.compiler, "recover", self.database, "--scheme", scheme)
            self.assertEqual(recovered["execution"], "native", told)
            self.assertEqual(recovered["state_digest"], report["state_digest"])
        self.assertEqual(fingerprint(self.database), before, "recover changed the directory")
        kept_for_user = fingerprint(self.folder / "cache")
        self.assertEqual(len(kept_for_user), 4, "the procedures' object, the slices', and their C++")
        self.with_compiler(self.compiler, "recover", self.database, "--scheme", "clr-p")
        self.assertEqual(fingerprint(self.folder / "cache").keys(), kept_for_user.keys())

        shutil.rmtree(self.folder / "cache")
        flip_bit(kept, kept.stat().st_size // 2, 3)
        damaged = fingerprint(self.database)
        recovered, told = self.with_compiler(self.compiler, "recover", self.database, "--scheme", "clr")
        self.assertEqual(recovered["execution"], "native", told)
        self.assertIn(f"compiled anew: {kept}", told)
        self.assertEqual(recovered["state_digest"], report["state_digest"])
        self.assertEqual(fingerprint(self.database), damaged, "recover changed the directory")

        copy = self.folder / "copy"
        copy_database(self.database, copy)
        shutil.rmtree(self.folder / "cache")
        again, told = self.run_of(self.compiler, copy, "--resume")
        self.assertEqual(again["execution"], "native", told)
        self.assertIn(f"compiled anew: {copy / 'native' / kept.name}", told)
        _, told = self.run_of(self.compiler, copy, "--resume")
        self.assertNotIn("anew", told)

    def test_what_one_directory_has_compiled_serves_others(self):
        _, told = self.run_of(self.compiler, self.database)
        [kept] = (self.database / "native").glob("*.so")
        other = self.folder / "other"
        # None compiles: whatever is asked of this one fails, but for its version.
        failing = self.script("compiler", f'[ "$1" = --version ] && exec {shutil.which("c++") or shutil.which("g++")} --version', "exit 3")
        report, told = self.run_of(failing, other)
        self.assertEqual(report["execution"], "native", told)
        self.assertFalse((other / "native").exists())
        self.assertTrue(kept.exists())

    def test_prefetching_changes_no_result(self):
        run = ("run", "tpcc", "--threads", 1, "--transactions", CALLS, "--log", "off")
        states = {}
        for prefetch in ("on", "off"):
            report = self.report(*run, "--prefetch", prefetch)
            self.assertEqual(report["prefetch"], prefetch)
            states[prefetch] = report["state_digest"]
        self.assertEqual(states["on"], states["off"])
        arguments = (*run, "--execution", "interpreted", "--prefetch", "on")
        self.refuse(2, ["--prefetch is for machine code"], *arguments)

    def test_refuses_another_execution(self):
        self.refuse(2, ["native and interpreted"], "run", "smallbank", "--execution", "fast", "--data-dir", self.database)


if __name__ == "__main__":
    unittest.main()
