"""Goal: `mneme logbench` measures every log buffer and tells what it measured; run and crash take each of them.

Method: short measurements, whose figures must agree with each other; options that a buffer has no use for.
"""

import unittest

from program import BAD_ARGUMENTS, EndToEndTest

BUFFERS = ["mutex", "consolidation", "decoupled", "hybrid", "delegated", "socket", "grasshopper", "scan", "watermark",
           "extents"]


class Logbench(EndToEndTest):
    def check(self, result, record_bytes):
        self.assertGreater(result["inserts"], 0, result)
        self.assertAlmostEqual(result["inserts_per_s"] * result["seconds"], result["inserts"], delta=1)
        self.assertAlmostEqual(result["bytes_per_s"] / result["inserts_per_s"], record_bytes, delta=1e-6)

    def test_every_buffer(self):
        result = self.report("logbench", "--log-buffer", "all", "--threads", 2, "--duration", 0.05, "--work", "100ns")
        self.assertEqual([each["buffer"] for each in result["results"]], BUFFERS)
        for each in result["results"]:
            self.check(each, 120)
            self.assertGreaterEqual(each["latency_us"]["max"], each["latency_us"]["p50"])

    def test_the_durable_log(self):
        result = self.report("logbench", "--log-buffer", "extents", "--log-device", "file", "--data-dir",
                             self.folder / "log", "--duration", 0.2, "--record-bytes", 48)
        self.check(result, 48)
        self.assertFalse((self.folder / "log").exists())

    def test_the_flushers_bandwidth(self):
        result = self.report("logbench", "--log-device", "striped", "--data-dir", self.folder / "log", "--bytes", 20000000,
                             "--record-bytes", 10000, "--io-unit", 65536)
        self.check(result, 10000)
        self.assertEqual(result["inserts"], 2000)
        self.assertGreater(result["device_bytes"], 20000000)
        self.assertGreaterEqual(result["device_flushes"], 20000000 / 65536)
        self.assertGreaterEqual(result["device_flush_us"]["p99"], result["device_flush_us"]["p50"])
        self.assertEqual(result["segment_waits"], 0)

    def test_an_injected_latency_is_the_least_that_a_flush_takes(self):
        for seconds in (0.2, 5, 30):
            result = self.report("logbench", "--log-device", "file", "--data-dir", self.folder / "log", "--duration", seconds,
                                 "--device-latency", "5ms", "--work", "10us")
            # A disk that stalls may end no flush at all.
            if result["device_flush_us"]["p50"] > 0:
                break
        self.assertGreaterEqual(result["device_flush_us"]["p50"], 5000)

    def test_outliers(self):
        result = self.report("logbench", "--outliers", "4096:25", "--record-bytes", 48, "--duration", 0.2)
        mean = result["bytes_per_s"] / result["inserts_per_s"]
        self.assertAlmostEqual(mean, 0.75 * 48 + 0.25 * 4096, delta=100)

    def test_rounds(self):
        result = self.report("logbench", "--rounds", 3, "--duration", 0.05)
        self.assertEqual(sorted(result["runs_inserts_per_s"])[1], result["inserts_per_s"])

    def test_grasshopper_ways(self):
        crawled = {}
        # Long enough for the flusher to get a turn: where nothing hopped, nor crawled, the ratio is 1 as well.
        for way in ("crawl", "hop"):
            crawled[way] = self.report("logbench", "--log-buffer", "grasshopper", "--grasshopper", way,
                                       "--hop-distance", 65536, "--duration", 1)["crawling_ratio"]
        self.assertEqual(crawled, {"crawl": 1, "hop": 0})

    def test_refusals(self):
        for words, arguments in [
                (["there is no log buffer", "watermark"], ("--log-buffer", "ring")),
                (["has no use for --slots"], ("--log-buffer", "watermark", "--slots", 2)),
                (["has no use for --hop-distance"], ("--log-buffer", "mutex", "--hop-distance", 65536)),
                (["power of two"], ("--log-buffer", "grasshopper", "--hop-distance", 3000)),
                (["200ns"], ("--work", "200")),
                (["BYTES:PERCENT"], ("--outliers", "4096")),
                (["262160"], ("--record-bytes", 1000000)),
                (["--data-dir"], ("--data-dir", self.folder / "log")),
                (["--io-depth", "null"], ("--io-depth", 2)),
                (["--bytes", "--duration"], ("--bytes", 1000, "--duration", 1)),
                (["no use for --log-directory"], ("--log-device", "file", "--log-directory", "a")),
                (["name several"], ("--log-device", "striped", "--log-directory", "a")),
                (["inside the data directory"], ("--log-device", "striped", "--log-directory", "a", "--log-directory", "../b")),
                (["named twice"], ("--log-device", "striped", "--log-directory", "a", "--log-directory", "a")),
                (["multiple of 4096"], ("--log-device", "file", "--io-unit", 5000)),
                (["100us"], ("--log-device", "file", "--device-latency", "fast")),
                (["number of microseconds"], ("--log-device", "file", "--flush-interval", "soon"))]:
            self.refuse(BAD_ARGUMENTS, words, "logbench", *arguments)
        self.refuse(BAD_ARGUMENTS, ["only hops"], "run", "smallbank", "--data-dir", self.folder / "database",
                    "--log-buffer", "grasshopper", "--grasshopper", "hop")

    def test_a_run_through_every_buffer_recovers(self):
        for buffer in BUFFERS:
            with self.subTest(buffer):
                directory = self.folder / buffer
                run = self.report("run", "smallbank", "--data-dir", directory, "--log-buffer", buffer, "--threads", 2,
                                  "--transactions", 2000)
                self.assertEqual(run["log_buffer"], buffer)
                self.assertEqual(self.recover(directory)["state_digest"], run["state_digest"])


if __name__ == "__main__":
    unittest.main()
