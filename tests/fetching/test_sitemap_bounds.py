"""Hostile sitemaps: what they may cost in memory and time, and how fast an interrupt ends them."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.effort import BUSY_SECONDS, effort_since
from webanalytics.fetching.response import Problem
from webanalytics.fetching.sitemap_parser import BLOCK, Budget, SitemapParser
from webanalytics.fetching.testing import Reply, SiteServer

AT = "https://example.com/s.xml"
SIZE = 40_000_000

JUNK: dict[str, Callable[[], bytes]] = {
    "elements": lambda: b"<urlset>" + b"<x/>" * (SIZE // 4),
    "open elements": lambda: b"<urlset>" + b"<x>" * (SIZE // 3),
    "one text": lambda: b"<urlset><url><loc>" + b"a" * SIZE,
    "one tag": lambda: b"<urlset><url " + b'a="b" ' * (SIZE // 6),
    "one tag of many names": lambda: b"<urlset><url " + b" ".join(b'a%d="b"' % n for n in range(SIZE // 14)),
    "names": lambda: b"<urlset>" + b"".join(b"<x%d/>" % n for n in range(SIZE // 11)),
    "namespaces": lambda: b"<urlset>" + b"".join(b"<x xmlns:a%d='u'/>" % n for n in range(SIZE // 24)),
    "a comment": lambda: b"<urlset><!--" + b"a" * SIZE,
    "comments before the root": lambda: b"<!--a-->" * (SIZE // 8) + b"<urlset/>",
    "stars": lambda: b"<" * SIZE,
    "ampersands": lambda: b"<urlset><url><loc>" + b"&" * SIZE,
    "long addresses": lambda: (
        b"<urlset>" + (b"<url><loc>http://a/" + b"a" * 8000 + b"</loc></url>") * (SIZE // 8030)
    ),
    "words": lambda: b"words " * (SIZE // 6),
    "lines": lambda: b"words\n" * (SIZE // 6),
    "long lines": lambda: (b"http://a/" + b"a" * 9000 + b"\n") * (SIZE // 9010),
    "alternates": lambda: (
        b'<urlset xmlns:h="http://www.w3.org/1999/xhtml"><url><loc>http://a/</loc>'
        + b"".join(b'<h:link hreflang="de" href="http://a/%d"/>' % n for n in range(SIZE // 50))
    ),
}


@pytest.mark.parametrize("name", JUNK)
def test_a_hostile_document_ends_in_bounded_effort(name: str) -> None:
    content = JUNK[name]()
    parser = SitemapParser(AT, Budget(), 60_000_000)
    began = time.process_time()
    problem = ""
    try:
        for start in range(0, len(content), BLOCK):
            parser.feed(content[start : start + BLOCK])
        parser.close()
    except Problem as found:
        problem = found.key
    assert effort_since(began) < 8
    assert problem or parser.document.broken  # it is told
    assert len(parser.document.entries) <= 500_000


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-7", "latin-1"])
def test_declarations_are_never_read(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE u [<!ENTITY a "hahaha">]>'
    text += "<urlset><url><loc>http://a/&a;</loc></url></urlset>"
    parser = SitemapParser(AT, Budget(), 60_000_000)

    def read() -> None:
        parser.feed(text.encode(encoding))
        parser.close()

    with pytest.raises(Problem, match="not_sitemap"):
        read()
    assert "haha" not in str(list(parser.document.entries.urls))


def test_bounds_hold_over_the_whole_tree() -> None:
    budget = Budget(size=1_000)
    SitemapParser(AT, budget, 5_000).feed(b"http://a/b\n" * 60)
    with pytest.raises(Problem, match="large_sitemaps"):
        SitemapParser(AT, budget, 5_000).feed(b"http://a/b\n" * 60)
    budget = Budget(characters=100)
    parser = SitemapParser(AT, budget, 50_000)
    parser.feed(b"http://a/0123456789\n" * 20)
    with pytest.raises(Problem, match="long_sitemaps"):
        parser.close()
    assert 1 < len(parser.document.entries) < 6


SCRIPT = """
    import json, sys, time
    import webanalytics as wa
    def peak():  # getrusage counts the parent's before the exec
        return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
    wa.sitemap("nonsense")
    before = peak()
    print("ready", flush=True)
    began = time.process_time()
    frame = wa.sitemap(sys.argv[1], allow_private=True, timeout=60)
    effort = time.process_time() - began
    after = peak()
    keys = frame["error"].dropna().unique().tolist()
    print(json.dumps([len(frame), before // 1024, after // 1024, effort, keys]))
"""


def hostile(children: int, body: bytes) -> dict[str, Any]:
    """An index of many files that are small on the wire and large after decompression."""
    packed = gzip.compress(body)
    kinds = {"Content-Type": "application/xml", "Content-Encoding": "gzip"}
    entries = "".join(f"<sitemap><loc>/{number}.xml</loc></sitemap>" for number in range(children))
    pages = {f"/{number}.xml": Reply(headers=kinds, body=packed) for number in range(children)}
    index = f"<sitemapindex>{entries}</sitemapindex>".encode()
    return {**pages, "/s.xml": Reply(headers={"Content-Type": "application/xml"}, body=index)}


def started(url: str) -> subprocess.Popen[str]:
    code = textwrap.dedent(SCRIPT)
    return subprocess.Popen(
        [sys.executable, "-c", code, url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


TREES: dict[str, Callable[[], bytes]] = {
    "junk": lambda: b"words " * 8_000_000,
    "junk lines with an address now and then": lambda: (b"words\n" * 100 + b"http://a/b\n") * 80_000,
    "addresses": lambda: b"".join(b"http://example.com/a/page/%d\n" % number for number in range(1_600_000)),
    "elements": lambda: b"<urlset>" + b"<x/>" * 12_000_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TREES)
def test_an_index_of_many_large_files_stays_small(name: str) -> None:
    with SiteServer(hostile(24, TREES[name]())) as server:
        process = started(f"{server.url}/s.xml")
        out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    rows, before, after, _, told = json.loads(out.splitlines()[-1])
    assert after - before < 225, (before, after)  # half a million addresses; megabytes
    assert rows
    assert told  # whatever was left out is said


def test_ctrl_c_ends_it_at_once() -> None:
    with SiteServer(hostile(60, TREES["elements"]())) as server:
        process = started(f"{server.url}/s.xml")
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.5)
        assert process.poll() is None
        began = time.monotonic()
        os.kill(process.pid, signal.SIGINT)
        process.communicate(timeout=BUSY_SECONDS)
        took = time.monotonic() - began
    assert process.returncode != 0
    assert took < BUSY_SECONDS
