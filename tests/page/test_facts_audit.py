"""Facts as columns of an audit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa
from tests.runs.hosted.running import equal
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.operations import AUDIT, AUDIT_PAGES, FACTS, OPERATIONS

HTML = b"<title>Tea</title><link rel=canonical href=/><a href=/milk>Milk</a><img src=/i.png>"
LOCAL = {"allow_private": True, "retries": 0, "progress": False}
COLUMNS = [field.name for field in FACTS.fields]
HEADERS = ["content_type", "x_robots_tag"]


@pytest.fixture(scope="module")
def site() -> Iterator[SiteServer]:
    pages: dict[str, bytes | Reply] = {
        "/": Reply(200, {"Content-Type": "text/html; charset=utf-8", "X-Robots-Tag": "noindex"}, HTML),
        "/plain": Reply(200, {"Content-Type": "text/html"}, HTML),
    }
    with SiteServer(pages) as server:
        yield server


def test_facts_are_not_an_operation_of_their_own() -> None:
    assert FACTS.name not in OPERATIONS
    assert (*AUDIT, FACTS) == AUDIT_PAGES
    assert not hasattr(wa, FACTS.name)


def test_an_audit_has_the_facts(site: SiteServer) -> None:
    frame = wa.audit([f"{site.url}/", f"{site.url}/plain", f"{site.url}/gone"], **LOCAL)
    assert set(COLUMNS + HEADERS) <= set(frame.raw.columns)
    assert frame.raw["titles"].tolist()[0] == ["Tea"]
    assert frame.raw["links"].tolist()[0] == [f"{site.url}/milk"]
    assert frame.raw["canonicals"].tolist()[0] == [{"href": "/", "url": f"{site.url}/"}]
    assert frame.raw["internal_links"].tolist()[:2] == [1, 1]
    assert frame.raw["x_robots_tag"].tolist()[:2] == ["noindex", ""]
    assert frame.raw["content_type"].tolist()[:2] == ["text/html; charset=utf-8", "text/html"]
    assert frame.raw.loc[2, "status"] == "error"
    assert frame.raw.loc[2, COLUMNS].notna().all()  # what the page says that came with HTTP 404
    assert frame.raw.loc[2, ["text", "wordCount", "keywords"]].isna().all()


def test_other_frames_have_none_of_it(site: SiteServer) -> None:
    for name in ("metadata", "text", "readability", "keywords"):
        assert not set(COLUMNS + HEADERS) & set(getattr(wa, name)(f"{site.url}/", **LOCAL).columns)


def test_pages_at_hand_have_facts_and_no_headers() -> None:
    pages = pd.DataFrame({"url": ["https://a.example/x"], "html": [HTML.decode()]})
    frame = wa.audit(pages, progress=False)
    assert frame.raw.loc[0, "links"] == ["https://a.example/milk"]
    assert frame.raw.loc[0, HEADERS].isna().all()


def test_a_checkpoint_keeps_them(site: SiteServer, tmp_path: Path) -> None:
    first = wa.audit([f"{site.url}/", f"{site.url}/gone"], store=tmp_path / "run", **LOCAL)
    asked = len(site.requests)
    second = wa.audit([f"{site.url}/", f"{site.url}/gone"], store=tmp_path / "run", **LOCAL)
    assert len(site.requests) == asked
    equal(second.raw, first.raw)


@pytest.mark.parametrize(("headers", "speaks"), [("Content-Type: text/html", True), (None, False)])
def test_a_page_declared_wrongly_is_read_and_named_where_its_headers_are_known(
    headers: str | None, speaks: bool
) -> None:
    html = "<meta charset=windows-1251><title>Чай с молоком</title>".encode()
    pages = pd.DataFrame({"url": ["https://a.example/x"], "html": [html], "headers": [headers]})
    audit = wa.audit(pages, progress=False)
    assert audit.raw.loc[0, ["title", "charset", "charset_mislabelled"]].tolist() == [
        "Чай с молоком",
        "windows-1251",
        "windows-1251",
    ]
    found = set(audit.issues["rule"]) & {"charset_wrong", "charset_not_utf8"}
    assert found == ({"charset_wrong"} if speaks else set())


def test_what_a_slot_names_is_named_and_a_link_to_the_page_itself_is_none_to_another() -> None:
    """Findings of saved pages that were wrong: components, and rel=nofollow on a link to "#"."""
    inside = "<button><slot></slot></button><label><input type=checkbox><slot></slot></label>"
    html = (
        f"<x-switch><template shadowrootmode=open>{inside}</template>Dark colours</x-switch>"
        "<a href='#' rel=nofollow>Up</a>"
    )
    bare = "<button><i></i></button><label><input type=checkbox></label><a href=/b rel=nofollow>B</a>"
    pages = pd.DataFrame({"url": ["https://a.example/x", "https://a.example/y"], "html": [html, bare]})
    issues = wa.audit(pages, progress=False).issues
    rules = ["buttons_without_name", "fields_without_label", "internal_nofollow"]
    found = issues[issues["rule"].isin(rules)]
    assert found.groupby("url")["rule"].apply(sorted).to_dict() == {"https://a.example/y": rules}
