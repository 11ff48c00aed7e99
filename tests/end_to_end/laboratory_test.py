"""Goal: the laboratory's page shows what the native engine answers: a lesson of work, a crash, both recoveries and steps back, on a desk and a
phone, by mouse, keyboard and touch, in light and in dark. It asks nothing of other machines, and its link brings all of it back.

Method: the page that `mneme lab` serves, and the one that scripts/lab has made, in headless Chromium (laboratory_page.mjs), and the latter's module
under node, against the program mneme_lab. Where scripts/lab has made none, its tests are skipped: it takes long, and packages that are not on every machine.
"""

import gzip
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import unittest

from program import BINARY, DONE, FAILED, LONGEST_COMMAND_SECONDS, REPOSITORY, EndToEndTest, mneme

BUILT = REPOSITORY / "build-lab"
UNIT_TESTS = BUILT / "unit_tests.wasm"
PAGE, MODULE = BUILT / "laboratory.html", BUILT / "laboratory.wasm"
NATIVE = pathlib.Path(BINARY).resolve().with_name("mneme_lab")
SCHEMAS = {"bank": "tests/data/bank.sql", "shop": "examples/shop/shop.sql", "tpcc": "workloads/tpcc/tpcc.sql"}
MOST_BYTES = 3_000_000  # of the page, compressed
CRASH_BEHIND, BACK = 66, 9


def lesson(name, **chosen):
    presets = REPOSITORY / "lab" / "page" / "presets"
    setup = (REPOSITORY / SCHEMAS[name]).read_text() + "\n" + (presets / f"{name}_rows.sql").read_text()
    return {"setup": setup, "calls": (presets / f"{name}_calls.sql").read_text(), "group": 4, "disk_seed": 1, **chosen}


def recovery(**chosen):
    return {"scheme": "clr-p", "level": "pipelined", "threads": 3, "lanes": 4, "batch": 4, "seed": 1, **chosen}


def rows_at(first, steps, at):
    """By table, the rows that are shown behind so many steps: a NULL as "NULL"."""
    rows = {}
    for change in first + [change for step in steps[:at] for change in step.get("changes", [])]:
        of_table = rows.setdefault(change["table"], {})
        if change["after"] is None:
            del of_table[change["slot"]]
        else:
            of_table[change["slot"]] = ["NULL" if value is None else value for value in change["after"]]
    return {table: [of_table[slot] for slot in sorted(of_table)] for table, of_table in rows.items() if of_table}


class LaboratoryTest(EndToEndTest):
    def native(self, request):
        """The native program's answer, as it prints it."""
        folder = self.folder / "lab"
        result = subprocess.run([NATIVE, folder], input=json.dumps(request), capture_output=True, text=True, timeout=LONGEST_COMMAND_SECONDS, check=False)
        self.assertEqual(result.returncode, 0, self.told(result))
        shutil.rmtree(folder)
        return result.stdout

    def node(self, script, *arguments):
        node = shutil.which("node")
        self.assertIsNotNone(node, "scripts/setup installs node")
        result = subprocess.run([node, "--no-warnings", pathlib.Path(__file__).parent / script, *map(str, arguments)], capture_output=True, text=True,
                                timeout=4 * LONGEST_COMMAND_SECONDS, check=False)
        self.assertEqual(result.returncode, 0, self.told(result))
        return result.stdout

    def play(self, page):
        """Plays a lesson on the page, and holds what it shows against the native program's answers."""
        def asked(**chosen):
            return json.loads(self.native(lesson("bank", crash={"behind": CRASH_BEHIND, "seed": 1}, recovery=recovery(**chosen))))

        sliced, serial = asked(), asked(scheme="clr")
        forward = sliced["forward"]
        screenshots = os.environ.get("MNEME_SCREENSHOTS")
        found = json.loads(self.node("laboratory_page.mjs", page, CRASH_BEHIND, BACK, *([screenshots] if screenshots else [])))
        for name, look in found.items():
            with self.subTest(look=name):
                self.assertEqual((look["errors"], look["requests"]), ([], []))
                steps = len(forward["steps"])
                self.assertTrue(look["work"]["told"].startswith(f"Step {steps} of {steps}. "), look["work"])
                self.assertEqual(look["work"]["tables"], rows_at(forward["first_rows"], forward["steps"], steps))
                self.assertTrue(look["crash"]["told"].startswith(f"Step {CRASH_BEHIND} of {steps}. "), look["crash"])
                self.assertEqual(look["crash"]["tables"], rows_at(forward["first_rows"], forward["steps"], CRASH_BEHIND))
                begun = [step for step in forward["steps"][:CRASH_BEHIND] if step["kind"] == "begin"]
                self.assertEqual(look["crash"]["statements"], len(begun))
                first = next(step for step in forward["steps"] if step["kind"] == "fill")
                self.assertIn(first["bytes"][:8], look["crash"]["bytes"].replace(" ", ""))
                for scheme, answer in (("sliced", sliced), ("serial", serial)):
                    shown, recovered = look[scheme], answer["recovery"]
                    count = len(recovered["steps"])
                    self.assertEqual(shown["digest"], recovered["recover_digest"])
                    self.assertIn(f"ends at LSN {answer['verdict']['recovered_upto']}.", shown["verdict"])
                    self.assertIn(f"All {len(answer['verdict']['kept'])} statements whose clients were told are in it", shown["verdict"])
                    self.assertTrue(shown["end"]["told"].startswith(f"Step {count} of {count}. "), shown)
                    self.assertEqual(shown["end"]["tables"], {table["table"]: table["rows"] for table in json.loads(
                        json.dumps(recovered["rows"]).replace("null", '"NULL"')) if table["rows"]})
                    self.assertTrue(shown["back"]["told"].startswith(f"Step {count - BACK} of {count}. "), shown)
                    self.assertEqual(shown["back"]["tables"], rows_at(recovered["first_rows"], recovered["steps"], count - BACK))
                pieces = sum(len(piece["lanes"]) for step in sliced["recovery"]["steps"][:len(sliced["recovery"]["steps"]) - BACK] if step["kind"] == "fill"
                             for piece in step["pieces"])
                self.assertEqual(look["lanes"], pieces)
                self.assertGreater(look["arrows"], 2)
                self.assertRegex(look["why"], "is used at line|decides IF at line")
                self.assertEqual(look["again"], {"verdict": look["serial"]["verdict"], "told": look["serial"]["back"]["told"],
                                                 "tables": look["serial"]["back"]["tables"], "work": look["crash"]["told"]})
                self.assertIn("line 1: ", look["error"])
                self.assertEqual((look["look"]["unnamed"], look["look"]["wide"]), ([], []))
                self.assertEqual(look["look"]["scroll_width"], look["look"]["width"])
        self.assertNotEqual(found["desk-light"]["look"]["colours"], found["desk-dark"]["look"]["colours"])


class ServedLaboratory(LaboratoryTest):
    """`mneme lab`: the page asks the engine of the program that serves it."""

    def start(self, *options, **environment):
        """The server's port, once it answers. It ends with the test."""
        server = subprocess.Popen([BINARY, "lab", *map(str, options)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, **environment})
        self.addCleanup(self.stop, server)
        ready = server.stdout.readline()
        if not ready and "was built without the laboratory's page" in (told := server.stderr.read()):
            self.skipTest(told)
        address = re.fullmatch(r"ready: http://127\.0\.0\.1:(\d+)/\n", ready)
        self.assertIsNotNone(address, ready)
        self.server = server
        return int(address.group(1))

    def stop(self, server):
        if server.poll() is None:
            server.kill()
        server.communicate()

    def ask(self, port, method, path, body=None, **headers):
        """The status and the text of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST_COMMAND_SECONDS)
        self.addCleanup(connection.close)
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, response.read().decode()

    def test_a_lesson(self):
        self.play(f"http://127.0.0.1:{self.start()}/")

    def test_it_answers_as_the_native_engine(self):
        port = self.start()
        crash = {"crash": {"behind": 40, "seed": 2}, "recovery": recovery()}
        requests = [lesson("bank"), lesson("bank", setup="SELEC"), lesson("bank", **crash), lesson("tpcc", **crash)]
        for number, request in enumerate(requests):
            with self.subTest(request=number):
                self.assertEqual(self.ask(port, "POST", "/answer", json.dumps(request)), (200, self.native(request)))
        # The shop's calls keep the time.
        answer = json.loads(self.ask(port, "POST", "/answer", json.dumps(lesson("shop", **crash)))[1])
        self.assertEqual((answer["verdict"]["agrees"], answer["verdict"]["rows_are_as_they_were"]), (True, True))
        self.assertEqual(self.ask(port, "POST", "/answer", "no JSON")[1], '{"error":"the request is no JSON object"}')

    def test_a_script_without_end_is_stopped(self):
        port = self.start("--longest-run", 1)
        status, answer = self.ask(port, "POST", "/answer", json.dumps({"setup": "CREATE TABLE t (a INT PRIMARY KEY);", "calls": "DO $$ BEGIN LOOP END LOOP; END $$;"}))
        self.assertEqual(status, 200)
        self.assertIn("has not ended after 1 seconds, and was stopped", json.loads(answer)["error"])
        # And it goes on.
        request = {"setup": "CREATE TABLE t (a INT PRIMARY KEY);", "calls": "INSERT INTO t VALUES (1);"}
        self.assertIn("forward", json.loads(self.ask(port, "POST", "/answer", json.dumps(request))[1]))

    def test_it_answers_its_own_page_alone(self):
        port = self.start()
        for headers in ({"Host": "elsewhere.example"}, {"Host": f"elsewhere.example:{port}"}, {"Host": "127.0.0.1:1"}, {"Origin": "http://elsewhere.example"},
                        {"Origin": "null"}, {"Origin": f"https://127.0.0.1:{port}"}):
            for method, path in (("GET", "/"), ("POST", "/answer")):
                with self.subTest(headers=headers, method=method):
                    self.assertEqual(self.ask(port, method, path, "{}" if method == "POST" else None, **headers)[0], 403)
        for headers in ({}, {"Host": f"localhost:{port}"}, {"Origin": f"http://127.0.0.1:{port}"}):
            self.assertEqual(self.ask(port, "GET", "/", **headers)[0], 200)
        self.assertEqual(self.ask(port, "GET", "/answer")[0], 404)
        self.assertEqual(self.ask(port, "GET", "/../etc/passwd")[0], 404)
        self.assertEqual(self.ask(port, "POST", "/answer", b"x" * (1 << 20) + b"x")[0], 413)
        taken = mneme("lab", "--port", port)
        self.assertEqual(taken.returncode, FAILED)
        self.assertIn(f"nothing can be served on 127.0.0.1:{port}: ", taken.stderr)

    def test_what_the_system_lacks_is_told(self):
        port = self.start(TMPDIR=str(self.folder / "nowhere"))
        status, told = self.ask(port, "POST", "/answer", json.dumps(lesson("bank")))
        self.assertEqual(status, 500)
        self.assertIn(f"no temporary folder can be made in {self.folder / 'nowhere'}: ", told)
        self.refuse(FAILED, [str(self.folder / "nowhere" / "request")], "lab-answer", self.folder / "nowhere")
        (self.folder / "request").write_text("{}")
        self.succeed("lab-answer", self.folder)
        self.refuse(FAILED, ["cannot make the folder"], "lab-answer", self.folder)

    def test_a_signal_ends_it(self):
        result = self.folder / "result.json"
        port = self.start("--json", result)
        self.ask(port, "POST", "/answer", json.dumps(lesson("bank")))
        self.server.send_signal(signal.SIGTERM)
        self.assertEqual(self.server.wait(LONGEST_COMMAND_SECONDS), DONE)
        self.assertEqual(json.loads(result.read_text()), {"command": "lab", "answers": 1})


@unittest.skipUnless(PAGE.is_file() and MODULE.is_file(), "the laboratory has not been built: scripts/lab builds it")
class Laboratory(LaboratoryTest):
    def test_a_lesson_on_the_page(self):
        self.play(PAGE)

    def test_the_module_answers_as_the_native_engine(self):
        requests = [lesson("bank"), lesson("bank", setup="SELEC"), lesson("tpcc")]
        for behind in (3, 20, 47, CRASH_BEHIND):
            for chosen in ({"scheme": "clr"}, {}, {"seed": behind, "threads": 5, "batch": 2}, {"level": "static"}):
                requests.append(lesson("bank", crash={"behind": behind, "seed": behind}, recovery=recovery(**chosen)))
        requests.append(lesson("tpcc", crash={"behind": 40, "seed": 2}, recovery=recovery()))
        listed = self.folder / "requests.json"
        listed.write_text(json.dumps(requests))
        answers = self.node("laboratory_module.mjs", MODULE, listed).splitlines()
        self.assertEqual(len(answers), len(requests))
        for number, (request, answer) in enumerate(zip(requests, answers)):
            with self.subTest(request=number):
                self.assertEqual(answer, self.native(request))

    @unittest.skipUnless(UNIT_TESTS.is_file(), "the unit tests have not been built as WebAssembly: scripts/lab --tests builds them")
    def test_units_in_webassembly(self):
        told = self.node(REPOSITORY / "lab" / "page" / "tests.mjs", UNIT_TESTS, "--gtest_brief=1")
        self.assertRegex(told, r"\[  PASSED  \] \d{3,} tests")

    def test_the_page_is_small_and_whole(self):
        text = PAGE.read_bytes()
        self.assertLess(len(gzip.compress(text)), MOST_BYTES)
        self.assertNotRegex(text.decode(), r'<(script|img|link)[^>]*(src|href)="(?!data:)')


if __name__ == "__main__":
    unittest.main()
