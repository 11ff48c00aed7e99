"""Looks at a report of `mneme experiment` in headless Chromium (report_page.mjs)."""

import json
import pathlib
import shutil
import subprocess

from program import LONGEST_COMMAND_SECONDS, REPOSITORY

PAGE = REPOSITORY / "experiments" / "page"


def look_at(test, report, figures):
    """Holds that the report shows each of the figures, whole, in all settings; returns what was found."""
    node = shutil.which("node")
    test.assertIsNotNone(node, "scripts/setup installs what looks at the report")
    script = pathlib.Path(__file__).with_name("report_page.mjs")
    done = subprocess.run([node, script, report], capture_output=True, text=True, timeout=LONGEST_COMMAND_SECONDS, check=False)
    test.assertEqual(done.returncode, 0, done.stderr)
    looks = json.loads(done.stdout)
    panels = [panel for figure in figures for panel in figure["panels"]]
    charts = len(panels) + len([panel for panel in panels if panel["paper"]])
    for name, look in looks.items():
        with test.subTest(look=name):
            test.assertEqual(look["errors"], [])
            test.assertEqual(look["requests"], [])
            test.assertEqual(look["wide"], [])
            test.assertEqual(look["scroll_width"], look["width"])
            test.assertEqual(look["sections"], len(figures))
            test.assertEqual(len(look["charts"]), charts)
            for chart in look["charts"]:
                test.assertGreater(chart["marks"], 0, chart)
                test.assertEqual((chart["cut"], chart["overlapping"]), ([], []), chart["label"])
    test.assertNotEqual(looks["desk-light"]["colours"], looks["desk-dark"]["colours"])
    return looks
