"""The explorer's tabs of a crawl's site and of what to do, and the links around the chosen page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
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


def tables_of(explorer: Explorer, kind: str) -> dict[str, dict[str, Any]]:
    """Return the tables of a tab by their headings, as they come one after the other.

    A slow machine tells between them how far it is.
    """
    answers: list[dict[str, Any]] = []
    explorer.send = lambda content, buffers=None: answers.append(content)  # type: ignore[method-assign]
    explorer._on_message(None, {"id": "1", "kind": kind}, None)
    *tables, end = [answer for answer in answers if "progress" not in answer]
    assert end == {"id": "1", "last": True}
    assert not any(made["last"] for made in tables)
    return {made["title"]: made["table"] for made in tables}


def cells_of(table: dict[str, Any]) -> dict[str, list[Any]]:
    return {column["label"]: column["cells"] for column in table["columns"]}


def test_a_crawl_has_a_tab_with_its_tables(audit: wa.Audit) -> None:
    explorer = Explorer(audit)
    assert explorer._content["crawl"] is True
    tables = tables_of(explorer, "site")
    assert {title: made["total"] for title, made in tables.items()} == {
        "Pages by clicks from the start": 3,
        "Broken links": 1,
        "Most weight in the links": 3,
        "Orphans, to which no page links": 1,
        "Traps": 0,
        "Seen and left out, by reason": 1,
        "Seen and left out": 1,
    }
    assert cells_of(tables["Pages by clicks from the start"])["Addresses"] == [1, 2, 1], "one has no page"
    broken = cells_of(tables["Broken links"])
    assert broken["URL"] == [at("/404")]
    assert broken["Source"] == [at("/")]
    assert broken["Anchor"] == ["Old"]
    left, by_reason = (cells_of(made)["Reason"] for title, made in tables.items() if "left out" in title)
    assert left == by_reason  # in words both


def test_a_page_shows_who_links_to_it_and_where_it_links_to(audit: wa.Audit) -> None:
    explorer = Explorer(audit)
    assert asked(explorer, kind="details", row=0)["links"] == {
        "into": [[at("/a"), "Home", 1, False]],
        "out": [[at("/a"), "Tea", 1, True], [at("/404"), "Old", 1, True]],
        "total": 1,
    }


def lamps() -> wa.Audit:
    oil = "Lamp oil is refined paraffin; it is poured into the tank before the wick is lit. "
    bodies = {
        "/oil": f"<title>Lamp oil</title><h1>Lamp oil</h1><p>{oil * 3}",
        "/care": f"<title>Care</title><p>Before the wick is lit, fill the tank with lamp oil. {oil[9:]}",
        "/hidden": "<title>Hidden</title><meta name=robots content=noindex><p>Old prices of lamps.",
    }
    urls = [f"https://a.example{path}" for path in bodies]
    html = [f"<html lang=en>{body}" for body in bodies.values()]
    return wa.audit(pd.DataFrame({"url": urls, "html": html}), progress=False)


def test_an_audit_has_a_tab_of_what_to_do_with_clicks_where_they_are_known() -> None:
    audit = lamps()
    tables = tables_of(Explorer(audit), "to-do")
    assert list(tables) == ["Pages to improve, merge, redirect or remove", "Links to add"]
    links = cells_of(tables["Links to add"])
    assert [links[name] for name in ("Source", "Anchor", "Target")] == [
        ["https://a.example/care"],
        ["lamp oil"],
        ["https://a.example/oil"],
    ]
    assert "keep" not in cells_of(tables["Pages to improve, merge, redirect or remove"])["Advice"]
    clicks = pd.DataFrame({"page": ["/hidden", "/oil"], "clicks": [70, 2], "impressions": [900, 40]})
    tables = tables_of(Explorer(audit.with_search_data(clicks)), "to-do")
    assert list(tables)[:2] == ["Causes by the clicks that they touch", "Pages that need work"]
    needs = cells_of(tables["Pages that need work"])
    assert (needs["URL"][0], needs["Fact"][0], needs["Clicks"][0]) == (
        "https://a.example/hidden",
        "noindex",
        70,
    )
    touched = cells_of(tables["Causes by the clicks that they touch"])
    assert list(touched) == ["Cause", "Clicks", "Pages"]
    assert touched["Clicks"] == sorted(touched["Clicks"], reverse=True)
    assert touched["Clicks"][0] >= 70


def test_logs_are_among_what_to_do(tmp_path: Path) -> None:
    line = '192.0.2.7 - - [24/Nov/2026:00:10:00 +0100] "GET {} HTTP/1.1" {} 512 "-" "Googlebot/2.1"\n'
    (tmp_path / "access.log").write_text(line.format("/hidden", 200) + line.format("/gone", 404))
    audit = lamps().with_logs(wa.logs(tmp_path / "access.log"))
    missed = cells_of(tables_of(Explorer(audit), "to-do")["What crawlers miss and waste"])
    told = set(zip(missed["URL"], missed["Fact"], strict=True))
    assert {("https://a.example/hidden", "noindex"), ("https://a.example/oil", "never crawled")} <= told


def test_other_frames_have_no_such_tab(audit: wa.Audit) -> None:
    explorer = Explorer(audit.raw)
    assert explorer._content["crawl"] is False
    assert explorer._content["whole"] is False
    assert asked(Explorer(wa.Audit(audit.raw)), kind="site")["error"]


def test_odd_links_do_not_hide_the_page(audit: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError

    monkeypatch.setattr("webanalytics.notebook.explorer.explorer.links_of", broken)
    answer = asked(Explorer(audit), kind="details", row=0)
    assert answer["links"] is None
    assert answer["issues"]
