#!/usr/bin/env python3
"""Goal: the course's tests tell a right part from wrong ones.

Method: of each chapter the engine's own file keeps every rule; the starter compiles, and is broken at the rule that part.toml names; each
wrong part is broken at the rule that it names, and says so first. The parts are compiled as students do, by scripts/course.
"""
import concurrent.futures
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent
FEWEST_WRONG = 5
WORDS = (1500, 3000)


def load_course():
    loader = importlib.machinery.SourceFileLoader("course", str(ROOT / "scripts" / "course"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("course", loader))
    loader.exec_module(module)
    return module


COURSE = load_course()


def graded(chapter, part):
    """The status, and all that is printed, on one line."""
    lines = []
    status = COURSE.check(chapter, part, lines.append)
    return status, re.sub(r"\s+", " ", "\n".join(lines))


class CourseParts(unittest.TestCase):
    def test_each_part(self):
        cases = []
        for chapter in COURSE.chapters():
            cases.append((chapter, ROOT / chapter.replaces, None))
            cases.append((chapter, chapter.starter, chapter.starter_fails))
            for wrong in chapter.wrong().values():
                self.assertTrue(wrong.says and wrong.fails, f"{wrong.path} begins with `// Wrong: ...` and `// Must fail: ...`")
                cases.append((chapter, wrong.path, wrong.fails))
        self.assertGreater(len(cases), 6)
        for chapter in COURSE.chapters():
            COURSE.build_shared(chapter)
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            results = list(pool.map(lambda case: graded(case[0], case[1]), cases))
        for (chapter, path, fails), (status, text) in zip(cases, results):
            with self.subTest(chapter=chapter.title, part=path.name):
                if fails is None:
                    self.assertEqual(status, 0, text)
                    self.assertNotIn("broken", text)
                else:
                    self.assertEqual(status, 1, text)
                    self.assertRegex(text, r"rules (is|are) broken\.")
                    self.assertRegex(text, r"What is lost: [A-Z]|died|never ended")
                    self.assertIn(fails, text)

    def test_the_grader_speaks_in_words(self):
        chapter = next(chapter for chapter in COURSE.chapters() if chapter.number == 4)
        right = (ROOT / chapter.replaces).read_text()
        closing = " || gathering.is_closing;"
        self.assertEqual(right.count(closing), 1)
        hurries = "(group_.waiters_hurry && gathering.is_awaited)"
        self.assertEqual(right.count(hurries), 1)
        endless = "\n  if (gathering.is_closing) for (volatile int i = 0;;) i = i;\n  return "
        takes = "\n  if (gathering.is_closing) for (char* all = nullptr;; all = new char[1 << 28]) (void)all;\n  return "
        begin = "bool FlushPace::is_full(const Gathering& gathering) const {\n  return "
        self.assertEqual(right.count(begin), 1)
        dies = "\n  if (gathering.is_closing) __builtin_trap();\n  return "
        cases = {
            "one": (right.replace(closing, ";"), [
                "1 of 12 rules is broken. It is explained above;", "Found: \"kUntilFlushEnds\"; expected: \"0 us\"."]),
            "two": (right.replace(closing, ";").replace(hurries, "gathering.is_awaited"), [
                "Rule: When the log is being closed", "Rule: Where the group says so", "2 of 12 rules are broken. Each is explained above;"]),
            "endless": (right.replace(begin, begin[:-9] + endless), ["This test never ended within 3 s: a loop or a wait of your part"]),
            "takes": (right.replace(begin, begin[:-9] + takes), ["The part died of memory: it asked for more than"]),
            "dies": (right.replace(begin, begin[:-9] + dies), ["The part died in this test: "]),
        }
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(COURSE, "LONGEST_TEST_SECONDS", 3):
            for name, (source, words) in cases.items():
                with self.subTest(part=name):
                    part = pathlib.Path(folder) / f"{name}.cc"
                    part.write_text(source)
                    status, text = graded(chapter, part)
                    self.assertEqual(status, 1, text)
                    for each in words:
                        self.assertIn(each, text)
                    self.assertNotIn("[ RUN", text)
            part = pathlib.Path(folder) / "wont.cc"
            part.write_text(right.replace(closing, " || no_such_name;"))
            status, text = graded(chapter, part)
            self.assertEqual(status, 1)
            self.assertRegex(text, r"The first error is the one to mend: \S+wont\.cc:\d+:\d+: error: .no_such_name. was not declared in this scope$")

    def test_bad_arguments(self):
        numbers = ", ".join(str(chapter.number) for chapter in COURSE.chapters())
        for arguments, words in (
            (["check", "99"], f"the chapters are {numbers}"),
            (["begin", "1"], "`scripts/course start N` or `scripts/course check N`"),
            (["check", "4", "wrong:none"], "chapter 4 has no wrong part none; it has adds_the_pace, "),
            (["check", "4", "no/such/part.cc"], "there is no "),
        ):
            with self.subTest(arguments=arguments):
                result = subprocess.run([ROOT / "scripts" / "course", *arguments], capture_output=True, text=True, check=False)
                self.assertEqual(result.returncode, 2)
                self.assertIn(words, result.stderr)

    def test_each_chapter_is_whole(self):
        self.assertGreater(len(COURSE.chapters()), 0)
        overview = (ROOT / "course" / "README.md").read_text()
        for chapter in COURSE.chapters():
            with self.subTest(chapter=chapter.title):
                self.assertGreaterEqual(len(chapter.wrong()), FEWEST_WRONG)
                words = len((chapter.folder / "text.md").read_text().split())
                self.assertTrue(WORDS[0] <= words <= WORDS[1], f"text.md has {words} words")
                self.assertIn(f"({chapter.folder.name}/text.md)", overview)
                for name in ("hints.md", "instructor.md"):
                    self.assertGreater(len((chapter.folder / name).read_text().split()), 100, name)


if __name__ == "__main__":
    unittest.main()
