"""Crawls of a site that is served on this machine: what is returned, interrupted, resumed and checked."""

from __future__ import annotations

import asyncio
import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

import webanalytics as wa
from tests.effort import BUSY_SECONDS
from tests.runs.hosted.running import equal
from webanalytics.errors import IncompleteRunWarning
from webanalytics.fetching.testing import Reply, SiteServer

OPTIONS: dict[str, Any] = {"allow_private": True, "workers": 1, "progress": False, "timeout": BUSY_SECONDS}
TIMES = ["elapsed", "fetched_at"]


def page(title: str, *links: str, head: str = "") -> bytes:
    chance = random.Random(title)
    text = " ".join("".join(chance.choices("aeioulnrst", k=6)) for _ in range(60))
    anchors = "".join(f"<a href='{link}'>to {link}</a> " for link in links)
    return f"<!doctype html><title>{title}</title>{head}<main><p>{text}</p>{anchors}</main>".encode()


SITE: dict[str, Any] = {
    "/": page("Home", "/a", "/b?utm_source=x", "/old", "/a.pdf", "https://other.example/", "/gone#part"),
    "/a": page("A", "/", "/c", "/private/x", head="<link rel=canonical href=/a>"),
    "/b": page("B", "/d"),
    "/b?utm_source=x": page("B", "/d"),
    "/c": page("C", "/deep/1"),
    "/d": page("D"),
    "/old": Reply(301, {"Location": "/a"}),
    "/a.pdf": Reply(200, {"Content-Type": "application/pdf"}, b"%PDF-1.4"),
    "/private/x": page("X"),
    "/orphan": page("Orphan"),
    **{f"/deep/{number}": page(f"Deep {number}", f"/deep/{number + 1}") for number in range(1, 8)},
    "/deep/8": page("Deep 8"),
    "/robots.txt": b"User-agent: *\nDisallow: /private/\nSitemap: {{origin}}/sitemap.xml",
    "/sitemap.xml": b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
    b"<url><loc>{{origin}}/orphan</loc></url><url><loc>{{origin}}/a</loc></url></urlset>",
}


def crawled(site: SiteServer, **options: Any) -> Any:
    return wa.crawl(site.url, **{**OPTIONS, **options})


def paths(site: SiteServer, urls: Any) -> list[str]:
    return [str(url).removeprefix(site.url) for url in urls]


def test_a_small_site_in_full() -> None:
    with SiteServer(SITE) as site:
        audit = crawled(site)
        asked = [request.target for request in site.requests]
    assert isinstance(audit, wa.Audit)
    assert paths(site, audit.raw["url"]) == [
        "/",
        *("/a", "/b?utm_source=x", "/old", "/gone"),
        *("/c", "/d"),
        *(f"/deep/{number}" for number in range(1, 9)),
        "/orphan",
    ]
    assert audit.raw["title"].tolist()[:3] == ["Home", "A", "B"]
    assert audit.raw.loc[4, "http_status"] == 404
    assert audit.raw.attrs["webanalytics"]["crawl"]["stopped"] == ""
    facts = audit.origin.crawl
    assert facts is not None
    rows = dict(zip(paths(site, facts.skipped["url"]), facts.skipped.itertuples(), strict=True))
    assert {path: (row.reason, row.links) for path, row in rows.items()} == {
        "/a.pdf": ("not_html", 1),
        "https://other.example/": ("external", 1),
        "/private/x": ("robots", 1),
    }
    assert rows["/private/x"].detail == f"{site.url}/robots.txt"
    assert rows["/private/x"].depth == 2
    assert facts.checked["url"].tolist() == [f"{site.url}/a.pdf"]
    assert facts.starts == (f"{site.url}/",)
    # each page once, but for what a redirect leads to
    pages = [path for path in asked if path in SITE and "robots" not in path and "sitemap" not in path]
    assert {path for path in pages if pages.count(path) > 1} == {"/a"}
    assert "/private/x" not in asked
    assert len(audit.issues) > 0


def test_the_columns_are_those_of_an_audit() -> None:
    with SiteServer(SITE) as site:
        audit = crawled(site, max_depth=1, sitemap=None)
        same = wa.audit(audit.raw["url"].tolist(), **OPTIONS)
    left, right = audit.raw, same.raw
    equal(left.drop(columns=TIMES), right.drop(columns=TIMES))


def test_links_are_those_of_the_pages() -> None:
    with SiteServer(SITE) as site:
        table = crawled(site).origin.crawl.links
    found = [
        (table.urls[source], table.urls[target], table.anchors[anchor])
        for source, target, anchor in zip(table.source, table.target, table.anchor, strict=True)
    ]
    plain = [tuple(part.removeprefix(site.url) for part in link) for link in found]
    assert ("/", "/gone", "to /gone#part") in plain
    assert ("/old", "/a", "") in plain
    assert ("/a", "/a", "") in plain
    assert sum(source == "/old" for source, _, _ in plain) == 1


def test_a_limit_is_said_loudly() -> None:
    with (
        SiteServer(SITE) as site,
        pytest.warns(IncompleteRunWarning, match=r"stopped at 3 of at least \d+ pages"),
    ):
        audit = crawled(site, max_pages=3)
    assert paths(site, audit.raw["url"]) == ["/", "/a", "/b?utm_source=x"]
    skipped = audit.origin.crawl.skipped
    left = skipped[skipped["reason"] == "limit"]
    assert set(paths(site, left["url"])) >= {"/old", "/gone", "/c", "/orphan"}
    assert set(left["detail"]) == {"max_pages=3"}
    assert "stopped at 3 of at least 10 pages" in audit.origin.crawl.stopped


class Jittered(SiteServer):
    """Answers each request after a random time."""

    def __init__(self, pages: Any, seed: int) -> None:
        super().__init__(pages)
        self._chance = random.Random(seed)

    def answer(self, target: str, method: str = "GET") -> Any:
        return super().answer(target, method)._replace(delay=self._chance.random() / 10)


def web(count: int) -> dict[str, Any]:
    chance = random.Random(5)
    names = [f"/p{number}" for number in range(count)]
    pages: dict[str, Any] = {name: page(name, *chance.sample(names, 4)) for name in names}
    pages["/"] = page("Home", *chance.sample(names, 5))
    pages["/p1"] = Reply(302, {"Location": "/p2"})
    return pages


@pytest.mark.slow
def test_the_same_frame_whatever_the_delays() -> None:
    found = []
    for seed in range(5):
        with Jittered(web(40), seed) as site, warnings.catch_warnings():
            warnings.simplefilter("ignore", IncompleteRunWarning)
            audit = crawled(site, max_pages=30, concurrency=2 + 3 * seed, per_host=1 + seed)
        text = audit.raw.drop(columns=TIMES).to_json().replace(site.url.replace("/", "\\/"), "")
        skipped = audit.origin.crawl.skipped.to_csv().replace(site.url, "")
        found.append((text, skipped))
    assert len(set(found)) == 1


KILLED = textwrap.dedent("""
    import sys, webanalytics as wa
    wa.crawl(sys.argv[1], store=sys.argv[2], allow_private=True, progress=False, workers=1, per_host=4)
""")


def test_killed_before_rows_are_written_the_same_call_goes_on(tmp_path: Path) -> None:
    pages = web(60)
    with SiteServer(pages, delay=0.05) as site:
        whole = crawled(site, sitemap=None)
        before = len(site.requests)
        process = subprocess.Popen([sys.executable, "-c", KILLED, site.url, str(tmp_path / "kept")])
        until = time.monotonic() + 4 * BUSY_SECONDS
        parts = tmp_path / "kept"
        while time.monotonic() < until and (
            len(site.requests) - before < 20 or not list(parts.glob("part-*"))
        ):
            time.sleep(0.02)
        process.kill()
        process.wait()
        start = len(site.requests)
        audit = crawled(site, sitemap=None, store=tmp_path / "kept")
        again = [request.target for request in list(site.requests)[start:] if request.target in pages]
    equal(whole.raw.drop(columns=TIMES), audit.raw.drop(columns=TIMES))
    assert len(set(again)) < len(whole)
    equal(whole.origin.crawl.skipped, audit.origin.crawl.skipped)


def test_a_checkpoint_answers_without_the_network_and_for_more_pages(tmp_path: Path) -> None:
    with SiteServer(SITE) as site, warnings.catch_warnings():
        warnings.simplefilter("ignore", IncompleteRunWarning)
        crawled(site, max_pages=4, store=tmp_path)
        before = len(site.requests)
        whole = crawled(site, store=tmp_path)
        fetched = [request.target for request in list(site.requests)[before:]]
        assert "/c" in fetched
        assert not {"/a", "/old", "/b?utm_source=x"} & set(fetched)
        before = len(site.requests)
        again = crawled(site, store=tmp_path)
        fetched = [
            request.target for request in list(site.requests)[before:] if "webanalytics" not in request.target
        ]
    assert {path for path in fetched if path in SITE} <= {"/robots.txt", "/sitemap.xml"}
    equal(whole.raw, again.raw)
    with pytest.raises(wa.ParameterError, match="store"):
        wa.crawl("https://another.example/", store=tmp_path, **OPTIONS)


def test_an_interrupt_leaves_an_audit_of_what_is_there() -> None:
    pages = {**SITE, "/c": Reply(200, {}, page("C", "/deep/1"), delay=float("inf"))}
    with SiteServer(pages) as site:

        def interrupt() -> None:
            until = time.monotonic() + BUSY_SECONDS
            while time.monotonic() < until and "/d" not in [one.target for one in site.requests]:
                time.sleep(0.02)
            time.sleep(0.5)
            os.kill(os.getpid(), signal.SIGINT)

        import threading

        threading.Thread(target=interrupt).start()
        with pytest.raises(wa.AuditInterrupted) as caught:
            crawled(site)
    audit = caught.value.partial
    assert isinstance(audit, wa.Audit)
    assert caught.value.rows == len(audit.raw)
    assert paths(site, audit.raw["url"])[:3] == ["/", "/a", "/b?utm_source=x"]
    assert "/c" not in paths(site, audit.raw["url"])
    skipped = audit.origin.crawl.skipped
    assert "/c" in paths(site, skipped.loc[skipped["detail"] == "interrupted", "url"])
    assert "interrupted" in audit.origin.crawl.stopped
    assert wa.last_partial() is audit


def test_in_asynchronous_code() -> None:
    with SiteServer(SITE) as site:
        audit = asyncio.run(wa.aio.crawl(site.url, max_depth=1, sitemap=None, **OPTIONS))
    assert paths(site, audit.raw["url"]) == ["/", "/a", "/b?utm_source=x", "/old", "/gone"]


def test_a_start_without_a_scheme() -> None:
    with SiteServer(SITE) as site:
        audit = wa.crawl(site.url.removeprefix("http://"), max_depth=1, sitemap=None, **OPTIONS)
    assert paths(site, audit.raw["url"])[1:3] == ["/", "/a"]
    assert audit.raw.loc[0, "final_url"] == f"{site.url}/"


def test_external_links_and_resources_are_asked_once() -> None:
    with SiteServer({"/gone": Reply(404), "/ok": page("ok")}) as other:
        home = page("Home", "/a", other.url.replace("127.0.0.1", "localhost") + "/gone")
        pages = {"/": home + b"<img src=/i.png><img src=/i.png><script src=/s.js></script>", "/a": home}
        with SiteServer({**pages, "/s.js": b""}) as site:
            audit = crawled(site, external="check", resources="check")
    checked = audit.origin.crawl.checked
    rows = {
        re.sub(".*/", "", url): (kind, verdict)
        for url, kind, verdict in checked.iloc[:, :3].itertuples(index=False)
    }
    assert rows == {"gone": ("external", "gone"), "i.png": ("image", "gone"), "s.js": ("script", "ok")}
    assert len(checked) == 3


def test_tracking_parameters_are_dropped_and_that_is_said() -> None:
    with SiteServer(SITE) as site:
        audit = crawled(site, query="tracking", max_depth=1)
    assert "/b" in paths(site, audit.raw["url"])
    assert audit.raw.attrs["webanalytics"]["crawl"]["query"] == ["tracking"]
    assert audit.origin.crawl.options["query"] == ["tracking"]


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"start": ""}, "start"),
        ({"start": "mailto:x@example.org"}, "start"),
        ({"start": []}, "start"),
        ({"start": 5}, "start"),
        ({"max_pages": 0}, "max_pages"),
        ({"max_pages": True}, "max_pages"),
        ({"max_depth": -1}, "max_depth"),
        ({"include": "("}, "include"),
        ({"exclude": ["a", 5]}, "exclude"),
        ({"subdomains": "yes"}, "subdomains"),
        ({"query": "a=b"}, "query"),
        ({"external": "all"}, "external"),
        ({"resources": True}, "resources"),
        ({"sitemap": ""}, "sitemap"),
        ({"follow": "image"}, "follow"),
        ({"nofollow": 1}, "nofollow"),
        ({"robots": "perhaps"}, "robots"),
        ({"max_page": 5}, "max_page"),
    ],
)
def test_wrong_arguments_are_named_before_any_work(wrong: dict[str, Any], name: str) -> None:
    arguments = {"start": "https://a.example/", **wrong}
    with pytest.raises(wa.ParameterError, match=f"`{name}`") as caught:
        wa.crawl(arguments.pop("start"), **arguments)
    assert caught.value.parameter == name


def test_robots_report_is_robots() -> None:
    with SiteServer(SITE) as site:
        audit = crawled(site, robots="report", max_depth=2)
        assert "/private/x" not in [one.target for one in site.requests]
    assert "robots" in audit.origin.crawl.skipped["reason"].tolist()


def test_what_pages_load_and_do_not_get_is_an_issue_of_a_crawl() -> None:
    pages = {
        "/": b'<title>Home</title><img src="/gone.png"><img src="/there.png"><p>Welcome<a href="/b">B</a>',
        "/b": b"<title>B</title><p>Nothing is loaded here",
        "/there.png": Reply(200, {"Content-Type": "image/png"}, b"an image"),
    }
    with SiteServer(pages) as site:
        audit = crawled(site, resources="check")
    issues = audit.issues
    assert issues.loc[issues["rule"] == "broken_image", "url"].tolist() == [audit.raw.loc[0, "url"]]
    assert audit.raw.loc[1, "broken_resources"] == []
