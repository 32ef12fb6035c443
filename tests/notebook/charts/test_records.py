"""The charts of TLSA records and of phone numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

import webanalytics as wa
from tests.notebook.charts.reading import heights, labels, note, texts, title, widths
from webanalytics.notebook.charts import disposable_by_country, disposable_by_month, tlsa_security
from webanalytics.notebook.drawing import style
from webanalytics.records.dane.chart import LEVELS

Picture = Callable[[Axes], Any]


def phones(*rows: tuple[Any, Any, Any]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=["isDisposable", "country", "firstSeen"], dtype=object)


def test_levels_stand_from_best_to_worst(picture: Picture) -> None:
    frame = pd.DataFrame(
        {"security_level": ["Weak", "Good", "Weak", "Recommended", "Invalid", "Good", "Weak", "Good"]}
    )
    ax = tlsa_security(frame)
    assert dict(zip(labels(ax), widths(ax), strict=True)) == {
        "Recommended": 1,
        "Good": 3,
        "Acceptable": 0,
        "Weak": 3,
        "Invalid": 1,
    }
    assert texts(ax)[:3] == ["1  (12%)", "3  (38%)", "0"]
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == list(style.LEVELS)
    assert title(ax) == "Security of 8 TLSA records"
    picture(ax)


def test_the_levels_are_those_the_analysis_gives() -> None:
    name = "_443._tcp.a.example. 3600 IN TLSA "
    records = ["3 1 1 " + "ab" * 32, "3 0 1 " + "ab" * 32, "1 1 1 " + "ab" * 32, "3 1 0 abcd", "3 1 1 ab"]
    found = wa.dane([name + record for record in records], progress=False)
    assert set(found["security_level"]) <= set(LEVELS)
    assert widths(tlsa_security(found))[0] == 1


def test_an_unknown_level_is_counted() -> None:
    assert note(tlsa_security(pd.DataFrame({"security_level": ["Good", "Superb"]}))) == "1 without a level"


def test_shares_of_countries(picture: Picture) -> None:
    rows = [(True, "SE", None)] + [(False, "SE", None)] * 3 + [(True, "US", None)] * 2 + [(False, "FR", None)]
    ax = disposable_by_country(phones(*rows))
    assert dict(zip(labels(ax), widths(ax), strict=True)) == {"SE": 25, "US": 100, "FR": 0}
    assert texts(ax)[:3] == ["25%  (1 of 4)", "100%  (2 of 2)", "0%  (0 of 1)"]
    assert title(ax) == "3 of 7 numbers are disposable"
    picture(ax)


def test_the_countries_with_fewest_numbers_stand_together(picture: Picture) -> None:
    rows = [(True, "SE", None)] * 3 + [(False, "US", None)] * 2 + [(True, "FR", None), (False, "DE", None)]
    ax = disposable_by_country(phones(*rows), top=2)
    assert dict(zip(labels(ax), widths(ax), strict=True)) == {"SE": 100, "US": 0, "2 other": 50}
    picture(ax)


def test_no_bar_is_of_one_number_where_others_are_of_more(picture: Picture) -> None:
    rows = [(True, "SE", None), (False, "SE", None), *((True, name, None) for name in ("FR", "DE", "US"))]
    ax = disposable_by_country(phones(*rows))
    assert dict(zip(labels(ax), widths(ax), strict=True)) == {"SE": 50, "3 other": 100}
    assert texts(ax)[1] == "100%  (3 of 3)"
    picture(ax)


def test_a_number_of_no_country_and_one_without_an_answer() -> None:
    ax = disposable_by_country(phones((True, None, None), (None, "SE", None)))
    assert labels(ax) == ["unknown"]
    assert note(ax) == "1 without an answer"


@pytest.mark.parametrize("flags", [[True, False], ["True", "False"], ["true", "false"], [1, 0], [1.0, 0.0]])
def test_flags_as_files_give_them_back(flags: list[Any]) -> None:
    ax = disposable_by_country(phones(*((flag, "SE", None) for flag in flags)))
    assert widths(ax) == [50]


def test_months_without_a_number_leave_a_gap(picture: Picture) -> None:
    dates = ["2023-11-30", "2023-11-01", "2024-02-29", "2024-02-28 10:00:00"]
    ax = disposable_by_month(phones(*((True, "SE", date) for date in dates), (False, "SE", None)))
    assert heights(ax) == [2, 0, 0, 2]
    names = {
        label.get_text(): place for place, label in zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
    }
    assert names["2024-02"] - names["2023-11"] == 3
    assert title(ax) == "When 4 disposable numbers were first seen"
    picture(ax)


def test_many_years_are_drawn_by_year(picture: Picture) -> None:
    ax = disposable_by_month(
        phones((True, "SE", "1999-12-31"), (True, "SE", "2024-01-01"), (True, "SE", "2024-12-01"))
    )
    assert len(ax.patches) == 26
    assert (heights(ax)[0], heights(ax)[-1]) == (1, 2)
    assert ax.get_xlabel() == "first seen (year)"
    picture(ax)


@pytest.mark.parametrize(
    "dates", [("0001-01-01", "0050-01-01"), ("9950-12-31", "9999-12-31"), ("0900-01-01", "2024-01-01")]
)
def test_dates_from_nowhere_near(dates: tuple[str, str], picture: Picture) -> None:
    picture(disposable_by_month(phones(*((True, "SE", date) for date in dates))))


@pytest.mark.parametrize("date", [None, "", "soon", "2024-13-01", "20240101", 7])
def test_numbers_without_a_date_are_counted(date: Any) -> None:
    ax = disposable_by_month(phones((True, "SE", "2024-01-01"), (True, "SE", date)))
    assert heights(ax) == [1]
    assert note(ax) == "1 without a date"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([(False, "SE", None)] * 2, "No disposable numbers."),
        ([(True, "SE", None)] * 2, "No date is known for the disposable numbers."),
        ([(None, "SE", None)] * 2, "None of these is a phone number."),
    ],
)
def test_no_month_to_draw(rows: list[Any], said: str) -> None:
    assert said in texts(disposable_by_month(phones(*rows)))
