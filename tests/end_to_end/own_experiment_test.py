"""Goal: `mneme experiment FILE.toml` runs what the file declares, each point in a directory of its own, keeps it, and shows it.

Method: commands of a fixed number of calls, whose results are known beforehand but for their times; the kept runs held against each other,
against the CSV, and against what the report's page saves. Mistakes are found before anything is run.
"""

import csv
import io
import json
import signal
import statistics
import subprocess
import time
import unittest

from program import BAD_ARGUMENTS, BINARY, FAILED, LONGEST_COMMAND_SECONDS, REPOSITORY, EndToEndTest
from report_look import PAGE, look_at

EXAMPLE = REPOSITORY / "examples" / "experiments" / "checkpoint_interval.toml"
INTERRUPTED = 130
POINTS = """
title = "Calls and the time to recover them"
asks = "Does recovery follow the number of calls?"
repeats = 2
warmup = 1
seed = 5
commands = ["run tpcb --scale 1 --threads 1 --transactions {calls}", "recover {dir} --scheme {scheme}"]

[axes]
calls = [100, 300]
scheme = { serial = "clr", "in parallel" = "clr-p" }

[[plots]]
name = "replay"
title = "Transactions replayed"
x = "calls"
y = "recover.transactions"
series = "scheme"

[[plots]]
title = "Latency"
x = "calls"
where = { scheme = "serial" }
y = { p50 = "run.latency_us.p50", max = "run.latency_us.max" }
unit = "us"
scale = "log"

[[claims]]
plot = "replay"
says = "all calls are replayed"
left = { series = "serial", x = "each" }
is = "above"
times = 99
"""


class OwnExperiment(EndToEndTest):
    def write(self, text, name="mine.toml"):
        path = self.folder / name
        path.write_text(text)
        return path

    @property
    def results(self):
        return self.folder / "results"

    def measurements(self):
        kept = [(path.stat().st_mtime_ns, json.loads(path.read_text())) for path in (self.results / "measurements").iterdir()]
        return [each for _, each in sorted(kept, key=lambda pair: pair[0])]

    def test_points_are_run_in_rounds_and_kept(self):
        path = self.write(POINTS)
        told = self.report("experiment", path, "--output", self.results)
        (figure,) = told["figures"]
        self.assertFalse(figure["partial"])
        self.assertEqual((figure["name"], figure["asks"], figure["seeds"], figure["declaration"]),
                         ("mine", "Does recovery follow the number of calls?", [5, 6], POINTS))
        self.assertIn(str(path), figure["provenance"]["command_line"])
        kept = self.measurements()
        # Two rounds of the four points, each with its own seed and directory; the warm-up is not kept.
        self.assertEqual([each["seed"] for each in kept], [5] * 4 + [6] * 4)
        for each in kept:
            run, recover = each["result"]["run"], each["result"]["recover"]
            self.assertEqual(run["seed"], each["seed"])
            self.assertEqual((run["committed"], run["state_digest"]), (recover["transactions"], recover["state_digest"]))
            self.assertTrue(run["version"] and run["host"] and recover["command_line"])
        self.assertEqual(len({each["result"]["run"]["state_digest"] for each in kept}), 4, "each seed makes other calls")
        self.assertNotEqual(kept[0]["key"].replace("5", "6"), kept[4]["key"], "a round begins with another point")
        self.assertEqual({series["name"]: [(point["x"], point["runs"]) for point in series["points"]] for series in figure["panels"][0]["series"]},
                         {name: [("100", [100, 100]), ("300", [300, 300])] for name in ("serial", "in parallel")})
        for series in figure["panels"][1]["series"]:
            for point in series["points"]:
                self.assertEqual(point["median"], statistics.median(point["runs"]))
                self.assertEqual((point["low"], point["high"]), (min(point["runs"]), max(point["runs"])))
        self.assertEqual([claim["holds"] for claim in figure["claims"]], [True])
        rows = list(csv.DictReader((self.results / "figures" / "mine.csv").read_text().splitlines()))
        self.assertEqual([row["value"] for row in rows[:8]], ["100", "100", "300", "300"] * 2)
        self.assertEqual([row["seed"] for row in rows[:4]], ["5", "6", "5", "6"])
        self.assertEqual(rows[0]["command"], "mneme run tpcb --scale 1 --threads 1 --transactions 100 --seed {seed}; "
                                             "mneme recover {dir} --scheme clr")
        # Nothing is measured again, but what a new value of an axis asks for.
        more = self.write(POINTS.replace("[100, 300]", "[100, 300, 50]"))
        again = self.succeed("experiment", more, "--output", self.results)
        self.assertIn("8 measurements of", again.stderr)
        self.assertIn("in parallel", again.stdout)
        self.assertEqual([each["result"]["run"]["committed"] for each in self.measurements()[8:]], [50] * 4)
        if (PAGE / "node_modules").exists():
            self.look(json.loads((self.results / "figures" / "mine.json").read_text()))

    def look(self, figure):
        desk = look_at(self, self.results / "report.html", [figure])["desk-light"]
        written = list(csv.DictReader((self.results / "figures" / "mine.csv").read_text().splitlines()))
        saved = {each["name"]: each for each in desk["saved"]}
        self.assertEqual(set(saved), {"mine-replay.svg", "mine-replay.csv", "mine-plot-2.svg", "mine-plot-2.csv"})
        for panel in ("replay", "plot-2"):
            self.assertGreater(saved[f"mine-{panel}.svg"]["marks"], 8)
            rows = list(csv.DictReader(io.StringIO(saved[f"mine-{panel}.csv"]["text"])))
            of_panel = [row for row in written if row["panel"] == panel]
            self.assertEqual([{**row, "value": float(row["value"])} for row in rows],
                             [{**row, "value": float(row["value"])} for row in of_panel])
        self.assertIn("95% interval", desk["tips"][0])

    def test_an_interruption_keeps_what_there_is(self):
        text = """
title = "One that ends soon, and one that doesn't"
repeats = 1
commands = "run tpcb --scale 1 --threads 1 --log off --duration {seconds}"
[axes]
seconds = [0.05, 3600]
[[plots]]
title = "Throughput"
x = "seconds"
y = "throughput_tps"
"""
        path = self.write(text)
        arguments = [BINARY, "experiment", path, "--output", self.results, "--quiet", "--json", "-"]
        process = subprocess.Popen([*map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        while not list(self.results.glob("measurements/*.json")):
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=LONGEST_COMMAND_SECONDS)
        self.assertEqual(process.returncode, INTERRUPTED, errors)
        told = json.loads(output)
        figure = json.loads((self.results / "figures" / "mine.json").read_text())
        for each in (figure, told["figures"][0]):
            self.assertTrue(each["partial"])
            self.assertEqual((each["measured"], each["planned"]), (1, 2))
            self.assertEqual([point["x"] for point in each["panels"][0]["series"][0]["points"]], ["0.05"])
        self.assertTrue(told["partial"])
        self.assertFalse((self.results / "databases").exists())
        # It goes on: what was measured stays.
        (kept,) = self.measurements()
        self.write(text.replace("3600", "0.06"))
        figure = self.report("experiment", path, "--output", self.results)["figures"][0]
        self.assertFalse(figure["partial"])
        self.assertEqual(self.measurements()[0], kept)
        self.assertEqual(figure["panels"][0]["series"][0]["points"][0]["runs"], [kept["result"]["throughput_tps"]])

    def test_mistakes_are_told_before_anything_is_run(self):
        path = self.write(POINTS.replace("--threads", "--theads").replace("clr-p", "clrp").replace('unit = "us"', 'unti = "us"'))
        self.refuse(BAD_ARGUMENTS, [f"{path}:25:1: a plot has no key \"unti\"; did you mean unit?"], "experiment", path, "--output", self.results)
        path = self.write(POINTS.replace("--threads", "--theads"))
        self.refuse(BAD_ARGUMENTS, [f"{path}:7:13: \"run tpcb --scale 1 --theads 1", "has no option --theads; did you mean --threads?"],
                    "experiment", path, "--output", self.results)
        self.refuse(BAD_ARGUMENTS, [f"there is no file {self.folder}/none.toml"], "experiment", self.folder / "none.toml")
        other = self.folder / "other"
        other.mkdir()
        (other / "mine.toml").write_text(POINTS)
        self.refuse(BAD_ARGUMENTS, ["two files are called mine"], "experiment", self.write(POINTS), other / "mine.toml", "--output", self.results)
        self.assertFalse(self.results.exists())

    def test_what_the_json_lacks_is_told_after_one_run(self):
        path = self.write(POINTS.replace("recover.transactions", "recover.transaction").replace("latency_us.max", "latency_us.p100"))
        self.refuse(BAD_ARGUMENTS, [f"{path}:17:5: the command's JSON has no number \"recover.transaction\"; did you mean recover.transactions?",
                                    f"{path}:24:41: the command's JSON has no number \"run.latency_us.p100\"; did you mean run.latency_us.p50?", "p999"],
                    "experiment", path, "--output", self.results)
        self.assertEqual(self.measurements(), [], "the warm-up's first run has told it")

    def test_a_command_that_fails_is_named_with_its_place(self):
        path = self.write(POINTS.replace("recover {dir}", "recover {dir}/elsewhere"))
        self.refuse(BAD_ARGUMENTS, [f"{path}:7:13: mneme recover ", "/elsewhere"], "experiment", path, "--output", self.results)
        both = self.report_of_failure(path, "aether-figure-10")
        self.assertIn("1 of 2 figures were not measured: mine", both)

    def report_of_failure(self, path, figure):
        return self.refuse_with_results(FAILED, "experiment", path, figure, "--quick", "--runs", 1, "--output", self.results).stderr

    def refuse_with_results(self, status, *arguments):
        result = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=LONGEST_COMMAND_SECONDS, check=False)
        self.assertEqual(result.returncode, status, self.told(result))
        return result

    def test_the_example(self):
        self.assertIn(EXAMPLE.read_text(), (REPOSITORY / "docs" / "experiments.md").read_text())
        self.assertLessEqual(len(EXAMPLE.read_text().splitlines()), 25)
        (figure,) = self.report("experiment", EXAMPLE, "--quick", "--runs", 1, "--output", self.results)["figures"]
        self.assertEqual([[(series["name"], [point["x"] for point in series["points"]]) for series in panel["series"]]
                          for panel in figure["panels"]],
                         [[("Time to recover", ["0.2", "off"])], [("p50", ["0.2", "off"]), ("p99.9", ["0.2", "off"])]])
        for kept in self.measurements():
            self.assertEqual(kept["result"]["run"]["state_digest"], kept["result"]["recover"]["state_digest"])

    def test_the_papers_figures_are_such_files(self):
        files = sorted((REPOSITORY / "experiments" / "figures").glob("*.toml"))
        copies = []
        for path in files:
            copies.append(self.folder / f"copy-of-{path.name}")
            copies[-1].write_text(path.read_text())
        # Every command line is looked at before it is listed.
        built_in = self.report("experiment", "list", *[path.stem for path in files])["figures"]
        copied = self.report("experiment", "list", *copies)["figures"]
        self.assertEqual([{**each, "name": f"copy-of-{each['name']}"} for each in built_in], copied)
        self.assertTrue(all(each["commands"] or each["not_here"] for each in built_in))
        listed = self.report("experiment", "list")["figures"]
        self.assertEqual({each["name"]: each for each in listed}, {each["name"]: each for each in built_in})
        told = self.succeed("experiment", "list", "pacman-figure-21").stdout
        self.assertIn("    mneme slice tpcc --conflicts column\n", told)
        self.assertEqual(self.succeed("experiment", "show", files[0].stem).stdout, files[0].read_text())
        self.refuse(BAD_ARGUMENTS, ["show prints the file of one of the figures"], "experiment", "show", "nothing")
        self.refuse(BAD_ARGUMENTS, ["show prints the file of one of the figures"], "experiment", "show")
        self.refuse(BAD_ARGUMENTS, ["--quick is for measuring"], "experiment", "show", files[0].stem, "--quick")
        not_here = self.folder / "copy-of-eleda-figure-13.toml"
        self.refuse(BAD_ARGUMENTS, ["copy-of-eleda-figure-13 can't be measured here. It shows"], "experiment", not_here)

    def test_databases_servers_and_timelines_of_ones_own(self):
        path = self.write("""
title = "What the papers' figures are made of"
seed = "off"
[databases]
calls = "run tpcb --scale 1 --threads 1 --transactions {calls}"
[axes]
calls = 200
scheme = { serial = "clr", "in parallel" = "clr-p" }
many = [1, 3]
[[plots]]
title = "Calls"
x = "scheme"
y = "transactions"
commands = "recover @calls --scheme {scheme}"
paper_values = [{ series = "Calls", x = "all", value = 200 }]
[[plots]]
title = "Simulated"
x = "many"
[[plots.series]]
name = "cores"
commands = "recover @calls --scheme clr-p --simulate-cores {many.all}"
y = "simulation.schedules.{many.index}.cores"
simulated = true
[[plots]]
title = "On a server"
x = "calls"
commands = "run tpcb --scale 1 --threads 1 --transactions {calls} --log-device remote --log-server {server}"
y = "committed"
[[plots]]
title = "Over time"
chart = "timeline"
unit = "transactions/s"
series = "scheme"
commands = ["run tpcb --scale 1 --threads 1 --duration 1", "recover {dir} --scheme {scheme}"]
y = "run.throughput_per_second"
""")
        (figure,) = self.report("experiment", path, "--runs", 2, "--output", self.results)["figures"]
        points = [[(point["x"], point["runs"]) for point in series["points"]] for panel in figure["panels"][:3] for series in panel["series"]]
        self.assertEqual(points, [[("serial", [200, 200]), ("in parallel", [200, 200])], [("1", [1, 1]), ("3", [3, 3])], [("200", [200, 200])]])
        self.assertTrue(figure["panels"][1]["series"][0]["simulated"])
        for timeline in figure["panels"][3]["series"]:
            self.assertTrue(timeline["seconds"])
        self.assertEqual(figure["seeds"], [])
        self.assertEqual(figure["commands"][:2], ["mneme run tpcb --scale 1 --threads 1 --transactions 200 --data-dir @calls",
                                                  "mneme recover @calls --scheme clr"])
        # One database for all, of which each measurement says what made it.
        digests = {kept["result"]["state_digest"] for kept in self.measurements() if "@calls" in kept["command"]}
        self.assertEqual(len(digests), 1)
        if (PAGE / "node_modules").exists():
            look_at(self, self.results / "report.html", [figure])

    def test_the_first_transaction(self):
        example = REPOSITORY / "examples" / "experiments" / "first_transaction.toml"
        (figure,) = self.report("experiment", example, "--quick", "--runs", 1, "--output", self.results)["figures"]
        (panel,) = figure["panels"]
        self.assertEqual([[point["x"] for point in series["points"]] for series in panel["series"]], [["2000", "4000"]] * 3)
        for recovered in (kept["result"]["recover"] for kept in self.measurements()):
            if "first_transaction_seconds" in recovered:
                # Counted from the beginning, when the checkpoint was yet to be loaded. It may end behind the last of replay.
                self.assertGreater(recovered["first_transaction_seconds"], recovered["checkpoint_seconds"])


if __name__ == "__main__":
    unittest.main()
