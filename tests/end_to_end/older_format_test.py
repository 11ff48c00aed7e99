"""Goal: a data directory that an older version of the program wrote is recovered whole by this one, and goes on from there.

Method: tests/data/older_directories.tar.xz holds directories of every layout, closed in order and killed, and what their own program recovered
of them. That program was built from commit 20b8526: its segments don't tell their size, a log of one stream doesn't tell where it was closed,
pepoch.log begins with empty slots, rings in persistent memory begin without a mark, and files are open to other users.
"""

import json
import tarfile
import unittest

from program import REPOSITORY, EndToEndTest

LAYOUTS = {
    "one_file": (),
    "striped": ("--log-device", "striped"),
    "nvm": ("--log-device", "nvm"),
    "epoch": ("--log-buffer", "epoch", "--loggers", "2"),
    "distributed": ("--log-buffer", "distributed", "--streams", "2"),
    "rings": ("--log-buffer", "distributed", "--streams", "2", "--log-device", "nvm"),
}
INTERPRETED = ("--execution", "interpreted")


class OlderFormat(EndToEndTest):
    def test_directories_of_an_older_program_are_whole_and_go_on(self):
        with tarfile.open(REPOSITORY / "tests" / "data" / "older_directories.tar.xz") as archive:
            archive.extractall(self.folder)
        expected = json.loads((self.folder / "expected.json").read_text())
        self.assertEqual(set(expected), {layout + end for layout in LAYOUTS for end in ("", "_killed")})
        for name, whole in expected.items():
            directory = self.folder / name
            self.assertEqual(self.found(directory), whole, name)
            if not name.endswith("_killed"):
                continue
            layout = LAYOUTS[name.removesuffix("_killed")]
            self.succeed("run", "w.sql", "--data-dir", directory, "--resume", "--threads", 2, "--transactions", 4, *layout, *INTERPRETED, "--quiet")
            self.assertGreater(self.found(directory)["durable_lsn"], whole["durable_lsn"], name)
            self.succeed("verify", directory, *INTERPRETED)

    def found(self, directory):
        report = self.report("recover", directory, *INTERPRETED)
        return {field: report[field] for field in ("state_digest", "durable_lsn")}


if __name__ == "__main__":
    unittest.main()
