"""Goal: `--metrics` shows on a page of loopback, in Prometheus' text format, what a server and a run are doing, while they do it.

Method: the page is fetched before and behind known work. Ports are those that the system chose.
"""

import re
import signal
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from program import BINARY, FAILED, LONGEST_COMMAND_SECONDS, EndToEndTest, mneme
from serve_test import Server

SAMPLE = re.compile(r'([a-z_]+)(\{[a-z_]+="[^"]*"\})? (\S+)')


def address(process):
    """Where a process that was started with --metrics says its page is."""
    for line in process.stderr:
        found = re.search(r"metrics are on (http://127\.0\.0\.1:\d+/metrics)", line)
        if found:
            return found[1]
    raise AssertionError("the process has ended, and told no address")


def fetch(url):
    with urllib.request.urlopen(url, timeout=60) as reply:
        return reply.headers["Content-Type"], reply.read().decode()


def samples(url):
    _, text = fetch(url)
    values = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, labels, value = SAMPLE.fullmatch(line).groups()
            values[name + (labels or "")] = float(value)
    return values


class Metrics(EndToEndTest):
    def test_a_server(self):
        server = Server(self.folder / "db", "--create", "--metrics", 0)
        self.addCleanup(server.close)
        url = address(server.process)
        kind, text = fetch(url)
        self.assertTrue(kind.startswith("text/plain"), kind)
        for line in ("# TYPE mneme_log_records_total counter", "# TYPE mneme_log_flush_seconds summary", "# TYPE mneme_recovered gauge"):
            self.assertIn(line, text.splitlines())
        before = samples(url)
        self.assertEqual(before["mneme_recovered"], 1)
        result = server.client("psql", "-X", "-c", "CREATE TABLE t (id INT PRIMARY KEY)", "-c", "INSERT INTO t VALUES (1)", "-c", "INSERT INTO t VALUES (2)")
        self.assertEqual(result.returncode, 0, self.told(result))
        after = samples(url)
        self.assertEqual(after["mneme_clients_total"] - before["mneme_clients_total"], 1)
        # Two transactions at least, and all that was acknowledged is durable.
        self.assertGreaterEqual(after["mneme_log_records_total"] - before["mneme_log_records_total"], 2)
        self.assertGreater(after["mneme_log_durable_lsn"], before["mneme_log_durable_lsn"])
        self.assertGreaterEqual(after["mneme_log_flush_seconds_count"], 1)
        self.assertGreater(after["mneme_memory_bytes"], 0)
        self.assertGreater(after["process_resident_memory_bytes"], 1 << 20)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            fetch(url.removesuffix("metrics") + "other")
        self.assertEqual(refused.exception.code, 404)
        # A port that is taken.
        port = url.split(":")[2].split("/")[0]
        result = mneme("serve", self.folder / "other", "--create", "--listen", "127.0.0.1:0", "--metrics", port)
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertIn("the port is taken", result.stderr)

    def test_a_run(self):
        run = subprocess.Popen([BINARY, "run", "smallbank", "--duration", "600", "--metrics", "0", "--data-dir", self.folder / "db"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        url = address(run)
        deadline = time.monotonic() + LONGEST_COMMAND_SECONDS
        seen = samples(url)
        while seen["mneme_transactions_committed_total"] == 0 and time.monotonic() < deadline:
            time.sleep(0.05)
            seen = samples(url)
        self.assertGreater(seen["mneme_transactions_committed_total"], 0)
        self.assertGreater(seen["mneme_log_records_total"], 0)
        run.send_signal(signal.SIGINT)
        output, errors = run.communicate(timeout=LONGEST_COMMAND_SECONDS)
        self.assertEqual(run.returncode, 130, output + errors)


if __name__ == "__main__":
    unittest.main()
