"""Goal: what Mneme says to clients is, message by message, what PostgreSQL 15 says: the same messages in the same order, with the same columns,
types, formats, values, tags, SQLSTATEs and places of errors.

Method: sessions that scripts/transcripts has recorded from PostgreSQL are played against `mneme serve`, the client's side as it is; the server's
side is compared. Where the two differ with a reason, tests/transcripts/differences.toml lists it.
"""

import pathlib
import sys
import unittest

from program import EndToEndTest
from serve_test import Server

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "transcripts"
sys.path.insert(0, str(FOLDER))

from comparison import Listed, differences  # noqa: E402
from player import play  # noqa: E402
from recorder import read  # noqa: E402


class Transcripts(EndToEndTest):
    def test_sessions_go_as_recorded(self):
        listed = Listed(FOLDER / "differences.toml")
        count = 0
        for path in sorted((FOLDER / "recorded").glob("*.txt")):
            server = Server(self.folder / path.stem, "--create")
            self.addCleanup(server.close)
            unlisted = []
            for number, recorded in enumerate(read(path), 1):
                count += 1
                got = play(server.environment, recorded)
                for asked, before, now in differences(recorded, got):
                    if not listed.allows(path.stem, asked, before, now):
                        unlisted.append("\n".join([f"{path.name}, session {number}:", *asked[-4:], f"recorded {before}", f"got      {now}"]))
            with self.subTest(path.name):
                self.assertEqual(unlisted, [], "\n\n".join(unlisted))
            server.close()
        with self.subTest("what is listed differs still"):
            self.assertEqual(listed.unmet(), [])
        self.assertGreaterEqual(count, 200)


if __name__ == "__main__":
    unittest.main()
