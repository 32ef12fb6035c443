"""Some pages of an audit are an audit, further columns are added by address, and no audit is a frame."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.saved import HOME, audit
from webanalytics.audits.selection import issues_of

Use = Callable[[wa.Audit], Any]
SITE = {
    HOME: "<title>Lamps for every room of the house</title><h1>Lamps</h1><a href='/b'>B</a><a href='/c'>C</a>",
    f"{HOME}b": "<title>The same title on two of the pages</title><h1>B</h1><a href='/'>Home</a>",
    f"{HOME}c": "<title>The same title on two of the pages</title><h1>C</h1><h1>C again</h1>",
    f"{HOME}alone": "<title>A page to which no other one leads</title><h1>Alone</h1>",
}
URLS = [*SITE]


@pytest.fixture(scope="module")
def made() -> wa.Audit:
    return audit(SITE)


@pytest.fixture
def first_two(made: wa.Audit) -> wa.Audit:
    return made.select(URLS[:2])


@pytest.mark.parametrize(
    ("which", "rows"),
    [
        (lambda pages: pages["url"] == HOME, [0]),
        (lambda pages: pages["title"].str.startswith("The same"), [1, 2]),
        (lambda pages: (pages["url"] != "x").to_numpy(), [0, 1, 2, 3]),
        (lambda pages: [False, True, False, True], [1, 3]),
        (lambda pages: pages["url"] == "x", []),
        (lambda pages: pd.array([True, None, False, True], dtype="boolean"), [0, 3]),
        (lambda pages: pd.Series([True, None, False, True], dtype=object), [0, 3]),
        (lambda pages: (pages["url"] == HOME).sort_index(ascending=False), [0]),
        (lambda pages: URLS[2], [2]),
        (lambda pages: [URLS[2], URLS[0], URLS[2]], [2, 0]),
        (lambda pages: pd.Series(URLS[1:3]), [1, 2]),
        (lambda pages: ["HTTPS://Lamps.example:443/b#top"], [1]),
        (lambda pages: pages.sort_values("url", ascending=False).index, [2, 1, 3, 0]),
        (lambda pages: pages.query("url == @HOME").index, [0]),
        (lambda pages: [3, np.int64(1)], [3, 1]),
        (lambda pages: [], []),
    ],
)
def test_some_pages_are_an_audit_of_those_pages(made: wa.Audit, which: Use, rows: list[int]) -> None:
    part = made.select(which(made.pages))
    assert type(part) is wa.Audit
    chosen = [URLS[row] for row in rows]
    assert part.raw["url"].tolist() == part.pages["url"].tolist() == chosen
    assert part.pages.index.tolist() == rows
    expected = made.issues[made.issues["url"].isin(chosen)].reset_index(drop=True)
    pd.testing.assert_frame_equal(part.issues, expected)
    whole = made.pages.set_index("url")
    for name in ("inlinks", "score", "issues_high", "issues_low"):
        assert part.pages[name].tolist() == whole.loc[chosen, name].tolist(), "known from the whole audit"
    scores = whole.loc[chosen, "score"]
    assert part.score == (pytest.approx(scores.mean(), abs=0.05) if chosen else None)
    assert set(part.summary()["rule"]) == set(expected["rule"])


def test_a_summary_by_a_column_is_those_of_its_segments(made: wa.Audit) -> None:
    column = pd.Series(["b", "a", None, "b"], index=made.pages.index, dtype=object)
    cut = made.with_columns(pd.DataFrame({"url": URLS, "kind": column}), on="url")
    found = cut.summary(by="kind")
    assert found["segment"].drop_duplicates().tolist()[:2] == ["a", "b"]
    for kind, urls in (("a", URLS[1:2]), ("b", [URLS[0], URLS[3]])):
        own = found[found["segment"] == kind].drop(columns="segment").reset_index(drop=True)
        pd.testing.assert_frame_equal(own, made.select(urls).summary(), check_dtype=False)
    assert found["segment"].isna().sum() == len(made.select(URLS[2]).summary())
    for by, said in (
        ("kinds", "a column of audit.pages; did you mean `kind`"),
        ("headings", "without lists"),
    ):
        with pytest.raises(wa.ParameterError, match=said):
            cut.summary(by=by)


@pytest.mark.parametrize(
    "which",
    [
        pd.Series([True, False]),
        [True, False],
        pd.Series([True] * 4, index=[0, 1, 2, 9]),
        pd.Series([True] * 4, index=[0, 1, 2, 2]),
        f"{HOME}nowhere",
        [URLS[0], 7],
        [[URLS[0]]],
        5,
        None,
        pd.DataFrame({"url": URLS}),
    ],
)
def test_a_choice_of_other_rows_is_a_wrong_call(made: wa.Audit, which: Any) -> None:
    with pytest.raises(wa.ParameterError, match="`which`") as error:
        made.select(which)
    assert error.value.parameter == "which"


def test_labels_of_the_index_are_pages() -> None:
    named = wa.audit(
        pd.DataFrame({"url": URLS, "html": [*SITE.values()]}, index=list("abcd")), progress=False
    )
    assert named.select(["c", URLS[0]]).pages.index.tolist() == ["c", "a"]
    assert named.select(named.pages["url"] == URLS[3]).pages.index.tolist() == ["d"]


def test_a_choice_of_a_choice(made: wa.Audit) -> None:
    part = made.select(URLS[1:]).select(pd.Series([False, True, True], index=[1, 2, 3]))
    assert part.pages["url"].tolist() == URLS[2:]
    assert part.pages["inlinks"].tolist() == [1, 0]


def test_pages_judged_on_their_own_know_nothing_of_the_others(made: wa.Audit) -> None:
    part = made.select(f"{HOME}b")
    assert "title_duplicate" in set(part.issues["rule"])
    assert part.pages["inlinks"].tolist() == [1]
    for alone in (wa.Audit(part), wa.Audit(made.pages[made.pages["url"] == f"{HOME}b"])):
        assert "title_duplicate" not in set(alone.issues["rule"])
        assert alone.pages["inlinks"].tolist() == [0]
        assert not {"score", "inlinks"} & set(alone.raw.columns)


def test_a_report_and_a_workbook_are_of_those_pages(first_two: wa.Audit, tmp_path: Any) -> None:
    text = first_two.report(tmp_path / "part.html").read_text("utf-8")
    assert f"{HOME}b" in text
    assert "Alone" not in text
    assert first_two.to_excel(tmp_path / "part.xlsx") == tmp_path / "part.xlsx"
    assert len(pd.read_excel(tmp_path / "part.xlsx", sheet_name="Pages")) == 2


def test_of_pages_without_links_the_table_of_links_has_its_columns() -> None:
    audit = wa.audit(pd.DataFrame({"url": [HOME], "html": ["<title>Tea</title><p>words"]}))
    for part in (audit, audit.select([0]), audit.select([])):
        assert part.links.columns.equals(audit.links.columns)
        assert len(part.links) == 0


def test_its_tables_are_plain_and_what_is_done_to_them_touches_no_audit(made: wa.Audit) -> None:
    for frame in (made.pages, made.raw, made.issues, made.summary(), made.failures(), made.links):
        assert type(frame) is pd.DataFrame
    merged = made.pages.merge(pd.DataFrame({"url": URLS, "clicks": range(4)}), on="url")
    assert merged["clicks"].tolist() == [0, 1, 2, 3]
    assert "clicks" not in made.pages
    assert made.pages.index.equals(made.raw.index)


@pytest.mark.parametrize(
    ("use", "error", "said"),
    [
        (lambda found: found["title"], TypeError, r"audit\.pages\[\.\.\.\]"),
        (lambda found: found[found.pages["url"] == HOME], TypeError, r"audit\.select\(\.\.\.\)"),
        (lambda found: found.merge, AttributeError, r"audit\.pages\.merge"),
        (lambda found: found.columns, AttributeError, r"audit\.pages\.columns"),
        (lambda found: found.title, AttributeError, r'audit\.pages\["title"\]'),
        (lambda found: list(found), TypeError, "holds tables"),
        (lambda found: "title" in found, TypeError, "holds tables"),
        (lambda found: found.__setitem__("title", ""), TypeError, r"with_columns"),
        (lambda found: found.nonsense, AttributeError, "no attribute 'nonsense'"),
        (lambda found: found.plot.nonsense, AttributeError, "no chart 'nonsense'"),
    ],
)
def test_old_habits_are_told_what_to_do(made: wa.Audit, use: Use, error: type, said: str) -> None:
    with pytest.raises(error, match=said):
        use(made)


def test_what_goes_wrong_inside_is_not_a_missing_name(
    made: wa.Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise AttributeError("inner")

    monkeypatch.setattr("webanalytics.audits.audit.find_issues", broken)
    with pytest.raises(RuntimeError, match="the audit's issues could not be made: inner"):
        _ = wa.Audit(made).issues


@pytest.mark.parametrize("pages", [pd.DataFrame({"url": [HOME]}), pd.DataFrame(), "x", None, 5])
def test_an_audit_is_of_pages(pages: Any) -> None:
    with pytest.raises(wa.ParameterError, match="`pages` parameter must be a DataFrame with the columns"):
        wa.Audit(pages)


def test_columns_are_added_by_address(made: wa.Audit) -> None:
    table = pd.DataFrame(
        {
            "page": ["HTTPS://Lamps.example:443/b#top", HOME, f"{HOME}gone", "no address", None],
            "clicks": [3, 5, 7, 9, 11],
            "share": [0.5, 0.25, 0.1, 0.1, 0.05],
            "team": ["b", "home", "gone", "x", "y"],
        },
        index=list("vwxyz"),
    )
    joined = made.with_columns(table, on="page")
    assert joined.pages["url"].tolist() == URLS
    assert joined.pages["clicks"].tolist() == [5, 3, pd.NA, pd.NA]
    assert str(joined.pages["clicks"].dtype) == "Int64"
    assert joined.pages["share"].tolist()[:2] == [0.25, 0.5]
    assert joined.pages["team"].isna().tolist() == [False, False, True, True]
    assert joined.unmatched["clicks"].tolist() == [7, 9, 11]
    assert "3 rows of the columns added are of no page: see .unmatched." in repr(joined)
    assert "of no page" not in repr(made)
    pd.testing.assert_frame_equal(joined.issues, made.issues)
    assert "clicks" not in made.pages
    best = joined.select(joined.pages["clicks"] > 3)
    assert best.pages["team"].tolist() == ["home"]
    again = joined.with_columns(pd.DataFrame({"url": URLS, "rank": [1, 2, 3, 4]}))
    assert again.pages["rank"].dtype == np.int64, "nothing is missing"
    assert again.pages["clicks"].tolist() == [5, 3, pd.NA, pd.NA]
    assert len(again.unmatched) == 0


def test_escapes_in_either_case_are_one_address() -> None:
    """RFC 3986, section 6.2.2.1."""
    made = audit({f"{HOME}%C3%BC": "<title>A"})
    escaped = f"{HOME}%c3%bc"
    assert made.with_columns(pd.DataFrame({"url": [escaped], "n": [3]})).pages["n"].tolist() == [3]
    assert len(made.select(escaped)) == 1


def test_columns_are_added_to_the_whole_of_a_part(first_two: wa.Audit) -> None:
    joined = first_two.with_columns(pd.DataFrame({"url": URLS, "clicks": [1, 2, 3, 4]}))
    assert joined.pages["clicks"].tolist() == [1, 2]
    assert joined.pages["inlinks"].tolist() == first_two.pages["inlinks"].tolist()
    assert len(joined.unmatched) == 0


def test_columns_are_saved_and_read_by_rules_of_ones_own(made: wa.Audit, tmp_path: Any) -> None:
    joined = made.with_columns(pd.DataFrame({"url": URLS[:2], "clicks": [0, 9]}))
    with wa.rule(lambda pages: pages["clicks"] == 0, name="no_clicks", columns=["clicks"]):
        assert joined.issues.loc[joined.issues["rule"] == "no_clicks", "url"].tolist() == [HOME]
        assert "no_clicks" in made.issues.attrs["webanalytics"]["rules_not_tried"]
    loaded = wa.load(joined.save(tmp_path / "kept"))
    pd.testing.assert_frame_equal(loaded.pages, joined.pages)


def test_a_page_with_several_rows_has_the_values_in_each() -> None:
    twice = wa.audit(pd.DataFrame({"url": [HOME, HOME], "html": ["<p>A"] * 2}), progress=False)
    assert twice.with_columns(pd.DataFrame({"url": [HOME], "clicks": [4]})).pages["clicks"].tolist() == [4, 4]


@pytest.mark.parametrize(
    ("columns", "on", "parameter", "said"),
    [
        ({"url": [HOME], "title": ["x"]}, "url", "frame", "`title`, which the pages have"),
        ({"url": [HOME], "score": [1]}, "url", "frame", "`score`, which the pages have"),
        ({"url": [HOME], "crawl_depth": [1]}, "url", "frame", "`crawl_depth`"),
        ({"page": [HOME], "url": [1]}, "page", "frame", "`url`"),
        ({"page": [HOME]}, "url", "on", "no column of the frame with `url`"),
        ({"url": [HOME, f"{HOME}#a"], "clicks": [1, 2]}, "url", "frame", "one row for each page"),
    ],
)
def test_columns_that_cannot_be_added(
    made: wa.Audit, columns: dict[str, Any], on: str, parameter: str, said: str
) -> None:
    with pytest.raises(wa.ParameterError, match=said) as error:
        made.with_columns(pd.DataFrame(columns), on=on)
    assert error.value.parameter == parameter


def test_a_table_of_addresses_alone_adds_nothing_and_labels_may_repeat() -> None:
    pages = pd.DataFrame({"url": URLS[:2], "html": ["<p>A", "<p>B"]}, index=["x", "x"])
    made = wa.audit(pages, progress=False)
    assert len(made.with_columns(pd.DataFrame({"url": URLS})).unmatched) == 2
    joined = made.with_columns(pd.DataFrame({"url": URLS[:2], "clicks": [1, 2]}))
    assert joined.pages["clicks"].tolist() == [1, 2]
    assert joined.pages.index.tolist() == ["x", "x"]


def test_columns_of_no_frame(made: wa.Audit) -> None:
    with pytest.raises(wa.ParameterError, match="`frame` parameter must be a DataFrame"):
        made.with_columns([1, 2])  # type: ignore[arg-type]


def test_a_chart_of_an_audit_is_a_method(made: wa.Audit) -> None:
    assert "issues_by_priority" in dir(made.plot)
    drawn, given = made.plot.issues_by_priority(top=3), wa.charts.issues_by_priority(made, top=3)
    assert [bar.get_width() for bar in drawn.patches] == [bar.get_width() for bar in given.patches]
    assert made.plot.words().get_title(loc="left") == wa.charts.words(made.raw).get_title(loc="left")


def test_a_profile_for_some_pages(made: wa.Audit) -> None:
    part = made.select(URLS[:3]).with_profile(thresholds={"title_too_short": 9})
    assert part.pages["inlinks"].tolist() == made.pages["inlinks"].tolist()[:3]
    whole = made.with_profile(thresholds={"title_too_short": 9})
    assert len(part.issues) == int(whole.issues["url"].isin(URLS[:3]).sum())


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda part: pickle.loads(pickle.dumps(part))])
def test_a_copy_of_a_part_knows_its_whole(first_two: wa.Audit, again: Use) -> None:
    part = again(first_two)
    assert type(part) is wa.Audit
    pd.testing.assert_frame_equal(part.issues, first_two.issues)
    assert part.pages["inlinks"].tolist() == first_two.pages["inlinks"].tolist()


def test_a_part_says_that_it_is_one_and_a_copy_shows_the_same(made: wa.Audit, first_two: wa.Audit) -> None:
    assert "Audit of some pages of lamps.example: 2 pages" in repr(first_two)
    assert repr(copy.copy(made)) == repr(made)
    assert "some pages" not in repr(made)


def test_making_a_part_judges_nothing() -> None:
    whole = audit(SITE)
    _ = whole.select(HOME), whole.select(whole.raw["status"] == "ok"), copy.copy(whole)
    assert whole._known == {}


def test_repeated_addresses() -> None:
    frame = pd.DataFrame({"url": [HOME, HOME, f"{HOME}b"], "html": [*SITE.values()][:1] * 2 + ["<h1>B"]})
    whole = wa.audit(frame, progress=False, workers=1)
    per_row = len(whole.issues[whole.issues["url"] == HOME]) // 2
    assert len(whole.select([0, 2]).issues) == len(whole.issues) - per_row
    assert len(whole.select(HOME)) == 2
    assert whole.select([1]).score == whole.select([0]).score


@pytest.mark.parametrize("dtype", [object, "category"])
def test_issues_of_pages_without_an_address(dtype: Any) -> None:
    issues = pd.DataFrame({"url": [None, None, "a"], "rule": ["x", "x", "x"]}).astype({"url": dtype})
    assert issues_of(issues, pd.Series([None], dtype=object))["url"].isna().tolist() == [True]
    assert issues_of(issues, pd.Series(["a"]))["url"].tolist() == ["a"]
    assert len(issues_of(issues, pd.Series([None, "a", None], dtype=object))) == 3


def test_parts_are_compared_as_what_they_are(made: wa.Audit, first_two: wa.Audit) -> None:
    worse = audit({**SITE, HOME: "<h1>Lamps</h1>"})
    comparison = wa.compare(first_two, worse.select(URLS[:2]))
    assert comparison.score.before == first_two.score
    assert comparison.score.change is not None
    assert comparison.score.change < 0
    assert comparison.summary()["points"].sum() == pytest.approx(comparison.score.change, abs=0.15)
    assert set(comparison.pages["url"]) == set(URLS[:2])
