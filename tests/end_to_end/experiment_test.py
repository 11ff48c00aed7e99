"""Goal: `mneme experiment` measures what its definitions say, keeps it, and its report can be looked at.

Method: some figures with --quick, of every kind of chart; the CSV held against the JSON, and the folder against what a second
run measures anew; the report in headless Chromium, at the width of a desk and of a phone, light, dark and in print.
"""

import csv
import json
import resource
import unittest

from program import BAD_ARGUMENTS, DAMAGED, FAILED, EndToEndTest, mneme
from report_look import PAGE, look_at

FIGURES = ["pacman-figure-11", "pacman-figure-20", "aether-figure-10", "seplog-figure-4"]


class Experiment(EndToEndTest):
    def measure(self, *arguments, figures=("aether-figure-10",)):
        return self.report("experiment", *figures, "--quick", "--output", self.folder / "results", *arguments)

    def files(self):
        return {path: path.stat().st_mtime_ns for path in (self.folder / "results" / "measurements").iterdir()}

    def test_list(self):
        told = self.report("experiment", "list")
        self.assertEqual(len(told["figures"]), 50)
        text = self.succeed("experiment", "list").stdout
        for figure in told["figures"]:
            self.assertIn(figure["name"], text)
            self.assertTrue(figure["expected_seconds"] > 0 or figure["not_here"], figure)

    def test_refuses(self):
        self.refuse(BAD_ARGUMENTS, ["list, report or --all"], "experiment")
        self.refuse(BAD_ARGUMENTS, ["no experiment pacman-figure-99", "experiment list"], "experiment", "pacman-figure-99")
        self.refuse(BAD_ARGUMENTS, ["can't be measured here", "serializable"], "experiment", "eleda-figure-13")
        self.refuse(BAD_ARGUMENTS, ["leave pacman-figure-16 out"], "experiment", "pacman-figure-16", "--all")
        self.refuse(BAD_ARGUMENTS, ["--fresh is for measuring"], "experiment", "report", "--fresh")
        self.refuse(BAD_ARGUMENTS, ["--output is for measuring"], "experiment", "list", "--output", self.folder)

    def test_measures_once(self):
        first = self.measure("--runs", 2)
        figure = first["figures"][0]
        self.assertTrue(figure["quick"])
        kept = self.files()
        self.assertEqual(len(kept), 2 * len(figure["commands"]))
        rows = list(csv.DictReader((self.folder / "results" / "figures" / "aether-figure-10.csv").read_text().splitlines()))
        points = [(panel["name"], series["name"], point["x"], round_ + 1, value) for panel in figure["panels"]
                  for series in panel["series"] for point in series["points"] for round_, value in enumerate(point["runs"])]
        self.assertEqual([(row["panel"], row["series"], row["x"], int(row["round"])) for row in rows], [point[:4] for point in points])
        for row, point in zip(rows, points):
            self.assertAlmostEqual(float(row["value"]) / point[4], 1, places=9)
        # One round more: what was there is not touched.
        again = self.succeed("experiment", "aether-figure-10", "--quick", "--runs", 3, "--output", self.folder / "results")
        self.assertIn(f"{len(kept)} measurements", again.stderr)
        more = self.files()
        self.assertEqual({path: more[path] for path in kept}, kept)
        self.assertEqual(len(more), 3 * len(figure["commands"]))
        self.measure("--runs", 1, "--fresh")
        fresh = self.files()
        self.assertEqual(len([path for path in fresh if fresh[path] != more[path]]), len(figure["commands"]))
        # A damaged file is reported, and not taken for a measurement.
        path = next(path for path in fresh if path.name.endswith("-1.json"))
        path.write_text("{")
        self.refuse(DAMAGED, [path.name, "--fresh"], "experiment", "aether-figure-10", "--quick", "--output", self.folder / "results")

    def test_what_cannot_be_measured_is_named_and_the_rest_is_kept(self):
        # Only a few files are larger than this: checkpoints, which only one of the figures has.
        most = 2 << 20
        result = mneme("experiment", "pacman-figure-11", "aether-figure-10", "--quick", "--runs", 1, "--output", self.folder / "results",
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
        self.assertEqual(result.returncode, FAILED, self.told(result))
        self.assertIn("1 of 2 figures were not measured: pacman-figure-11; the same command tries them again", result.stderr,
                      self.told(result))
        self.assertIn("ended with status 1:", result.stderr, self.told(result))
        self.assertIn("File too large", result.stderr, self.told(result))
        figures = self.folder / "results" / "figures"
        self.assertEqual({path.stem for path in figures.glob("*.json")}, {"aether-figure-10"})

    def test_report(self):
        told = self.measure("--runs", 1, figures=FIGURES)
        self.assertEqual([figure["name"] for figure in told["figures"]], FIGURES)
        self.assertFalse((self.folder / "results" / "databases").exists())
        timeline = told["figures"][0]["panels"][0]
        self.assertEqual({series["name"]: len(series["seconds"]) for series in timeline["series"]}, {"OFF": 2, "PL": 2, "LL": 2, "CL": 2})
        for parts in zip(*[[point["median"] for point in series["points"]] for series in told["figures"][1]["panels"][0]["series"]]):
            self.assertAlmostEqual(sum(parts), 100, places=3)
        if not (PAGE / "node_modules").exists():
            self.refuse(FAILED, ["without the report's plotting libraries", "scripts/setup"], "experiment", "report", "--output",
                        self.folder / "results")
            return
        report = self.folder / "elsewhere.html"
        self.succeed("experiment", "report", "--output", self.folder / "results", "--report", report)
        self.assertEqual((self.folder / "results" / "report.html").read_text(), report.read_text())
        look_at(self, report, told["figures"])

    def test_nothing_to_report(self):
        if (PAGE / "node_modules").exists():
            self.refuse(BAD_ARGUMENTS, ["there is no folder"], "experiment", "report", "--output", self.folder / "results")
            (self.folder / "results").mkdir()
            self.refuse(BAD_ARGUMENTS, ["holds no figures yet"], "experiment", "report", "--output", self.folder / "results")


if __name__ == "__main__":
    unittest.main()
