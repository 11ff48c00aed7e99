"""Goal: the pages that `mneme slice --html` and `mneme recover --trace-html` write stand alone, show all there is without an error, say what
they should of lanes, paths and times, and fit a desk and a phone. All pages have one design.

Method: Chromium without a window loads each, at 1280 and at 390 points, with a script behind the page's own that counts what was drawn,
operates it, and writes what it found where the dumped page shows it.
"""

import json
import re
import shutil
import subprocess
import unittest

from program import BAD_ARGUMENTS, LONGEST_COMMAND_SECONDS, REPOSITORY, EndToEndTest

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
# Shared memory in files of /tmp: /dev/shm may be small, or not there.
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
           "--enable-logging=stderr", "--dump-dom")
WIDTHS = (1280, 390)
DESIGN = REPOSITORY / "experiments" / "page" / "design.css"
# Where an arrow's line lies within a box, its edge left aside.
BEHIND_BOXES = """[...document.querySelectorAll("svg")].flatMap((svg) => {
    const boxes = [...svg.querySelectorAll("g.node rect")].map((rect) => rect.getBBox());
    return [...svg.querySelectorAll("path.edge")].flatMap((path) => {
      const at = [];
      for (let far = 0; far < path.getTotalLength(); far += 3) {
        const { x, y } = path.getPointAtLength(far);
        if (boxes.some((box) => x > box.x + 1.5 && x < box.x + box.width - 1.5 && y > box.y + 1.5 && y < box.y + box.height - 1.5)) at.push([x, y]);
      }
      return at;
    });
})"""
# A table whose only key is assigned, and one that a procedure finds by what it reads.
COUNTER = """CREATE TABLE counter (id INT NOT NULL, n INT NOT NULL, PRIMARY KEY (id));
CREATE PROCEDURE rise(x INT) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE counter SET id = id + 1 WHERE id = x;
END;
$$;
"""


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
                fine.longest = document.getElementById("longest").textContent;
                fine.marked = count("#blocks g.link.marked");
                fine.lanes = [...document.querySelectorAll("#lanes tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent));
                fine.behind = BEHIND_BOXES;
                fine.text = document.body.innerText;
                fine.coloured = count("pre .of");
                fine.code = document.querySelector("pre").textContent.slice(0, 60);
                const table = document.querySelector("input[value=table]");
                table.checked = true;
                table.dispatchEvent(new Event("change"));
                return { fine, coarse: count("#blocks rect"), behind: BEHIND_BOXES };
            })()""".replace("BEHIND_BOXES", BEHIND_BOXES))
            fine = found["fine"]
            self.assertEqual((fine["blocks"], fine["slices"]), (len(graph["blocks"]), slices))
            self.assertEqual(found["coarse"], len(coarse["blocks"]))
            self.assertGreater(fine["arrows"], 5)
            self.assertLess(fine["arrows"], len(graph["edges"]), "what others imply is not drawn")
            self.assertRegex(fine["why"], "is used at line|writes")
            self.assertGreater(fine["coloured"], 60)
            self.assertIn("PROCEDURE new_order", fine["code"])
            self.assertEqual((fine["behind"], found["behind"]), ([], []), "an arrow lies behind a box")
            self.assertNotIn("block null", fine["text"])
            longest = longest_path(graph)
            self.assertIn(f"these {longest} of {len(graph['blocks'])} blocks", fine["longest"])
            self.assertEqual(fine["marked"], longest - 1)
            written = [(block["name"], table["name"]) for block in graph["blocks"] for table in block["tables"] if table["written"]]
            self.assertEqual([tuple(row[:2]) for row in fine["lanes"]], written)

    def test_slices_of_a_file(self):
        page = self.folder / "slices.html"
        graph = self.report("slice", REPOSITORY / "examples" / "shop" / "shop.sql", "--html", page)
        found = self.look(page, 390, 'document.querySelectorAll("#blocks rect").length')
        self.assertEqual(found, len(graph["blocks"]))

    def test_why_a_table_has_one_lane(self):
        page, source = self.folder / "slices.html", self.folder / "counter.sql"
        source.write_text(COUNTER)
        self.report("slice", source, "--html", page)
        found = self.look(page, 390, """({ box: document.querySelector("#blocks .node").textContent,
            row: [...document.querySelector("#lanes tbody tr").cells].map((cell) => cell.textContent) })""")
        self.assertIn("counter: one lane", found["box"])
        self.assertEqual(found["row"][1:], ["counter", "one lane", "id: line 4 assigns it"])

    def test_one_design(self):
        for page in (REPOSITORY / "cli" / "output" / "pages").glob("*.html"):
            self.assertEqual(page.read_text().count("@DESIGN@"), 1, page)
        own = [*(REPOSITORY / "cli" / "output" / "pages").glob("*.html"), REPOSITORY / "experiments" / "page" / "page.css",
               REPOSITORY / "lab" / "page" / "page.css"]
        for style in own:
            for name in re.findall(r"(--[\w-]+):", DESIGN.read_text()):
                self.assertNotRegex(style.read_text(), rf"(?<![\w-]){name}:", f"{style} changes the design's {name}")

    def test_a_replay(self):
        database, page, trace = self.folder / "database", self.folder / "replay.html", self.folder / "trace.json"
        self.report("run", "smallbank", "--transactions", 20000, "--threads", 2, "--data-dir", database)
        recovered = self.report("recover", database, "--threads", 2, "--trace-html", page, "--trace", trace, "--trace-beside", "clr")
        told = json.loads(trace.read_text())
        spans = [event for event in told["traceEvents"] if event["ph"] == "X"]
        steps = [event for event in spans if event["cat"] != "stage"]
        blocks = {event["args"]["block"] for event in steps if "block" in event["args"]}
        stages = {pid: [event["name"] for event in spans if event["cat"] == "stage" and event["pid"] == pid] for pid in (1, 2)}
        self.assertLessEqual({"checkpoint", "index build", "log load", "replay"}, set(stages[1]))
        self.assertLessEqual({"checkpoint", "index build", "log load", "replay"}, set(stages[2]))
        self.assertEqual((told["otherData"]["workload"], told["otherData"]["scheme"]), ("smallbank", "clr-p"))
        for width in WIDTHS:
            found = self.look(page, width, """(() => {
                const canvas = document.getElementById("chart"), text = (id) => document.getElementById(id).textContent;
                const painted = () => {
                  const bytes = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
                  let inked = 0; for (let i = 3; i < bytes.length; i += 4) inked += bytes[i] > 0; return inked / (canvas.width * canvas.height); };
                const rows = (id) => [...document.querySelectorAll(`#${id} tbody tr`)].map((row) => [...row.cells].map((cell) => cell.textContent));
                const found = { summary: text("summary"), title: document.title, heading: text("title"), where: text("where"), stages: rows("stages"),
                  colours: [...document.querySelectorAll("#legend i")].map((mark) => getComputedStyle(mark).backgroundColor),
                  threads: rows("times").length, painted: [painted()], ticks: [canvas.ticks], path: rows("path"), path_told: text("path-told") };
                for (const view of ["blocks", "lanes"]) { const input = document.querySelector(`input[value=${view}]`);
                  input.checked = true; input.dispatchEvent(new Event("change")); found.painted.push(painted()); found.ticks.push(canvas.ticks); }
                document.getElementById("in").click();
                found.painted.push(painted());
                found.ticks.push(canvas.ticks);
                const search = document.getElementById("search");
                search.value = "lane, batch 1";
                search.dispatchEvent(new Event("input"));
                found.hits = text("hits");
                document.getElementById("next").click();
                found.hit = text("tip");
                return found;
            })()""")
            self.assertIn(f"on 2 threads, {len(steps)} steps", found["summary"])
            self.assertIn("By clr, ", found["summary"])
            self.assertEqual(found["heading"], "smallbank, recovered by clr-p beside clr")
            for part in ("smallbank", "clr-p", f"{recovered['host']['cores']} core", recovered["started"][:10]):
                self.assertIn(part, found["title"])
            self.assertIn(recovered["version"], found["where"])
            self.assertEqual([row[0] for row in found["stages"]][-1], "in all")
            self.assertLessEqual({"checkpoint", "index build", "log load", "replay"}, {row[0] for row in found["stages"]})
            self.assertEqual({len(row) for row in found["stages"]}, {3}, "a column a recovery")
            self.assertEqual(len(found["colours"]), len(blocks) + 2)
            self.assertEqual(len(set(found["colours"])), len(found["colours"]), "colours differ")
            self.assertEqual(found["threads"], recovered["threads"])
            for share in found["painted"]:
                self.assertGreater(share, 0.02)
            for ticks in found["ticks"]:
                self.assertGreaterEqual(len(ticks), 2)
                self.assertEqual(len(set(ticks)), len(ticks))
                self.assertLess(sum(8 * len(tick) for tick in ticks), width, "the axis is legible")
            wanted = [step for step in steps if (step["cat"] == "lane" and step["args"]["batch"] == 1)
                      or "lane of batch 1," in step["args"].get("until", "")]
            self.assertTrue(found["hits"].startswith(f"{len(wanted)} of {len(steps)} steps"), found["hits"])
            if wanted:
                self.assertIn("batch 1", found["hit"])
            on_path = sum(int(row[1]) for row in found["path"] if row[1])
            self.assertIn(f"These {on_path} steps", found["path_told"])
            self.assertGreater(on_path, 0)

    def test_a_recovery_call_by_call(self):
        database, page = self.folder / "database", self.folder / "replay.html"
        self.report("run", "smallbank", "--transactions", 2000, "--data-dir", database)
        self.report("recover", database, "--scheme", "clr", "--trace-html", page)
        found = self.look(page, 390, """({ heading: document.getElementById("title").textContent,
            stages: [...document.querySelectorAll("#stages tbody tr")].map((row) => row.cells[0].textContent),
            shown: [...document.querySelectorAll("section, [role=search]")].filter((part) => !part.hidden).length })""")
        self.assertEqual(found["heading"], "smallbank, recovered by clr")
        self.assertIn("checkpoint", found["stages"])
        self.assertEqual(found["shown"], 1, "there are no steps to search or to sum up")
        self.refuse(BAD_ARGUMENTS, ["give --trace-html as well"], "recover", database, "--trace-beside", "clr")
        self.refuse(BAD_ARGUMENTS, ["clr-q"], "recover", database, "--trace-html", page, "--trace-beside", "clr-q")


def longest_path(graph):
    """How many blocks it has."""
    following = {}
    for edge in graph["edges"]:
        following.setdefault(edge["from"], []).append(edge["to"])
    known = {}

    def length(name):
        if name not in known:
            known[name] = 1 + max((length(other) for other in following.get(name, [])), default=0)
        return known[name]
    return max(length(block["name"]) for block in graph["blocks"])


if __name__ == "__main__":
    unittest.main()
