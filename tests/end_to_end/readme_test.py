"""Goal: what the README, docs/commands.md and the tour say to type works in a clone in which only scripts/demo has been run before.

Method: the files of this source tree are copied, as a clone has them; scripts/demo is run there; then each command line of the two pages, in
their order, shortened where it would go on for long, and the tour. A line that is not run has its reason in a table.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from program import REPOSITORY, EndToEndTest

LONGEST_BUILD_SECONDS = 1700
PAGE = pathlib.Path("experiments") / "page" / "node_modules"
READER = pathlib.Path("tests") / "clients" / "python" / "packages"

# The beginnings of lines that are not run here, and why.
NOT_RUN = {
    "scripts/demo": "was run before",
    "scripts/experiments": "takes many minutes; experiment_test runs the command behind it",
    "build/mneme logd": "serves until it is stopped; remote_test starts servers",
    "build/mneme run tpcc --log-device remote": "needs a log server at that address; remote_test has one",
    "build/mneme run tpcc --log-device nats": "needs a NATS server at that address; replicated_test has one",
    "build/mneme serve": "serves until it is stopped; serve_test has servers",
    "build/mneme lab": "serves until it is stopped; laboratory_test has servers",
    "build/mneme bench": "needs servers at those addresses; bench_test has two",
    "build/mneme acid": "takes a minute; acid_test runs it with fewer crashes",
    "build/mneme run tpcc --metrics": "takes a port that another process may have; metrics_test has pages",
    "build/mneme follow": "follows until it is stopped; follow_test has standbys",
    "build/mneme experiment mneme-table-1": "takes minutes; experiment_test runs others",
    "build/mneme experiment examples": "takes minutes; own_experiment_test runs it with --quick",
    "build/mneme experiment --all": "takes many minutes; experiment_test runs a part of it",
}
# Options that are added to lines with these beginnings, so that they end soon.
SHORTENED = (
    ("build/mneme run", "--duration 0.3 --warmup 0"),
    ("build/mneme crash", "--longest-run 0.2"),
    ("build/mneme experiment pacman-figure-16", "--quick"),
)


def lines_to_type(text):
    """The indented command lines, without their comments; statements typed at a prompt are no such lines."""
    for line in re.findall(r"^    ((?:build/|scripts/|cmake ).*)$", text, re.MULTILINE):
        yield re.sub(r"\s+#.*", "", line)


def session(text):
    """What is typed at the prompt of docs/commands.md, and what it prints."""
    (shown,) = re.findall(r"^    \$ build/mneme sql (\S+) --create\n((?:    .*\n)+)", text, re.MULTILINE)[:1]
    lines = [line[4:] for line in shown[1].splitlines()]
    typed = [re.sub(r"^mneme[=-]> ", "", line) for line in lines if re.match(r"mneme[=-]> ", line)]
    printed = [line for line in lines if not re.match(r"mneme[=-]> ", line)]
    return shown[0], "\n".join(typed) + "\n", printed


class Readme(EndToEndTest):
    def clone(self):
        listed = subprocess.run(["git", "-C", REPOSITORY, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                capture_output=True, check=False)
        if listed.returncode != 0:
            self.skipTest("this source tree is no repository")
        clone = self.folder / "clone"
        for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
            if (REPOSITORY / name).is_file():
                (clone / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(REPOSITORY / name, clone / name)
        # npm's packages were fetched for this tree, so they are copied rather than fetched again.
        if (REPOSITORY / PAGE).is_dir():
            shutil.copytree(REPOSITORY / PAGE, clone / PAGE, symlinks=True)
            os.utime(clone / PAGE / ".package-lock.json")
        # Likewise pip's.
        if (REPOSITORY / READER).is_dir():
            shutil.copytree(REPOSITORY / READER, clone / READER)
            os.utime(clone / READER)
        return clone

    def do(self, command, clone, seconds=300, environment=None, **popen):
        result = subprocess.run(["bash", "-c", command], cwd=clone, env=environment or os.environ, capture_output=True, text=True, timeout=seconds,
                                check=False, **popen)
        self.assertEqual(result.returncode, 0, self.told(result))
        return result.stdout

    def test_all_that_can_be_typed_after_the_demo(self):
        clone = self.clone()
        # The clone uses the compiler's cache of this tree, which lies where the user's lies.
        environment = {**os.environ, "CCACHE_BASEDIR": str(clone), "CCACHE_NOHASHDIR": "1"}
        del environment["XDG_CACHE_HOME"]
        self.do("scripts/demo --duration 0.5", clone, LONGEST_BUILD_SECONDS, environment)
        text = (clone / "README.md").read_text() + (clone / "docs" / "commands.md").read_text()
        for name in ("shop.sql", "calls.csv", "rows.csv"):
            shutil.copy(clone / "examples" / "shop" / name, clone / name.replace("shop.sql", "my.sql"))
        left_out = set()
        ran = 0
        for line in lines_to_type(text):
            reason = next((begin for begin in NOT_RUN if line.startswith(begin)), None)
            if reason:
                left_out.add(reason)
                continue
            more = next((more for begin, more in SHORTENED if line.startswith(begin)), "")
            if more:
                line = re.sub(r" --duration \S+", "", line)
            command = f"{line} {more}".replace("/tmp/", f"{self.folder}/").replace("/opt/mneme", f"{self.folder}/installed")
            if line.startswith("build/mneme run") and "--data-dir" not in line and "--log off" not in line:
                command += f" --data-dir {self.folder}/run{ran}"
            if line.startswith("build/mneme crash"):
                command += f" --data-dir {self.folder}/crashes"
            if line.startswith("build/mneme experiment pacman"):
                command += f" --output {self.folder}/figure"
            with self.subTest(command=command):
                self.do(command, clone, environment=environment if line.startswith("cmake --build") else None)
                ran += 1
        self.assertEqual(left_out, set(NOT_RUN))
        self.assertGreaterEqual(ran, 20)

        with self.subTest("cpack"):
            self.do("cd build && cpack", clone)
        with self.subTest("the session"):
            directory, typed, printed = session(text)
            shown = self.do(f"build/mneme sql {directory} --create".replace("/tmp/", f"{self.folder}/"), clone, input=typed)
            self.assertEqual([line.rstrip() for line in shown.rstrip("\n").split("\n")], printed)
        with self.subTest("the tour"):
            self.do("cmake --build build --target log_buffer_steps", clone, environment=environment)
            self.do(f"MNEME=$PWD/build/mneme {sys.executable} -B tests/end_to_end/tour_test.py Tour.test_every_chapter", clone)


if __name__ == "__main__":
    unittest.main()
