"""Goal: what log servers hold survives links that are cut, on a real network.

Method: `scripts/link-campaign` for a few schedules, which has network namespaces of its own: skipped, with the reason, where a
namespace can't be made by this test itself, and only there.
"""

import os
import re
import subprocess
import unittest

from program import BAD_ARGUMENTS, BINARY, DONE, LONGEST_COMMAND_SECONDS, REPOSITORY, EndToEndTest


def why_without_namespaces():
    """Empty where namespaces can be made, of processes and of networks, and links between them."""
    as_root = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    links = "ip link add here type veth peer name there && ip link set here up"
    command = ["unshare", *as_root, "--net", "--pid", "--fork", "--mount-proc", "sh", "-c", links]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr.strip() or "unshare failed"


class Link(EndToEndTest):
    def script(self, name, *arguments):
        command = [REPOSITORY / "scripts" / name, "--directory", self.folder, *map(str, arguments)]
        return subprocess.run(command, env={**os.environ, "MNEME": os.path.abspath(BINARY)}, capture_output=True, text=True,
                              timeout=LONGEST_COMMAND_SECONDS, check=False)

    def test_nothing_is_lost_when_links_are_cut(self):
        if why := why_without_namespaces():
            self.skipTest(f"no network namespaces can be made here: {why}")
        done = self.script("link-campaign", "--schedules", 6, "--seed", 5)
        self.assertEqual(done.returncode, DONE, self.told(done))
        self.assertRegex(done.stdout, r"^6 schedules, [1-9]\d* transactions acknowledged in them, 0 lost, 0 invented\n")
        self.assertRegex(done.stdout, r"by kind: minority [1-9]\d*, majority [1-9]\d*, silence 0\n")
        done_to = re.search(r"servers and links: cut (\d+), reset (\d+), kill (\d+), end (\d+), hang (\d+)\n", done.stdout)
        self.assertGreater(sum(map(int, done_to.groups())), 0)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_an_unknown_kind_of_schedule_is_refused(self):
        done = self.script("link-campaign", "--kinds", "nonesuch")
        self.assertEqual(done.returncode, BAD_ARGUMENTS, self.told(done))
        self.assertIn("there are minority, majority, silence", done.stderr)


if __name__ == "__main__":
    unittest.main()
