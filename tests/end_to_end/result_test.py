"""Goal: a result says what it was: which program, command line and machine made it, and what was asked for; second by second.

Method: hold the fields against each other, against what this process sees of the machine, and against git. The log of latencies is read
by another implementation of HdrHistogram, and must hold what the JSON says.
"""

import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import time
import unittest

from program import BAD_ARGUMENTS, BINARY, REPOSITORY, EndToEndTest, mneme

READER = REPOSITORY / "tests" / "clients" / "python" / "packages"


class Results(EndToEndTest):
    def check_origin(self, result, *words):
        self.assertEqual(f"mneme {result['version']} " +
                         (f"(commit {result['commit']})" if result["commit"] else "(built outside git)"),
                         mneme("--version").stdout.strip())
        for word in words:
            self.assertIn(word, result["command_line"].split())
        self.assertRegex(result["started"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        host = result["host"]
        self.assertEqual(host["kernel"], f"{platform.system()} {platform.release()}")
        self.assertEqual(host["cores"], len(os.sched_getaffinity(0)))
        self.assertGreater(host["memory_bytes"], 1 << 20)
        for field in ("processor", "system", "huge_pages", "virtualisation", "governor"):
            self.assertTrue(host[field] is None or host[field], field)
        self.assertGreaterEqual(host["load_before"], 0)
        self.assertGreaterEqual(host["load_after"], 0)
        build = result["build"]
        self.assertIn("-ffp-contract=off", build["flags"])
        self.assertTrue(build["compiler"] and build["type"] and build["program"])
        return host

    def test_each_command_says_where_its_result_comes_from(self):
        database = self.folder / "data base"
        run = self.report("run", "smallbank", "--data-dir", database, "--transactions", 100, "--seed", 7)
        host = self.check_origin(run, "run", "smallbank", "--seed", "7")
        self.assertIn(f"'{database}'", run["command_line"])
        self.assertEqual(run["seed"], 7)
        self.assertTrue(host["disk"]["device"] and host["disk"]["file_system"])
        self.assertIsNone(self.report("run", "smallbank", "--log", "off", "--transactions", 9)["host"]["disk"])
        for command in ("recover", "verify"):
            host = self.check_origin(self.report(command, database), command)
            self.assertTrue(host["disk"])
        crash = self.report("crash", "smallbank", "--data-dir", self.folder / "crash", "--rounds", 1, "--longest-run", 0.1)
        self.check_origin(crash, "crash")
        self.assertEqual(crash["seed"], 1)
        self.check_origin(self.report("logbench", "--duration", 0.05), "logbench")
        every = self.report("logbench", "--duration", 0.01, "--log-buffer", "all")
        self.check_origin(every, "logbench")
        self.assertNotIn("host", every["results"][0])
        self.check_origin(self.report("slice", "tpcc"), "slice", "tpcc")

    # Where this is a repository, and the program its last build.
    def test_the_commit(self):
        told = re.fullmatch(r"mneme [\d.]+ \((?:commit ([0-9a-f]{40})(?:-modified)?|built outside git)\)\n", mneme("--version").stdout)
        self.assertTrue(told)
        # A source tree outside git has no commit, wherever it lies.
        source = self.folder / "source"
        for part in ("cmake", "measurement/machine"):
            (source / part).mkdir(parents=True)
        for name in ("cmake/build_description.cmake", "measurement/machine/build_description.cc.in"):
            shutil.copy(REPOSITORY / name, source / name)

        def described():
            target = self.folder / "description.cc"
            subprocess.run(["cmake", "-D", f"SOURCE={source}", "-D", f"TARGET={target}", "-D", "VERSION=1", "-D", "COMPILER=c",
                            "-D", "FLAGS=f", "-D", "TYPE=t", "-P", source / "cmake/build_description.cmake"], check=True)
            return re.search(r'\.commit = "(.*)"', target.read_text()).group(1)

        def git(*arguments):
            command = ["git", "-C", source, "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

        self.assertEqual(described(), "")
        git("init", "--quiet")
        git("add", ".")
        git("commit", "--quiet", "--message", "All")
        git("tag", "--annotate", "v1", "--message", "One")
        commit = git("rev-parse", "HEAD")
        self.assertEqual(described(), commit)
        with open(source / "cmake/build_description.cmake", "a") as file:
            file.write("\n")
        self.assertEqual(described(), commit + "-modified")

    def test_a_run_says_what_it_was_asked_for(self):
        run = self.report("run", "ycsb", "--log", "off", "--ycsb", "B", "--duration", 0.3, "--warmup", 0.2)
        self.assertEqual(max(run["mix"].values()), 95)
        self.assertEqual(sum(run["mix"].values()), 100)
        self.assertEqual((run["skew"], run["warmup_seconds"], run["duration_seconds"], run["transactions"]), (0.99, 0.2, 0.3, None))
        self.assertEqual(run["workload_options"]["ycsb"], "B")
        run = self.report("run", "smallbank", "--log", "off", "--transactions", 50, "--mix", "balance=40,write_check=60")
        self.assertEqual(run["mix"], {"balance": 40, "deposit_checking": 0, "transact_savings": 0, "amalgamate": 0, "write_check": 60,
                                      "send_payment": 0})
        self.assertEqual((run["skew"], run["duration_seconds"], run["transactions"]), (None, None, 50))
        run = self.report("run", "tpcb", "--log", "off", "--transactions", 50, "--skew", 0.5)
        self.assertEqual((run["skew"], list(run["mix"].values())), (0.5, [100]))

    def test_second_by_second(self):
        run = self.report("run", "smallbank", "--log", "off", "--duration", 2.2, "--threads", 2)
        seconds = run["per_second"]
        self.assertEqual([each["second"] for each in seconds], list(range(len(seconds))))
        self.assertGreaterEqual(len(seconds), 3)
        self.assertEqual(sum(each["committed"] for each in seconds), run["committed"])
        self.assertEqual([each["committed"] for each in seconds[:2]], run["throughput_per_second"])
        self.assertEqual(max(each["max_us"] for each in seconds), run["latency_us"]["max"])
        for each in seconds:
            self.assertTrue(each["p50_us"] <= each["p95_us"] <= each["p99_us"] <= each["max_us"], each)
        stalls = run["stalls"]
        self.assertGreaterEqual(stalls["steal_seconds"], 0)
        self.assertGreaterEqual(stalls["others_seconds"], 0)
        self.assertGreaterEqual(stalls["preemptions"], 0)
        self.assertGreaterEqual(stalls["longest_delay_ms"], 0)

    def test_a_run_that_ends_within_its_warm_up_says_so(self):
        told = self.succeed("run", "smallbank", "--log", "off", "--transactions", 10, "--warmup", 60)
        self.assertIn("note: the run ended within its warm-up", told.stderr)

    def test_a_log_of_latencies(self):
        if not (READER / "hdrh").is_dir():
            self.skipTest("pip has not fetched hdrhistogram (scripts/setup)")
        sys.path.insert(0, str(READER))
        from hdrh.histogram import HdrHistogram
        from hdrh.log import HistogramLogReader

        path = self.folder / "latencies.hlog"
        before = time.time()
        run = self.report("run", "smallbank", "--log", "off", "--duration", 1.5, "--warmup", 0.2, "--threads", 2, "--histogram", path)
        reader = HistogramLogReader(str(path), HdrHistogram(1, 3_600_000_000_000, 2))
        sums = {}
        seconds = {}
        while interval := reader.get_next_interval_histogram():
            tag = interval.get_tag()
            sums.setdefault(tag, HdrHistogram(1, 3_600_000_000_000, 2)).add(interval)
            second = round(interval.get_start_time_stamp() / 1000 - reader.get_start_time_sec())
            seconds[second] = seconds.get(second, 0) + interval.get_total_count()
        reader.close()
        self.assertTrue(before <= reader.get_start_time_sec() <= time.time(), reader.get_start_time_sec())
        self.assertEqual(set(sums), {name for name, part in run["by_procedure"].items() if part["committed"]})
        for name, histogram in sums.items():
            part = run["by_procedure"][name]
            self.assertEqual(histogram.get_total_count(), part["committed"])
            for field, percentile in (("p50", 50), ("p95", 95), ("p99", 99), ("max", 100)):
                # The log's buckets are no wider than 1/128 of a value, the JSON's than 1/32, and either tells a bucket's upper end.
                logged = histogram.get_value_at_percentile(percentile) / 1000
                self.assertTrue(0.96 <= logged / part["latency_us"][field] <= 1.02, (name, field, logged, part["latency_us"]))
        self.assertEqual(seconds, {each["second"]: each["committed"] for each in run["per_second"]})
        self.refuse(BAD_ARGUMENTS, ["--histogram", "there is no folder"], "run", "smallbank", "--histogram", self.folder / "no/where")


if __name__ == "__main__":
    unittest.main()
