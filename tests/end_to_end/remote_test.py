"""Goal: `mneme logd` and `--log-device remote` keep what they acknowledge, in TLS as well, and refuse what they must, with words.

Method: servers on ports that the system chooses, but for those whose place another takes; a run whose log is read back from
their memory; `mneme crash` against three of them; then wrong keys, addresses and options.
"""

import os
import pathlib
import random
import select
import signal
import socket
import shutil
import subprocess
import tempfile
import threading
import unittest

from program import BAD_ARGUMENTS, BINARY, DAMAGED, FAILED, LONGEST_COMMAND_SECONDS, EndToEndTest

NOBODY = 65534
SMALL = ("smallbank", "--scale", 1, "--threads", 1, "--execution", "interpreted")


def lasting_address():
    """Of a free port below those that the system gives out: such a one could be another's before a server takes it again."""
    least = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(min(10_000, least // 2), least)
        with socket.socket() as tried:
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
        return f"127.0.0.1:{port}"


def as_nobody(do):
    """What `do` returns, a text, in a process of another user's."""
    ends = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(ends[1], do().encode())
        finally:
            os._exit(0)
    os.close(ends[1])
    with os.fdopen(ends[0], "rb") as told:
        text = told.read().decode()
    os.waitpid(process, 0)
    return text


class Remote(EndToEndTest):
    def start_server(self, name, *options, listen="127.0.0.1:0"):
        """Starts a log server; returns its address and its process."""
        place = ("--listen", listen) if listen else ()
        if listen and "--key" not in options:
            options += ("--no-key",)
        process = subprocess.Popen(
            [BINARY, "logd", *place, "--data-dir", str(self.folder / name), *map(str, options)],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(self.end, process)
        ready, _, _ = select.select([process.stdout], [], [], 30)
        line = process.stdout.readline() if ready else ""
        while line and not line.startswith("listening on "):
            line = process.stdout.readline()
        self.assertTrue(line, "the server told no address")
        return line.removeprefix("listening on ").split(",")[0].strip(), process

    def recovered(self, directory):
        return self.recover(directory, execution="interpreted")["state_digest"]

    def end(self, process, how=signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(how)
        return process.wait(timeout=LONGEST_COMMAND_SECONDS)

    def key(self, name, letter, mode=0o600):
        path = self.folder / name
        path.write_text(letter * 64 + "\n")
        path.chmod(mode)
        return path

    def run_remote(self, address, *options):
        return self.report("run", *SMALL, "--transactions", 300, "--data-dir", self.folder / "data", "--log-device",
                           "remote", "--log-server", address, *options)

    def test_a_log_in_memory_is_recovered_and_brought_home(self):
        address, server = self.start_server("logd", listen=lasting_address())
        run = self.run_remote(address)
        self.assertEqual(run["durability"], "1 memory")
        data = self.folder / "data"
        self.assertEqual(list((data / "remote").iterdir()), [])
        self.assertEqual(self.recovered(data), run["state_digest"])

        # The server ends in order, and another takes its place, with what it saved.
        self.assertEqual(self.end(server, signal.SIGTERM), 0)
        self.refuse(FAILED, ["log servers", address], "recover", data, "--quiet")
        _, again = self.start_server("logd", listen=address)
        self.assertEqual(self.recovered(data), run["state_digest"])

        more = self.report("run", "smallbank", "--resume", "--threads", 1, "--execution", "interpreted", "--transactions", 100, "--data-dir", data)
        self.assertEqual(more["durability"], "local disk")
        self.end(again)
        self.assertEqual(self.recovered(data), more["state_digest"])

    def test_the_only_copy_is_lost(self):
        address, server = self.start_server("logd", listen=lasting_address())
        self.run_remote(address)
        self.end(server)
        for file in (self.folder / "logd").glob("*.log"):
            os.remove(file)
        self.start_server("logd", listen=address)
        self.refuse(DAMAGED, ["the log is lost", "backup"], "recover", self.folder / "data")

    def test_crashes_lose_nothing_that_a_majority_has(self):
        servers = ",".join(self.start_server(f"logd{i}")[0] for i in range(3))
        crash = self.report("crash", *SMALL, "--rounds", 3, "--longest-run", 0.2, "--log-device", "remote", "--log-server",
                            servers, "--data-dir", self.folder / "crash")
        self.assertGreater(crash["acknowledged"], 0)
        self.assertEqual((crash["lost"], crash["invented"]), (0, 0))

    def test_an_engine_that_ends_without_its_only_server_has_saved_the_log(self):
        address, server = self.start_server("logd")
        moments = self.folder / "moments"
        crash = ("crash", *SMALL, "--rounds", 1, "--longest-run", 100, "--log-device", "remote", "--log-server", address, "--data-dir",
                 self.folder / "crash")
        self.refuse(FAILED, ["the hook failed: false answered"], *crash, "--hook", "false", "--quiet", "--json", "-")
        told = self.report(*crash, "--may-end", "--hook", f"kill -9 {server.pid}; echo >>{moments}")
        self.assertEqual(moments.read_text(), "answered\nkilled\n")
        self.assertGreater(told["acknowledged"], 0)
        self.assertEqual((told["ended_by_themselves"], told["lost"], told["invented"]), (1, 0, 0))
        self.assertGreater(told["last_acknowledged_lsn"][0], 0)

    def test_a_key_is_asked_for_and_shared(self):
        key = self.key("key", "k")
        address, _ = self.start_server("logd", "--key", key)
        data = self.folder / "data"
        remote = ("--data-dir", data, "--log-device", "remote", "--log-server", address)
        self.refuse(FAILED, [address], "run", *SMALL, *remote)
        other = self.key("other", "x")
        self.refuse(FAILED, [address], "run", *SMALL, *remote, "--log-key", other)
        self.assertFalse(data.exists(), "what is refused leaves nothing behind")
        run = self.run_remote(address, "--log-key", key)
        self.assertEqual(self.recovered(data), run["state_digest"])
        self.refuse(BAD_ARGUMENTS, ["chmod 600"], "logd", "--data-dir", self.folder / "l2", "--key",
                    self.key("open", "k", 0o644))
        self.refuse(BAD_ARGUMENTS, ["without a key", "other machines"], "logd", "--listen", "0.0.0.0:0", "--no-key", "--data-dir", self.folder / "l3")
        self.refuse(BAD_ARGUMENTS, ["without a key", "every user of this machine"], "logd", "--listen", "127.0.0.1:0", "--data-dir", self.folder / "l3")

    def test_a_socket_is_what_a_server_listens_on_if_nothing_else_is_said(self):
        address, server = self.start_server("logd", listen=None)
        self.assertEqual(address, f"unix:{self.folder}/logd/socket")
        run = self.run_remote("unix:" + os.path.relpath(self.folder / "logd" / "socket"))
        self.assertEqual(run["durability"], "1 memory")
        # The manifest's path means the same in another directory, and a server that was killed leaves no obstacle.
        other = subprocess.run([BINARY, "verify", self.folder / "data", "--quiet"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(other.returncode, 0, other.stderr)
        self.assertEqual(self.recovered(self.folder / "data"), run["state_digest"])
        self.end(server)
        _, again = self.start_server("logd", listen=None)
        self.succeed("logd", "--shut-down", address)
        self.assertEqual(again.wait(timeout=LONGEST_COMMAND_SECONDS), 0)
        self.assertFalse((self.folder / "logd" / "socket").exists())

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_a_socket_is_for_its_own_user(self):
        # Where anybody can go to, unlike this test's own folder perhaps.
        place = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, place)
        place.chmod(0o755)
        path = str(place / "socket")
        address, server = self.start_server("logd", "--socket", path, listen=None)
        self.assertEqual(address, f"unix:{path}")

        def connect():
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(60)
                try:
                    client.connect(path)
                    client.sendall(b"MNFR")
                    return "hung up" if client.recv(100) == b"" else "let in"
                except (ConnectionResetError, BrokenPipeError):
                    return "hung up"
                except PermissionError:
                    return "not permitted"

        self.assertEqual(as_nobody(connect), "not permitted")
        os.chmod(path, 0o666)
        self.assertEqual(as_nobody(connect), "hung up")
        self.assertIsNone(server.poll())
        self.assertEqual(self.run_remote(address)["durability"], "1 memory")

        # And none is trusted in a place of another's.
        theirs = place / "theirs"
        theirs.mkdir()
        os.chown(theirs, NOBODY, NOBODY)
        self.refuse(BAD_ARGUMENTS, ["belongs to the user", str(NOBODY)], "logd", "--data-dir", theirs)
        shared = place / "shared"
        shared.mkdir()
        shared.chmod(0o777)

        def listen(folder=shared):
            self.trap.bind(str(folder / "socket"))
            self.trap.listen(9)
            return ""

        with socket.socket(socket.AF_UNIX) as self.trap:
            as_nobody(listen)
            self.refuse(FAILED, ["does not trust", str(NOBODY)], "logd", "--shut-down", f"unix:{shared}/socket")
        # Root trusts a user with what lies in the user's own place: this server takes the connection, and leaves.
        with socket.socket(socket.AF_UNIX) as self.trap:
            as_nobody(lambda: listen(theirs))
            taken = threading.Thread(target=lambda: self.trap.accept()[0].close())
            self.trap.settimeout(60)
            taken.start()
            self.refuse(FAILED, [f"the log server unix:{theirs}/socket: "], "logd", "--shut-down", f"unix:{theirs}/socket")
            taken.join()
        self.refuse(FAILED, ["cannot connect to the log server unix:"], "logd", "--shut-down", f"unix:{shared}/nothing")

    def test_options_that_make_no_sense_are_refused(self):
        data = ("--data-dir", self.folder / "data")
        self.refuse(BAD_ARGUMENTS, ["--log-server"], "run", *SMALL, *data, "--log-device", "remote")
        self.refuse(BAD_ARGUMENTS, ["--log-server"], "run", *SMALL, *data, "--log-server", "127.0.0.1:1")
        remote = ("--log-device", "remote", "--log-server", "127.0.0.1:1")
        self.refuse(BAD_ARGUMENTS, ["twice"], "run", *SMALL, *data, "--log-device", "remote", "--log-server",
                    "127.0.0.1:1,127.0.0.1:1")
        self.refuse(BAD_ARGUMENTS, ["epoch"], "run", *SMALL, *data, *remote, "--log-buffer", "epoch")
        self.refuse(BAD_ARGUMENTS, ["--log-archive"], "run", *SMALL, *data, *remote, "--checkpoint-every", 5,
                    "--log-archive", self.folder / "archive")
        self.refuse(BAD_ARGUMENTS, ["checkpoint"], "crash", *SMALL, *data, *remote, "--checkpoint-every", 1)
        self.refuse(BAD_ARGUMENTS, ["goes round"], "logbench", *data, *remote)


if __name__ == "__main__":
    unittest.main()
