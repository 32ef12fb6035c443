"""Whatever foreign bytes hold, reading them ends: within a bound of steps and memory, with an answer or an error.

Hypothesis makes the same documents at every run (its profile is derandomized), of the pieces that each format
is made of, repeated: what is hostile is rarely random bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import webanalytics as wa
from tests.limits import TooManySteps, TooMuchMemory, limited
from webanalytics.audits.directives import robots as robots_findings
from webanalytics.audits.storage import folders as storage
from webanalytics.errors import RowError
from webanalytics.fetching import robots
from webanalytics.fetching.guard import Problem
from webanalytics.fetching.response import header_block, header_lines
from webanalytics.fetching.sitemap import parse_sitemap
from webanalytics.operations import OPERATIONS
from webanalytics.page.page import Page
from webanalytics.runs.frames.input_files import read_csv
from webanalytics.runs.workers.worker import analysis_function

REFUSALS = (RowError, Problem, wa.ParameterError)
EXAMPLES = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def documents(*pieces: bytes, most: int = 2_000) -> st.SearchStrategy[bytes]:
    """Return documents of pieces, some of them many times in a row, and of bytes that no format has."""
    piece = st.one_of(st.sampled_from(pieces), st.binary(max_size=6))
    run = st.tuples(piece, st.sampled_from([1, 1, 1, 2, 7, most])).map(lambda pair: pair[0] * pair[1])
    return st.lists(run, max_size=8).map(b"".join)


def read(work: Callable[[], Any], steps: int = 2_000_000, memory: int = 50_000_000) -> None:
    with limited(steps, memory), suppress(*REFUSALS):
        work()


MARKUP = documents(
    *(b"<p>", b"</p>", b"<a href='/x'>", b"tea leaves. ", b"<div ", b"a=''", b">", b"<!--", b"-->", b"<svg>"),
    *(b"<script type=application/ld+json>", b'{"@type":"Article","name":[', b"</script>", b"<table><tr><td>"),
    *(b"<meta property=og:title content='", b"'", b'"', b"<title>", b"&#xFFFF;", b"&amp", b"<h1>", b"\xe9"),
    *(b"<link rel=canonical href=//x>", b"<b><i>", b"<textarea>", b"</html>", b"<img src=a alt=b>", b"\x00"),
    most=300,
)
PAGES = sorted(item.name for item in OPERATIONS.values() if item.kind == "page")


@pytest.mark.parametrize("name", PAGES)
@EXAMPLES
@given(content=MARKUP, header=st.sampled_from(["", "text/html; charset=utf-16", "text/plain"]))
def test_every_analysis_of_a_page_ends(name: str, content: bytes, header: str) -> None:
    operation = OPERATIONS[name]
    given_ = {item.keyword: item.default_here for item in operation.settings if not item.required}
    analyse = analysis_function(operation.analysis)
    read(lambda: analyse(Page(content, "https://a.example/", "", header), **given_), 5_000_000, 200_000_000)


ROBOTS = documents(
    *(b"User-agent: *\n", b"User-agent: webanalytics\n", b"Disallow: /", b"*", b"$", b"a", b"%2", b"\n"),
    *(b"Sitemap: https://a.example/s.xml\n", b"Crawl-delay: 1e9\n", b"Allow:", b"\r", b"\xef\xbb\xbf", b"#"),
)


@EXAMPLES
@given(content=ROBOTS)
def test_reading_robots_txt_ends(content: bytes) -> None:
    read(lambda: robots.parse(content, "webanalytics/1", 60.0))
    read(lambda: robots_findings.robots_problems(content))


SITEMAP = documents(
    *(b"<?xml version='1.0'?>", b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>", b"<url>"),
    *(
        b"<loc>",
        b"https://a.example/",
        b"</loc>",
        b"</url>",
        b"<lastmod>2026",
        b"<sitemapindex>",
        b"<sitemap>",
    ),
    *(b"<rss><channel><item><link>", b"<feed><entry>", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"&b;", b"\n"),
    *(b"User-agent: *\nSitemap: https://a.example/s\n", b"\x1f\x8b\x08\x00", b"<![CDATA[", b"]]>", b"<a "),
)


@EXAMPLES
@given(content=SITEMAP)
def test_reading_a_sitemap_or_a_feed_ends(content: bytes) -> None:
    read(lambda: parse_sitemap(content, "https://a.example/sitemap.xml"))


HEADERS = documents(
    b"Link: </a>; rel=next", b", ", b"X-Robots-Tag: noindex", b": ", b"\n", b"\r\n", b"=", b'"', b";"
)


@EXAMPLES
@given(content=HEADERS)
def test_reading_headers_ends(content: bytes) -> None:
    text = content.decode("latin-1")
    read(lambda: header_lines(text))
    read(lambda: header_block([("Link", text), (text, "x")]))
    read(lambda: robots_findings.directives(text))
    read(lambda: robots_findings.unavailable_after(text))


TABLE = documents(
    b"url", b",", b"\n", b'"', b'""', b"https://a.example/", b"=1+1", b";", b"\r", "é".encode(), b"\t"
)


@EXAMPLES
@given(content=TABLE)
def test_reading_an_uploaded_table_ends(content: bytes) -> None:
    def work() -> None:
        with suppress(
            ValueError
        ):  # pandas' own for what is no table; its callers put a sentence in its place
            read_csv(io.StringIO(content.decode("utf-8", "replace"), newline=""))

    read(work)


MANIFEST = documents(
    *(b'{"format": 3, "parts": {"pages": {"file": "', b'", "sha256": "', b'"}}', b'"robots": ', b"{", b"}"),
    *(b"[", b"]", b",", b'"a": ', b"1", b"null", b'"profile": null', b"\\u0000", b"1e999", b"9" * 5_000),
)


@EXAMPLES
@given(manifest=MANIFEST, part=documents(b"PAR1", b"\x15\x00\x15", b"\x00", b"\xff\xff\xff\x7f", b"ARROW1"))
def test_loading_a_saved_audit_ends(
    tmp_path_factory: pytest.TempPathFactory, manifest: bytes, part: bytes
) -> None:
    folder = tmp_path_factory.mktemp("saved")
    (folder / storage.MANIFEST).write_bytes(manifest)
    read(lambda: wa.load(folder))
    put_part(folder, part)
    read(lambda: wa.load(folder))


@EXAMPLES
@given(manifest=MANIFEST, part=documents(b"PAR1", b"\x15\x00", b"\x00", b"\xff\xff\xff\x7f"))
def test_resuming_from_a_checkpoint_ends(
    tmp_path_factory: pytest.TempPathFactory, manifest: bytes, part: bytes
) -> None:
    folder = tmp_path_factory.mktemp("checkpoint")
    wa.hmac(["a"], secret="b", store=folder, progress=False)
    for path in folder.iterdir():
        if path.suffix == ".json" and manifest:
            path.write_bytes(manifest)
        elif path.suffix == ".parquet":
            path.write_bytes(part)
    read(lambda: wa.hmac(["a"], secret="b", store=folder, progress=False))


def put_part(folder: Path, content: bytes) -> None:
    """Write a part that the manifest names and whose digest is right."""
    digest = hashlib.sha256(content).hexdigest()
    name = f"pages-{digest[:32]}.parquet"
    (folder / name).write_bytes(content)
    parts = {"pages": {"file": name, "sha256": digest}}
    manifest = {"format": 3, "profile": None, "robots": {}, "date": None, "score": None, "parts": parts}
    (folder / storage.MANIFEST).write_text(json.dumps(manifest), "utf-8")


def test_the_limits_hold() -> None:
    with pytest.raises(TooManySteps), limited(steps=1_000):
        [abs(number) for number in range(10_000)]
    with pytest.raises(TooMuchMemory), limited(memory=1_000_000):
        _ = bytearray(2_000_000)
    with limited(steps=1_000, memory=1_000_000):
        assert abs(-1) == 1
