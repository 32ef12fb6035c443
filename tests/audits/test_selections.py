"""Rows of an audit are an audit: which methods keep one, and what it then says."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.saved import HOME, audit
from webanalytics.audits.kept import places

Use = Callable[[wa.Audit], Any]
SITE = {
    HOME: "<title>Lamps for every room of the house</title><h1>Lamps</h1><a href='/b'>B</a><a href='/c'>C</a>",
    f"{HOME}b": "<title>The same title on two of the pages</title><h1>B</h1><a href='/'>Home</a>",
    f"{HOME}c": "<title>The same title on two of the pages</title><h1>C</h1><h1>C again</h1>",
    f"{HOME}alone": "<title>A page to which no other one leads</title><h1>Alone</h1>",
}


@pytest.fixture(scope="module")
def made() -> wa.Audit:
    return audit(SITE)


@pytest.mark.parametrize(
    ("use", "rows"),
    [
        (lambda frame: frame.head(2), [0, 1]),
        (lambda frame: frame.tail(1), [3]),
        (lambda frame: frame.iloc[1:3], [1, 2]),
        (lambda frame: frame.iloc[[2, 0]], [2, 0]),
        (lambda frame: frame.loc[[3, 1]], [3, 1]),
        (lambda frame: frame.loc[frame["url"] == HOME], [0]),
        (lambda frame: frame[frame["title"].str.startswith("The same")], [1, 2]),
        (lambda frame: frame[frame["url"] != "x"], [0, 1, 2, 3]),
        (lambda frame: frame[frame["url"] == "x"], []),
        (lambda frame: frame.query("url == @HOME"), [0]),
        (lambda frame: frame.sort_values("url", ascending=False), [2, 1, 3, 0]),
        (lambda frame: frame.sort_index(ascending=False), [3, 2, 1, 0]),
        (lambda frame: frame.drop_duplicates("title"), [0, 1, 3]),
        (lambda frame: frame.drop(index=[0, 3]), [1, 2]),
        (lambda frame: frame.copy(), [0, 1, 2, 3]),
        (lambda frame: copy.deepcopy(frame), [0, 1, 2, 3]),
        (lambda frame: frame.sample(4, random_state=1).head(3).sort_index(), None),
        (lambda frame: frame.reset_index(drop=True), [0, 1, 2, 3]),
        (lambda frame: frame.assign(team="a"), [0, 1, 2, 3]),
        (lambda frame: frame.dropna(subset=["title"]), [0, 1, 2, 3]),
        (lambda frame: frame.head(3).tail(2), [1, 2]),
    ],
)
def test_rows_are_an_audit_of_those_rows(made: wa.Audit, use: Use, rows: list[int] | None) -> None:
    part = use(made)
    assert type(part) is wa.Audit
    chosen = made["url"].tolist() if rows is None else [made["url"].tolist()[row] for row in rows]
    if rows is None:
        chosen = part["url"].tolist()
    assert part["url"].tolist() == chosen
    expected = made.issues[made.issues["url"].isin(chosen)].reset_index(drop=True)
    pd.testing.assert_frame_equal(part.issues, expected)
    assert part.pages["url"].tolist() == chosen
    assert part.pages.index.tolist() == part.index.tolist()
    whole = made.pages.set_index("url")
    for name in ("inlinks", "score", "issues_high", "issues_low"):
        assert part.pages[name].tolist() == whole.loc[chosen, name].tolist(), "known from the whole audit"
    scores = whole.loc[chosen, "score"]
    assert part.score == (pytest.approx(scores.mean(), abs=0.05) if chosen else None)
    assert set(part.summary()["rule"]) == set(expected["rule"])


@pytest.mark.parametrize(
    "use",
    [
        lambda frame: frame[["url", "status", "title"]],
        lambda frame: frame[["title"]],
        lambda frame: frame.drop(columns="text"),
        lambda frame: frame.set_index("url"),
        lambda frame: frame.rename(columns=str.lower),
        lambda frame: pd.concat([frame, frame]),
        lambda frame: frame.merge(frame[["url"]], on="url"),
        lambda frame: frame.groupby("language", dropna=False).first(),
        lambda frame: frame.groupby("language", dropna=False, as_index=False).first(),
        lambda frame: frame.isna(),
        lambda frame: frame.astype(object),
        lambda frame: frame.describe(include="all"),
        lambda frame: frame.explode("links"),
        lambda frame: frame.T,
        lambda frame: frame.apply(lambda column: column),
    ],
)
def test_what_may_hold_anything_is_a_frame_that_says_what_to_do(made: wa.Audit, use: Use) -> None:
    result = use(made)
    assert isinstance(result, pd.DataFrame)
    assert not isinstance(result, wa.Audit)
    assert repr(result) != repr(made)
    for name in ("issues", "report", "score"):
        if name in result.columns:
            continue
        with pytest.raises(AttributeError, match=name) as error:
            getattr(result, name)
        if {"url", "status"} <= set(result.columns) and type(result) is not pd.DataFrame:
            assert "webanalytics.Audit(frame)" in str(error.value)


def test_a_joined_frame_becomes_an_audit_again(made: wa.Audit) -> None:
    joined = pd.concat([made.head(2), made.tail(2)])
    with pytest.raises(AttributeError, match=r"webanalytics\.Audit\(frame\)"):
        _ = joined.issues
    again = wa.Audit(joined)
    pd.testing.assert_frame_equal(again.issues, made.issues)
    assert "no_such_thing" not in dir(joined)
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = joined.no_such_thing


def test_rows_judged_on_their_own_know_nothing_of_the_others(made: wa.Audit) -> None:
    part = made[made["url"] == f"{HOME}b"]
    assert "title_duplicate" in set(part.issues["rule"])
    alone = wa.Audit(part)
    assert "title_duplicate" not in set(alone.issues["rule"])
    assert alone.pages["inlinks"].tolist() == [0]
    assert part.pages["inlinks"].tolist() == [1]


def test_a_report_and_a_workbook_are_of_those_rows(made: wa.Audit, tmp_path: Any) -> None:
    text = made.head(2).report(tmp_path / "part.html").read_text("utf-8")
    assert f"{HOME}b" in text
    assert "Alone" not in text
    made.head(2).to_excel(tmp_path / "part.xlsx")
    assert len(pd.read_excel(tmp_path / "part.xlsx", sheet_name="Pages")) == 2


def test_a_change_is_seen_and_no_other_audit_is_touched(made: wa.Audit) -> None:
    before = made.issues
    for change in (
        lambda frame: frame.__setitem__("title", ""),
        lambda frame: frame.loc.__setitem__((0, "title"), ""),
        lambda frame: frame.iloc.__setitem__((0, frame.columns.get_loc("title")), ""),
        lambda frame: frame.at.__setitem__((0, "title"), ""),
        lambda frame: frame.iat.__setitem__((0, frame.columns.get_loc("title")), ""),
        lambda frame: frame.replace({"title": {SITE_TITLE: ""}}, inplace=True),
        lambda frame: frame.update(pd.DataFrame({"title": [""]})),
    ):
        changed = wa.Audit(made.copy())
        warnings.simplefilter("ignore", DeprecationWarning)
        assert "title_missing" not in set(changed.issues["rule"])
        change(changed)
        found = changed.issues
        assert HOME in set(found.loc[found["rule"] == "title_missing", "url"])
        assert made.issues is before
    assert "title_missing" not in set(made.issues["rule"])


@pytest.mark.parametrize(
    "remove", [lambda frame: frame.pop("title"), lambda frame: frame.__delitem__("title")], ids=["pop", "del"]
)
def test_a_column_removed_in_place_is_not_known_any_more(made: wa.Audit, remove: Use) -> None:
    changed = made.copy()
    part = changed.head(2)
    assert "title_duplicate" in set(changed.issues["rule"])
    remove(changed)
    assert "title_duplicate" not in set(changed.issues["rule"])
    part.pop("title")
    assert "title_duplicate" not in set(part.issues["rule"])
    changed.insert(0, "title", "")
    untitled = changed.issues.loc[changed.issues["rule"] == "title_missing", "url"]
    assert set(untitled) == set(changed["url"])
    assert "title_duplicate" in set(made.issues["rule"])


SITE_TITLE = "Lamps for every room of the house"


def test_rows_are_in_step_after_sorting_in_place() -> None:
    changed = audit(SITE)
    urls = changed.pages["url"].tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the next pandas has no `inplace`
        changed.sort_values("url", ascending=False, inplace=True)
    assert changed.pages["url"].tolist() == changed["url"].tolist() != urls
    assert changed.pages.index.tolist() == changed.index.tolist() == [2, 1, 3, 0]
    changed.index = pd.Index(list("abcd"))
    assert changed.pages.index.tolist() == list("abcd")


def test_a_part_does_not_follow_later_changes_of_the_whole() -> None:
    whole = audit(SITE)
    part = whole.head(1)
    whole["title"] = ""
    assert "title_missing" in set(whole.issues["rule"])
    assert "title_missing" not in set(part.issues["rule"])


def test_a_further_column_changes_nothing_that_is_known(made: wa.Audit) -> None:
    part = made.head(2).copy()
    part["team"] = ["a", "b"]
    assert part.pages["team"].tolist() == ["a", "b"]
    assert part.pages["inlinks"].tolist() == made.pages["inlinks"].tolist()[:2]
    pd.testing.assert_frame_equal(part[part["team"] == "b"].issues, made.iloc[[1]].issues)


def test_a_profile_for_some_rows(made: wa.Audit) -> None:
    part = made.head(3).with_profile(thresholds={"title_too_short": 9})
    assert part.pages["inlinks"].tolist() == made.pages["inlinks"].tolist()[:3]
    whole = made.with_profile(thresholds={"title_too_short": 9})
    assert len(part.issues) == int(whole.issues["url"].isin(part["url"]).sum())


def test_a_pickled_part_is_judged_on_its_own(made: wa.Audit) -> None:
    part = pickle.loads(pickle.dumps(made.head(2)))
    assert type(part) is wa.Audit
    assert part.pages["inlinks"].tolist() == [1, 1]


def test_a_part_shows_its_pages_and_a_copy_its_overview(made: wa.Audit) -> None:
    assert "\nPages\nurl" in repr(made.head(2))
    assert "Audit of some of its pages: 2 pages" in repr(made.head(2))
    assert repr(made.copy()) == repr(made)
    assert "Pages" not in repr(made)


def test_making_some_rows_judges_nothing() -> None:
    whole = audit(SITE)
    _ = whole.head(), whole[whole["status"] == "ok"], whole.sort_values("url"), whole.copy()
    assert "issues" not in (whole._known or {})
    assert "site" not in (whole._known or {})


def test_repeated_addresses() -> None:
    frame = pd.DataFrame({"url": [HOME, HOME, f"{HOME}b"], "html": [*SITE.values()][:1] * 2 + ["<h1>B"]})
    whole = wa.audit(frame, progress=False, workers=1)
    per_row = len(whole.issues[whole.issues["url"] == HOME]) // 2
    assert len(whole.drop_duplicates("url").issues) == len(whole.issues) - per_row
    assert whole.iloc[[1]].score == whole.iloc[[0]].score
    assert places([None, "a", float("nan")], ["a", None, None]) == [1, 0, 2]


def test_parts_are_compared_as_what_they_are(made: wa.Audit) -> None:
    worse = audit({**SITE, HOME: "<h1>Lamps</h1>"})
    comparison = wa.compare(made.head(2), worse.head(2))
    assert comparison.score.before == made.head(2).score
    assert comparison.score.change is not None
    assert comparison.score.change < 0
    assert comparison.summary()["points"].sum() == pytest.approx(comparison.score.change, abs=0.15)
    assert set(comparison.pages["url"]) == set(made["url"][:2])
