"""The one place that makes event loops, and what runs on them: the same on uvloop as on asyncio."""

from __future__ import annotations

import ast
import asyncio
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
import uvloop

import webanalytics as wa
from tests.fresh import printed
from webanalytics import loops
from webanalytics.fetching.testing import Reply, SiteServer

KINDS = {"asyncio": asyncio.SelectorEventLoop, "uvloop": uvloop.Loop}
OWN = {"loops.py", "fetching/testing/server.py"}
"""Files that may make loops: the place itself, and a server for tests."""


async def running() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


@pytest.mark.parametrize("kind", KINDS)
def test_the_loop_is_the_one_that_is_asked_for(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(loops.VARIABLE, kind)
    assert isinstance(loops.run(running()), KINDS[kind])


def test_it_is_uvloop_where_that_is_installed_and_else_python_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(loops.VARIABLE, raising=False)
    assert isinstance(loops.run(running()), uvloop.Loop)
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert isinstance(loops.run(running()), asyncio.SelectorEventLoop)


def test_no_other_file_makes_loops() -> None:
    package = Path(loops.__file__).parent
    made = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("run", "Runner", "new_event_loop")
        if isinstance(node.value, ast.Name) and node.value.id == "asyncio"
    }
    assert made == OWN


@pytest.fixture(scope="module")
def closed() -> Iterator[int]:
    with socket.socket() as kept:  # bound and not listening: nobody else gets the port
        kept.bind(("127.0.0.1", 0))
        yield kept.getsockname()[1]


def test_pages_and_failures_are_the_same_on_both(closed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {
        "/": b"<title>Lamps</title><p>Brass.",
        "/moved": Reply(301, {"Location": "/"}),
        "/loop": Reply(302, {"Location": "/loop"}),
        "/away": Reply(302, {"Location": "ftp://a.example/"}),
        "/late": Reply(delay=30, body=b"late"),
        "/short": Reply(headers={"Content-Length": "900"}, body=b"<p>short"),
        "/large": b"<p>" + b"x" * 300_000,
        "/broken": Reply(headers={"Content-Encoding": "gzip"}, body=b"no gzip"),
        "/error": Reply(500),
    }
    found = []
    with SiteServer(pages) as site:
        secure = site.url.replace("http://", "https://")
        urls = [f"{site.url}{path}" for path in (*pages, "/none")]
        urls += [f"{secure}/", f"http://127.0.0.1:{closed}/", "http://none.invalid/", "nonsense"]
        for kind in KINDS:
            monkeypatch.setenv(loops.VARIABLE, kind)
            options = {"allow_private": True, "timeout": 2.0, "retries": 0, "max_download": 100_000}
            found.append(wa.metadata(urls, progress=False, workers=1, **options))
    frames = [frame.drop(columns="elapsed", errors="ignore") for frame in found]
    pd.testing.assert_frame_equal(*frames)
    assert set(found[0]["error_type"].dropna()) >= {"timeout", "connection", "http", "dns"}


def test_an_interrupt_ends_a_call_on_both() -> None:
    code = """
import os, signal, sys, threading, time
import webanalytics as wa
from webanalytics.fetching.testing import Reply, SiteServer

with SiteServer({"/": Reply(delay=60)}) as site:
    def stop():
        while not site.requests:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=stop).start()
    try:
        wa.metadata([f"{site.url}/"], allow_private=True, robots=False, progress=False, workers=1)
    except wa.AuditInterrupted as interrupt:
        print("interrupted, rows:", len(interrupt.partial))
"""
    for kind in KINDS:
        assert (
            printed(f"import os\nos.environ[{loops.VARIABLE!r}] = {kind!r}\n{code}")
            == "interrupted, rows: 0\n"
        )
