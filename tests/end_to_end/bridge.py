"""A port of TCP before a server that listens on a Unix socket, for clients that know no such sockets."""

import socket
import threading


class Bridge:
    def __init__(self, path):
        self.path = str(path)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.path)
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self.pass_on, args=(one, other), daemon=True).start()

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

    def close(self):
        self.listener.close()
