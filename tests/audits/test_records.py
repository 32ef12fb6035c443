"""Page records: what is known of the fetch of a page, and which rules go without it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import webanalytics as wa
from tests.runs.hosted.running import equal
from webanalytics.core.outcomes import SAVED, Fetched, Job, PageRecord, digest
from webanalytics.core.run_options import resolve
from webanalytics.fetching.response import MOST_HEADER_TEXT, MOST_HEADERS, header_block, header_lines
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.runs.backends.base import RunSpec, Task
from webanalytics.runs.backends.local import LocalBackend
from webanalytics.runs.frames.records import page_records

URL = "https://lamps.example/"
OPTIONS: dict[str, Any] = {"progress": False, "workers": 1}
OF_FETCHES = {
    "http_status": {
        *("client_error", "server_error", "no_response", "timeout", "links_to_failing_pages"),
        *("canonical_failing", "hreflang_failing", "sitemap_failing", "redirect_to_error", "amp_failing"),
        *("pagination_failing", "certificate_invalid"),
    },
    "redirects": {
        *("redirect", "redirect_chain", "redirect_loop", "links_to_redirects"),
        *("redirect_temporary", "redirect_to_home", "redirect_to_http", "redirect_to_error"),
        "redirect_to_canonicalised",
    },
    "headers": {
        *("noindex_header", "hsts_missing", "hsts_short", "csp_missing", "nosniff_missing"),
        *("framing_allowed", "referrer_policy_missing", "compression_missing", "caching_missing"),
        *("caching_forbidden", "charset_wrong"),
    },
    "robots": {"blocked_by_robots", "links_to_blocked"},
}


def audited(**columns: Any) -> wa.Audit:
    return wa.audit(pd.DataFrame({"url": [URL], "html": ["<title>Lamps</title>"], **columns}), **OPTIONS)


def lacking(audit: wa.Audit) -> dict[str, set[str]]:
    """Return the rules not tried by the fact of a fetch that they lack."""
    not_tried = audit.issues.attrs["webanalytics"]["rules_not_tried"]
    found: dict[str, set[str]] = {}
    for rule, reasons in not_tried.items():
        for fact in OF_FETCHES.keys() & set(reasons):
            found.setdefault(fact, set()).add(rule)
    return found


def record(**cells: Any) -> Fetched:
    (made,) = page_records(pd.DataFrame({"html": ["x"], **{k: [v] for k, v in cells.items()}}), [URL])
    return made.fetched


def test_saved_pages_leave_rules_about_fetches_untried(tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    file.write_text("<title>Lamps</title>")
    for audit in (audited(), wa.audit([file], **OPTIONS)):
        assert lacking(audit) == OF_FETCHES
        assert audit.raw["redirects"].tolist() == [[]]


def test_a_loaded_audit_leaves_the_same_rules_untried(tmp_path: Path) -> None:
    audit = audited()
    assert lacking(wa.load(audit.save(tmp_path / "kept"))) == OF_FETCHES


@pytest.mark.parametrize(
    ("columns", "known"),
    [
        ({"http_status": [200]}, {"http_status"}),
        ({"status": [200.0]}, {"http_status"}),
        ({"status": ["ok"]}, set()),
        ({"headers": [{}]}, {"headers"}),
        ({"final_url": [URL]}, {"redirects"}),
        ({"redirects": [[]]}, {"redirects"}),
        ({"http_status": ["many"], "headers": [5], "final_url": [5], "redirects": [5]}, set()),
    ],
)
def test_a_column_makes_its_rules_judge(columns: dict[str, Any], known: set[str]) -> None:
    assert lacking(audited(**columns)).keys() == OF_FETCHES.keys() - known


def test_one_header_alone_makes_its_own_rule_judge() -> None:
    assert lacking(audited(x_robots_tag=[""]))["headers"] == OF_FETCHES["headers"] - {"noindex_header"}


def test_what_a_table_says_of_fetches_is_judged() -> None:
    audit = wa.audit(
        pd.DataFrame(
            {
                "url": [URL, URL + "gone", URL + "old"],
                "html": ["<title>a</title><a href='/gone'>b</a>", "<p>gone", "<title>new</title>"],
                "http_status": [200, 404, 200],
                "final_url": [URL, URL + "gone", URL + "new"],
                "headers": [{"X-Robots-Tag": "noindex"}, {}, "Content-Type: text/html\nVary: a"],
            }
        ),
        **OPTIONS,
    )
    found = {(rule, url.removeprefix(URL)) for rule, url in audit.issues[["rule", "url"]].values.tolist()}
    expected = {
        ("noindex_header", ""),
        ("redirect", "old"),
        ("links_to_failing_pages", ""),
    }
    assert expected <= found
    assert ("client_error", "gone") not in found, "the page that links there has the fault"
    assert lacking(audit).keys() == {"robots"}
    assert audit.raw["status"].tolist() == ["ok", "error", "ok"]
    assert audit.raw["http_status"].tolist() == [200, 404, 200]
    assert audit.raw["redirects"].tolist()[2] == [URL + "old"]
    assert audit.raw["content_type"].tolist()[2] == "text/html"


def test_the_type_in_the_table_says_how_bytes_are_read() -> None:
    html = "<title>Ünlü лампы</title>".encode("windows-1251", "replace")
    frame = pd.DataFrame({"url": [URL], "html": [html], "content_type": ["text/html; charset=windows-1251"]})
    assert "лампы" in wa.metadata(frame, **OPTIONS).loc[0, "title"]


@pytest.mark.parametrize(
    ("cell", "block"),
    [
        ({"Vary": "a", "X-Robots-Tag": ["noindex", "nofollow"]}, "Vary: a\nX-Robots-Tag: noindex\nX-Robots-Tag: nofollow"),
        ([("A", "b"), ["C", 5]], "A: b\nC: 5"),
        ("HTTP/1.1 200 OK\r\nA: b\r\nSet-Cookie: id=1\r\n\r\n", "A: b"),
        ("", ""),
        (np.nan, None),
        ([1, 2], None),
        (["ab", "cd"], None),
    ],
)  # fmt: skip
def test_headers_are_taken_in_any_usual_form(cell: Any, block: str | None) -> None:
    assert record(headers=cell).headers == block


def test_headers_are_bounded() -> None:
    many = [(f"X-{number}", "v" * 10_000) for number in range(1_000)]
    block = header_block(many)
    assert len(block) <= MOST_HEADER_TEXT
    assert len(header_block([("a", "b")] * 1_000).splitlines()) == MOST_HEADERS
    assert header_lines("A: b\n" * 1_000) == [("A", "b")] * MOST_HEADERS
    assert header_block([("A", "b\r\nSet-Cookie: x")]) == "A: b Set-Cookie: x"


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ({"fetched_at": pd.Timestamp("2026-01-02T03:04:05Z")}, {"fetched_at": "2026-01-02T03:04:05+00:00"}),
        ({"fetched_at": pd.NaT}, {"fetched_at": None}),
        ({"source": "archive"}, {"source": "archive"}),
        ({"source": "fetched"}, {"source": "saved"}),
        ({"elapsed": 0.5}, {"elapsed": 0.5}),
        ({"elapsed": np.nan, "http_status": pd.NA}, {"elapsed": None, "http_status": None}),
        ({"http_status": True}, {"http_status": None}),
        ({"http_status": 1e300}, {"http_status": None}),
    ],
)
def test_cells_of_a_record(cells: dict[str, Any], expected: dict[str, Any]) -> None:
    made = record(**cells)
    assert {name: getattr(made, name) for name in expected} == expected


def test_a_page_without_more_is_what_it_was_to_checkpoints() -> None:
    plain = PageRecord(URL, "x")
    assert plain.fetched is SAVED
    assert record() == SAVED
    assert digest(plain) != digest(PageRecord(URL, "x", Fetched(http_status=200, source="saved")))


def test_a_fetch_leaves_a_whole_record(tmp_path: Path) -> None:
    headers = {"Content-Type": "text/html", "X-Own": "yes", "Set-Cookie": "id=1"}
    pages = {"/old": Reply(302, {"Location": "/new"}), "/new": Reply(200, headers, b"<title>New</title>")}
    with SiteServer(pages) as site:
        task = Task(RunSpec(("text",), {"text": {}}, resolve({"allow_private": True, "workers": 1})))

        async def main() -> Fetched | None:
            async for group in LocalBackend().run(task, [Job(0, f"{site.url}/old")]):
                return group[0].fetched
            return None

        fetched = asyncio.run(main())
        assert fetched is not None
        assert (fetched.redirects, fetched.redirect_kinds) == ((f"{site.url}/old",), ("302",))
        assert fetched.headers is not None
        assert "X-Own: yes" in fetched.headers
        assert "id=1" not in fetched.headers
        assert fetched.fetched_at is not None
        assert fetched.fetched_at.endswith("+00:00")
        assert fetched.source == "fetched"
        assert fetched.facts == {"http_status", "redirects", "headers", "robots"}
        kept = tmp_path / "kept"
        first = wa.audit([f"{site.url}/old"], allow_private=True, store=kept, **OPTIONS)
        assert lacking(first) == {}
        again = wa.audit([f"{site.url}/old"], allow_private=True, store=kept, **OPTIONS)
        equal(again.raw, first.raw)
        assert again.raw.attrs == first.raw.attrs
