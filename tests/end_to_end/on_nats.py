"""Tests on three NATS servers of this machine, which live as long as the class's tests."""

import os
import subprocess

from program import REPOSITORY, EndToEndTest


class OnNats(EndToEndTest):
    @classmethod
    def setUpClass(cls):
        cls.servers_folder = os.path.abspath(f"{cls.__name__.lower()}-nats-{os.getpid()}")
        started = subprocess.run([REPOSITORY / "scripts/replicated-log", "nats", "start", cls.servers_folder],
                                 capture_output=True, text=True, check=True, timeout=90)
        cls.servers = started.stdout.strip()

    @classmethod
    def tearDownClass(cls):
        subprocess.run([REPOSITORY / "scripts/replicated-log", "nats", "stop", cls.servers_folder], check=True, timeout=60)
        subprocess.run(["rm", "-r", cls.servers_folder], check=True)
