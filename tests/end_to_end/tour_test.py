"""Goal: what docs/tour says to type does what it says, and its exercises can be made.

Method: the chapters in their order, in one folder: files that they show are written, indented lines that begin with $ are run by a
shell, and what they print is held against the lines that follow (typed_text.py).
"""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

from program import LONGEST_COMMAND_SECONDS, REPOSITORY, EndToEndTest
from typed_text import VARY, commands, pattern, shown

TOUR = REPOSITORY / "docs" / "tour"
BUILD = pathlib.Path(os.environ.get("MNEME", "./mneme")).resolve().parent
FILE = re.compile(r"^`([^`]+)`:\n\n```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Tour(EndToEndTest):
    def test_every_chapter(self):
        chapters = sorted(TOUR.glob("[0-9]-*.md"))
        self.assertEqual(len(chapters), 8)
        environment = {**os.environ, "PATH": f"{BUILD}:{BUILD / 'tests'}:{os.environ['PATH']}"}
        ran = 0
        for chapter in chapters:
            text = chapter.read_text()
            self.assertIn(f"({chapter.name})", (TOUR / "README.md").read_text())
            for name, content in FILE.findall(text):
                (self.folder / name).write_text(content)
            for command, printed in commands(text):
                with self.subTest(chapter=chapter.name, command=command):
                    result = subprocess.run(["bash", "-c", command], cwd=self.folder, env=environment, text=True,
                                            timeout=LONGEST_COMMAND_SECONDS, stdout=subprocess.PIPE,
                                            stderr=subprocess.STDOUT, check=False)
                    self.assertRegex(shown(result.stdout), pattern(printed, command.endswith(VARY)))
                    ran += 1
        self.assertGreater(ran, 18)

    def test_the_exercises_are_those_of_the_chapters(self):
        named = set(re.findall(r"\*\*Exercise\.\*\* `scripts/exercise (\w+)`", "".join(path.read_text() for path in TOUR.glob("[0-9]-*.md"))))
        listed = subprocess.run([REPOSITORY / "scripts" / "exercise"], capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual(named, set(listed))

    def test_an_exercise_is_a_branch_with_one_change(self):
        clone = self.folder / "clone"
        if subprocess.run(["git", "clone", "-q", REPOSITORY, clone], capture_output=True, check=False).returncode != 0:
            self.skipTest("this source tree is no repository")
        # As it stands here, which may not be committed yet.
        for path in ("scripts/exercise", "tests/sabotages.toml"):
            shutil.copy(REPOSITORY / path, clone / path)
        tree = self.folder / "tree"
        result = subprocess.run([clone / "scripts" / "exercise", "rendezvous", tree], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, self.told(result))
        self.assertIn("--gtest_filter", result.stdout)
        changed = subprocess.run(["git", "-C", tree, "diff", "--stat", "HEAD~1"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(changed, r"1 file changed")


if __name__ == "__main__":
    unittest.main()
