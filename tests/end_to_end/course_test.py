"""Goal: what the course's texts say to type does what they show, and the engine can be built with a student's part.

Method: the lines of course/NN-*/text.md that begin with $ are run by a shell in a folder where `build`, `scripts`, `course` and `tests` stand for those here; /tmp
is that folder too. What they print is held against the lines that follow (typed_text.py).
"""

import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from program import LONGEST_COMMAND_SECONDS, REPOSITORY, EndToEndTest
from typed_text import VARY, commands, pattern, shown

COURSE = REPOSITORY / "course"
BUILD = pathlib.Path(os.environ.get("MNEME", "./mneme")).resolve().parent
os.environ.setdefault("MNEME_LAB", str(BUILD / "mneme_lab"))


def load_lesson():
    loader = importlib.machinery.SourceFileLoader("lesson", str(REPOSITORY / "scripts" / "lesson"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("lesson", loader))
    loader.exec_module(module)
    return module


LESSON = load_lesson()


class Course(EndToEndTest):
    def test_each_chapter(self):
        for name, target in (("build", BUILD), ("scripts", REPOSITORY / "scripts"), ("course", COURSE), ("tests", REPOSITORY / "tests")):
            (self.folder / name).symlink_to(target)
        chapters = sorted(COURSE.glob("[0-9][0-9]-*/text.md"))
        self.assertGreater(len(chapters), 0)
        for chapter in chapters:
            ran = 0
            for command, printed in commands(chapter.read_text()):
                with self.subTest(chapter=chapter.parent.name, command=command):
                    result = subprocess.run(["bash", "-c", command.replace("/tmp/", f"{self.folder}/")], cwd=self.folder, text=True,
                                            timeout=LONGEST_COMMAND_SECONDS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
                                            check=False)
                    lines = shown(result.stdout).replace(f"{self.folder}/", "/tmp/")
                    self.assertRegex(lines, pattern(printed, command.endswith(VARY)))
                    ran += 1
            self.assertGreater(ran, 2, chapter)
            # Databases of a chapter take some hundred MiB.
            for made in self.folder.glob("course-*"):
                shutil.rmtree(made)

    def test_each_lesson_leads_to_the_laboratory(self):
        played = 0
        for chapter in sorted(COURSE.glob("[0-9][0-9]-*/text.md")):
            kept = LESSON.lessons(chapter.parent)
            linked = dict(re.findall(r"^\[([^]]+)\]: \.\./\.\./build-lab/laboratory\.html#(\S+)$", chapter.read_text(), re.MULTILINE))
            self.assertEqual(sorted(linked), sorted(kept), chapter)
            for name, state in linked.items():
                with self.subTest(chapter=chapter.parent.name, lesson=name):
                    self.assertIn(f"][{name}]", chapter.read_text())
                    self.assertEqual(LESSON.state_of(state), kept[name], "scripts/lesson N NAME link has the new link")
                    answer = LESSON.play(kept[name])
                    self.assertTrue(answer["verdict"]["rows_are_as_they_were"] and answer["verdict"]["agrees"])
                    played += 1
        self.assertGreater(played, 0)

    def test_the_build_takes_a_part_in_place_of_the_engines_file(self):
        listed = subprocess.run([REPOSITORY / "scripts" / "course"], capture_output=True, text=True, check=True).stdout
        self.assertIn("What a crash can do", listed)
        build = self.folder / "configured"
        part = COURSE / "01-crash" / "starter.cc"
        configured = self.configure(build, "1", part)
        self.assertEqual(configured.returncode, 0, configured.stderr)
        rules = (build / "build.ninja").read_text()
        self.assertIn(str(part), rules)
        self.assertNotIn("logging/device/write_cache.cc", rules)
        refused = self.configure(build, "1", self.folder / "none.cc")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("begin with `scripts/course start 1`", re.sub(r"\s+", " ", refused.stderr))
        unknown = self.configure(build, "99", part)
        self.assertIn("no chapter of this number", re.sub(r"\s+", " ", unknown.stderr))

    def configure(self, build, number, part):
        return subprocess.run(["cmake", "-S", REPOSITORY, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DMNEME_COURSE_PART={number}:{part}"], capture_output=True, text=True, check=False)


if __name__ == "__main__":
    unittest.main()
