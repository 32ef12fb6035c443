"""A throwaway PostgreSQL server for the tests: its own folder, only a Unix socket, gone afterwards."""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from urllib.parse import quote

import pytest


def program(name: str) -> str | None:
    """Where a program of the server is: on the path, or where Debian keeps it."""
    found = shutil.which(name)
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(places[-1]) if places else found


def user() -> str | None:
    """The user to run as: the server refuses to run as root."""
    if os.getuid():
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        pytest.skip("we are root and there is no user postgres to run PostgreSQL as")


class Server:
    """A running server; each `database` is a new, empty one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def sql(self, statement: str, database: str = "postgres") -> str:
        psql = program("psql")
        assert psql
        command = [psql, "-h", str(self.folder), "-U", "tests", "-d", database, "-qAtX", "-c", statement]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def database(self) -> str:
        name = f"t{uuid.uuid4().hex}"
        self.sql(f"CREATE DATABASE {name}")
        return f"postgresql://tests@/{name}?host={quote(str(self.folder), safe='')}"


@contextmanager
def server() -> Iterator[Server]:
    """Start a server; skip the tests where PostgreSQL is not installed."""
    initdb, postgres = program("initdb"), program("pg_ctl")
    if initdb is None or postgres is None or program("psql") is None:
        pytest.skip("PostgreSQL is not installed")
    owner = user()
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    try:
        if owner:
            shutil.chown(folder, owner)
        data = folder / "data"
        auth = ["--auth=trust", "--username=tests", "--encoding=UTF8", "--locale=C", "--no-sync"]
        subprocess.run([initdb, "-D", data, *auth], check=True, capture_output=True, user=owner, cwd=folder)
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c max_connections=200"
        options += " -c fsync=off"  # a crash of the machine ends the tests, too
        start = [postgres, "-D", data, "-w", "-o", options, "-l", folder / "log", "start"]
        subprocess.run(start, check=True, stdout=subprocess.DEVNULL, user=owner, cwd=folder)
        try:
            yield Server(folder)
        finally:
            stop = [postgres, "-D", data, "-w", "-m", "immediate", "stop"]
            subprocess.run(stop, check=True, stdout=subprocess.DEVNULL, user=owner, cwd=folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@cache
def running() -> Server:
    """The server that all tests share; it is stopped when the tests end."""
    context = server()
    started = context.__enter__()
    atexit.register(context.__exit__, None, None, None)
    return started
