"""How many of the package's files one call passes through: a measure of how hard it is to follow.

A file counts when one of its functions runs, in whatever thread; each call is made once before, so that
what only the first call of a process does is left out.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import webanalytics as wa
from tests.service.live import Server
from webanalytics.fetching.testing import SampleSite
from webanalytics.operations import AUDIT_PAGES
from webanalytics.runs.workers.worker import answer_page

PACKAGE = f"{Path(wa.__file__).parent}{os.sep}"
OPTIONS: dict[str, Any] = {"allow_private": True, "progress": False, "workers": 1}

Trip = set[tuple[str, str]]
"""Files and functions."""

IN_THE_SERVER = """
import json, os, signal, sys, threading
seen, on, start = set(), [False], os.environ["TRIPS_PACKAGE"]
def record(frame, event, argument):
    code = frame.f_code
    if on[0] and event == "call" and code.co_filename.startswith(start) and code.co_name != "<module>":
        seen.add((code.co_filename[len(start):], code.co_qualname))
def switch(number, frame):
    on[0] = not on[0]
    sys.setprofile(record if on[0] else None)
    if not on[0]:
        with open(os.environ["TRIPS_FILE"] + ".new", "w") as file:
            json.dump(sorted(seen), file)
        os.rename(file.name, os.environ["TRIPS_FILE"])
threading.setprofile(record)
signal.signal(signal.SIGUSR2, switch)
"""
"""Runs in the service's process before anything else; SIGUSR2 starts and ends the recording."""


@contextmanager
def recorded() -> Iterator[Trip]:
    """Collect the functions of the package that run in this process meanwhile."""
    seen: Trip = set()

    def record(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and code.co_name != "<module>":
            seen.add((code.co_filename[len(PACKAGE) :], code.co_qualname))

    threading.setprofile(record)
    sys.setprofile(record)
    try:
        yield seen
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]


def trip(call: Callable[[], Any]) -> Trip:
    """Return what a second call passes through."""
    call()
    with recorded() as seen:
        call()
    return set(seen)


def in_the_worker(url: str) -> Trip:
    """Return what the analysis of a page passes through, in this process for once."""
    frame = wa.metadata(url, body=True, **OPTIONS)
    paths = {item.name: item.analysis for item in AUDIT_PAGES}
    settings: dict[str, dict[str, Any]] = {name: {} for name in paths} | {"metadata": {"body": False}}
    settings["keywords"] = {"ngrams": 1, "top": 50, "min_length": 4, "stop_words": None}
    page = (frame["responseBody"].iloc[0].encode(), url, url, "text/html; charset=utf-8")
    return trip(lambda: answer_page(paths, settings, page))


def of_issues(url: str) -> Trip:
    """Return what the rules pass through."""
    wa.audit([url], **OPTIONS).issues  # noqa: B018 - found when first asked for
    audit = wa.audit([url], **OPTIONS)
    with recorded() as seen:
        audit.issues  # noqa: B018
    return set(seen)


@contextmanager
def recording_server(folder: Path) -> Iterator[tuple[Server, Callable[[Callable[[], Any]], Trip]]]:
    """Serve in a process that can be asked what it passes through."""
    (folder / "sitecustomize.py").write_text(IN_THE_SERVER)
    found = folder / "trips.json"
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    environment = {"PYTHONPATH": path, "TRIPS_PACKAGE": PACKAGE, "TRIPS_FILE": str(found)}
    with Server(folder, environment=environment) as server:

        def record(call: Callable[[], Any]) -> Trip:
            call()
            server.process.send_signal(signal.SIGUSR2)
            time.sleep(0.3)
            call()
            time.sleep(0.3)  # what is written after the answer
            server.process.send_signal(signal.SIGUSR2)
            end = time.monotonic() + 20.0
            while not found.exists() and time.monotonic() < end:
                time.sleep(0.02)
            return {(file, function) for file, function in json.loads(found.read_text())}

        yield server, record


def measured() -> dict[str, Trip]:
    """Return each trip by its name."""
    trips: dict[str, Trip] = {}
    with SampleSite() as site, tempfile.TemporaryDirectory() as folder:
        url = site.url + "/about"
        trips["wa.audit([url]), this process"] = trip(lambda: wa.audit([url], **OPTIONS))
        trips["... and its worker"] = in_the_worker(url)
        trips["... both together"] = trips["wa.audit([url]), this process"] | trips["... and its worker"]
        trips["wa.audit([url]).issues"] = of_issues(url)
        with recording_server(Path(folder)) as (server, record):
            key = server.key()
            backend = wa.Hosted(server.base, key)
            trips["wa.audit([url], backend=Hosted), client"] = trip(
                lambda: wa.audit([url], backend=backend, **OPTIONS)
            )
            trips["POST /v1/hmac, service"] = record(
                lambda: server.post("/v1/hmac", key, message="a message", secret="a secret").data
            )
    return trips


def report() -> str:
    """Return the table, and the files of each trip where ``TRIPS_FILES`` is set."""
    trips = measured()
    lines = [f"{'trip':<42} files  functions"]
    for name, seen in trips.items():
        lines.append(f"{name:<42} {len({file for file, _ in seen}):>5}  {len(seen):>9}")
        if os.environ.get("TRIPS_FILES"):
            lines += [f"    {file}" for file in sorted({file for file, _ in seen})]
    return "\n".join(lines)
