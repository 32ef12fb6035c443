"""Refused is not broken: what an audit, a crawl and all that show them say of pages that were refused to us."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.crawled import crawl
from tests.audits.sites import failed, frame, moved, page
from tests.fetching.refusal_pages import CHALLENGES
from webanalytics.audits.overview.failures import refusal_warning, refused
from webanalytics.cli.audit import print_summary
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.notebook.desk.run import outcome
from webanalytics.notebook.explorer.summary import summary

CLOSED = {
    "/401": Reply(401),
    "/403": Reply(403, {"Content-Type": "text/html"}, b"<title>Forbidden</title><a href='/behind'>x</a>"),
    "/451": Reply(451),
    "/999": Reply(999),
    "/challenge": CHALLENGES["Cloudflare"],
    "/busy": Reply(503, {"Content-Type": "text/html"}, CHALLENGES["Sucuri"]),
    "/account": Reply(302, {"Location": "/login?next=/account"}),
}
LINKS = "".join(f'<a href="{path}">To the page {path}</a>' for path in (*CLOSED, "/gone", "/good"))
BODY = f"<title>The shop of lamps</title><h1>Lamps</h1><p>Lamps of oak. {LINKS}".encode()


@pytest.fixture(scope="module")
def site() -> object:
    pages = {"/": BODY, "/good": BODY, "/gone": Reply(404), "/login": b"<title>Log in", **CLOSED}
    with SiteServer(pages) as server:
        yield server


@pytest.fixture(scope="module")
def audit(site: SiteServer) -> wa.Audit:
    return wa.crawl(site.url + "/", allow_private=True, progress=False, workers=1, retries=0)


def paths(urls: pd.Series, site: SiteServer) -> list[str]:
    return [url.removeprefix(site.url) for url in urls.tolist()]


def test_no_rule_judges_them_and_no_score_counts_them(audit: wa.Audit, site: SiteServer) -> None:
    pages = audit.pages.set_index(pd.Index(paths(audit.pages["url"], site)))
    assert sorted(pages.index) == sorted({"/", "/good", "/gone", *CLOSED})  # nothing behind them was followed
    closed = pages.loc[list(CLOSED)]
    assert set(closed["indexability"]) == set(closed["error_type"]) == {"refused"}
    assert closed["score"].isna().all()
    assert closed["title"].isna().all()
    assert not set(paths(audit.issues["url"], site)) & set(CLOSED)
    said = audit.issues.loc[
        audit.issues["evidence"].str.contains("|".join(site.url + path for path in CLOSED)),
        ["rule", "evidence"],
    ]
    assert said.values.tolist() == []
    assert set(audit.issues.loc[audit.issues["rule"] == "links_to_failing_pages", "value"]) == {1}


def test_the_score_is_that_of_the_others() -> None:
    rows = [page("/"), page("/a", title=""), failed("/gone", "status", status=404)]
    closed = [failed(f"/{status}", "status", status=status) for status in (401, 403, 429, 999)]
    assert wa.Audit(frame(*rows, *closed)).score == wa.Audit(frame(*rows)).score


def test_no_link_to_them_is_broken(audit: wa.Audit, site: SiteServer) -> None:
    assert set(paths(audit.broken_links["url"], site)) == {"/gone"}
    status = audit.links.drop_duplicates("target").set_index("target")["target_status"]
    assert status[site.url + "/403"] == 403


def test_it_is_said_who_refused_how_many_and_what_helps(audit: wa.Audit, site: SiteServer) -> None:
    found = audit.failures()
    away = found[found["error_type"] == "refused"]
    assert away["pages"].sum() == len(CLOSED) == refused(audit.raw)
    options = dict(zip(away["reason"], away["option"].fillna(""), strict=True))
    assert options["The page answered HTTP 403."] == "access="
    assert options["In place of the page Cloudflare answers with a challenge (HTTP 200)."] == "access="
    assert options["In place of the page Sucuri answers with a challenge (HTTP 503)."] == "access="
    assert options["The page answered HTTP 451."] == ""
    assert (away["error_key"] == "wall").sum() == 1


SAID = "refused 7 of 10 addresses: this audit speaks of the others alone."


def test_a_sentence_at_the_top_says_so_everywhere(
    audit: wa.Audit, site: SiteServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = " ".join(repr(audit).split())
    assert text.startswith(f"Audit of {site.url.partition('//')[2]}: 9 pages, 2 ok, 0 failed, 7 refused,")
    assert text.index(SAID) < text.index("Score: ")
    html = audit._repr_html_()
    assert html.index(SAID) < html.index("of 100")
    report = audit.report(tmp_path / "report.html").read_text("utf-8")
    assert SAID in report
    assert ">Refused<" in report
    figures = {label: value for label, value, _ in summary(audit.raw)["figures"]}
    assert (figures["Read"], figures["Failed"], figures["Refused"]) == ("2", "0", "7")
    audit.to_excel(tmp_path / "audit.xlsx")
    book = pd.read_excel(tmp_path / "audit.xlsx", header=None)
    assert book[1].astype(str).str.contains(SAID, regex=False).any()
    said = outcome(audit.raw, "", len(audit), 1.0)
    assert said.said == "Done in 1.0 s: 2 pages read, 1 page missing and 7 pages refused."
    assert SAID in said.failures
    print_summary(audit, sys.stdout)
    assert SAID in " ".join(capsys.readouterr().out.split())


def test_a_tenth_is_not_worth_a_sentence() -> None:
    rows = [page(f"/{number}") for number in range(9)] + [failed("/x", "status", status=403)]
    assert (refused(pd.DataFrame(rows)), refusal_warning(pd.DataFrame(rows))) == (1, "")
    said = refusal_warning(pd.DataFrame(rows[1:]))
    assert "refused 1 of 9 addresses" in said


def test_a_host_that_refused_all_of_it() -> None:
    rows = [failed("/a", "status", status=403), failed("/b", "status", status=401), page("http://b.example/")]
    assert "refused 2 of 2 addresses: this audit says nothing of them." in refusal_warning(pd.DataFrame(rows))


def test_a_proxy_that_refuses_is_not_the_site() -> None:
    said = refusal_warning(pd.DataFrame([failed("/a", "proxy_auth"), failed("/b", "proxy_auth")]))
    assert said.startswith("The proxy refused 2 of 2 addresses: this audit says nothing of them. ")
    assert said.endswith("; `proxy=` takes them.")


def test_who_refused_is_said_in_the_language_of_the_report(audit: wa.Audit, tmp_path: Path) -> None:
    html = audit.report(tmp_path / "de.html", language="de").read_text("utf-8")
    assert "hat 7 von 10 Adressen verweigert: Das Audit spricht nur von den anderen." in html
    assert "Statt der Seite antwortet Cloudflare mit einer Prüfung (HTTP 200)." in html
    assert "Die Seite leitet auf eine andere an ihrer Stelle weiter (Anmeldung)." in html
    assert "refused" not in html[: html.index("Was zuerst zu beheben ist")].rpartition("</style>")[2]


def test_a_refusal_is_known_by_its_status_where_a_frame_calls_it_http() -> None:
    rows = [page("/"), {**failed("/b", "status", status=403), "error_type": "http"}]
    site = wa.Audit(pd.DataFrame(rows)).site
    assert [trip.problem for trip in site.fetches] == ["", "refused"]
    assert wa.Audit(pd.DataFrame(rows)).pages["score"].isna().tolist() == [False, True]


def test_alternates_canonicals_and_redirects_to_them_have_no_fault() -> None:
    start = page("/", hreflangs=[{"lang": "de", "href": "/de", "url": "https://a.example/de"}])
    given = pd.DataFrame([start, failed("/de", "status", status=403), moved("/old", "/de")])
    issues = wa.Audit(given).issues
    assert not set(issues["rule"]) & {"hreflang_failing", "hreflang_not_indexable", "redirect_to_error"}


def test_pages_that_only_refused_ones_may_link_to_are_no_orphans() -> None:
    """Where a tenth and more of a host was refused, nobody knows what links to the others."""
    alone = {"/": ["/a"], "/a": [], **{f"/{number}": [] for number in range(8)}}
    closed = [failed(f"/x{number}", "status", status=403) for number in range(2)]
    read = [page(path) for path in alone]
    assert "no_inlinks" in set(crawl(alone, *read).issues["rule"])
    assert "no_inlinks" in set(crawl(alone, *read, *closed[:1]).issues["rule"])
    assert "no_inlinks" not in set(crawl(alone, *read, *closed).issues["rule"])
