"""Goal: `mneme slice` tells the truth about procedures it has never seen, and says no, where and why, to the rest.

Method: the slices of an inn's procedures and of the paper's bank example, as worked out by hand; a table of constructs
that are refused; and the ways to get the command line wrong.
"""

import json
import pathlib
import re
import unittest
import xml.etree.ElementTree

from program import BAD_ARGUMENTS, REPOSITORY, EndToEndTest, mneme

HERE = pathlib.Path(__file__).resolve().parent

# A statement in a procedure's body, and words of the refusal; the body's first statement stands at line 7.
REFUSED_STATEMENTS = [
    ("COMMIT;", "a call is one transaction"),
    ("ROLLBACK;", "RAISE EXCEPTION"),
    ("EXECUTE 'SELECT 1';", "dynamic SQL"),
    ("CALL q(1);", "procedure q does not exist"),
    ("SELECT v INTO n FROM t;  SELECT v FROM t;", "add INTO, or use PERFORM"),
    ("SELECT x.w INTO n FROM t LEFT JOIN t x ON true;", "column x.w does not exist"),
    ("MERGE INTO t USING t x ON t.k = x.k WHEN MATCHED THEN DELETE;", "MERGE is not supported in a procedure"),
    ("n := now();", "CAST(... AS int)"),
    ("n := clock_timestamp();", "pass the time as an argument"),
    ("n := random();", "pass the random number as an argument"),
    ("n := nonesuch(1);", "there is no function nonesuch()"),
    ("n := missing;", "missing"),
    ("UPDATE nowhere SET v = 1;", "nowhere"),
    ("UPDATE t SET w = 1;", "w"),
    ("INSERT INTO t (k, v) VALUES (1, 1), (2, 2) RETURNING v INTO n;", "write an INSERT for each"),
    ("TRUNCATE t;", "use DELETE FROM"),
    ("PERFORM 1 FROM t; GET DIAGNOSTICS n = ROW_COUNT;", "use FOUND"),
    ("EXECUTE 'SELECT 1' INTO n;", "dynamic SQL"),
    ("IF n THEN NULL; END IF;", "compare it with something"),
    ("n := 1", "is not understood here"),
]

REFUSED_FILES = [
    ("DROP TABLE t;\n", "a file describes a database from its beginning"),
    ("CREATE TABLE t (k MONEY NOT NULL, PRIMARY KEY (k));\n", "use numeric(12,2)"),
    ("CREATE PROCEDURE p(a INT) LANGUAGE sql AS $$ BEGIN END $$;\n", "written in plpgsql"),
    ("CREATE FUNCTION f() RETURNS SETOF INT LANGUAGE plpgsql AS $$ BEGIN END $$;\n", "is RETURN QUERY alone"),
    ("CREATE PROCEDURE p() LANGUAGE plpgsql AS $$ BEGIN", "ends in the middle"),
]

BAD_COMMAND_LINES = [
    ((), "say what to do"),
    (("dance",), "--help"),
    (("run",), "workload is required"),
    (("run", "tpcx"), "there are tpcc, smallbank, tatp, tpcb, ycsb"),
    (("crash", "tpcx"), "there are tpcc, smallbank"),
    (("run", "tpcb", "--skew", "1"), "below 1"),
    (("run", "tatp", "--skew", "0.5"), "--skew is an option of tpcb and ycsb"),
    (("run", "tpcb", "--hotspot-percent", "50"), "leave it out"),
    (("run", "ycsb", "--ycsb", "G"), "A, B, C, D, E, F"),
    (("run", "ycsb", "--field-bytes", "8"), "from 16 to 10000"),
    (("run", "smallbank", "--field-bytes", "20"), "--field-bytes is an option of ycsb"),
    (("run", "smallbank", "--threads", "0"), "--threads"),
    (("run", "smallbank", "--threads", "many"), "--threads"),
    (("run", "smallbank", "--unheard-of"), "--unheard-of"),
    (("run", "smallbank", "--log", "everything"), "--log everything"),
    (("run", "smallbank", "--log-device", "stone"), "stone"),
    (("run", "smallbank", "--commit", "never"), "--commit: never is none of pipelined, sync, group, async"),
    (("run", "smallbank", "--cc", "magic"), "--cc: magic is none of occ, 2pl"),
    (("run", "smallbank", "--cc", "2pl", "--elr", "late"), "--elr: late is none of on, off"),
    (("run", "smallbank", "--elr", "off"), "choose --cc 2pl"),
    (("run", "smallbank", "--cc", "2pl", "--elr", "off", "--log", "off"), "--elr"),
    (("run", "smallbank", "--mix", "balance=50"), "add up to 50"),
    (("run", "smallbank", "--mix", "rob=100"), "names no procedure"),
    (("run", "smallbank", "--resume", "--log", "off"), "--resume"),
    (("slice", "tpcc", "--conflicts", "row"), "--conflicts: row is none of column, table"),
    (("slice", "tpcc", "--elide", "increments,all"), "lists of unwritten"),
    (("slice", "tpcc", "--decompose", "dice"), "--decompose: dice is none of pacman, chopping, whole"),
    (("recover",), "directory is required"),
    (("recover", ".", "--scheme", "magic"), "choose one of clr, clr-p, llr, llr-p"),
    (("recover", ".", "--replay", "magic"), "choose one of static, synchronous, pipelined"),
    (("recover", ".", "--batch", "0"), "--batch"),
    (("slice",), "source is required"),
    (("slice", "nowhere.sql"), "there is no file nowhere.sql"),
    (("demo", "--warehouses", "0"), "--warehouses"),
]


def procedure(statement):
    return f"""CREATE TABLE t (k INT NOT NULL, v INT NOT NULL, PRIMARY KEY (k));
CREATE PROCEDURE p(a INT)
LANGUAGE plpgsql
AS $$
DECLARE n INT;
BEGIN
{statement}
END;
$$;
"""


def slices_of(graph, name):
    found = next(each for each in graph["procedures"] if each["name"] == name)
    lines = {operation["id"]: operation["line"] for operation in found["operations"]}
    return {each["name"]: [lines[id] for id in each["operations"]] for each in found["slices"]}


def edges_of(graph):
    return {(edge["from"], edge["to"]) for edge in graph["edges"]}


def blocks_of(graph):
    return {block["name"]: block["slices"] for block in graph["blocks"]}


class Slice(EndToEndTest):
    def test_bank_example_of_the_paper(self):
        graph = self.report("slice", REPOSITORY / "tests/data/bank.sql")
        self.assertEqual(slices_of(graph, "transfer"), {"T1": [40], "T2": [42, 43, 44, 45], "T3": [46, 47]})
        self.assertEqual(slices_of(graph, "deposit"), {"D1": [62, 63], "D2": [65, 66], "D3": [69, 70]})
        self.assertEqual(blocks_of(graph), {"α": ["T1"], "β": ["T2", "D1"], "γ": ["T3", "D2"], "δ": ["D3"]})
        self.assertEqual(edges_of(graph), {("α", "β"), ("α", "γ"), ("β", "γ"), ("β", "δ")})

    def test_inn(self):
        source = HERE / "inn.sql"
        graph = self.report("slice", source, "--conflicts", "table")
        self.assertEqual({each["name"]: each["logged"] for each in graph["procedures"]},
                         {"book": True, "breakfast": True, "look": False})
        text = source.read_text().splitlines()
        for each in graph["procedures"]:
            for operation in each["operations"]:
                said = text[operation["line"] - 1]
                for table in operation["tables"]:
                    self.assertIn(table, said)
        self.assertEqual(list(blocks_of(graph).values()), [["Bo1"], ["Bo2", "Br1"], ["Bo3"], ["Bo4", "Br2"], ["Br3"]])
        # A room's price decides what its guest owes; a day's bookings decide who pays for breakfast, and what is eaten.
        self.assertEqual(edges_of(graph), {("α", "δ"), ("β", "δ"), ("β", "ε")})
        lanes = {table["name"]: table["lane_columns"] for block in graph["blocks"] for table in block["tables"]}
        self.assertEqual(lanes, {"room": [], "booking": [], "journal": ["day"], "guest": ["name"], "larder": ["item"]})
        # By columns nobody writes the price, and what a guest owes is only added to.
        graph = self.report("slice", source)
        self.assertEqual(list(blocks_of(graph).values()), [["Bo1"], ["Bo2", "Br1"], ["Bo3"], ["Br2"], ["Br3"]])
        self.assertEqual(graph["shared_columns"], [{"column": "guest.due", "blocks": ["α", "δ"]}])

    def test_workloads_and_dot(self):
        for workload in ("tpcc", "smallbank", "tatp", "tpcb", "ycsb"):
            graph = self.report("slice", workload)
            sliced = {name for block in graph["blocks"] for name in block["slices"]}
            for each in graph["procedures"]:
                for part in each["slices"]:
                    self.assertEqual(part["name"] in sliced, each["logged"], part["name"])
            self.assertTrue(self.succeed("slice", workload, "--dot").stdout.startswith("digraph"))
            drawing = self.folder / "blocks.svg"
            self.succeed("slice", workload, "--svg", drawing)
            boxes = xml.etree.ElementTree.parse(drawing).getroot().findall(".//{http://www.w3.org/2000/svg}rect")
            self.assertEqual(len(boxes), len(graph["blocks"]))

    def check_refused(self, text, words):
        path = self.folder / "refused.sql"
        path.write_text(text)
        refusal = self.refuse(BAD_ARGUMENTS, [words], "slice", path)
        self.assertRegex(refusal.stderr, f"{re.escape(str(path))}:[0-9]+:[0-9]+: ")
        return int(re.search(r"refused\.sql:(\d+):", refusal.stderr).group(1))

    def test_refused_statements(self):
        for statement, words in REFUSED_STATEMENTS:
            with self.subTest(statement=statement):
                # A missing semicolon shows where the next statement begins.
                expected = 7 if statement.endswith(";") else 8
                self.assertEqual(self.check_refused(procedure(statement), words), expected)

    def test_refused_files(self):
        for text, words in REFUSED_FILES:
            with self.subTest(text=text):
                self.check_refused(text, words)


class CommandLine(EndToEndTest):
    def test_bad_arguments(self):
        for arguments, words in BAD_COMMAND_LINES:
            with self.subTest(arguments=arguments):
                result = mneme(*arguments, cwd=self.folder)
                self.assertEqual(result.returncode, BAD_ARGUMENTS, self.told(result))
                self.assertIn(words, result.stderr)
                self.assertEqual(result.stdout, "")
                self.assertEqual(list(self.folder.iterdir()), [], "a refused command left something")

    def test_json_on_standard_output_stands_alone(self):
        database = self.folder / "database"
        for arguments in (
            ("run", "smallbank", "--transactions", 100, "--data-dir", database),
            ("run", "smallbank", "--transactions", 100, "--log", "off"),
            ("recover", database),
            ("verify", database),
            ("inspect", database),
            ("slice", "tpcc"),
        ):
            with self.subTest(arguments=arguments):
                result = self.succeed(*arguments, "--json", "-")
                self.assertEqual(json.loads(result.stdout)["command"], arguments[0])
                self.assertNotEqual(result.stderr, "", "the text goes to standard error")
                path = self.folder / "result.json"
                if arguments[0] != "run":
                    self.assertNotIn("{", self.succeed(*arguments, "--json", path).stdout[:1])
                    self.assertEqual(json.loads(path.read_text())["command"], arguments[0])


if __name__ == "__main__":
    unittest.main()
