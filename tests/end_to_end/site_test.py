"""Goal: the site builds, each of its links leads somewhere on it, it asks nothing of other machines, and its search finds pages from a disk.

It is light or dark as the reader's system is, and loads without an error.

Method: scripts/site; all links and names of its pages, read by a parser of HTML; a search and a look at pages in headless Chromium.
"""

import html.parser
import json
import os
import pathlib
import shutil
import subprocess
import unittest
import urllib.parse

from program import BINARY, REPOSITORY, EndToEndTest

LONGEST_BUILD_SECONDS = 600
# Pages that the program writes are tested by themselves.
SAMPLES = {"report.html", "slices.html", "lab.html"}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.names = set()
        self.links = []
        self.loaded = []  # without a click
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.names.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif "src" in given:
            self.loaded.append(given["src"])
        elif tag == "link" and given.get("rel") == "stylesheet":
            self.loaded.append(given["href"])


class Site(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.site = self.folder / "site"
        result = subprocess.run([REPOSITORY / "scripts" / "site", "--output", self.site], env={**os.environ, "MNEME": str(BINARY)},
                                capture_output=True, text=True, timeout=LONGEST_BUILD_SECONDS, check=False)
        self.assertEqual(result.returncode, 0, self.told(result))

    def test_the_site(self):
        pages = {path: Page(path) for path in self.site.rglob("*.html") if path.name not in SAMPLES}
        self.assertGreater(len(pages), 30)
        followed = 0
        for path, page in pages.items():
            for link in page.links + page.loaded:
                with self.subTest(page=path.relative_to(self.site), link=link):
                    followed += self.follow(pages, path, link, link in page.loaded)
        self.assertGreater(followed, 1000)
        with self.subTest("each document is a page"):
            for document in (REPOSITORY / "docs").rglob("*.md"):
                self.assertTrue((self.site / document.relative_to(REPOSITORY).with_suffix(".html")).is_file(), document)
        with self.subTest("search"):
            self.search()
        with self.subTest("colours"):
            self.colours()

    def follow(self, pages, path, link, is_loaded):
        """Whether the link is one of the site."""
        url = urllib.parse.urlsplit(link)
        if url.scheme or url.netloc:
            self.assertFalse(is_loaded, "a page loads something from another machine")
            return False
        target = path
        if url.path:
            target = pathlib.Path(os.path.normpath(path.parent / urllib.parse.unquote(url.path)))
            self.assertTrue(target.is_file(), "it leads nowhere")
        if url.fragment and target in pages:
            self.assertIn(urllib.parse.unquote(url.fragment), pages[target].names, "the page has no such place")
        return True

    def colours(self):
        node = shutil.which("node")
        self.assertIsNotNone(node, "scripts/setup installs what looks at the site")
        looked = subprocess.run([node, pathlib.Path(__file__).with_name("site_page.mjs"), self.site / "README.html", self.site / "docs" / "commands.html"],
                                capture_output=True, text=True, timeout=LONGEST_BUILD_SECONDS, check=False)
        self.assertEqual(looked.returncode, 0, self.told(looked))
        backgrounds = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 26)"}  # of experiments/page/design.css
        for look in json.loads(looked.stdout):
            self.assertEqual(look["errors"], [], look["file"])
            self.assertEqual(look["background"], backgrounds[look["colorScheme"]], look["file"])
            self.assertNotEqual(look["background"], look["text"])
            self.assertNotEqual(look["background"], look["other"], "the button changes the colours")
            self.assertEqual(look["wide"], look["width"], f"{look['file']} is wider than the page")

    def search(self):
        chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        if chromium is None:
            self.skipTest("there is no Chromium")
        shown = subprocess.run([chromium, "--no-sandbox", "--disable-gpu", "--dump-dom", "--virtual-time-budget=20000",
                                f"file://{self.site}/search.html?q=rendezvous"],
                               capture_output=True, text=True, timeout=LONGEST_BUILD_SECONDS, check=False)
        self.assertEqual(shown.returncode, 0, self.told(shown))
        self.assertIn("docs/tour/7-the-pipeline.html", shown.stdout)


if __name__ == "__main__":
    unittest.main()
