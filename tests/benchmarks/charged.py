"""What a charged signature costs a service behind PostgreSQL: processor time of the service and of the database.

The service is one process, the clients are beside it; each answer is sent when its charge is on the disk.
"""

from __future__ import annotations

import tempfile
from itertools import cycle
from pathlib import Path
from statistics import median

import psutil

from tests.benchmarks.service import HMAC, busy_seconds, request, send
from tests.service import postgres
from tests.service.live import Server

CONNECTIONS = 64
SECONDS = 3.0


def _busy(database: int) -> float:
    """Return the processor seconds of all processes of the database, ended ones included."""
    root = psutil.Process(database)
    total = 0.0
    for process in (root, *root.children(recursive=True)):
        times = process.cpu_times()
        total += times.user + times.system + times.children_user + times.children_system
    return total


def measured(rounds: int = 3) -> dict[str, float]:
    """Return microseconds of processor time a signature, and signatures a second on the clock."""
    with (
        tempfile.TemporaryDirectory() as folder,
        postgres.server() as database,
        Server(Path(folder), database=database.database()) as server,
    ):
        owner = int((database.folder / "data" / "postmaster.pid").read_text().split()[0])
        signatures = cycle([request(server.base, "/v1/hmac", server.key(plan="mega"), HMAC)])
        send(server.base, signatures, CONNECTIONS, 1.0)
        rows = []
        for _ in range(rounds):
            before = busy_seconds(server.process.pid), _busy(owner)
            took, times = send(server.base, signatures, CONNECTIONS, SECONDS)
            after = busy_seconds(server.process.pid), _busy(owner)
            rows.append([(now - then) / len(times) * 1e6 for now, then in zip(after, before, strict=True)])
            rows[-1].append(len(times) / took)
    service, database_, rate = (median(values) for values in zip(*rows, strict=True))
    return {"service": service, "database": database_, "a second": rate}


def report() -> str:
    """Return the figures."""
    found = measured()
    return (
        f"Signatures charged in PostgreSQL, {CONNECTIONS} connections, one service process: "
        f"{found['a second']:,.0f} a second,\n  processor time a signature: service {found['service']:.0f} us, "
        f"database {found['database']:.0f} us"
    )
