"""Segments by patterns of addresses: in pages, summary, scores and the report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.cli import main

PATHS = ("/", "/shop/tea", "/shopping", "/blog/a.html", "/shop/blog/b.html")
URLS = [f"https://a.example{path}" for path in PATHS]


@pytest.fixture
def audit() -> wa.Audit:
    html = ["<title>Tea</title>", "<p>x", "<title>Tea</title>", "<p>y", "<p>z"]
    return wa.audit(pd.DataFrame({"url": URLS, "html": html}))


def test_the_first_pattern_that_matches_counts(audit: wa.Audit, tmp_path: Path) -> None:
    cut = audit.segments({"home": URLS[0], "html": "*.html", "shop": "/shop/*"})
    assert cut.pages["segment"].tolist() == ["home", "shop", "other", "html", "html"]
    by = cut.summary(by="segment").set_index(["segment", "rule"])["pages"]
    assert by.loc["html", "title_missing"] == 2
    assert ("home", "title_missing") not in by.index
    scores = cut.scores(by="segment").set_index("segment")
    assert scores["pages"].to_dict() == {"home": 1, "html": 2, "other": 1, "shop": 1}
    for name, row in scores.iterrows():
        part = cut.select(cut.pages["segment"] == name)
        assert row["score"] == part.score
        assert row["issues_high"] == sum(part.issues.query("type != 'warning'")["priority"] == "high")
    report = cut.report(tmp_path / "report.html").read_text("utf-8")
    assert "<span>Segment</span>" in report
    assert "shop (1)" in report
    assert wa.load(cut.save(tmp_path / "saved")).pages["segment"].tolist() == cut.pages["segment"].tolist()


def test_a_column_makes_the_parts(audit: wa.Audit, tmp_path: Path) -> None:
    """In scores, comparisons, charts and the report; pages without a value are `other`, also by the command line."""
    extra = pd.DataFrame({"url": URLS, "team": ["red", "blue", None, "blue", "red"]})
    made = audit.with_columns(extra)
    cut = made.segments("team")
    assert cut.pages["segment"].tolist() == ["red", "blue", "other", "blue", "red"]
    assert cut.scores(by="segment").set_index("segment")["pages"].to_dict() == {
        "blue": 2,
        "other": 1,
        "red": 2,
    }
    assert wa.compare(audit, cut).scores(by="segment")["segment"].tolist() == ["blue", "other", "red"]
    assert "blue (2)" in cut.report(tmp_path / "report.html").read_text("utf-8")
    saved = made.save(tmp_path / "saved")
    assert main(["segments", str(saved), "team"]) == 0
    assert wa.load(saved).pages["segment"].tolist() == cut.pages["segment"].tolist()


def test_wrong_calls(audit: wa.Audit) -> None:
    with pytest.raises(
        wa.ParameterError, match=r"`patterns` parameter must be a mapping .* name of a column"
    ):
        audit.segments("no_such_column")
    with pytest.raises(wa.ParameterError, match="`patterns` parameter must be regular"):
        audit.segments({"shop": "("})
    with pytest.raises(wa.ParameterError, match="`patterns`"):
        audit.segments({})
    with pytest.raises(wa.ParameterError, match="`column`"):
        audit.segments({"shop": "/shop/*"}, column="score")


def test_a_comparison_by_segment_is_that_of_each_part(audit: wa.Audit, tmp_path: Path) -> None:
    after = wa.audit(
        pd.DataFrame(
            {
                "url": [*URLS[:3], "https://a.example/shop/new"],
                "html": ["<title>Tea</title>", "<p>x", "<title>Tea</title><h1>Tea</h1>", "<p>y"],
            }
        )
    )
    patterns = {"shop": "/shop/*", "blog": "/blog/*"}
    cut = audit.segments(patterns), after.segments(patterns)
    found = wa.compare(*cut)
    scores = found.scores().set_index("segment")
    assert scores[["pages_before", "pages"]].values.tolist() == [[1, 0], [2, 2], [2, 2]]  # blog, other, shop
    for name in ("other", "shop"):
        old, new = (side.select(side.pages["segment"] == name) for side in cut)
        row = scores.loc[name]
        assert (row["score_before"], row["score"]) == (old.score, new.score)
        assert row["change"] == round(new.score - old.score, 1)
    assert scores.loc["blog", "score"] is None or pd.isna(scores.loc["blog", "score"])
    by = found.summary(by="segment")
    whole = found.summary().set_index("rule")
    counts = ["worse", "added", "fixed", "removed", "remaining", "unchecked"]
    assert by.groupby("rule")[counts].sum().sort_index().equals(whole[counts].sort_index())
    assert by.set_index(["segment", "rule"]).loc[("shop", "title_missing"), "added"] == 1
    assert {*scores.columns[-4:]} == {"worse", "added", "fixed", "removed"}
    assert scores.loc["shop", "added"] == by[by["segment"] == "shop"]["added"].sum()
    late = wa.compare(audit, cut[1]).scores()  # the first had no segments: its pages have those of the second
    assert late["segment"].fillna("").tolist() == ["other", "shop", ""]
    report = found.report(tmp_path / "report.html").read_text("utf-8")
    assert "Score before" in report
    sheets = pd.read_excel(found.to_excel(tmp_path / "changes.xlsx"), sheet_name=None)
    assert sheets["Segments"]["segment"].tolist() == ["blog", "other", "shop"]
    by_section = found.scores(by="section")
    assert by_section["pages"].sum() == 4
    with pytest.raises(wa.ParameterError, match="`by`"):
        found.scores(by="nothing")


def test_a_stopped_audit_is_compared_by_segment_on_the_pages_of_both(audit: wa.Audit) -> None:
    part = wa.Audit(audit.raw.head(3), replace(audit.origin, stopped="Stopped by hand."))
    found = wa.compare(audit.segments({"shop": "/shop/*"}), part.segments({"shop": "/shop/*"}))
    assert found.scores().set_index("segment")["pages_before"].to_dict() == {"other": 2, "shop": 1}
    assert found.score.change == 0
    assert set(found.scores()["change"]) == {0}


def test_issues_of_a_host_are_of_each_of_its_segments() -> None:
    headers = "Content-Type: text/html"
    rows = {"url": [f"http://a.example{path}" for path in PATHS], "status": "ok", "http_status": 200}
    before = wa.Audit(pd.DataFrame({**rows, "headers": headers}))
    after = wa.Audit(pd.DataFrame({**rows, "headers": headers})).segments({"shop": "/shop/*"})
    of_hosts = after.issues[after.issues["scope"] == "host"]["rule"].tolist()
    assert of_hosts
    by = wa.compare(before, after).summary(by="segment")
    for name in ("shop", "other"):
        part = by[by["segment"] == name].set_index("rule")
        assert (part.loc[of_hosts, "remaining"] == 1).all()


@pytest.mark.parametrize("cells", [[1, 2, 3, 4, 5], [["a"]] * 5, [f"part {n}" for n in range(51)]])
def test_a_column_of_the_user_that_is_no_segment_stops_no_report(cells: list[Any], tmp_path: Path) -> None:
    urls = [f"https://a.example/{number}" for number in range(len(cells))]
    made = wa.audit(pd.DataFrame({"url": urls, "html": ["<title>Tea</title>"] * len(urls)}))
    made = made.with_columns(pd.DataFrame({"url": urls, "segment": cells}))
    assert "Segments" not in made.parts()
    assert 'aria-labelledby="segments"' not in made.report(tmp_path / "r.html").read_text("utf-8")
    assert "Segments" not in wa.compare(made, made).parts()
