"""Goal: clients that listen are told of others' commits while they wait for nothing, in one order, whoever notifies, and none is lost.

Method: clients of one server, of several threads, that listen without a word; others notify side by side. A notification that a crash could
take back is told by none: a server that is killed has told of rows that its log holds alone.
"""

import threading
import unittest

from program import EndToEndTest
from raw_client import RawClient
from serve_test import Server

NOTIFIERS, EACH = 4, 50


def notifications(client, count):
    """The (channel, payload) of so many, which come without a request."""
    told = []
    for kind, body in client.messages():
        if kind != b"A":
            raise AssertionError(f"a message that was not asked for: {kind}")
        told.append(tuple(body[4:].split(b"\0")[:2]))
        if len(told) == count:
            return told
    raise AssertionError(f"the connection has ended behind {len(told)} notifications")


class Notify(EndToEndTest):
    def serve(self, *options, create=("--create",)):
        server = Server(self.folder / "db", *create, *options)
        self.addCleanup(server.close)
        return server

    def test_idle_listeners_hear_all_in_one_order(self):
        server = self.serve()
        listeners = [RawClient(server).begin(tls=False) for _ in range(3)]
        for listener in listeners:
            self.addCleanup(listener.socket.close)
            listener.query("LISTEN news")

        def notify(number):
            with RawClient(server) as client:
                client.begin(tls=False)
                for i in range(EACH):
                    client.query(f"BEGIN; NOTIFY news, '{number} {i}'; COMMIT" if i % 2 == 0 else
                                 f"SELECT pg_notify('news', '{number} {i}')")

        threads = [threading.Thread(target=notify, args=(number,)) for number in range(NOTIFIERS)]
        for thread in threads:
            thread.start()
        told = [notifications(listener, NOTIFIERS * EACH) for listener in listeners]
        for thread in threads:
            thread.join()
        self.assertEqual(told[1:], told[:1] * 2)
        for number in range(NOTIFIERS):
            own = [payload for _, payload in told[0] if payload.startswith(f"{number} ".encode())]
            self.assertEqual(own, [f"{number} {i}".encode() for i in range(EACH)])

    def test_what_was_told_is_durable(self):
        server = self.serve()
        with RawClient(server) as listener, RawClient(server) as client:
            listener.begin(tls=False).query("LISTEN news")
            client.begin(tls=False).query("CREATE TABLE item (id INT PRIMARY KEY)")
            client.socket.sendall(b"".join(
                b"Q" + (len(text) + 5).to_bytes(4, "big") + text + b"\0"
                for text in (f"BEGIN; INSERT INTO item VALUES ({i}); NOTIFY news, '{i}'; COMMIT".encode() for i in range(200))))
            last = int(notifications(listener, 100)[-1][1])
            server.close()
        server = self.serve(create=())
        with RawClient(server) as client:
            rows = client.begin(tls=False).query("SELECT count(*) FROM item")
        count = int(next(body for kind, body in rows if kind == b"D")[6:])
        self.assertGreater(count, last)


if __name__ == "__main__":
    unittest.main()
