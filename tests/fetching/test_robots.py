"""robots.txt: RFC 9309, crawl-delay, and what its failures mean."""

from __future__ import annotations

import asyncio
import gzip
import time
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import effort_since
from webanalytics.fetching import Fetcher, FetchError
from webanalytics.fetching.response import Problem
from webanalytics.fetching.robots import RobotsCache, Rules, parse, product_tokens


def allows(text: str, path: str, agent: str = "webanalytics/1.0 (+https://example.com/)") -> bool:
    try:
        parse(text.encode(), agent, 30).check(f"https://example.com{path}")
    except Problem as problem:
        assert problem.key == "robots"  # noqa: PT017
        return False
    return True


# RFC 9309 section 5.1, the simple example with its allowances.
SIMPLE = """\
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
"""


@pytest.mark.parametrize(
    ("agent", "path", "allowed"),
    [
        ("other/1", "/a.gif", False),
        ("other/1", "/example/x", False),
        ("other/1", "/publications/x", True),
        ("foobot/1", "/publications/", False),
        ("foobot/1", "/example/page.html", True),
        ("FooBot/2.1", "/example/allowed.gif", True),
        ("barbot/1", "/example/page.html", False),
        ("bazbot/1", "/example/page.html", False),
        ("bazbot/1", "/example/x", True),
        ("quxbot/1", "/example/page.html", True),
        ("Mozilla/5.0 (compatible; foobot/1.0)", "/publications/", False),
    ],
)
def test_the_standards_example(agent: str, path: str, allowed: bool) -> None:
    assert allows(SIMPLE, path, agent) is allowed


def test_the_most_specific_rule_wins() -> None:
    # RFC 9309 section 5.2.
    text = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif"
    assert allows(text, "/example/page/", "foobot/1")
    assert not allows(text, "/example/page/disallowed.gif", "foobot/1")


def test_our_own_name_goes_before_the_star() -> None:
    text = "User-agent: *\nDisallow: /\n\nUser-agent: WebAnalytics/9.9\nDisallow: /private"
    assert allows(text, "/")
    assert not allows(text, "/private/a")
    assert not allows("User-agent: *\nDisallow: /\n\nUser-agent: web\nAllow: /", "/")  # not our name
    assert not allows("\ufeffUser-agent: *\nDisallow: /", "/")


def test_names_in_a_user_agent() -> None:
    assert product_tokens("webanalytics/0.1.0 (+https://example.com/bot/2)") >= {"webanalytics"}
    assert product_tokens("Mozilla/5.0") == {"mozilla"}
    assert product_tokens("my crawler") == {"my"}


def test_a_path_is_normalised_before_it_is_checked(open_site: Any, answer: Any) -> None:
    def respond(path: str, headers: Any) -> bytes:
        return (
            answer(b"User-agent: *\nDisallow: /closed", type="text/plain")
            if path == "/robots.txt"
            else answer()
        )

    async def main() -> list[str]:
        async with open_site(respond, robots=True) as (site, fetcher):
            for path in ("/closed", "/open/../closed/a", "/open/%2e%2e/closed", "/./closed"):
                with pytest.raises(FetchError) as error:
                    await fetcher.fetch(site.url + path)
                assert error.value.error_type == "robots"
            return site.paths

    assert asyncio.run(main()) == ["/robots.txt"]


# ---- crawl-delay


def test_crawl_delay_is_bounded() -> None:
    for text, delay in (("2", 2.0), ("0.5", 0.5), ("86400", 30.0), ("inf", 0.0), ("-1", 0.0), ("x", 0.0)):
        assert parse(f"User-agent: *\nCrawl-delay: {text}".encode(), "a/1", 30).crawl_delay == delay


def test_crawl_delay_spaces_requests_and_serialises_them(open_site: Any, answer: Any) -> None:
    async def slow(writer: asyncio.StreamWriter) -> bytes:
        await asyncio.sleep(0.3)
        return answer()

    def respond(path: str, headers: Any) -> Any:
        return (
            answer(b"User-agent: *\nCrawl-delay: 0.2", type="text/plain") if path == "/robots.txt" else slow
        )

    async def main() -> tuple[list[float], int]:
        async with open_site(respond, robots=True) as (site, fetcher):
            await asyncio.gather(*(fetcher.fetch(f"{site.url}/{n}") for n in range(3)))
            return site.starts, site.most

    starts, most = asyncio.run(main())
    assert most == 1
    assert starts[2] - starts[1] > 0.28
    assert starts[3] - starts[2] > 0.28


def test_crawl_delay_from_start_to_start(open_site: Any, answer: Any) -> None:
    def respond(path: str, headers: Any) -> Any:
        return answer(b"User-agent: *\nCrawl-delay: 600") if path == "/robots.txt" else answer()

    async def main() -> list[float]:
        async with open_site(respond, robots=True, max_crawl_delay=0.25) as (site, fetcher):
            await asyncio.gather(*(fetcher.fetch(f"{site.url}/{n}") for n in range(4)))
            return site.starts[1:]

    starts = asyncio.run(main())
    assert all(0.22 < later - earlier < 0.6 for earlier, later in pairwise(starts))


# ---- fetching it


def with_robots(robots: Any, page: bytes) -> Any:
    return lambda path, headers: robots if path == "/robots.txt" else page


def test_fetched_once_for_an_origin(open_site: Any, answer: Any) -> None:
    async def robots(writer: asyncio.StreamWriter) -> bytes:
        await asyncio.sleep(0.1)
        return answer(b"User-agent: *\nDisallow: /no", type="text/plain")

    async def main() -> tuple[list[str], list[Any]]:
        async with open_site(with_robots(robots, answer()), robots=True) as (site, fetcher):
            paths = ["/a", "/no", "/b", "/no/b"] * 5
            fetches = (fetcher.fetch(site.url + path) for path in paths)
            results = await asyncio.gather(*fetches, return_exceptions=True)
            return site.paths, results

    paths, results = asyncio.run(main())
    assert paths[0] == "/robots.txt"
    assert paths.count("/robots.txt") == 1
    assert sorted(set(paths[1:])) == ["/a", "/b"]
    errors = [result for result in results if isinstance(result, FetchError)]
    assert len(errors) == 10
    assert {error.error_type for error in errors} == {"robots"}
    assert (
        errors[0].sentence == "The `url` parameter names a page that the site's robots.txt forbids fetching."
    )


def test_checked_for_each_redirect(open_site: Any, answer: Any) -> None:
    def respond(path: str, headers: Any) -> bytes:
        if path == "/robots.txt":
            return answer(b"User-agent: *\nDisallow: /no", type="text/plain")
        return answer(b"", "302 Found", Location="/no") if path == "/a" else answer()

    async def main() -> tuple[Any, list[str]]:
        async with open_site(respond, robots=True) as (site, fetcher):
            with pytest.raises(FetchError) as error:
                await fetcher.fetch(f"{site.url}/a")
            return error.value, site.paths

    error, paths = asyncio.run(main())
    assert error.error_type == "robots"
    assert "redirects to" in error.sentence
    assert paths == ["/robots.txt", "/a"]


def test_each_origin_has_its_own(server: Any, settings: Any, answer: Any) -> None:
    closed = answer(b"User-agent: *\nDisallow: /", type="text/plain")

    async def main() -> list[str]:
        async with (
            server(with_robots(closed, answer())) as shut,
            server(
                lambda path, headers: (
                    answer(b"", "302 Found", Location=f"{shut.url}/x")
                    if path == "/a"
                    else answer(b"", "404 No")
                )
            ) as open_,
            Fetcher(settings(robots=True)) as fetcher,
        ):
            with pytest.raises(FetchError) as error:
                await fetcher.fetch(f"{open_.url}/a")
            assert error.value.error_type == "robots"
            return shut.paths

    assert asyncio.run(main()) == ["/robots.txt"]


@pytest.mark.parametrize("status", ["400 A", "401 B", "403 C", "404 D", "410 E", "429 F"])
def test_without_rules_everything_may_be_fetched(one: Any, answer: Any, status: str) -> None:
    page = answer(b"<p>page")
    assert (
        one(with_robots(answer(b"User-agent: *\nDisallow: /", status), page), robots=True).content
        == b"<p>page"
    )


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_site_in_trouble_is_left_alone(one: Any, answer: Any, status: int) -> None:
    error = one(with_robots(answer(b"", f"{status} Sorry"), answer()), robots=True)
    assert (error.error_type, error.http_status) == ("robots", None)
    assert f"HTTP {status}" in error.sentence
    assert one(with_robots(answer(b"", f"{status} Sorry"), answer()), robots=False).http_status == 200


@pytest.mark.parametrize(
    "location",
    ["/robots.txt", "http://localhost.localdomain:1/", "file:///etc/passwd", "http://[::1", "ftp://a/"],
)
def test_a_robots_txt_that_redirects_astray(one: Any, answer: Any, location: str) -> None:
    assert (
        one(with_robots(answer(b"", "302 Found", Location=location), answer()), robots=True).http_status
        == 200
    )


def test_a_robots_txt_that_redirects_is_followed(one: Any, answer: Any) -> None:
    def respond(path: str, headers: Any) -> bytes:
        if path == "/robots.txt":
            return answer(b"", "301 Moved", Location="/rules")
        return answer(b"User-agent: *\nDisallow: /", type="text/plain") if path == "/rules" else answer()

    assert one(respond, robots=True).error_type == "robots"


def test_the_first_part_of_a_long_robots_txt_counts(one: Any, answer: Any) -> None:
    # RFC 9309 section 2.5: at least 500 KiB are read.
    filler = b"# comment\n" * 49_000
    early = answer(b"User-agent: *\nDisallow: /\n" + filler * 2)
    late = answer(b"User-agent: *\n" + filler + b"Disallow: /\n")
    too_late = answer(b"User-agent: *\n" + filler * 2 + b"Disallow: /\n")
    assert one(with_robots(early, answer()), robots=True).error_type == "robots"
    assert one(with_robots(late, answer()), robots=True).error_type == "robots"
    assert one(with_robots(too_late, answer()), robots=True).http_status == 200
    packed = answer(
        gzip.compress(b"User-agent: *\nDisallow: /\n" + bytes(50_000_000)), Content_Encoding="gzip"
    )
    assert one(with_robots(packed, answer()), robots=True).error_type == "robots"


@settings(max_examples=70, deadline=None)
@given(st.binary(max_size=200), st.text(max_size=30))
def test_any_bytes_are_rules(content: bytes, path: str) -> None:
    rules = parse(b"User-agent: *\nDisallow: " + content, "a/1", 30)
    try:
        rules.check(f"https://example.com/{path}")
    except Problem as problem:
        assert problem.key == "robots"  # noqa: PT017


@pytest.mark.parametrize(
    "rule", ["Disallow: http://[::1/", "Disallow: //[", "Allow: http://[x]:y/", "Sitemap: ["]
)
def test_a_broken_rule_breaks_nothing(one: Any, answer: Any, rule: str) -> None:
    robots = answer(f"User-agent: *\n{rule}\nDisallow: /no\n".encode(), type="text/plain")
    assert one(with_robots(robots, answer()), "/a", robots=True).http_status == 200


HOSTILE = {
    "many names, many rules": b"".join(b"User-agent: bot%d\n" % n for n in range(12_000))
    + b"Allow: /x\n" * 25_000,
    "parts of our name": b"".join(b"User-agent: %s\n" % b"webanalytics"[: n % 12 + 1] for n in range(12_000))
    + b"Allow: /x\n" * 25_000,
    "one pattern of stars": b"User-agent: *\nDisallow: /" + b"*a" * 250_000,
    "many patterns of stars": b"User-agent: *\n" + b"Disallow: /*a*a*a*a*b$\n" * 20_000,
    "no line end": b"User-agent: *" * 40_000,
    "spaces": b"User-agent:" + b" " * 500_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_rules_take_bounded_time(name: str) -> None:
    began = time.process_time()
    rules = parse(HOSTILE[name], "webanalytics/1.0", 30)
    with suppress(Problem):
        rules.check("https://example.com/" + "a" * 2000)
    assert effort_since(began) < 5


# ---- the cache


def test_the_cache_is_bounded_and_forgets_failures() -> None:
    loads: list[str] = []

    async def load(origin: str) -> Rules:
        loads.append(origin)
        return Rules(problem=Problem("timeout", seconds="1")) if origin == "bad" else Rules(size=1000)

    async def main() -> None:
        cache = RobotsCache(load, max_size=15_000, failure_seconds=0.1)
        for number in range(20):
            await cache.rules(f"site{number}")
        assert len(cache._kept) == 10  # 1,500 each
        await cache.rules("site19")
        assert loads.count("site19") == 1
        await cache.rules("site0")
        assert loads.count("site0") == 2
        await cache.rules("bad")
        await cache.rules("bad")
        assert loads.count("bad") == 1
        await asyncio.sleep(0.12)
        await cache.rules("bad")
        assert loads.count("bad") == 2
        await cache.close()

    asyncio.run(main())


def test_rules_are_asked_for_anew_after_their_time() -> None:
    asked: list[str] = []

    async def load(origin: str) -> Rules:
        asked.append(origin)
        return Rules()

    async def main() -> None:
        cache = RobotsCache(load, keep_seconds=0.05)
        for pause in (0.0, 0.1, 0.0):
            await cache.rules("http://a")
            await asyncio.sleep(pause)
        assert len(asked) == 2
        await cache.close()

    asyncio.run(main())


def test_one_who_gives_up_does_not_take_it_from_the_others(open_site: Any, answer: Any) -> None:
    async def robots(writer: asyncio.StreamWriter) -> bytes:
        await asyncio.sleep(0.2)
        return answer(b"", "404 Not Found")

    async def main() -> int:
        async with open_site(with_robots(robots, answer()), robots=True) as (site, fetcher):
            first = asyncio.create_task(fetcher.fetch(f"{site.url}/a"))
            second = asyncio.create_task(fetcher.fetch(f"{site.url}/b"))
            await asyncio.sleep(0.05)
            first.cancel()
            return (await second).http_status

    assert asyncio.run(main()) == 200
