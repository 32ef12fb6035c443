"""The explorer's tab of a crawl's site, and the links around the chosen page."""

from __future__ import annotations

from typing import Any

import pytest

import webanalytics as wa
from tests.audits.crawled import at, crawl, failed, link
from webanalytics.notebook.explorer.explorer import Explorer
from webanalytics.runs.frames.link_table import SKIPPED
from webanalytics.runs.frames.schema import frame_of


@pytest.fixture
def audit() -> wa.Audit:
    return crawl(
        {"/": [link("/a", "Tea"), link("/404", "Old")], "/a": [link("/", "Home", rel=1)], "/orphan": []},
        failed("/404", "status", status=404),
        skipped=frame_of(SKIPPED, [{"url": at("/c"), "reason": "depth", "links": 2}]),
    )


def asked(explorer: Explorer, **request: Any) -> dict[str, Any]:
    answers: list[dict[str, Any]] = []
    explorer.send = lambda content, buffers=None: answers.append(content)  # type: ignore[method-assign]
    explorer._on_message(None, {"id": "1", **request}, None)
    return answers[-1]


def test_a_crawl_has_a_tab_with_its_tables(audit: wa.Audit) -> None:
    explorer = Explorer(audit)
    assert explorer._content["crawl"] is True
    tables = {made["title"]: made["table"] for made in asked(explorer, kind="site")["tables"]}
    assert {title: made["total"] for title, made in tables.items()} == {
        "Pages by clicks from the start": 3,
        "Broken links": 1,
        "Most weight in the links": 3,
        "Orphans, to which no page links": 1,
        "Traps": 0,
        "Seen and left out, by reason": 1,
        "Seen and left out": 1,
    }
    broken = {column["label"]: column["cells"] for column in tables["Broken links"]["columns"]}
    assert broken["URL"] == [at("/404")]
    assert broken["Source"] == [at("/")]
    assert broken["Anchor"] == ["Old"]


def test_a_page_shows_who_links_to_it_and_where_it_links_to(audit: wa.Audit) -> None:
    explorer = Explorer(audit)
    assert asked(explorer, kind="details", row=0)["links"] == {
        "into": [[at("/a"), "Home", 1, False]],
        "out": [[at("/a"), "Tea", 1, True], [at("/404"), "Old", 1, True]],
        "total": 1,
    }


def test_other_frames_have_no_such_tab(audit: wa.Audit) -> None:
    explorer = Explorer(audit.raw)
    assert explorer._content["crawl"] is False
    assert asked(Explorer(wa.Audit(audit.raw)), kind="site")["error"]


def test_odd_links_do_not_hide_the_page(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError

    monkeypatch.setattr("webanalytics.notebook.explorer.explorer.links_of", broken)
    answer = asked(Explorer(audit), kind="details", row=0)
    assert answer["links"] is None
    assert answer["issues"]
