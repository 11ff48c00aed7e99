"""A PostgreSQL server for the tests that compare with one: its own data, its own socket, ended with the test."""

import os
import pathlib
import pwd
import shlex
import shutil
import subprocess
import tempfile

PROGRAMS = pathlib.Path("/usr/lib/postgresql/15/bin")


class Postgres:
    """A server that runs until close(). It syncs nothing unless told so. As root it runs as the user postgres, as PostgreSQL wants it."""

    def __init__(self, fsync="off"):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="postgres"))
        self.databases = 0
        self.user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        if os.getuid() == 0:
            shutil.chown(self.folder, self.user)
        self.run("initdb", "-D", "data", "-A", "trust", "--no-sync", "--locale=C", "-E", "UTF8")
        self.start = ["pg_ctl", "-D", "data", "-w", "-t", "300", "-l", "log", "-o", f"-k {self.folder} -c listen_addresses= -c fsync={fsync}", "start"]
        self.run(*self.start)

    def run(self, name, *arguments):
        user = {"user": self.user, "group": pwd.getpwnam(self.user).pw_gid, "extra_groups": []} if os.getuid() == 0 else {}
        subprocess.run([PROGRAMS / name, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL, check=True, **user)

    def command(self, name, *arguments):
        """A shell command that does what run() does."""
        become = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"] if os.getuid() == 0 else []
        return f"cd {shlex.quote(str(self.folder))} && " + shlex.join([*become, str(PROGRAMS / name), *arguments]) + " >/dev/null"

    def environment(self, database):
        return {**os.environ, "PGHOST": str(self.folder), "PGUSER": self.user, "PGDATABASE": database, "PGCONNECT_TIMEOUT": "60"}

    def new_database(self):
        """The environment of a client of an empty database."""
        self.databases += 1
        name = f"test{self.databases}"
        subprocess.run([PROGRAMS / "psql", "-X", "-q", "-c", f"CREATE DATABASE {name}"], env=self.environment("postgres"), check=True)
        return self.environment(name)

    def close(self):
        self.run("pg_ctl", "-D", "data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)
