"""What shows how far the work on the pages is: rules, contents, near duplicates, terms, competing pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.notebook.explorer import explorer as explorers
from webanalytics.runs import boundary


class Bar:
    """Stands for a bar, and counts."""

    def __init__(self, total: int, name: str, **how: Any) -> None:
        self.total, self.name, self.how, self.done, self.open = total, name, how, 0, True

    def update(self) -> None:
        assert self.open
        self.done += 1

    def close(self) -> None:
        self.open = False


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[Bar]:
    made: list[Bar] = []

    def make(*given: Any, **how: Any) -> Bar:
        made.append(Bar(*given, **how))
        return made[-1]

    monkeypatch.setattr(boundary, "progress_bar", make)
    return made


@pytest.fixture
def audit() -> wa.Audit:
    page = "<!doctype html><html lang=en><title>Tea</title><h1>Tea</h1><p>"
    html = [page + f"Tea number {number} is served on the lawn. " * 12 for number in range(4)]
    pages = pd.DataFrame({"url": [f"https://a.example/{n}" for n in range(4)], "html": html})
    return wa.audit(pages, progress=False)


def test_all_that_takes_long_has_a_bar_which_arrives_at_its_end(
    audit: wa.Audit, bars: list[Bar], tmp_path: Path
) -> None:
    with wa.option_context(progress=True):
        audit.report(tmp_path / "report.html")
    assert {bar.name for bar in bars} == {
        "contents",
        "rules",
        "near duplicates",
        "keywords",
        "competing pages",
    }
    assert [(bar.name, bar.done, bar.open) for bar in bars] == [(bar.name, bar.total, False) for bar in bars]
    assert {bar.how["delay"] for bar in bars} == {2}, "what is done sooner shows none"
    assert {bar.total for bar in bars if bar.name in ("contents", "keywords")} == {4}
    rules = len(audit.issues.attrs["webanalytics"]["rules_not_tried"])
    assert [bar.total for bar in bars if bar.name == "rules"] == [len(wa.rules()) - rules]


def test_what_was_found_is_found_again_without_a_bar(audit: wa.Audit, bars: list[Bar]) -> None:
    with wa.option_context(progress=True):
        first, count = audit.issues, len(bars)
        assert audit.issues is first
    assert len(bars) == count > 0


def test_a_rule_that_fails_does_not_stop_the_bar(
    audit: wa.Audit, bars: list[Bar], monkeypatch: pytest.MonkeyPatch
) -> None:
    from webanalytics.audits.findings import Found

    search = Found.search

    def broken(found: Found, site: Any) -> None:
        if found.rule.name == "title_too_short":
            raise ValueError("odd")
        search(found, site)

    monkeypatch.setattr(Found, "search", broken)
    with wa.option_context(progress=True):
        assert audit.issues.attrs["webanalytics"]["rules_failed"] == ["title_too_short"]
    assert [bar.done for bar in bars if bar.name == "rules"] == [
        bar.total for bar in bars if bar.name == "rules"
    ]


def test_the_browser_is_told_how_far_the_rules_are(
    audit: wa.Audit, bars: list[Bar], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explorers, "TELL_SECONDS", 0.0)
    explorer, sent = explorers.explore(audit), []
    monkeypatch.setattr(explorer, "send", lambda content, buffers=(): sent.append(content))
    with wa.option_context(progress=True):
        explorer._handle_custom_msg({"id": "q", "kind": "issues"}, [])
    *told, answer = sent
    assert answer["count"] == len(audit.issues)
    assert {content["id"] for content in told} == {"q"}
    said = [content["progress"] for content in told]
    assert "Contents: 4 of 4" in said
    assert any(text.startswith("Rules: 100 of ") for text in said)
    assert bars == [], "it is said once"
    assert boundary.shown_by.get() is None
