"""Goal: the pages that `mneme slice --html` and `mneme recover --trace-html` write stand alone, show all there is without an error, and
fit a desk and a phone.

Method: Chromium without a window loads each, at 1280 and at 390 points, with a script behind the page's own that counts what was drawn,
operates it, and writes what it found where the dumped page shows it.
"""

import json
import re
import shutil
import subprocess
import unittest

from program import LONGEST_COMMAND_SECONDS, REPOSITORY, EndToEndTest

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
# Shared memory in files of /tmp: /dev/shm may be small, or not there.
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
           "--enable-logging=stderr", "--dump-dom")
WIDTHS = (1280, 390)


class Pages(EndToEndTest):
    def look(self, page, width, script):
        """What `script`, an expression, finds in the page once it has loaded."""
        self.assertIsNotNone(CHROMIUM, "there is no Chromium: scripts/setup installs it")
        text = page.read_text()
        self.assertNotRegex(text, r'(src|href)\s*=|@import|url\(["\']?http', "a page fetches nothing")
        probe = f"""<script>addEventListener("load", () => {{ const found = {script}; const told = document.createElement("pre");
            told.id = "found"; told.textContent = JSON.stringify({{ found, wide: document.documentElement.scrollWidth }});
            document.body.append(told); }});</script>"""
        probed = page.with_name(f"probed-{page.name}")
        probed.write_text(text.replace("</body>", probe + "</body>"))
        result = subprocess.run([CHROMIUM, *OPTIONS, f"--user-data-dir={self.folder / 'chromium'}", f"--window-size={width},900",
                                 f"file://{probed}"], capture_output=True, text=True, timeout=LONGEST_COMMAND_SECONDS, check=False)
        self.assertNotRegex(result.stderr, r"Uncaught|ERROR:CONSOLE", self.told(result))
        found = re.search(r'<pre id="found">(.*?)</pre>', result.stdout, re.DOTALL)
        self.assertIsNotNone(found, self.told(result))
        told = json.loads(found.group(1).replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&"))
        self.assertLessEqual(told["wide"], width, "nothing stands out of the page")
        return told["found"]

    def test_slices(self):
        page = self.folder / "slices.html"
        graph = self.report("slice", "tpcc", "--html", page)
        coarse = self.report("slice", "tpcc", "--conflicts", "table")
        self.assertNotEqual(len(graph["blocks"]), len(coarse["blocks"]))
        slices = sum(len(procedure["slices"]) for procedure in graph["procedures"])
        for width in WIDTHS:
            found = self.look(page, width, """(() => {
                const count = (selector) => document.querySelectorAll(selector).length;
                const fine = { blocks: count("#blocks rect"), slices: count("#procedures rect"), arrows: count("#blocks g.link") };
                document.querySelector("#blocks g.link").dispatchEvent(new Event("pointerenter"));
                fine.why = document.getElementById("why").textContent;
                fine.coloured = count("pre .of");
                fine.code = document.querySelector("pre").textContent.slice(0, 60);
                const table = document.querySelector("input[value=table]");
                table.checked = true;
                table.dispatchEvent(new Event("change"));
                return { fine, coarse: count("#blocks rect") };
            })()""")
            fine = found["fine"]
            self.assertEqual((fine["blocks"], fine["slices"]), (len(graph["blocks"]), slices))
            self.assertEqual(found["coarse"], len(coarse["blocks"]))
            self.assertGreater(fine["arrows"], 5)
            self.assertLess(fine["arrows"], len(graph["edges"]), "what others imply is not drawn")
            self.assertRegex(fine["why"], "is used at line|writes")
            self.assertGreater(fine["coloured"], 60)
            self.assertIn("PROCEDURE new_order", fine["code"])

    def test_slices_of_a_file(self):
        page = self.folder / "slices.html"
        graph = self.report("slice", REPOSITORY / "examples" / "shop" / "shop.sql", "--html", page)
        found = self.look(page, 390, 'document.querySelectorAll("#blocks rect").length')
        self.assertEqual(found, len(graph["blocks"]))

    def test_a_replay(self):
        database, page, trace = self.folder / "database", self.folder / "replay.html", self.folder / "trace.json"
        self.report("run", "smallbank", "--transactions", 20000, "--threads", 2, "--data-dir", database)
        recovered = self.report("recover", database, "--threads", 2, "--trace-html", page, "--trace", trace)
        steps = [event for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] == "X" and event["cat"] != "stage"]
        blocks = {event["args"]["block"] for event in steps if "block" in event["args"]}
        for width in WIDTHS:
            found = self.look(page, width, """(() => {
                const painted = () => { const canvas = document.getElementById("chart");
                  const bytes = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
                  let inked = 0; for (let i = 3; i < bytes.length; i += 4) inked += bytes[i] > 0; return inked / (canvas.width * canvas.height); };
                const found = { summary: document.getElementById("summary").textContent, legend: document.querySelectorAll("#legend li").length,
                  threads: document.querySelectorAll("#times tr").length - 1, painted: [painted()] };
                for (const view of ["blocks", "lanes"]) { const input = document.querySelector(`input[value=${view}]`);
                  input.checked = true; input.dispatchEvent(new Event("change")); found.painted.push(painted()); }
                document.getElementById("in").click();
                found.painted.push(painted());
                return found;
            })()""")
            self.assertIn(f"on 2 threads, {len(steps)} steps", found["summary"])
            self.assertEqual(found["legend"], len(blocks) + 2)
            self.assertEqual(found["threads"], recovered["threads"])
            for share in found["painted"]:
                self.assertGreater(share, 0.02)


if __name__ == "__main__":
    unittest.main()
