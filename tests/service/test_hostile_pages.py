"""Pages made to hang, to hide or to fill memory: each is answered in bounded time, and nobody waits for it."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import resource
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import brotli
import pytest

from tests.effort import BUSY_SECONDS
from tests.service.evil import Evil, Reply, ask, http, open_engine, streaming
from webanalytics.operations import AUDIT, OPERATIONS
from webanalytics.service.answer_formats import render
from webanalytics.service.results import Result, envelope

MB = 1_000_000
PARSE_SECONDS = 2.5
OPERATIONS_ASKED = tuple(operation.name for operation in AUDIT)

SENTINEL = "Sentinelword"
# Long enough to count as prose and not as a label.
END = (
    f"<p>The {SENTINEL} stands at the very end of this page, in a sentence that is as long as the sentences "
    "of a story are, so that nobody takes it for a label.</p>"
).encode()


def nested(tag: bytes, depth: int, closed: bool = True) -> bytes:
    names = tag.split()
    opening = b"".join(b"<%s>" % name for name in names) * depth
    closing = b"".join(b"</%s>" % name for name in reversed(names)) * depth if closed else b""
    return b"<title>t</title>" + opening + END + closing


def words(size: int) -> bytes:
    rng = random.Random(5)
    vocabulary = [f"{rng.choice('bdfgklmnprst')}{rng.choice('aeiou')}nter{number}" for number in range(400)]
    return " ".join(rng.choices(vocabulary, k=size // 9)).encode()


# Name to the page. Where the text of a page is small enough to be had it ends in the sentinel, which is
# either in the answer, or the answer says why not. Two are as long as pages may be, and take as long as they may.
PAGES: dict[str, bytes] = {
    "100,000 attributes": b"<p " + b" ".join(b"a%d=1" % n for n in range(100_000)) + b">" + END,
    "attributes in many tags": b"".join(
        b"<p %s>x</p>" % b" ".join(b"a%d=1" % n for n in range(2_000)) for _ in range(20)
    )
    + END,
    "100,000 divs": nested(b"div", 100_000),
    "100,000 divs not closed": nested(b"div", 100_000, closed=False),
    "50,000 lists": nested(b"ul li", 50_000),
    "50,000 quotes": nested(b"blockquote", 50_000),
    "33,000 tables": nested(b"table tr td", 33_000),
    "100,000 spans": nested(b"span", 100_000),
    "2,000 divs": nested(b"div", 2_000),
    "1,000 divs": nested(b"div", 1_000),
    "text node of 9 MB": b"<p>" + words(9 * MB) + b"</p>" + END,
    "word of 3 MB": b"<p>" + b"a" * (3 * MB) + b"</p>" + END,
    "9 MB of <": b"<" * (9 * MB) + END,
    "3 MB of &": b"&" * (3 * MB) + END,
    "3 MB of comments": b"<!--" * (3 * MB // 4) + END,
    "references": b"<p>" + b"&amp;&#1;&nosuch;" * 150_000 + END,
    "200,000 br": b"<br>" * 200_000 + END,
    "10,000 tables": b"<table><tr><td>x</table>" * 10_000 + END,
    "50,000 links": b"<a href=/a>some link</a> " * 50_000 + END,
    "30,000 rows not closed": b"<table>" + b"<tr><td>cell" * 30_000 + END,
    "NUL": b"<title>a\0b</title><p>" + b"\0 word " * 1000 + END,
    "random bytes": random.Random(1).randbytes(300_000) + END,
    "invalid UTF-8": b"<meta charset=utf-8><p>" + b"\xff\xfe\xc3( \xed\xa0\x80 word " * 5_000 + END,
    "JSON-LD of brackets": b"<script type=application/ld+json>" + b"[" * 100_000 + b"</script>" + END,
    "JSON-LD of objects": b'<script type=application/ld+json>{"@graph":'
    + b'{"a":' * 20_000
    + b"1"
    + b"}" * 20_001
    + b"</script>"
    + END,
    "JSON-LD of numbers": b"<script type=application/ld+json>"
    + json.dumps({"@type": "Product", "large": 10**30, "huge": 10**400}).encode()[:-1]
    + b',"nan": NaN, "infinite": Infinity, "float": 1e999, "lone": "\\ud800", "digits": '
    + b"9" * 5_000
    + b"}</script>"
    + END,
    "title of 5 MB": b"<title>" + b"a <b> " * 800_000 + b"</title>" + END,
    "100,000 headings": b"<h1>x</h1>" * 100_000 + END,
    "50,000 metas": b"<meta name=keywords content=word>" * 50_000 + END,
    "control characters": b"<title>\x01\x02\x1b[31m</title><p>\x0b\x0c\x7f\xc2\x85\xef\xbf\xbe" + END,
    "names to be afraid of": b"<meta name='constructor' content=a><meta name='__proto__' content=b>" + END,
    "formulas": b"<title>=HYPERLINK(\"http://x\")</title><meta name=author content='@SUM(1+1)'>" + END,
}


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@dataclass
class Seen:
    """What came of all hostile pages, asked for at one time."""

    results: dict[tuple[str, str], Result] = field(default_factory=dict)
    seconds: dict[tuple[str, str], float] = field(default_factory=dict)
    beside: list[tuple[int, float]] = field(default_factory=list)
    after: int = 0
    memory: int = 0


@pytest.fixture(scope="module")
def seen() -> Seen:
    """All pages with all operations for one account, while another one asks for a normal page."""

    async def main() -> Seen:
        found = Seen()
        before = peak()
        pages: dict[str, Reply] = {f"/{number}": http(page) for number, page in enumerate(PAGES.values())}
        pages["/normal"] = http(b"<title>Normal</title>" + END)
        settings = {"parse_timeout": PARSE_SECONDS, "fetch_timeout": 20.0}
        async with Evil(pages) as site, open_engine(**settings) as engine:
            await ask(engine, "text", site.url + "/normal", account=2)
            window = asyncio.Semaphore(6)

            async def hostile(number: int, name: str, operation: str) -> None:
                async with window:
                    began = time.monotonic()
                    result = await ask(engine, operation, f"{site.url}/{number}")
                    found.seconds[name, operation] = time.monotonic() - began
                    found.results[name, operation] = result

            async def normal() -> None:
                while True:
                    began = time.monotonic()
                    result = await ask(engine, "metadata", site.url + "/normal", account=2, fresh=True)
                    found.beside.append((result.status, time.monotonic() - began))
                    await asyncio.sleep(0.1)

            probe = asyncio.create_task(normal())
            async with asyncio.TaskGroup() as group:
                for number, name in enumerate(PAGES):
                    for operation in OPERATIONS_ASKED:
                        group.create_task(hostile(number, name, operation))
            probe.cancel()
            found.after = (await ask(engine, "text", site.url + "/normal", account=3)).status
        found.memory = peak() - before
        return found

    return asyncio.run(main())


def test_a_normal_page_is_answered_beside_them_and_afterwards(seen: Seen) -> None:
    assert seen.after == 200
    assert len(seen.beside) > 5
    assert {status for status, _ in seen.beside} == {200}
    assert max(seconds for _, seconds in seen.beside) < PARSE_SECONDS + 1.5


def test_the_service_itself_takes_little_memory(seen: Seen) -> None:
    # The server of the pages is in this process as well.
    assert seen.memory < 700 * MB


@pytest.mark.parametrize("operation", OPERATIONS_ASKED)
@pytest.mark.parametrize("name", PAGES)
def test_every_page_has_an_answer_in_bounded_time(seen: Seen, name: str, operation: str) -> None:
    result = seen.results[name, operation]
    # Six calls wait for two workers, and the other account has its turns between them.
    assert seen.seconds[name, operation] < 6 * (PARSE_SECONDS + 1)
    assert result.status in (200, 400, 503), result
    assert (result.error is None) == result.ok
    if not result.ok:
        assert result.data is None
        assert result.error is not None
        assert result.error.startswith("The `url` parameter ")


@pytest.mark.parametrize("operation", ["text", "keywords"])
@pytest.mark.parametrize("name", PAGES)
def test_no_text_is_lost_in_silence(seen: Seen, name: str, operation: str) -> None:
    result = seen.results[name, operation]
    if name == "3 MB of comments":  # by the HTML Standard the rest of the page is a comment
        return
    if result.data is None:
        assert result.error is not None
        assert any(word in result.error for word in ("nested", "attributes", "longer than", "memory"))
    elif operation == "text":
        assert SENTINEL in result.data["text"]
    else:
        counted = sum(result.data["keywords"].values())
        assert SENTINEL.lower() in result.data["keywords"] or counted >= 50


@pytest.mark.parametrize("operation", OPERATIONS_ASKED)
@pytest.mark.parametrize("name", PAGES)
def test_every_answer_can_be_written_in_every_format(seen: Seen, name: str, operation: str) -> None:
    declared = OPERATIONS[operation]
    result = seen.results[name, operation]
    size = sum(len(value) for value in (result.data or {}).values() if isinstance(value, str))
    for format_name in declared.formats if size < 3 * MB else ("json",):
        body, _ = render(envelope(declared, result, premium=True), format_name)  # type: ignore[arg-type]
        assert body


def test_a_text_of_50_megabytes_is_had_whole_where_it_is_allowed() -> None:
    page = b"<p>" + words(5 * MB) * 10 + b"</p>" + END

    async def main() -> Result:
        settings = {"max_page_bytes": 60 * MB, "parse_timeout": 30.0, "fetch_timeout": 20.0}
        async with Evil({"/": http(page)}) as site, open_engine(**settings) as engine:
            return await ask(engine, "text", site.url + "/")

    result = asyncio.run(main())
    if result.data is None:
        assert result.error is not None
        assert "memory" in result.error or "longer than" in result.error
    else:
        assert len(result.data["text"]) > 45 * MB
        assert SENTINEL in result.data["text"]


# Bodies
def gzip_bomb() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(bytes(MB)) for _ in range(200)), packer.flush()])


def head(*lines: str) -> bytes:
    return "\r\n".join(["HTTP/1.1 200 OK", "Content-Type: text/html", *lines, "", ""]).encode()


BODIES: dict[str, tuple[Callable[[], Reply], int, str]] = {
    "gzip bomb": (lambda: http(gzip_bomb(), Content_Encoding="gzip"), 400, "more than 10,000,000 bytes."),
    "br bomb": (
        lambda: http(brotli.compress(bytes(200 * MB), quality=4), Content_Encoding="br"),
        400,
        "more than 10,000,000 bytes.",
    ),
    "zstd": (lambda: http(b"\x28\xb5\x2f\xfd\0", Content_Encoding="zstd"), 400, "cannot be decoded."),
    "endless chunks": (
        lambda: streaming(head("Transfer-Encoding: chunked"), b"10000\r\n" + bytes(65_536) + b"\r\n"),
        400,
        "more than 10,000,000 bytes.",
    ),
    "endless body": (lambda: streaming(head(), b"x" * 65_536), 400, "more than 10,000,000 bytes."),
    "endless headers": (lambda: streaming(head()[:-2], b"X-A: b\r\n" * 1000), 400, "not valid HTTP."),
    "endless interim answers": (
        lambda: streaming(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100),
        400,
        "not valid HTTP.",
    ),
    "cut gzip": (
        lambda: http(gzip.compress(random.Random(2).randbytes(50_000))[:30_000], Content_Encoding="gzip"),
        503,
        "broke off before its answer was complete.",
    ),
    "half a bomb": (
        lambda: streaming(head("Content-Encoding: gzip"), gzip.compress(b"") * 500),
        400,
        "cannot be decoded.",
    ),
    "one byte at a time": (lambda: streaming(head(), b"x", 0.05), 503, "did not arrive within 2 seconds."),
    "nested encodings": (
        lambda: http(gzip.compress(gzip.compress(b"<p>text")), Content_Encoding="gzip, gzip"),
        400,
        "cannot be decoded.",
    ),
    "text node of 50 MB": (lambda: http(b"<p>" + b"word " * 10 * MB), 400, "more than 10,000,000 bytes."),
}


@pytest.fixture(scope="module")
def bodies() -> Mapping[str, Result]:
    """All bodies at one time, while another account asks for a normal page."""

    async def main() -> dict[str, Result]:
        pages: dict[str, Reply] = {f"/{n}": make() for n, (make, _, _) in enumerate(BODIES.values())}
        pages["/normal"] = http()
        async with Evil(pages) as site, open_engine() as engine:
            calls = [asyncio.create_task(ask(engine, "text", f"{site.url}/{n}")) for n in range(len(BODIES))]
            beside = 0
            while beside < 3 and not all(call.done() for call in calls):
                assert (await ask(engine, "text", site.url + "/normal", account=2, fresh=True)).ok
                beside += 1
            assert beside == 3  # the slowest of the bodies ends by its deadline
            async with asyncio.timeout(2 * BUSY_SECONDS):
                return dict(zip(BODIES, await asyncio.gather(*calls), strict=True))

    return asyncio.run(main())


@pytest.mark.parametrize("name", BODIES)
def test_the_status_of_a_hostile_body(bodies: Mapping[str, Result], name: str) -> None:
    _, status, end = BODIES[name]
    result = bodies[name]
    assert result.status == status, result
    assert result.error is not None
    assert result.error.endswith(end)


CHARSETS = [
    *("utf-7", "punycode", "idna", "rot13", "hex", "base64", "bz2", "zip", "unicode_escape", "undefined"),
    *("raw_unicode_escape", "mbcs", "nosuchcharset", "utf-8;utf-8", '"utf-8', "''", "../../etc/passwd"),
    "utf\u20118",
]


def test_charsets_that_are_codecs_of_another_kind() -> None:
    page = b"<title>Lanterns</title><p>A lantern on the wall burned all through the night.</p>" + END

    async def main() -> None:
        pages: dict[str, Reply] = {}
        for number, charset in enumerate(CHARSETS):
            value = f"text/html; charset={charset}".encode().decode("latin-1")
            pages[f"/header/{number}"] = http(page, Content_Type=value)
            if '"' not in charset:  # it would begin an attribute that takes in the page
                pages[f"/meta/{number}"] = http(f"<meta charset={charset}>".encode() + page)
        async with Evil(pages) as site, open_engine() as engine:
            for path in pages:
                for operation in ("text", "metadata"):
                    result = await ask(engine, operation, site.url + path)
                    assert result.data is not None, (path, result)
                    assert result.data["title"] == "Lanterns", (path, result)
                    if operation == "text":
                        assert SENTINEL in result.data["text"]

    asyncio.run(main())


def test_a_charset_that_takes_quadratic_time_is_not_used() -> None:
    page = b"<p>" + b"zzzz9" * 256_000 + END

    async def main() -> Result:
        pages = {"/": http(page, Content_Type="text/html; charset=punycode"), "/normal": http()}
        async with Evil(pages) as site, open_engine(parse_timeout=10.0) as engine:
            await ask(engine, "metadata", site.url + "/normal")
            return await ask(engine, "metadata", site.url + "/")

    assert asyncio.run(main()).status == 200


def test_a_site_that_wants_long_pauses_is_not_waited_for_without_end(monkeypatch: Any) -> None:
    monkeypatch.setattr("webanalytics.service.engine.WAIT_SECONDS", -1.0)

    async def main() -> list[Result]:
        pages = {"/robots.txt": http(b"User-agent: *\nCrawl-delay: 20")} | {f"/{n}": http() for n in range(3)}
        async with Evil(pages) as site, open_engine(robots=True) as engine:
            return await asyncio.gather(*(ask(engine, "text", f"{site.url}/{n}") for n in range(3)))

    results = asyncio.run(main())
    assert sorted(result.status for result in results) == [200, 503, 503]
    for result in results:
        if not result.ok:
            assert result.retry_after is not None
            assert result.error is not None
            assert "fewer requests" in result.error
