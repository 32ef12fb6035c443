"""What to fix first: one row a cause, counted once, and what fixing it gives; and scores in a sensible order."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.rule_pages import page
from tests.audits.sites import prose
from webanalytics.fetching.testing import Reply, SiteServer

HOST = "https://lamps.example"
GOOD_HEADERS = {
    "Content-Type": "text/html",
    "ETag": '"x"',
    "Content-Encoding": "gzip",
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Strict-Transport-Security": "max-age=63072000",
    "Referrer-Policy": "same-origin",
}


def rows(kind: str, count: int = 20) -> pd.DataFrame:
    """Pages without a fault, but for one kind of fault on each of them."""
    host = HOST.replace("https", "http") if kind == "http only" else HOST
    urls = [f"{host}/lamp-{number}" for number in range(count)]
    robots = {"noindex on all": "noindex", "nofollow on all": "nofollow"}.get(kind, "index")
    made: list[dict[str, Any]] = []
    for number, url in enumerate(urls):
        canonical = f"https://other.example/{number}" if kind == "canonical away" else url
        links = "".join(
            f"<a href={other}>The lamp of number {other[-2:]}</a> " for other in urls if other != url
        )
        links += f"<a href={host}/gone>An old lamp of brass</a>" if kind == "404 links" else ""
        html = page(
            title=f"Lamp {number} of tin and brass from us",
            description=f"Storm lamp number {number} of tin and brass, made by hand on our small island.",
            headings=f"<h1>Lamp number {number}</h1>",
            after=f"<h2>Others</h2>{links}",
            text=prose(str(number)),
            head=f'<link rel=canonical href="{canonical}"><meta name=robots content="{robots}">',
            **({"structured": "{broken"} if kind == "one broken JSON-LD each" else {}),
        )
        seconds = 3.0 if kind == "slow host" else 0.1
        made.append(
            {"url": url, "html": html, "http_status": 200, "elapsed": seconds, "headers": GOOD_HEADERS}
        )
    if kind == "404 links":
        made.append(
            {"url": f"{host}/gone", "html": "<p>Gone", "http_status": 404, "elapsed": 0.1, "headers": {}}
        )
    return pd.DataFrame(made).assign(final_url=lambda frame: frame["url"])


KINDS = (
    *("noindex on all", "canonical away", "nofollow on all", "404 links", "http only"),
    *("one broken JSON-LD each", "slow host", "clean"),
)


@pytest.fixture(scope="module")
def scored() -> dict[str, wa.Audit]:
    return {kind: wa.audit(rows(kind), progress=False, workers=1) for kind in KINDS}


def test_scores_are_in_an_order_that_makes_sense(scored: dict[str, wa.Audit]) -> None:
    points = {kind: audit.score or 0.0 for kind, audit in scored.items()}
    assert points["noindex on all"] == points["canonical away"] == 0
    assert 50 < points["nofollow on all"] <= points["404 links"] < 90
    assert 70 < points["http only"] < 90
    assert 90 < points["one broken JSON-LD each"] < 99
    assert 90 < points["slow host"] < 99
    assert points["clean"] > 98
    for kind, audit in scored.items():
        said = bool(audit.alarm)
        assert said == (kind in KINDS[:3]), kind
        assert said == (audit.alarm in repr(audit).splitlines() and audit.alarm != "")


def test_the_first_cause_is_the_fault_and_gives_what_is_missing(scored: dict[str, wa.Audit]) -> None:
    for kind in KINDS[:-1]:
        first = scored[kind].causes().iloc[0]
        assert first["points"] == pytest.approx(scored["clean"].score - scored[kind].score, abs=0.3), kind


def test_a_page_that_is_hidden_and_in_the_sitemap_is_one_cause() -> None:
    pages = {f"/{number}": f"<title>Lamp {number}</title><p>{prose(str(number))}" for number in range(4)}
    links = "".join(f"<a href={path}>Lamp of number {path[1:]}</a> " for path in (*pages, "/gone"))
    found = {}
    for robots in ("index", "noindex"):
        made = {
            path: f"<meta name=robots content={robots}>{html}{links}".encode() for path, html in pages.items()
        }
        listed = "".join(f"<url><loc>{{{{origin}}}}{path}</loc></url>" for path in pages)
        with SiteServer({**made, "/sitemap.xml": f"<urlset>{listed}</urlset>".encode()}) as server:
            audit = wa.crawl(
                f"{server.url}/0", sitemap=f"{server.url}/sitemap.xml", allow_private=True, progress=False
            )
        found[robots] = audit, audit.causes()
    audit, causes = found["noindex"]
    assert audit.issues["rule"].eq("sitemap_not_indexable").sum() == 4
    assert "sitemap_not_indexable" not in set(causes["rule"])
    assert "links_to_failing_pages" in set(causes["rule"])
    assert (causes["rule"].iloc[0], audit.score) == ("noindex", 0)
    assert causes["points"].iloc[0] == pytest.approx(found["index"][0].score, abs=0.1)


def test_a_missing_address_counts_neither_as_a_page_nor_in_shares(scored: dict[str, wa.Audit]) -> None:
    audit = scored["404 links"]
    assert repr(audit).startswith("Audit of lamps.example: 20 pages, 20 ok, 0 failed, 1 missing,")
    assert audit.pages["score"].isna().tolist() == [False] * 20 + [True]
    assert "client_error" not in set(audit.issues["rule"])
    assert audit.summary().set_index("rule").loc["links_to_failing_pages", "share"] == 1
    (cause,) = audit.causes()[audit.causes()["rule"] == "links_to_failing_pages"].to_dict("records")
    assert cause["cause"] == f"A link on 20 pages leads to {HOST}/gone, which answers HTTP 404."
    assert (cause["pages"], cause["links"]) == (20, 20)


BODY = (
    "<!doctype html><html lang=en><title>{}</title><h1>{}</h1>{}<footer><a href=/imprint>Imprint</a></footer>"
)


@pytest.fixture(scope="module")
def crawled() -> wa.Audit:
    """A link in the footer of 8 pages, 5 links on one page, and single links lead to what is not there."""
    pages: dict[str, bytes | Reply] = {}
    for number in range(6):
        single = f"<a href=/lost-{number}>lost</a>" if number in (1, 2) else ""
        pages[f"/p{number}"] = BODY.format(f"Page {number}", f"Number {number}", single).encode()
    links = "".join(f"<a href=/p{number}>Page {number}</a>" for number in range(6))
    pages["/"] = BODY.format("Home", "Lamps", links + "<a href=/list>List</a>").encode()
    pages["/list"] = BODY.format(
        "List", "Old", "".join(f"<a href=/old{n}>{n}</a>" for n in range(5))
    ).encode()
    pages["/robots.txt"] = Reply(404)
    with SiteServer(pages) as site:
        audit = wa.crawl(site.url, allow_private=True, progress=False)
        _ = audit.issues
    return audit


def test_links_have_one_row_for_each_cause(crawled: wa.Audit) -> None:
    home = crawled.raw["url"].iloc[0].rstrip("/")
    found = crawled.causes()
    links = found[found["rule"] == "links_to_failing_pages"]
    assert links["cause"].tolist() == [
        f"A link in the footer of 8 pages leads to {home}/imprint, which answers HTTP 404.",
        f"Links on 2 pages lead to 2 addresses such as {home}/lost-1, which answers HTTP 404.",
        f"5 links on {home}/list lead to 5 addresses such as {home}/old0, which answers HTTP 404.",
    ]
    assert links["pages"].tolist() == [8, 2, 1]
    assert links["links"].tolist() == [8, 2, 5]
    lost = crawled.health.costs_by_rule()["links_to_failing_pages"]
    assert links["points"].sum() == pytest.approx(lost, abs=0.05), "each fault counts once"


def test_a_section_that_is_gone_is_one_cause() -> None:
    pages: dict[str, bytes | Reply] = {
        f"/p{page}": BODY.format(
            f"Page {page}", f"Number {page}", "".join(f"<a href=/old/{page}{n}/x>{n}</a>" for n in range(4))
        ).encode()
        for page in range(5)
    }
    pages["/"] = "".join(f"<a href=/p{page}>Page {page}</a>" for page in range(5)).encode()
    pages["/imprint"] = b"<title>Imprint</title>"
    with SiteServer(pages) as site:
        audit = wa.crawl(site.url, allow_private=True, progress=False)
        (cause,) = audit.causes()[audit.causes()["rule"] == "links_to_failing_pages"].to_dict("records")
    said = f"Links on 5 pages lead to 20 addresses below {site.url}/old/, where no page is, such as "
    assert cause["cause"] == f"{said}{site.url}/old/00/x, which answers HTTP 404."
    assert (cause["pages"], cause["links"]) == (5, 20)


def test_what_is_of_a_host_and_of_all_pages_is_named_so(crawled: wa.Audit) -> None:
    host = crawled.raw["url"].iloc[0].split("/")[2]
    found = crawled.causes().set_index("rule")
    assert found.loc["http_page", "cause"] == f"Page without https on {host}: all 8 pages."
    assert found.loc["http_page", "pages"] == 8
    assert (
        found.loc["viewport_missing", "cause"] == "Viewport missing on all 8 pages, which share a template."
    )
    assert found.index.is_unique or set(found.index[found.index.duplicated()]) == {"links_to_failing_pages"}
    issues = crawled.issues
    of_host = issues[issues["scope"] == "host"]
    assert not of_host.duplicated(["rule"]).any()
    assert set(of_host["url"]) == {f"http://{host}"}
    assert "robots_txt_problems" not in set(issues["rule"]), "a robots.txt that is not there has no faults"


def test_a_part_has_its_own_causes_and_the_share_of_the_host(crawled: wa.Audit) -> None:
    part = crawled.select(crawled.raw["url"].str.contains("/p"))
    found = part.causes().set_index("rule")
    assert found.loc["http_page", ["pages", "points"]].tolist() == [6, 20.0]
    assert found.loc["viewport_missing", "pages"] == 6
    of_links = part.causes()[part.causes()["rule"] == "links_to_failing_pages"]
    assert of_links["pages"].tolist() == [6, 2]


CLOSED = b"User-agent: *\nDisallow: /closed/\n"


def test_a_line_of_robots_txt_is_one_issue_a_page_and_one_cause() -> None:
    pages: dict[str, bytes | Reply] = {f"/closed/{n}": b"<title>Closed</title>" for n in range(4)}
    pages |= {
        "/open": b"<title>Open</title>",
        "/robots.txt": Reply(200, {"Content-Type": "text/plain"}, CLOSED),
    }
    with SiteServer(pages) as site:
        audit = wa.audit(
            [site.url + path for path in pages if "robots" not in path], allow_private=True, progress=False
        )
        closed = audit.issues[audit.issues["url"].str.contains("closed")]
    assert closed["rule"].tolist() == ["blocked_by_robots"] * 4
    (cause,) = audit.causes()[audit.causes()["rule"] == "blocked_by_robots"]["cause"]
    assert cause.endswith(
        "on 4 pages below " + site.url + "/closed/: robots.txt, line 2: Disallow: /closed/."
    )
    assert audit.alarm == "4 of 5 pages may not be indexed: closed by robots.txt."


def test_a_text_that_pages_have_in_common_is_named() -> None:
    pages = [
        page(title=f"Lamp {'a' if n < 4 else 'b'}", headings="<h1>The harbour shop</h1>") for n in range(6)
    ]
    given = pd.DataFrame({"url": [f"{HOST}/{n}" for n in range(6)], "html": pages})
    found = wa.audit(given, progress=False).causes().set_index("rule")["cause"]
    assert found["title_duplicate"] == 'Title duplicate on all 6 pages: "Lamp a" on 4 of them.'
    assert found["h1_duplicate"] == 'h1 duplicate on all 6 pages: "The harbour shop".'


def test_an_audit_without_issues_has_no_cause() -> None:
    empty = wa.audit([], progress=False)
    assert empty.causes().empty
    assert "examples" in empty.causes().columns


def test_a_page_that_is_listed_twice_has_the_faults_of_its_host_once() -> None:
    pages = rows("http only", 2)
    once, again = (wa.audit(frame, progress=False) for frame in (pages, pages.iloc[[0, 1, 0, 0, 0]]))
    for audit in (again, again.select([True, True, False, True, False])):
        assert audit.score == once.score
        assert audit.issues.query("rule == 'http_page'")["pages"].tolist() == [2]
        assert audit.causes()["points"].iloc[0] == 20
