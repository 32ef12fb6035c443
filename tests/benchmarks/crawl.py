"""Pages a second of crawlers on one loopback site: `webanalytics.crawl`, advertools, a notebook's loop, and a bare one.

The site has 2,000 pages, the saved ones under many addresses, and answers after 20 milliseconds; it is served
by a process of its own. Then the same site with a calendar and four filters.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.watching import looking

PAGES = 2000
DELAY = 0.02
AT_ONCE = 8
"""Requests at once: the default of Scrapy for one host, and of this package."""

OURS = """
import json, sys, webanalytics as wa
if __name__ == "__main__":
    audit = wa.crawl(sys.argv[1], max_pages=int(sys.argv[2]), allow_private=True, progress=False)
    issues = audit.issues if sys.argv[3:] else ()
    print(json.dumps({"rows": len(audit), "urls": audit.raw["url"].tolist(), "issues": len(issues)}))
"""
ADVERTOOLS = """
import json, sys, tempfile, os, advertools as adv
folder = tempfile.mkdtemp()
file = os.path.join(folder, "crawl.jl")
settings = {"LOG_LEVEL": "ERROR", "CLOSESPIDER_PAGECOUNT": int(sys.argv[2])}
adv.crawl([sys.argv[1]], file, follow_links=True, allowed_domains=["127.0.0.1"], custom_settings=settings)
urls = [json.loads(line)["url"] for line in open(file)]
print(json.dumps({"rows": len(urls), "urls": urls}))
"""
NOTEBOOK = """
import json, sys, requests
from urllib.parse import urldefrag, urljoin
from bs4 import BeautifulSoup
sys.path.insert(0, sys.argv[3])
from tests.benchmarks.pages import PARSER, notebook_loop

start, most, session, found = sys.argv[1], int(sys.argv[2]), requests.Session(), []
urls = [start]
for url in urls:  # which grows
    html = session.get(url).text
    found.append(notebook_loop(html))
    for tag in BeautifulSoup(html, PARSER).find_all("a", href=True):
        link = urldefrag(urljoin(url, tag["href"])).url
        if link.startswith(start) and link not in urls and len(urls) < most:
            urls.append(link)
print(json.dumps({"rows": len(found), "urls": urls}))
"""
BARE = """
import asyncio, json, sys, aiohttp, lxml.html
from urllib.parse import urldefrag, urljoin
start, most = sys.argv[1], int(sys.argv[2])

async def main():
    seen, queue = {start}, asyncio.Queue()
    queue.put_nowait(start)
    done = []
    async with aiohttp.ClientSession() as session:
        async def work():
            while True:
                url = await queue.get()
                async with session.get(url) as response:
                    body = await response.read()
                done.append(url)
                for link in lxml.html.fromstring(body).xpath("//a/@href"):
                    link = urldefrag(urljoin(url, link)).url
                    if link.startswith(start) and link not in seen and len(seen) < most:
                        seen.add(link)
                        queue.put_nowait(link)
                queue.task_done()
        workers = [asyncio.create_task(work()) for _ in range(8)]
        await queue.join()
        for worker in workers:
            worker.cancel()
    print(json.dumps({"rows": len(done), "urls": done}))

asyncio.run(main())
"""


def serve(traps: bool, count: int = PAGES, delay: float = DELAY, largest: int = 1_000_000) -> None:
    """Serve the site of pages up to a size until standard input ends; for a process of its own."""
    from tests.benchmarks.corpus import corpus_pages
    from tests.large_site import large_site

    bodies = [body for body in corpus_pages().values() if len(body) <= largest]
    with large_site(count, bodies, traps=traps, delay=delay) as site:
        print(site.start_url, flush=True)
        sys.stdin.read()


@contextmanager
def served_apart(code: str) -> Iterator[str]:
    """Run code that serves a site in a process of its own; give the line that it prints first."""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait()


def served(traps: bool, **changes: Any) -> AbstractContextManager[str]:
    return served_apart(f"from tests.benchmarks.crawl import serve; serve({traps}, **{changes!r})")


@contextmanager
def measured(pid: int) -> Iterator[tuple[dict[int, float], dict[int, int]]]:
    """Watch the processor time of a process and of all that it starts, and the most memory of each."""
    import psutil

    spent: dict[int, float] = {}
    held: dict[int, int] = {}
    main = psutil.Process(pid)

    def look() -> None:
        with suppress(psutil.Error):
            for process in (main, *main.children(recursive=True)):
                with suppress(psutil.Error):
                    times = process.cpu_times()
                    spent[process.pid] = times.user + times.system
                    held[process.pid] = max(held.get(process.pid, 0), process.memory_info().rss)

    with looking(look, 0.1):
        yield spent, held


def run(python: str, code: str, *arguments: str) -> dict[str, Any]:
    """Run a crawler, and return what it says, its seconds, and the processor time of all its processes."""
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "output").open("w+") as output:
        script = Path(folder) / "crawler.py"  # a file: what starts processes anew imports it
        script.write_text(code)
        began = time.perf_counter()
        process = subprocess.Popen(
            [python, "-W", "ignore", str(script), *arguments],
            stdout=output,
            cwd=folder,
            stderr=subprocess.DEVNULL,
            env={
                **os.environ,
                "PATH": f"{Path(python).parent}:{os.environ['PATH']}",
            },  # advertools calls scrapy
        )
        with measured(process.pid) as (spent, held):
            status = process.wait()
        took = time.perf_counter() - began
        output.seek(0)
        lines = output.read().strip().splitlines()
    if status or not lines:
        return {}
    used = {"processor": sum(spent.values()), "megabytes": sum(held.values()) / 1e6}
    return {**json.loads(lines[-1]), **used, "seconds": took}


def crawlers() -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """Name, Python, code and arguments of each crawler that is there."""
    import webanalytics

    found: dict[str, tuple[str, str, tuple[str, ...]]] = {}
    if hasattr(webanalytics, "crawl"):
        found["webanalytics.crawl, rules too"] = (sys.executable, OURS, ("issues",))
        found["webanalytics.crawl"] = (sys.executable, OURS, ())
    peers = os.environ.get("WEBANALYTICS_PEERS", "")
    if peers:
        found["advertools.crawl"] = (peers, ADVERTOOLS, ())
    root = str(Path(__file__).parents[2])
    found["a notebook's loop, one by one"] = (sys.executable, NOTEBOOK, (root,))
    found["bare loop of aiohttp and lxml"] = (sys.executable, BARE, ())
    return found


def line(name: str, found: dict[str, Any]) -> str:
    if not found:
        return f"  {name:<32} did not end well"
    rate, cost = found["rows"] / found["seconds"], found["processor"] / max(1, found["rows"])
    trapped = sum("?" in url or "/calendar/" in url for url in found["urls"])
    own = len({url for url in found["urls"] if "?" not in url and "/calendar/" not in url})
    return (
        f"  {name:<32} {found['rows']:>6,} rows {found['seconds']:>7.1f} s {rate:>7.1f} pages/s "
        f"{cost * 1000:>6.1f} ms of processor time a page, {found['megabytes']:,.0f} MB; {own:,} real pages, "
        f"{trapped:,} of traps"
    )


def lines(pages: int = PAGES) -> Iterator[str]:
    """Yield the lines of the tables as they are known."""
    yield f"A site of {pages:,} pages that answers after {DELAY * 1000:.0f} ms, {AT_ONCE} requests at once"
    most = pages + pages // 2
    for traps in (False, True):
        if traps:
            yield f"The same with a calendar and four filters, at most {most:,} pages"
        with served(traps, count=pages) as start:
            for name, (python, code, more) in crawlers().items():
                if not (traps and more):
                    yield line(name, run(python, code, start, str(most), *more))
    if not os.environ.get("WEBANALYTICS_PEERS"):
        yield "  advertools was left out: --peers names the Python of an environment that has it."


def report() -> str:
    """Return the tables."""
    return "\n".join(lines(int(os.environ.get("WEBANALYTICS_PAGES_OF_FLAT", PAGES))))
