"""Goal: whoever waits for a recovery, or wonders where its time goes, is told.
Method: one small database, recovered with each option; what is told must fit together."""

import json
import unittest

from program import BAD_ARGUMENTS, EndToEndTest

# So that nothing is compiled, and told of.
INTERPRETED = ("--execution", "interpreted")
CLR_P = ("--scheme", "clr-p", *INTERPRETED)
PARTS = ("data_loading", "parameter_checking", "dispatch", "useful_work", "scheduling", "waiting")


class Insight(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.directory = self.folder / "database"
        self.succeed("run", "smallbank", "--scale", 1, "--transactions", 20000, "--threads", 2, "--log", "all", "--quiet", *INTERPRETED,
                     "--data-dir", self.directory)

    def test_it_all(self):
        self.breakdown()
        self.trace()
        self.simulation()
        self.progress()
        self.refusals()

    def breakdown(self):
        for scheme, threads in (("clr-p", 2), ("clr", 1), ("llr", 2), ("llr-p", 2), ("plr", 2)):
            with self.subTest(scheme=scheme):
                execution = {"execution": "interpreted"} if scheme.startswith("clr") else {}
                report = self.recover(self.directory, scheme, threads=threads, **execution)
                times = report["breakdown"]["threads"]
                self.assertEqual(len(times), threads)
                whole = report["log_load_seconds"] + report["replay_seconds"]
                for time in times:
                    self.assertEqual(set(time), {f"{part}_seconds" for part in PARTS})
                    # Replay's seconds begin before the threads' and end after them.
                    self.assertLessEqual(sum(time.values()), whole * 1.01)
                for name, seconds in report["breakdown"]["all_threads"].items():
                    self.assertAlmostEqual(seconds, sum(time[name] for time in times))
                self.assertGreater(report["breakdown"]["all_threads"]["useful_work_seconds"], 0)

    def trace(self):
        path = self.folder / "trace.json"
        for scheme in ("clr-p", "clr"):
            with self.subTest(scheme=scheme):
                self.succeed("recover", self.directory, *INTERPRETED, "--scheme", scheme, "--quiet", "--trace", path)
                events = json.loads(path.read_text())["traceEvents"]
                spans = [event for event in events if event["ph"] == "X"]
                self.assertTrue(all(event["dur"] >= 0 for event in spans))
                stages = [event["name"] for event in spans if event["cat"] == "stage"]
                self.assertEqual(stages.count("replay"), 1)
                kinds = {event["cat"] for event in spans}
                if scheme == "clr-p":
                    self.assertLessEqual({"decode", "locate", "lists", "lane"}, kinds)
                    self.assertIn(0, [e["args"]["batches"] for e in events if e["ph"] == "C"])
                else:
                    self.assertEqual(kinds, {"stage"})

    def simulation(self):
        report = self.report("recover", self.directory, *CLR_P, "--simulate-cores", "1,2,40")
        simulated = report["simulation"]
        self.assertEqual(report["threads"], 1)
        work = simulated["work_seconds"]
        self.assertEqual([s["cores"] for s in simulated["schedules"]], [1, 2, 40])
        self.assertEqual(simulated["bound"], "upper")
        best = min(simulated["single_thread"].values())
        for schedule in simulated["schedules"]:
            self.assertAlmostEqual(schedule["speedup"] * schedule["makespan_seconds"], best)
            self.assertGreaterEqual(schedule["makespan_seconds"], max(schedule["span_seconds"], work / schedule["cores"]) * 0.999)
        self.assertLessEqual(work, report["replay_seconds"])
        self.assertAlmostEqual(work, simulated["decode_seconds"] + sum(
            b["locate_seconds"] + b["pieces_seconds"] for b in simulated["blocks"]))
        # Memory of a few bytes a second is what every number of cores waits for.
        slow = self.report("recover", self.directory, "--scheme", "clr-p", "--execution", "native", "--simulate-cores", "2,40",
                           "--memory-bandwidth", "0.001")["simulation"]
        for schedule in slow["schedules"]:
            self.assertEqual(schedule["limited_by"], "memory")
            self.assertAlmostEqual(schedule["makespan_seconds"], slow["memory_bytes"] / 1e6)

    def progress(self):
        result = self.succeed("recover", self.directory, *CLR_P, "--quiet", "--progress", "json")
        lines = [json.loads(line) for line in result.stderr.splitlines()]
        # The last line of each stage; on a slow machine there are others before.
        stages = {line["stage"]: line for line in lines if line["event"] == "progress"}
        self.assertEqual(list(stages), ["checkpoint", "indexes", "log", "analysis", "replay"])
        for line in stages.values():
            self.assertEqual(line["done"], line["total"], line)
        last = lines[-1]
        self.assertEqual(last["event"], "recovered")
        self.assertEqual(last["applied"], lines[-2]["done"])
        self.assertEqual(last["state_digest"], self.recover(self.directory, execution="interpreted")["state_digest"])
        told = self.succeed("recover", self.directory, *CLR_P).stdout
        self.assertIn(f"applied {last['applied']:,}, skipped {last['skipped']:,}, state digest {last['state_digest']}", told)
        self.assertEqual(self.succeed("recover", self.directory, *CLR_P, "--quiet").stderr, "")

    def refusals(self):
        for words, options in (
            (["no style of progress"], ("--progress", "loud")),
            (["clr-p's"], ("--simulate-cores", "2", "--scheme", "clr")),
            (["leave --threads out"], ("--simulate-cores", "2", "--scheme", "clr-p", "--threads", "2")),
            (["give --simulate-cores"], ("--memory-bandwidth", "20", "--scheme", "clr-p")),
        ):
            self.refuse(BAD_ARGUMENTS, words, "recover", self.directory, *options)


class SerialReplay(EndToEndTest):
    def test_the_statement_that_costs_a_table_its_lanes_is_told(self):
        schema = self.folder / "queue.sql"
        schema.write_text("""CREATE TABLE ticket (id INT PRIMARY KEY, v INT NOT NULL);
CREATE PROCEDURE take(p INT) LANGUAGE plpgsql AS $$ DECLARE n INT;
BEGIN
    SELECT count(*) INTO n FROM ticket;
    INSERT INTO ticket VALUES (n, p);
END $$;
""")
        calls = self.folder / "calls.csv"
        calls.write_text("take,=1..9\n")
        directory = self.folder / "database"
        self.report("run", schema, "--calls", calls, "--data-dir", directory, "--transactions", 2000, *INTERPRETED)
        report = self.report("recover", directory, "--threads", 2, *CLR_P)
        self.assertEqual({name: kernel["pieces"] for name, kernel in report["kernels"].items()}, {"α": 2000})
        self.assertGreater(report["kernels"]["α"]["nanoseconds"], 0)
        (serial,) = report["serial_because"]
        self.assertGreater(serial.pop("lane_seconds"), 0)
        self.assertEqual(serial, {"block": "α", "table": "ticket", "column": "id", "statement": "SELECT count(*) INTO n FROM ticket", "line": 4,
                                  "reason": "line 4 does not say which", "advice": "WHERE id = ... would, by an index that begins with it"})
        self.assertNotIn("serial_because", self.report("recover", directory, "--scheme", "clr", *INTERPRETED))


if __name__ == "__main__":
    unittest.main()
