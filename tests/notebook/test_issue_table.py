"""Frames of issues as a notebook shows them."""

from __future__ import annotations

import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell
from lxml import html

import webanalytics as wa
from webanalytics.notebook.issue_table import MOST, as_html, offer

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def issues() -> pd.DataFrame:
    pages = {f"https://a.example/{number}": f"<title>{HOSTILE}</title><p>Tea" for number in range(9)}
    frame = pd.DataFrame({"url": list(pages), "html": list(pages.values())})
    return wa.audit(frame, progress=False, workers=1).issues


def test_a_row_has_what_one_reads_and_nothing_of_a_page_is_markup(issues: pd.DataFrame) -> None:
    shown = html.fromstring(str(as_html(issues)))
    heads = [cell.text for cell in shown.iter("th")]
    assert heads == ["priority", "rule_title, rule", "page_title, url", "evidence", "fix"]
    rows = shown.xpath("//tbody/tr")
    assert len(rows) == MOST < len(issues)
    said = " ".join(rows[0].itertext())
    for name in ("priority", "rule_title", "rule", "url", "fix"):
        assert str(issues[name].iloc[0])[:60] in said
    assert not shown.xpath("//script")
    assert f"the first {MOST} of {len(issues):,} rows × {issues.shape[1]} columns" in " ".join(
        shown.itertext()
    )


def test_other_frames_are_as_pandas_shows_them(issues: pd.DataFrame) -> None:
    for frame in (pd.DataFrame({"a": [1]}), issues[["url", "rule"]]):
        assert as_html(frame) == frame._repr_html_()
    assert "0 rows" in str(as_html(issues.head(0)))


def test_ipython_shows_them_so_and_the_frame_is_an_ordinary_one(issues: pd.DataFrame) -> None:
    shell = InteractiveShell.instance()
    try:
        shell.display_formatter.formatters["text/html"].for_type(pd.DataFrame, lambda frame: "another's")
        offer()
        assert shell.display_formatter.format(pd.DataFrame({"a": [1]}))[0]["text/html"] == "another's"
        high = issues[issues["priority"] == "high"]
        shown, _ = shell.display_formatter.format(high)
        assert "rule_title, rule" in shown["text/html"]
        assert shown["text/plain"] == repr(high)
        assert type(issues) is pd.DataFrame
    finally:
        InteractiveShell.clear_instance()
