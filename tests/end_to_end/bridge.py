"""A port of TCP before a server that listens on a Unix socket, for clients that know no such sockets."""

import socket
import threading


class Acceptor:
    """Listens on a port of its own, and calls `serve` with each connection, in a thread of its own."""

    def __init__(self, serve):
        self.serve = serve
        self.threads = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.threads.append(threading.Thread(target=self.serve, args=(client,), daemon=True))
            self.threads[-1].start()

    def close(self):
        self.listener.close()


class Bridge(Acceptor):
    def __init__(self, path):
        self.path = str(path)
        super().__init__(self.pass_both_ways)

    def pass_both_ways(self, client):
        server = socket.socket(socket.AF_UNIX)
        server.connect(self.path)
        with client, server:
            answering = threading.Thread(target=self.pass_on, args=(server, client), daemon=True)
            answering.start()
            self.pass_on(client, server)
            answering.join()

    @staticmethod
    def pass_on(one, other):
        """Passes bytes on until one side ends, and then tells the other."""
        try:
            while more := one.recv(1 << 16):
                other.sendall(more)
        except OSError:
            pass
        try:
            other.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has ended
