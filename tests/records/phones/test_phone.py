"""Disposable phones: single numbers, many at once, and the frame's columns."""

from __future__ import annotations

import csv
import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import webanalytics as wa
from tests.effort import effort_since
from webanalytics.errors import ParameterError, RowError
from webanalytics.records.phones import phone, phone_list
from webanalytics.records.phones.columns import phones_frame

SAMPLES = Path(__file__).parents[3] / "data" / "phones.csv"
PANDAS_3 = int(pd.__version__.split(".")[0]) >= 3
LISTED = "+12085813945"


@pytest.fixture(scope="module", autouse=True)
def _no_user_list(tmp_path_factory):
    """Keep the list of whoever runs the tests out of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEBANALYTICS_DATA", str(tmp_path_factory.mktemp("data")))
        yield


def test_the_published_example():
    assert phone.analyse(LISTED, details=False) == {
        "phone": LISTED,
        "isDisposable": True,
        "firstSeen": "2024-01-30",
    }


def test_details_come_after_the_fields_of_the_specification():
    answer = phone.analyse(LISTED)
    assert list(answer) == ["phone", "isDisposable", "firstSeen", "country", "carrier", "line_type", "valid"]
    assert answer["country"] == "US"
    assert answer["line_type"] == "fixed_line_or_mobile"
    assert answer["valid"] is True


# Number ranges that regulators keep free for fiction, and carriers that phonenumbers' own tests name.
@pytest.mark.parametrize(
    ("number", "region", "expected", "country", "line_type", "valid"),
    [
        ("+442079460958", None, "+442079460958", "GB", "fixed_line", True),
        ("020 7946 0958", "GB", "+442079460958", "GB", "fixed_line", True),
        ("020 7946 0958", "gb", "+442079460958", "GB", "fixed_line", True),
        ("+44 (0)20 7946 0958", None, "+442079460958", "GB", "fixed_line", True),
        ("0011 44 20 7946 0958", "AU", "+442079460958", "GB", "fixed_line", True),
        ("+44 20 7946 0958", "US", "+442079460958", "GB", "fixed_line", True),
        ("(212) 555-0123", "US", "+12125550123", "US", "fixed_line_or_mobile", True),
        (2125550123, "US", "+12125550123", "US", "fixed_line_or_mobile", True),
        (np.int64(2125550123), "US", "+12125550123", "US", "fixed_line_or_mobile", True),
        ("tel:+1-212-555-0123", None, "+12125550123", "US", "fixed_line_or_mobile", True),
        ("+1 212 555 0123 ext. 9", None, "+12125550123", "US", "fixed_line_or_mobile", True),
        ("+80012345678", None, "+80012345678", None, "toll_free", True),
        ("+46 70 174 06 42", None, "+46701740642", "SE", "mobile", True),
        ("+12", None, "+12", None, "unknown", False),
        ("+4612", None, "+4612", "SE", "unknown", False),
        ("+999123456789", None, "+999123456789", None, "unknown", False),
        ("+4402079460958", None, "+4402079460958", "GB", "fixed_line", False),
    ],
)
def test_numbers(number, region, expected, country, line_type, valid):
    answer = phone.analyse(number, region=region)
    assert (answer["phone"], answer["country"], answer["line_type"], answer["valid"]) == (
        expected,
        country,
        line_type,
        valid,
    )
    assert phone.analyse(number, details=False, region=region) == {
        key: answer[key] for key in ("phone", "isDisposable", "firstSeen")
    }


def test_the_carrier_where_it_is_known():
    assert phone.analyse("+447458196164")["carrier"] == "Gamma Telecom"
    assert phone.analyse("+442079460958")["carrier"] is None


NOT_NUMBERS = [
    "",
    "+",
    "n/a",
    "+0123456",
    "+1",
    "++12",
    "+1234567890123456",
    "+12 (",
    LISTED + "\0" * 3 + "x" * 300,
]
NATIONAL = ["020 7946 0958", 10**40, "12085813945", 12085813945, "(208) 581-3945"]
OTHER_THINGS = [None, float("nan"), 1.5, True, pd.NA, pd.NaT, b"+12085813945", ["+12085813945"], {}]


@pytest.mark.parametrize("details", [True, False])
@pytest.mark.parametrize("value", NOT_NUMBERS, ids=lambda value: repr(value)[:20])
def test_what_is_no_number_is_a_row(value, details):
    with pytest.raises(RowError) as caught:
        phone.analyse(value, details)
    assert caught.value.error_type == "invalid"
    assert caught.value.sentence == "The `phone` parameter must be a valid phone number in E.164 format."


@pytest.mark.parametrize("details", [True, False])
@pytest.mark.parametrize("value", OTHER_THINGS, ids=lambda value: repr(value)[:20])
def test_what_is_not_even_text_is_missing(value, details):
    with pytest.raises(RowError, match=r"^The `phone` parameter is required\.$"):
        phone.analyse(value, details)


@pytest.mark.parametrize("value", NATIONAL)
def test_a_national_number_without_its_region_is_told_so(value):
    with pytest.raises(RowError) as caught:
        phone.analyse(value)
    assert caught.value.sentence == (
        "The `phone` parameter must be a valid phone number in E.164 format, or in national format with `region`."
    )


@pytest.mark.parametrize("region", ["", "USA", "XX", "001", 1, b"US"])
def test_an_unknown_region_is_a_wrong_call(region):
    for call in (lambda: phone.analyse(LISTED, region=region), lambda: phones_frame(pd.Series([]), region)):
        with pytest.raises(ParameterError, match=r"^The `region` parameter must be .+\.$") as caught:
            call()
        assert caught.value.parameter == "region"


def test_sample_phones():
    with SAMPLES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= 60
    for row in rows:
        comment = row["comment"]
        try:
            answer = phone.analyse(row["phone"], region=row["region"] or None)
        except RowError:
            assert comment.endswith("an error"), comment
            continue
        assert not comment.endswith("an error"), comment
        if "listed as disposable" in comment or "once more" in comment:
            assert answer["isDisposable"], comment
        if comment.endswith("valid is false"):
            assert not answer["valid"], comment


# ---- many at once

PIECES = st.sampled_from(
    [*"+0123456789 -(). \n\0\t", "+1", "+44", "٣", "＋", "é", "\ud800", "ext", "12085813945"]
)
TEXTS = st.one_of(
    st.lists(PIECES, max_size=20).map("".join),
    st.from_regex(r"\+[1-9][0-9]{0,16}", fullmatch=True),
    st.sampled_from(list(map(int, phone_list.packaged().numbers[::1000]))).map(lambda number: f"+{number}"),
)
THINGS = st.one_of(TEXTS, TEXTS, st.none(), st.floats(), st.integers(), st.booleans(), st.binary(max_size=20))


def one_by_one(value, region):
    try:
        answer = phone.analyse(value, details=False, region=region)
    except RowError as error:
        return None, False, None, error.sentence
    return answer["phone"], answer["isDisposable"], answer["firstSeen"], None


@given(st.lists(THINGS, max_size=30), st.sampled_from([None, None, "US", "SE"]))
@example([LISTED, LISTED + "\0", LISTED + "\n", " " + LISTED, "+" + "1" * 16, "+" + "1" * 15], None)
@example([float("nan"), None, 5, "é" + LISTED, LISTED], None)
@example(["\ud800", "+12", "+1"], "US")
@example(["+0123456789", "+", "+1", "+12", "++1234", "12345678"], None)
@example([], None)
def test_many_answer_as_one_by_one(values, region):
    found = phones_frame(column_of(values), region)
    expected = [one_by_one(value, region) for value in values]
    columns = [found[name].astype(object) for name in ("phone", "isDisposable", "firstSeen", "error")]
    cells = [column.where(column.notna(), None).tolist() for column in columns]
    cells[1] = [flag is True for flag in cells[1]]
    assert list(zip(*cells, strict=True)) == expected
    assert found["ok"].tolist() == [error is None for *_, error in expected]


def column_of(values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return pd.Series(column, dtype=object)


def test_the_input_is_left_alone():
    values = pd.Series([LISTED, "1", None], dtype=object)
    before = values.copy()
    phones_frame(values)
    assert values.tolist() == before.tolist()


# ---- the frame's columns


def series_of(values):
    yield pd.Series(values, dtype=object)
    if not PANDAS_3:
        return
    yield pd.Series(values, dtype=pd.StringDtype("python", na_value=np.nan))
    yield pd.Series(values, dtype="string")
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return
    yield pd.Series(values, dtype=pd.StringDtype("pyarrow", na_value=np.nan))


@pytest.mark.parametrize(
    "values", [[LISTED, "+12125550123"], [LISTED, None, "junk", "+1 212 555 0123"], [None], []]
)
def test_columns_and_dtypes_are_the_same_for_every_input(values):
    string = pd.Series([], dtype="str" if PANDAS_3 else object).dtype
    for series in series_of(values):
        series.index = pd.Index([f"row {n}" for n in range(len(values))], name="key")
        frame = phones_frame(series)
        assert frame.dtypes.to_dict() == {
            "phone": string,
            "isDisposable": pd.BooleanDtype(),
            "firstSeen": string,
            "ok": np.dtype(bool),
            "error": string,
        }
        assert frame.index.equals(series.index)
        assert frame.index.name == "key"
        expected = [one_by_one(value, None) for value in values]
        assert frame["phone"].tolist() == pytest.approx([p or np.nan for p, *_ in expected], nan_ok=True)
        for column, place in (("firstSeen", 2), ("error", 3)):
            assert [None if pd.isna(v) else v for v in frame[column]] == [row[place] for row in expected]
            assert not any(v is None for v in frame[column].tolist())
        assert frame["isDisposable"].isna().tolist() == [row[3] is not None for row in expected]
        assert frame["isDisposable"].fillna(False).astype(bool).tolist() == [row[1] for row in expected]


def test_text_that_no_encoding_can_store_is_a_row_that_failed():
    values = [LISTED, "+1\ud800"]
    for series in [pd.Series(values, dtype=object), pd.Series(values, dtype=pd.StringDtype("python"))]:
        frame = wa.phones(series)
        assert frame["status"].tolist() == ["ok", "error"]
        assert frame["input"].tolist() == [LISTED, "+1?"]  # the same as in other functions


def test_a_frame_does_not_share_memory_with_its_input():
    series = pd.Series([LISTED, "+12125550123"], dtype="str" if PANDAS_3 else object)
    frame = phones_frame(series)
    frame.loc[0, "phone"] = "changed"
    assert series[0] == LISTED


def test_a_million_numbers_in_three_seconds_of_one_core():
    generator = np.random.default_rng(7)
    values = generator.integers(10**9, 10**13, 1_000_000).astype(np.uint64)
    listed = phone_list.packaged().numbers
    values[::100] = listed[generator.integers(0, 90_000, 10_000)]
    series = pd.Series([f"+{value}" for value in values.tolist()])
    start = time.process_time()
    frame = phones_frame(series)
    took = effort_since(start)
    assert frame["isDisposable"][::100].all()
    assert frame["ok"].all()
    assert took < 3, f"{took:.2f} s"


def test_the_whole_package_list_is_found_with_its_dates():
    phones = phone_list.packaged()
    frame = phones_frame(pd.Series([f"+{number}" for number in phones.numbers.tolist()]))
    days = pd.to_datetime(frame["firstSeen"]).sub(pd.Timestamp(0)).dt.days
    found = frame["ok"].to_numpy()
    assert found.sum() == len(phones) - 1, "one listed number has sixteen digits, which E.164 does not allow"
    assert frame.loc[found, "isDisposable"].all()
    assert (days[found].to_numpy() == phones.days[found]).all()
    assert len(json.dumps(frame["firstSeen"].iloc[0])) == 12
