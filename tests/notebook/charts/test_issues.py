"""Issues by rule and priority, and by section."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

import webanalytics as wa
from tests.notebook.charts.contrast import EYES, contrast, distance, lab
from tests.notebook.charts.reading import labels, note, texts, title, widths
from webanalytics.errors import ParameterError
from webanalytics.notebook.charts import issues_by_priority, issues_by_section
from webanalytics.notebook.charts.issues import EDGES, FILLS
from webanalytics.thresholds import PRIORITIES

Picture = Callable[[Axes], Any]
HOST = "https://a.example"
ROWS = [
    ("/", "noindex", "indexability", "high"),
    ("/blog/one", "title_too_long", "title", "medium"),
    ("/blog/two", "title_too_long", "title", "medium"),
    ("/blog/two", "title_too_long", "title", "medium"),  # the page is in the audit twice
    ("/blog/two", "slow", "response", "low"),
    ("/shop/", "slow", "response", "low"),
    ("/about", "slow", "response", "low"),
    ("/blog/one", "h1_missing", "headings", "medium"),
]


def frame_of(rows: list[tuple[str, str, str, str]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["url", "rule", "category", "priority"])
    return frame.assign(url=HOST + frame["url"])


def columns(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_xticklabels()]


def legend(ax: Axes) -> list[str]:
    found = ax.get_legend()
    assert found is not None
    return [text.get_text() for text in found.get_texts()]


def cells(ax: Axes) -> list[list[float]]:
    (image,) = ax.images
    drawn: Any = image.get_array()
    found: list[list[float]] = drawn.tolist()
    return found


@pytest.fixture(scope="module")
def audit() -> wa.Audit:
    html = "<title>{}</title><h1>Tea</h1><p>Green tea on the lawn."
    paths = ["/", "/blog/", "/blog/one", "/blog/two", "/shop/cups"]
    pages = {"url": [HOST + path for path in paths], "html": [html.format(path * 2) for path in paths]}
    return wa.audit(pd.DataFrame(pages), progress=False)


def test_rules_by_priority_then_pages(picture: Picture) -> None:
    ax = issues_by_priority(frame_of(ROWS))
    assert labels(ax) == ["noindex", "title too long", "h1 missing", "slow"]
    assert widths(ax) == [1, 2, 1, 3]
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == [
        FILLS[level] for level in ("high", "medium", "medium", "low")
    ]
    assert title(ax) == "Issues of 4 rules, on 5 pages"
    assert legend(ax) == ["high priority", "medium priority", "low priority"]
    picture(ax)


def test_the_most_urgent_rules_are_kept() -> None:
    ax = issues_by_priority(frame_of(ROWS), top=2)
    assert labels(ax) == ["noindex", "title too long"]
    assert note(ax) == "the 2 most urgent of 4 rules"
    assert legend(ax) == ["high priority", "medium priority"]


def test_a_rule_of_two_priorities_takes_the_higher() -> None:
    rows = [("/a", "slow", "response", "low"), ("/b", "slow", "response", "High")]
    ax = issues_by_priority(frame_of(rows))
    assert (widths(ax), to_hex(ax.patches[0].get_facecolor())) == ([2], FILLS["high"])


def test_rows_without_a_priority_are_left_out_and_counted() -> None:
    ax = issues_by_priority(frame_of([*ROWS, ("/", "odd", "title", "urgent"), ("/", "odd", "title", "")]))
    assert "odd" not in labels(ax)
    assert note(ax) == "2 without a rule or priority"


def test_pages_without_a_url_are_all_different() -> None:
    frame = frame_of(ROWS[:1] * 3).assign(url=pd.Series(["", "", None], dtype=object))
    assert widths(issues_by_priority(frame)) == [3]
    assert (labels(issues_by_section(frame)), cells(issues_by_section(frame))) == (["(no URL)"], [[3]])


def test_an_audit_counts_what_its_summary_counts(audit: wa.Audit, picture: Picture) -> None:
    ax = issues_by_priority(audit, top=100)
    summary = audit.summary()
    assert labels(ax) == summary["rule_title"].tolist()
    assert widths(ax) == summary["pages"].tolist()
    assert next(text for text in texts(ax) if text.endswith("%)")) == (
        f"{summary['pages'].iloc[0]}  ({summary['share'].iloc[0]:.0%})"
    )
    picture(ax)


def test_an_address_without_a_page_is_in_no_share() -> None:
    urls = [f"https://a.example/{number}" for number in range(4)]
    pages = pd.DataFrame({"url": urls, "html": "<p>Hello", "http_status": [200, 200, 404, 404]})
    ax = issues_by_priority(wa.audit(pages, progress=False))
    assert "2  (100%)" in texts(ax)


def test_pages_of_an_audit_alone_are_no_issues(audit: wa.Audit) -> None:
    for draw in (issues_by_priority, issues_by_section):
        with pytest.raises(ParameterError, match=r"a frame of webanalytics\.audit\(urls\)\.issues has"):
            draw(audit.raw)


@pytest.mark.parametrize("draw", [issues_by_priority, issues_by_section])
def test_an_audit_without_issues(draw: Callable[[Any], Axes], audit: wa.Audit, picture: Picture) -> None:
    for frame in (audit.issues.head(0), wa.audit([], progress=False)):
        ax = draw(frame)
        assert "No issues." in texts(ax)
        picture(ax)


def test_sections_by_category(picture: Picture) -> None:
    ax = issues_by_section(frame_of(ROWS))
    assert labels(ax) == ["(top level)", "blog", "shop"]  # two pages, two, one
    assert columns(ax) == ["response", "title", "indexability", "headings"]  # on 3, 2, 1 and 1 pages
    assert cells(ax) == [[1, 0, 1, 0], [1, 2, 0, 1], [1, 0, 0, 0]]
    assert title(ax) == "Pages with issues, by section and category"
    picture(ax)


def test_sections_by_rule() -> None:
    ax = issues_by_section(frame_of(ROWS), by="rule", top=2, max_sections=1)
    assert (labels(ax), columns(ax)) == (["(top level)"], ["slow", "title too long"])
    assert note(ax) == "1 of 3 sections · 2 of 4 rules"
    with pytest.raises(ParameterError, match="`by` parameter") as caught:
        issues_by_section(frame_of(ROWS), by="page")  # type: ignore[arg-type]
    assert caught.value.parameter == "by"


def test_an_audit_knows_its_sections(audit: wa.Audit, picture: Picture) -> None:
    ax = issues_by_section(audit)
    assert set(labels(ax)) == {"(top level)", "blog", "shop"}
    pages = audit.pages.set_index("url")["section"]
    of_pages = audit.issues[audit.issues["scope"] == "page"]
    wanted = of_pages.assign(section=of_pages["url"].map(pages)).drop_duplicates(["url", "category"])
    for section, row in zip(labels(ax), cells(ax), strict=True):
        of_section = wanted[wanted["section"] == ("" if section == "(top level)" else section)]
        assert row == [(of_section["category"] == name).sum() for name in columns(ax)]
    picture(ax)


def test_rows_are_segments_where_a_column_is_named(audit: wa.Audit) -> None:
    cut = audit.with_columns(audit.pages[["url"]].assign(kind=["a", "b", "b", "a", None]), on="url")
    ax = issues_by_section(cut, segment="kind")
    found = cut.issues[cut.issues["scope"] == "page"].merge(cut.pages[["url", "kind"]], on="url")
    pages = found.drop_duplicates(["url", "category"]).fillna({"kind": "(no kind)"})
    for kind, row in zip(labels(ax), cells(ax), strict=True):
        of_kind = pages[pages["kind"] == kind]
        assert row == [(of_kind["category"] == name).sum() for name in columns(ax)]
    assert set(labels(ax)) == {"a", "b", "(no kind)"}
    assert title(ax) == "Pages with issues, by kind and category"
    assert labels(issues_by_section(frame_of(ROWS), segment="priority"))[0] == "low"
    with pytest.raises(wa.ParameterError, match="column `colour`"):
        issues_by_section(cut, segment="colour")


def test_an_audit_of_many_hosts_is_cut_by_them() -> None:
    urls = [f"https://www.{name}.example/de/x" for name in "abc"]
    many = wa.audit(pd.DataFrame({"url": urls, "html": ["<title>Hi</title>"] * 3}), progress=False, workers=1)
    assert set(labels(issues_by_section(many))) == {"a.example", "b.example", "c.example"}


def test_a_hundred_rules_by_a_hundred_sections(picture: Picture) -> None:
    rows = [
        (f"/s{row}/{row % 7}", f"rule_{rule}", "title", "low") for row in range(110) for rule in range(60)
    ]
    ax = issues_by_section(frame_of(rows), by="rule", top=40, max_sections=100)
    assert (len(labels(ax)), len(columns(ax))) == (100, 40)
    assert note(ax) == "100 of 110 sections · 40 of 60 rules"
    picture(ax)


def test_numbers_that_do_not_fit_their_cells_are_colours_alone() -> None:
    rows = [(f"/blog/{page}", f"rule_{rule}", "title", "low") for page in range(120) for rule in range(30)]
    ax = issues_by_section(frame_of(rows), by="rule", top=30)
    assert note(ax) == "stronger is more pages, up to 120"
    assert len(texts(ax)) == 1


def test_the_accessor_has_them(audit: wa.Audit) -> None:
    of_issues: Any = audit.issues.web.plot
    assert widths(audit.plot.issues_by_priority()) == widths(issues_by_priority(audit))
    assert cells(of_issues.issues_by_section()) == cells(issues_by_section(audit.issues))


def test_priorities_are_told_apart_by_every_eye_and_in_grey() -> None:
    for eye in EYES:
        for one, other in itertools.combinations(FILLS.values(), 2):
            assert distance(one, other, eye) > 20  # seen at a glance
    light = [lab(FILLS[level], "usual")[0] for level in PRIORITIES]
    assert all(after - before > 20 for before, after in itertools.pairwise(light))
    assert all(contrast(EDGES[level], "white") >= 3 for level in PRIORITIES)
