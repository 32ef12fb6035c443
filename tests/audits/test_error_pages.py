"""Pages that come with an HTTP error: an audit keeps what they say, and judges nothing by it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.runs.hosted.running import equal
from webanalytics.core.messages import Message
from webanalytics.core.outcomes import ErrorPage, PackedOutcomes
from webanalytics.fetching.exchange import ERROR_BYTES
from webanalytics.fetching.testing import Reply, SiteServer

LOCAL: dict[str, Any] = {"allow_private": True, "progress": False, "workers": 1, "retries": 0}
HTML = {"Content-Type": "text/html"}
GONE = b"<title>Gone away</title><h1>Not here</h1><a href='/'>Home</a><a href='/lost'>Lost</a>"


@pytest.fixture(scope="module")
def server() -> Iterator[SiteServer]:
    pages: dict[str, bytes | Reply] = {
        "/": b"<title>Lamps</title><p>Lamps of tin.",
        "/lost": b"<title>Lost</title><p>Nobody links here.",
        "/gone": Reply(404, HTML, GONE),
        "/busy": Reply(503, HTML, b"<title>Back soon</title>"),
        "/old": Reply(302, {"Location": "/gone"}),
        "/file": Reply(404, {"Content-Type": "application/pdf"}, b"%PDF-1.7"),
        "/broken": Reply(404, {**HTML, "Content-Encoding": "gzip"}, b"no gzip"),
        "/empty": Reply(404, HTML, b""),
        "/long": Reply(404, HTML, b"<title>Long</title>" + b"<p>x" * ERROR_BYTES),
    }
    with SiteServer(pages) as running:
        yield running


def audited(server: SiteServer, *paths: str, **options: Any) -> wa.Audit:
    return wa.audit([server.url + path for path in paths], **LOCAL, **options)


def test_an_audit_keeps_title_headings_and_links_of_error_pages(server: SiteServer) -> None:
    audit = audited(server, "/", "/gone", "/busy", "/old", "/lost")
    assert audit.raw["status"].tolist() == ["ok", "error", "error", "error", "ok"]
    assert audit.raw["error_key"].tolist()[1:4] == ["status"] * 3
    assert audit.raw["title"].tolist()[1:4] == ["Gone away", "Back soon", "Gone away"]
    assert audit.raw["headings"].tolist()[1] == [{"level": "h1", "text": "Not here"}]
    assert audit.raw["links"].tolist()[1] == [f"{server.url}/", f"{server.url}/lost"]
    assert audit.raw.loc[1:3, ["text", "wordCount", "keywords", "averageGradeLevel"]].isna().all(axis=None)
    assert audit.raw["bytes"].tolist()[1] == len(GONE)


def test_nothing_is_judged_by_what_an_error_page_says(server: SiteServer) -> None:
    audit = audited(server, "/", "/gone", "/lost")
    gone = audit.issues[audit.issues["url"] == f"{server.url}/gone"]
    assert gone["rule"].tolist() == ["client_error"]
    assert audit.pages["inlinks"].tolist() == [0, 0, 0], "links of an error page lead nobody anywhere"
    assert audit.pages["indexable"].tolist() == [True, False, True]
    measured = ["title_length", "title_pixels", "h1_count", "heading_order", "canonical_state", "noindex"]
    assert audit.pages.loc[1, measured].isna().all()


def test_the_way_to_an_error_and_its_headers_are_kept(server: SiteServer) -> None:
    audit = audited(server, "/old")
    row = audit.raw.iloc[0]
    assert (row["redirects"], row["redirect_kinds"]) == ([f"{server.url}/old"], ["302"])
    assert (row["http_status"], row["final_url"]) == (404, f"{server.url}/gone")
    assert "Content-Type: text/html" in row["headers"].splitlines()
    assert row["fetched_at"].startswith("20")
    found = audit.issues.set_index("rule")["evidence"]
    assert found["redirect_to_error"] == f"{server.url}/old (302) → {server.url}/gone answers HTTP 404."


def test_what_cannot_be_read_of_an_error_page_leaves_the_error(server: SiteServer) -> None:
    audit = audited(server, "/file", "/broken", "/empty", "/long")
    assert audit.raw["http_status"].tolist() == [404] * 4
    assert audit.raw["error_key"].tolist() == ["status"] * 4
    assert audit.raw["title"].fillna("").tolist() == ["", "", "", "Long"]
    assert audit.raw["bytes"].tolist()[3] == ERROR_BYTES


def test_only_audits_read_error_pages(server: SiteServer) -> None:
    frame = wa.metadata([f"{server.url}/gone"], **LOCAL)
    assert frame.loc[0, "status"] == "error"
    assert frame["title"].isna().all()
    assert frame["bytes"].isna().all()


def test_a_checkpoint_keeps_error_pages_and_asks_them_again(server: SiteServer, tmp_path: Path) -> None:
    folder = str(tmp_path / "kept")
    first = audited(server, "/", "/gone", store=folder)
    again = audited(server, "/", "/gone", store=folder)
    equal(first.raw, again.raw)
    assert again.raw.loc[1, "title"] == "Gone away"


def test_a_record_of_an_error_page_is_read_too() -> None:
    row = {"url": "https://lamps.example/gone", "html": GONE.decode(), "http_status": 404}
    audit = wa.audit(pd.DataFrame([row]), progress=False, workers=1)
    assert audit.raw["status"].tolist() == ["error"]
    assert audit.raw["title"].tolist() == ["Gone away"]


def test_outcomes_of_an_error_page_have_data_and_the_failure() -> None:
    packed = PackedOutcomes.pack([{"title": "Gone"}, Message("page_empty", {"parameter": "url"})])
    outcomes = ErrorPage(Message("status", {"parameter": "url", "status": 404}), packed, (0, None, 1))
    assert [outcome.status for outcome in outcomes] == ["error"] * 3
    assert [outcome.data for outcome in outcomes] == [{"title": "Gone"}, None, None]
    assert outcomes[-1].key == "status"
    assert len(outcomes[:2]) == 2
