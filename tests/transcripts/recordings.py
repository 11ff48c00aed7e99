"""What is recorded: each client's sessions, and those that are written by hand."""

import pathlib
import sys

import raw_sessions
from recorder import record_client, record_raw

FOLDER = pathlib.Path(__file__).resolve().parent
CLIENTS = FOLDER / "clients"
PYTHON = "/usr/bin/python3"
SYSBENCH = ["--db-driver=pgsql", "--pgsql-host=127.0.0.1", "--pgsql-user=tester", "--pgsql-db=bank", "--tables=1", "--table-size=20",
            "--threads=1", "--events=3", "--time=0", "--rand-seed=7"]
WORKLOADS = ("oltp_read_write", "oltp_read_only", "oltp_write_only", "oltp_point_select", "oltp_update_index", "oltp_insert", "oltp_delete")

COMMANDS = {
    "psql": ["bash", str(CLIENTS / "psql.sh")],
    "pgbench": ["bash", str(CLIENTS / "pgbench.sh")],
    "psycopg": [PYTHON, "-B", str(CLIENTS / "psycopg_sessions.py")],
    "psycopg2": [PYTHON, "-B", str(CLIENTS / "psycopg2_sessions.py")],
    "node_postgres": ["node", str(CLIENTS / "node_sessions.js")],
    "pgjdbc": ["java", "-cp", "/usr/share/java/postgresql.jar", str(CLIENTS / "JdbcSessions.java")],
    "sysbench": ["bash", "-c", "set -e; " + "; ".join(
        f"sysbench {' '.join(SYSBENCH)} --pgsql-port=$PGPORT {workload} {step} >/dev/null" for workload in WORKLOADS
        for step in ("prepare", "run", "cleanup"))],
}
NAMES = [f"raw_{name}" for name in raw_sessions.ALL] + list(COMMANDS)


def record(server, name, path):
    """Records it; the number of its sessions."""
    path.parent.mkdir(exist_ok=True)
    if name in COMMANDS:
        return record_client(server, COMMANDS[name], f"Recorded from PostgreSQL 15: sessions of {name} (scripts/transcripts)", path)
    function = raw_sessions.ALL[name.removeprefix("raw_")]
    return record_raw(server, function(), f"Recorded from PostgreSQL 15: {function.__doc__}", path)


if __name__ == "__main__":
    sys.exit("usage: scripts/transcripts")
