"""The service against its goals: signing against a bare echo, readability, one worker and two, batches."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from statistics import median

from tests.benchmarks.corpus import corpus_pages
from tests.service.live import Server
from webanalytics.fetching.testing import SiteServer

HMAC = {"message": "what do ya want for nothing?", "secret": "Jefe", "algorithm": "sha256"}
PHONE = {"phone": "+12085813945"}
DELAY = 0.05


class _Client(asyncio.Protocol):
    """One connection that sends one request after the other; it costs little, so the server is measured."""

    def __init__(self, requests: Iterator[bytes], times: list[float], end: float) -> None:
        self._requests = requests
        self._times = times
        self._end = end
        self._buffer = b""
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._send()

    def _send(self) -> None:
        self._sent = time.perf_counter()
        request = next(self._requests, None)
        if request is None or self._sent > self._end:
            self._transport.close()
            if not self.done.done():
                self.done.set_result(None)
            return
        self._transport.write(request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return
        if not head.startswith(b"HTTP/1.1 200"):
            self.done.set_exception(AssertionError(self._buffer[:600]))
            self._transport.close()
            return
        self._times.append(time.perf_counter() - self._sent)
        self._buffer = b""
        self._send()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or ConnectionError("the server closed the connection"))


def request(base: str, path: str, key: str, body: dict[str, object]) -> bytes:
    """Return the bytes of one POST request."""
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: {base.partition('//')[2]}\r\nx-api-key: {key}\r\n"
    return (
        f"{head}Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content
    )


def send(
    base: str, requests: Iterator[bytes], connections: int, seconds: float = 1e9
) -> tuple[float, list[float]]:
    """Send requests over some connections; return how long it took, and the seconds of each."""
    host, port = base.partition("//")[2].split(":")
    times: list[float] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        end = time.perf_counter() + seconds
        clients = [
            (await loop.create_connection(lambda: _Client(requests, times, end), host, int(port)))[1]
            for _ in range(connections)
        ]
        await asyncio.gather(*(client.done for client in clients))

    start = time.perf_counter()
    asyncio.run(main())
    return time.perf_counter() - start, times


ECHO = """
import asyncio, orjson
from aiohttp import web
async def echo(request):
    return web.Response(body=orjson.dumps(orjson.loads(await request.read())), content_type="application/json")
async def main():
    app = web.Application()
    app.router.add_post("/v1/hmac", echo)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print("listening on http://127.0.0.1:%d" % runner.addresses[0][1], flush=True)
    await asyncio.sleep(3600)
asyncio.run(main())
"""


@contextmanager
def echo_server() -> Iterator[tuple[str, int]]:
    """Run a bare aiohttp handler that parses and echoes JSON; its address and the number of its process."""
    with subprocess.Popen([sys.executable, "-c", ECHO], stdout=-1, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip().removeprefix("listening on "), process.pid
        finally:
            process.kill()


def busy_seconds(pid: int) -> float:
    """Return the processor seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def signed(server: Server, key: str, rounds: int = 5, seconds: float = 2.0) -> dict[str, float]:
    """Return requests a second of the echo and of durable signing, in turns, and what each takes of its server.

    On a machine with other work to do, the clients and that work decide about the requests a second; the
    processor time of the server is its own.
    """
    rates, spent = [], []
    with echo_server() as (echo, pid):
        sides = ((echo, pid), (server.base, server.process.pid))
        for base, _ in sides:
            send(base, cycle([request(base, "/v1/hmac", key, HMAC)]), 64, 1.0)
        for _ in range(rounds):
            pair, busy = [], []
            for base, number in sides:
                before = busy_seconds(number)
                took, times = send(base, cycle([request(base, "/v1/hmac", key, HMAC)]), 64, seconds)
                pair.append(len(times) / took)
                busy.append((busy_seconds(number) - before) / len(times) * 1e6)
            rates.append(pair)
            spent.append(busy)
    ratios = [pair[1] / pair[0] for pair in rates]
    return {
        "bare": median(pair[0] for pair in rates),
        "ours": median(pair[1] for pair in rates),
        "ratio": median(ratios),
        "lowest": min(ratios),
        "bare busy": median(busy[0] for busy in spent),
        "ours busy": median(busy[1] for busy in spent),
        "busy ratio": median(busy[0] / busy[1] for busy in spent),
    }


def signing(server: Server, key: str) -> str:
    """Compare durable signing with the echo."""
    found = signed(server, key)
    return (
        "Signing with durable accounting (SQLite, WAL, synchronous=FULL), 64 connections, median of 5\n"
        f"  bare echo {found['bare']:7.0f}/s    service {found['ours']:7.0f}/s    "
        f"ratio {found['ratio']:.2f} (goal: at least 0.5), lowest {found['lowest']:.2f}\n"
        f"  processor time of the server {found['bare busy']:.0f} us and {found['ours busy']:.0f} us a request, "
        f"ratio {found['busy ratio']:.2f}"
    )


def _origin() -> SiteServer:
    contents = list(corpus_pages().values())
    return SiteServer({f"/{number}": contents[number % len(contents)] for number in range(2000)}, delay=DELAY)


def _pages(base: str, key: str, origin: str, count: int, start: int = 0) -> Iterator[bytes]:
    for number in range(start, start + count):
        body = {"url": f"{origin}/{number}?{time.monotonic_ns()}" if start < 0 else f"{origin}/{number}"}
        yield request(base, "/v1/websitereadability", key, body)


def _throughput(place: Path, origin: str, workers: int, cores: set[int]) -> tuple[float, float]:
    """Return one client's median time in milliseconds, and 16 clients' pages a second, on some cores."""
    place.mkdir()
    options = ("--allow-private", "--workers", str(workers), "--per-host", "64")
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)  # the server, its workers and the clients inherit it
    try:
        with Server(place, options=options, environment={"WEBANALYTICS_ROBOTS": "false"}) as server:
            key = server.key(plan="mega")
            list(send(server.base, _pages(server.base, key, origin, 40), 8))
            _, alone = send(server.base, _pages(server.base, key, origin, 99, 100), 1)
            took, times = send(server.base, _pages(server.base, key, origin, 396, 300), 16)
            return 1000 * (median(alone) - DELAY), len(times) / took
    finally:
        os.sched_setaffinity(0, every)


def readability(folder: Path, rounds: int = 3) -> str:
    """Measure the service's own time of a page, and the throughput of one worker and of two."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    ways = {"one": (1, set(cores)), "confined": (1, {cores[0]}), "two": (2, set(cores))}
    rates: dict[str, list[float]] = {name: [] for name in ways}
    alone = []
    with _origin() as origin:
        for number in range(rounds):
            for name, (workers, allowed) in ways.items():
                own, rate = _throughput(folder / f"{number}-{name}", origin.url, workers, allowed)
                rates[name].append(rate)
                alone += [own] * (name == "two")
    found = {name: median(values) for name, values in rates.items()}
    ratio, spread = (
        median(b / a for a, b in zip(rates[name], rates["two"], strict=True)) for name in ("one", "confined")
    )
    return "\n".join(
        [
            f"Readability of saved pages from a loopback origin that waits 50 ms, median of {rounds}",
            f"  one client: {median(alone):.1f} ms above the origin's delay at the median (goal: at most 40)",
            f"  16 clients: one worker {found['one']:.1f} pages/s, two {found['two']:.1f}, "
            f"ratio {ratio:.2f} (goal: at least 1.7)",
            f"  one worker with server and clients on one core {found['confined']:.1f} pages/s; "
            f"two workers on two cores {spread:.2f} times as many",
        ]
    )


def batches(server: Server, key: str) -> str:
    """Compare a batch of 200 with 200 calls one after another."""
    lines = ["A batch of 200 as a share of 200 single calls one after another (goal: at most 0.25)"]
    with _origin() as origin:
        cases: list[tuple[str, str, list[dict[str, object]]]] = [
            ("hmac", "/v1/hmac", [dict(HMAC) for _ in range(200)]),
            ("readability", "/v1/websitereadability", [{"url": f"{origin.url}/{n}"} for n in range(200)]),
        ]
        for name, path, inputs in cases:
            shares = []
            for _ in range(3):
                key = server.key(plan="mega")
                single, _ = send(
                    server.base, iter([request(server.base, path, key, one) for one in inputs]), 1
                )
                key = server.key(plan="mega")  # whose pages are not kept yet
                body = {"inputs": inputs}
                batch, _ = send(server.base, iter([request(server.base, f"{path}/batch", key, body)]), 1)
                shares.append(batch / single)
            lines.append(f"  {name:<12} {median(shares):.3f}")
    return "\n".join(lines)


def report() -> str:
    """Return the tables."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "main").mkdir()
        with Server(place / "main", options=("--allow-private", "--per-host", "64")) as server:
            key = server.key(plan="mega")
            tables = [signing(server, key), batches(server, key)]
        return "\n".join([tables[0], readability(place), tables[1]])
