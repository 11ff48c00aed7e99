"""Goal: a kill loses no call that a client of the server was told of, and no call is done twice, in each workload that comes with the program.

Method: four pgbench call a workload's procedures on `mneme serve`, each on rows that it alone changes, and log each call that was
acknowledged. The server is killed once each has done a hundred. Then the rows must say that as many calls were done as were acknowledged, and at most
the one more that was under way; all schemes must recover the same state, and the workload's conditions must hold.
"""

import subprocess
import time
import unittest

from program import DONE, LONGEST_COMMAND_SECONDS, EndToEndTest, mneme
from serve_test import POSTGRES, Server

CLIENTS = range(1, 5)
# pgbench writes its log by the buffer, a line of some 35 bytes a transaction.
ENOUGH_BYTES = 4096
FIELDS = ", ".join(["'call 0'"] * 10)
RESULTS_OF_PAYMENT = ", ".join(["NULL"] * 26)


class CallsOutliveKills(EndToEndTest):
    def ask(self, server, text):
        result = server.client("psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-c", text)
        self.assertEqual(result.returncode, 0, self.told(result))
        return result.stdout.strip()

    def start(self, server, client, script):
        (self.folder / f"{client}.sql").write_text(script)
        log = self.folder / f"log-{client}"
        command = [POSTGRES / "pgbench", "-n", "-c", 1, "-t", 1_000_000, "-D", "n=0", "-f", self.folder / f"{client}.sql", "--log",
                   f"--log-prefix={log}"]
        return subprocess.Popen([str(each) for each in command], env=server.environment, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def logs(self, client):
        return list(self.folder.glob(f"log-{client}.*"))

    def acknowledged(self, client):
        return sum(len(log.read_text().splitlines()) for log in self.logs(client))

    def kill(self, workload, call, query, done, conditions=True, prepare="SELECT {c}"):
        """`done`: what the query of a client's rows says of its calls, as it was before and as it is now."""
        directory = self.folder / "db"
        server = Server(directory, "--create", "--workload", workload, "--execution", "interpreted")
        self.addCleanup(server.close)
        for client in CLIENTS:
            self.ask(server, prepare.format(c=client))
        before = {client: self.ask(server, query.format(c=client)) for client in CLIENTS}
        clients = {client: self.start(server, client, call.format(c=client)) for client in CLIENTS}
        try:
            deadline = time.monotonic() + LONGEST_COMMAND_SECONDS
            while min(sum(log.stat().st_size for log in self.logs(client)) for client in CLIENTS) < ENOUGH_BYTES:
                self.assertLess(time.monotonic(), deadline, "the clients get nothing done")
                self.assertEqual([each.poll() for each in clients.values()], [None] * len(clients), "a client has ended")
                time.sleep(0.01)
            server.process.kill()
            server.process.communicate()
            for client in clients.values():
                client.wait(timeout=LONGEST_COMMAND_SECONDS)
        finally:
            for client in clients.values():
                client.kill()
                client.wait()
        self.recover_alike(directory)
        if conditions:
            verified = mneme("verify", directory, "--execution", "interpreted")
            self.assertEqual(verified.returncode, DONE, self.told(verified))
        again = Server(directory, "--execution", "interpreted")
        self.addCleanup(again.close)
        for client in CLIENTS:
            acknowledged = self.acknowledged(client)
            self.assertGreater(acknowledged, 50)
            self.assertIn(done(before[client], self.ask(again, query.format(c=client))), (acknowledged, acknowledged + 1), client)

    def test_tpcb(self):
        self.kill("tpcb", "CALL account_update({c}, {c}, 1, 1, '2024-01-01', NULL);\n", "SELECT a_balance FROM account WHERE a_id = {c}",
                  lambda before, now: int(now) - int(before))

    def test_smallbank(self):
        self.kill("smallbank", "CALL deposit_checking('customer{c:08}', 1.00);\n",
                  "SELECT c_balance FROM checking WHERE c_customer_id = {c}", lambda before, now: float(now) - float(before))

    def test_tpcc(self):
        self.kill("tpcc", f"CALL payment(1, {{c}}, 1, {{c}}, 1, NULL, 1.00, '2024-01-01', {RESULTS_OF_PAYMENT});\n",
                  "SELECT c_payment_cnt FROM customer WHERE c_w_id = 1 AND c_d_id = {c} AND c_id = 1", lambda before, now: int(now) - int(before))

    def test_tatp(self):
        self.kill("tatp", "\\set n :n + 1\nCALL update_location('{c:015}', :n);\n", "SELECT vlr_location FROM subscriber WHERE s_id = {c}",
                  lambda before, now: int(now) if now != before else 0)

    def test_ycsb(self):
        # The clients' records are none of YCSB's, so its conditions don't hold.
        self.kill("ycsb", "\\set n :n + 1\nCALL update_record({c}, 1, 'call :n');\n", "SELECT field1 FROM usertable WHERE ycsb_key = {c}",
                  lambda _, now: int(now.removeprefix("call ")), conditions=False,
                  prepare=f"CALL insert_record({{c}}, ARRAY[{FIELDS}])")


if __name__ == "__main__":
    unittest.main()
