"""Goal: the first command that a newcomer types does what it says. Method: type it, with the smallest sizes."""

import re
import unittest

from program import EndToEndTest


class Demo(EndToEndTest):
    def demo(self, *arguments):
        return self.succeed("demo", "--warehouses", 1, "--duration", 1, "--in", self.folder, *arguments).stdout

    def test_loses_nothing_and_leaves_nothing(self):
        text = self.demo()
        self.assertIn("0 acknowledged transactions lost", text)
        self.assertIn("0 invented", text)
        self.assertIn("digests equal", text)
        digests = dict(reversed(found) for found in re.findall(r"state digest ([0-9a-f]{32})\s+(\S+)", text))
        self.assertEqual(digests.keys(), {"clr", "clr-p"}, text)
        self.assertEqual(digests["clr"], digests["clr-p"])
        self.assertIn("12 of 12 consistency conditions hold", text)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_keeps_the_database_on_request(self):
        text = self.demo("--keep")
        kept = [manifest.parent for manifest in self.folder.rglob("MANIFEST")]
        self.assertEqual(len(kept), 1)
        self.assertIn(self.recover_alike(kept[0])["state_digest"], text)


if __name__ == "__main__":
    unittest.main()
