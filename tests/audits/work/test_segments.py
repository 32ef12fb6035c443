"""Segments by patterns of addresses: in pages, summary, scores and the report."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa

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


def test_wrong_calls(audit: wa.Audit) -> None:
    with pytest.raises(wa.ParameterError, match="`patterns` parameter must be regular"):
        audit.segments({"shop": "("})
    with pytest.raises(wa.ParameterError, match="`patterns`"):
        audit.segments({})
    with pytest.raises(wa.ParameterError, match="`column`"):
        audit.segments({"shop": "/shop/*"}, column="score")
