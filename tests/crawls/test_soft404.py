"""Pages that say "not found" with status 200: real servers, and what is nearly one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.effort import BUSY_SECONDS
from tests.made_up_site import tables_of
from webanalytics.crawls.soft404 import Seen, SeenPages, Walls, impossible, probe, seen_in, soft_404s
from webanalytics.errors import IncompleteRunWarning
from webanalytics.fetching import Fetcher, FetchSettings
from webanalytics.fetching.testing import CrawlSite, Reply, SiteServer, crawl_site

SETTINGS = FetchSettings(allow_private=True, robots=False, timeout=BUSY_SECONDS)
NOTHING = b"<title>Our shop</title><h1>Not found</h1><p>We are sorry, the page that you ask for is not in our shop any more."
SHELL = b"<title>App</title><div id=app></div><script src=/app.js></script>"
WORDS = [
    "lantern",
    "wick",
    "flame",
    "brass",
    "copper",
    "glass",
    "chimney",
    "oil",
    "candle",
    "harbour",
    "keeper",
    "storm",
]


def page(title: str, shift: int) -> bytes:
    turned = WORDS[shift:] + WORDS[:shift]
    return (
        f"<title>{title}</title><h1>{title}</h1><p>{' '.join(turned * 2)}. {' '.join(turned[::2])}.".encode()
    )


def read(server: SiteServer, *paths: str) -> pd.DataFrame:
    urls = [server.url + path for path in paths]
    return wa.audit(urls, allow_private=True, workers=1, progress=False, robots=False).raw


def found(frame: pd.DataFrame, walls: Walls | None = None) -> frozenset[str]:
    async def main() -> frozenset[str]:
        async with Fetcher(SETTINGS) as fetcher:
            return await soft_404s(fetcher, seen_in(frame), {} if walls is None else walls)

    return asyncio.run(main())


def paths(server: SiteServer, soft: frozenset[str]) -> set[str]:
    return {url.removeprefix(server.url) for url in soft}


def asked(server: SiteServer, frame: pd.DataFrame) -> tuple[frozenset[str], int]:
    """Return what is found, and how many requests that took."""
    before = len(server.requests)
    soft = found(frame)
    return soft, len(server.requests) - before


def test_a_site_that_answers_all_with_200() -> None:
    pages = {"/": page("Home", 0), "/tea": page("Tea", 3), "/also": page("Our shop", 6)}
    with SiteServer(pages, not_found=Reply(200, {}, NOTHING)) as server:
        soft, requests = asked(server, read(server, "/", "/tea", "/also", "/gone", "/lost/and/gone.html"))
        assert (paths(server, soft), requests) == ({"/gone", "/lost/and/gone.html"}, 1)


FORM = b"<form method=post><input name=user><input type=password name=password><button>Go</button></form>"


def test_pages_behind_a_session_that_has_ended_are_not_missing(tmp_path: Path) -> None:
    links = b"".join(b"<a href=/%s>%s</a>" % (name, name) for name in (b"tea", b"orders", b"bills"))
    login = Reply(
        200,
        {},
        b"<title>Log in - Our shop</title><h1>Please log in</h1><p>Your orders and bills are shown to you alone, in your account."
        + FORM,
    )
    server = SiteServer({"/": page("Home", 0) + links, "/tea": page("Tea", 3)}, not_found=login)
    with (
        server,
        pytest.warns(IncompleteRunWarning, match="show a page to log in. `access=` sends a password"),
    ):
        audit = wa.crawl(server.url, allow_private=True, workers=1, progress=False, sitemap=None)
    host = server.url.partition("//")[2]
    assert f"2 pages of {host} show a page to log in." in " ".join(repr(audit).split())
    closed = [f"{server.url}/{name}" for name in ("orders", "bills")]
    assert not audit.issues["url"].isin(closed).any()
    pages = audit.pages.set_index("url").loc[closed]
    assert pages["indexability"].eq("refused").all()
    assert pages["score"].isna().all()
    again = wa.load(audit.save(tmp_path / "kept"))
    assert again.score == audit.score == audit.select(~audit.pages["url"].isin(closed)).score
    report = audit.report(tmp_path / "de.html", language="de").read_text("utf-8")
    assert f"2 Seiten von {host} zeigen eine Seite zur Anmeldung." in report


def test_a_form_to_log_in_beside_nothing_found_is_no_wall() -> None:
    pages = {"/": page("Home", 0), "/tea": page("Tea", 3)}
    walls: Walls = {}
    with SiteServer(pages, not_found=Reply(200, {}, NOTHING + FORM)) as server:
        soft = found(read(server, "/", "/tea", "/gone", "/lost"), walls)
        assert (paths(server, soft), walls) == ({"/gone", "/lost"}, {})


def test_a_site_that_answers_404_has_none() -> None:
    with SiteServer({"/": page("Home", 0), "/tea": page("Tea", 3), "/nothing": NOTHING}) as server:
        assert asked(server, read(server, "/", "/tea", "/nothing", "/gone")) == (frozenset(), 1)


def test_an_answer_that_repeats_the_address() -> None:
    class Echo(SiteServer):
        def answer(self, target: str, method: str = "GET") -> Any:
            known = super().answer(target, method)
            if known is not self._missing:
                return known
            text = f"<title>Sorry</title><p>Nothing was found at {target}, neither {target.title()} nor its like."
            return known._replace(
                head=b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n" % len(text),
                body=text.encode(),
            )

    with Echo({"/": page("Home", 0), "/tea": page("Tea", 3)}) as server:
        assert paths(server, found(read(server, "/", "/tea", "/green-lamp", "/red/lamp-7"))) == {
            "/green-lamp",
            "/red/lamp-7",
        }


def test_one_shell_for_every_address_is_not_called_soft_404() -> None:
    with SiteServer({"/app.js": b""}, not_found=Reply(200, {}, SHELL)) as server:
        assert asked(server, read(server, "/", "/tea", "/lamps")) == (frozenset(), 1)


def test_a_shell_is_known_though_the_home_page_was_not_read() -> None:
    with SiteServer({}, not_found=Reply(200, {}, SHELL)) as server:
        assert asked(server, read(server, "/tea", "/lamps")) == (frozenset(), 2)


def test_unknown_addresses_that_lead_to_the_home_page() -> None:
    pages = {"/": page("Home", 0), "/tea": page("Tea", 3), "/index.html": Reply(301, {"Location": "/"})}
    with SiteServer(pages, not_found=Reply(302, {"Location": "/"})) as server:
        soft = found(read(server, "/", "/tea", "/index.html", "/gone"))
        assert paths(server, soft) == {"/gone"}


def test_one_page_for_all_queries_of_a_folder_is_a_place_of_its_own() -> None:
    """A page on a session is the same under any address there: it says nothing of what is not found."""

    class Session(SiteServer):
        def answer(self, target: str, method: str = "GET") -> Any:
            return super().answer("/basket/" if target.startswith("/basket/") else target, method)

    basket = b"<title>Your basket</title><h1>Your basket</h1><p>You are not signed in at the moment."
    with Session({"/": page("Home", 0), "/basket/": basket}) as server:
        assert asked(server, read(server, "/", "/basket/?sid=1", "/basket/?sid=2")) == (frozenset(), 3)


def test_queries_that_lead_to_nothing_while_their_folder_is_there() -> None:
    class Shop(SiteServer):
        def answer(self, target: str, method: str = "GET") -> Any:
            known = target == "/shop/" or not target.startswith("/shop/")
            return super().answer(target if known else "/nothing", method)

    with Shop({"/": page("Home", 0), "/shop/": page("Shop", 4), "/nothing": NOTHING}) as server:
        soft = found(read(server, "/", "/shop/?lamp=1", "/shop/?lamp=2"))
        assert paths(server, soft) == {"/shop/?lamp=1", "/shop/?lamp=2"}


@pytest.fixture(scope="module")
def site() -> Any:
    with crawl_site(slow=0.0) as site:
        yield site


def test_the_made_up_site(site: CrawlSite) -> None:
    """It answers 404 in general and 200 in one folder, in which one real page speaks of what is not found."""
    urls = [row["url"] for row in tables_of(site).pages if row["status"] == 200 and row["how"] != "pdf"]
    frame = wa.audit(urls, allow_private=True, workers=2, progress=False).raw
    soft, requests = asked(site, frame)
    assert soft == {row["url"] for row in tables_of(site).pages if row["how"] == "soft"}
    assert requests <= 11


def test_an_address_that_cannot_exist() -> None:
    assert impossible("http://a.example/") == impossible("http://a.example/")
    assert impossible("http://a.example/") != impossible("http://b.example/")

    async def main() -> Any:
        async with Fetcher(SETTINGS) as fetcher:
            with SiteServer({}) as server:
                return await probe(fetcher, f"{server.url}/")

    answer = asyncio.run(main())
    assert answer is not None
    assert answer.missing


def test_a_page_with_the_words_of_the_real_404_answer_is_one() -> None:
    gone = NOTHING + b"<footer>Ask at /gone or call 1921"
    other = NOTHING + b"<p>But lamps are."
    pages = {"/": page("Home", 0), "/gone": gone, "/lamp": other}
    with SiteServer(pages, not_found=NOTHING + b"<footer>Ask at /no-such-page or call 1922") as server:
        soft, requests = asked(server, read(server, "/", "/gone", "/lamp"))
        assert (paths(server, soft), requests) == ({"/gone"}, 1), "numbers and addresses may differ"
    with SiteServer(pages, not_found=Reply(503, {}, gone)) as server:
        assert paths(server, found(read(server, "/", "/gone", "/lamp"))) == set()


def test_one_page_for_all_addresses_says_nothing_though_unknown_ones_have_status_404() -> None:
    shell = b"<title>App</title><p>This page needs scripts to be shown to you."
    with SiteServer({"/": shell, "/tea": shell}, not_found=shell) as server:
        assert found(read(server, "/", "/tea")) == frozenset()


def test_odd_pages_are_no_trouble() -> None:
    pages = [
        Seen("", "", "", ""),
        Seen("http://[", "http://[", "", ""),
        Seen("file:///a", "file:///a", "", ""),
    ]

    def said(places: Any) -> Any:
        return ((pages[place].title, pages[place].text, pages[place].visible) for place in places)

    async def main() -> Any:
        async with Fetcher(SETTINGS) as fetcher:
            return await soft_404s(
                fetcher,
                SeenPages([page.url for page in pages], [page.final_url for page in pages], said, range(3)),
                {},
            )

    assert asyncio.run(main()) == frozenset()


def test_redirects_to_a_page_that_says_so_are_soft_404s_and_missing_pages_are_no_duplicates() -> None:
    links = "".join(f'<a href="/{path}">{path}</a>' for path in ("tea", "old", "lost")).encode()
    pages = {"/": page("Home", 0) + links, "/tea": page("Tea", 3), "/nothing": NOTHING}
    plain, leading = Reply(200, {}, NOTHING), Reply(302, {"Location": "/nothing"})
    for answer, says in ((plain, 'HTTP 200, titled "'), (leading, "Redirects to ")):
        with SiteServer(pages, not_found=answer) as server:
            audit = wa.crawl(server.url, allow_private=True, workers=1, progress=False, sitemap=None)
            rules = audit.issues.groupby("rule")["url"].agg(list)
            evidence = audit.issues.loc[audit.issues["rule"].eq("soft_404"), "evidence"]
            assert paths(server, rules["soft_404"]) == {"/old", "/lost"}
            assert evidence.str.startswith(says).all()
            assert evidence.str.contains("Linked from").all()
            assert "title_duplicate" not in rules
            assert audit.broken_links["verdict"].tolist() == ["soft 404"] * 2
