"""A service and a notebook's kernel under a modest load for an hour: memory, descriptors, threads and files stay.

The service has PostgreSQL and Redis; in the kernel a crawl and an audit follow each other. Every ten seconds a line
of what they hold goes to stderr, and the table says what the last ten minutes gain or lose, by least squares.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import fmean, linear_regression
from typing import Any

import psutil
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

import webanalytics as wa
from tests.large_site import large_site
from tests.service import postgres
from tests.service.live import Server
from tests.service.test_rate import Redis

EVERY = 10.0
LAST = 600.0
CALLS = 2.0  # calls of the service a second
ROUND = 30.0  # seconds from one crawl and audit to the next
PAGES = 40
UNITS = {"memory": "MB", "descriptors": "", "threads": "", "processes": "", "files": ""}

Sample = dict[str, dict[str, float]]


def crawl_and_audit(start: str, pages: list[str], seconds: float) -> int:
    """Crawl a site and audit pages again and again, in the kernel; how often."""
    rounds, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        following = time.monotonic() + ROUND
        crawled = wa.crawl(start, max_pages=PAGES, allow_private=True, progress=False)
        audited = wa.audit(pages, allow_private=True, progress=False)
        assert (crawled.raw["status"] == "ok").sum() >= PAGES
        assert (audited.raw["status"] == "ok").all()
        rounds += 1
        time.sleep(max(0.0, following - time.monotonic()))
    return rounds


@contextmanager
def kernel(folder: Path) -> Iterator[tuple[int, BlockingKernelClient]]:
    """Run a kernel of Jupyter with a folder of its own for temporary files."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env={**os.environ, "TMPDIR": str(folder)}, cwd=str(Path(__file__).parents[2]))
    client = manager.blocking_client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=120)
        yield manager.provisioner.process.pid, client  # type: ignore[union-attr]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def load(server: Server, pages: list[str], done: threading.Event) -> Counter[str]:
    """Call the service at a constant rate: signatures with keys, some twice, pages, a batch, a wrong call."""
    answers: Counter[str] = Counter()
    key, number = server.key(plan="mega"), 0
    while not done.wait(1 / CALLS):
        number += 1
        kind = ("hmac", "again", "metadata", "hmac", "readability", "batch", "wrong", "text")[number % 8]
        page = pages[number % len(pages)]
        signed = {"message": f"message {number - (kind == 'again')}", "secret": "Jefe", "algorithm": "sha256"}
        once = {"Idempotency-Key": f"call-{number - (kind == 'again')}"}
        wanted: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
            "hmac": ("hmac", once, signed),
            "again": ("hmac", once, signed),
            "metadata": ("metadataextractor", {}, {"url": page}),
            "readability": ("websitereadability", {}, {"url": page}),
            "text": ("websitetotext", {}, {"url": page}),
            "batch": ("disposablephone/batch", {}, {"inputs": [{"phone": "+12085813945"}] * 5}),
            "wrong": ("hmac", {}, {"message": "without a secret"}),
        }
        path, headers, values = wanted[kind]
        got = server.call("POST", f"/v1/{path}", key=key, headers=headers, **values)
        answers[f"{kind} {got.status}"] += 1
    return answers


def held(pid: int) -> dict[str, float]:
    """Return what a process and its children hold."""
    found = dict.fromkeys(("memory", "descriptors", "threads", "processes"), 0.0)
    for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
        with suppress(psutil.NoSuchProcess), process.oneshot():
            found["memory"] += process.memory_info().rss / 1e6
            found["descriptors"] += process.num_fds()
            found["threads"] += process.num_threads()
            found["processes"] += 1
    return found


def sample(watched: dict[str, tuple[int, Path]]) -> Sample:
    """Return what each of the two holds: the process alone, its family, its temporary files."""
    found: Sample = {}
    for name, (pid, folder) in watched.items():
        process = psutil.Process(pid)
        own = {"memory": process.memory_info().rss / 1e6, "descriptors": process.num_fds()}
        files = sum(len(names) for _, _, names in os.walk(folder))
        found[name] = {**own, "threads": process.num_threads(), "files": files}
        found[f"{name} with its workers"] = held(pid)
    return found


def table(samples: list[tuple[float, Sample]]) -> str:
    """Return the means of the first and the last minutes, and what a minute adds to the last, of each quantity."""
    start, end = samples[0][0], samples[-1][0]
    first = [kept for at, kept in samples if at <= start + LAST]
    last = [(at / 60, kept) for at, kept in samples if at > end - LAST]
    minutes = [at for at, _ in last]
    spread = sum((at - fmean(minutes)) ** 2 for at in minutes)
    lines = [f"{'':<26}{'':<12}{'first':>9}{'last':>9}{'a minute':>10}{'+-':>8}"]
    for name in samples[0][1]:
        for quantity in samples[0][1][name]:
            values = [kept[name][quantity] for _, kept in last]
            slope, level = linear_regression(minutes, values)
            rest = sum((y - level - slope * x) ** 2 for x, y in zip(minutes, values, strict=True))
            error = 2 * (rest / (len(values) - 2) / spread) ** 0.5
            before, now = fmean(kept[name][quantity] for kept in first), fmean(values)
            label = f"{quantity} {UNITS[quantity]}".strip()
            lines.append(f"{name:<26}{label:<12}{before:>9.1f}{now:>9.1f}{slope:>+10.3f}{error:>8.3f}")
    return "\n".join(lines)


def soak(folder: Path, minutes: float) -> str:
    """Run both for some minutes and return the table."""
    places = {name: folder / name / "temporary" for name in ("service", "kernel")}
    for place in places.values():
        place.mkdir(parents=True)
    redis = Redis(folder)
    options = ("--allow-private", "--workers", "1", "--rate-limit-storage", redis.url)
    environment = {"TMPDIR": str(places["service"])}
    try:
        with (
            postgres.server() as database,
            large_site(400) as site,
            Server(folder, options, database.database(), environment) as server,
            kernel(places["kernel"]) as (pid, client),
        ):
            arguments = f"{site.start_url!r}, {site.pages[:PAGES]!r}, {60 * minutes}"
            code = f"from tests.benchmarks import soak\nrounds = soak.crawl_and_audit({arguments})"
            asked = client.execute(code, user_expressions={"rounds": "rounds"})
            watched = {"service": (server.process.pid, places["service"]), "kernel": (pid, places["kernel"])}
            samples, answers = watch(server, site.pages, watched, minutes)
            reply: Any = client.get_shell_msg(timeout=300)
            while reply["parent_header"]["msg_id"] != asked:
                reply = client.get_shell_msg(timeout=300)
            rounds = reply["content"].get("user_expressions", reply["content"])
    finally:
        redis.stop()
    return f"{minutes:g} minutes; calls {dict(answers)}; rounds of crawl and audit {rounds}\n{table(samples)}"


def watch(
    server: Server, pages: list[str], watched: dict[str, tuple[int, Path]], minutes: float
) -> tuple[list[tuple[float, Sample]], Counter[str]]:
    """Take samples under load."""
    samples: list[tuple[float, Sample]] = []
    answers: Counter[str] = Counter()
    done = threading.Event()
    thread = threading.Thread(target=lambda: answers.update(load(server, pages, done)))
    thread.start()
    end = time.monotonic() + 60 * minutes
    try:
        while time.monotonic() < end:
            time.sleep(EVERY)
            samples.append((time.monotonic(), sample(watched)))
            print(json.dumps(samples[-1]), file=sys.stderr, flush=True)
    finally:
        done.set()
        thread.join()
    return samples, answers


def report() -> str:
    """Return the table."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # the user of PostgreSQL passes through
        return soak(Path(folder), float(os.environ["WEBANALYTICS_MINUTES"]))
