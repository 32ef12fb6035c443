"""Inputs that are not what a function works on: refused with a sentence, or understood; never a row of a repr."""

from __future__ import annotations

import array
import datetime
import decimal
import enum
import io
import re
import urllib.parse
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import webanalytics as wa
from webanalytics.core.outcomes import UNUSABLE
from webanalytics.operations import CONVERT, DANE, HMAC, METADATA, OPERATIONS, PHONE, Operation
from webanalytics.runs.frames.foreign import as_pandas
from webanalytics.runs.frames.inputs import label, read_inputs

A, B = "https://a.example/", "https://b.example/"
GOOD = {
    "metadata": A,
    "text": A,
    "readability": A,
    "keywords": A,
    "convert": "https://a.example/x.png",
    "dane": "_443._tcp.a.example. IN TLSA 3 1 1 " + "ab" * 32,
    "hmac": "message",
    "phone": "+12085813945",
}
NAMES = pytest.mark.parametrize("name", GOOD)


class Colour(enum.Enum):
    RED = 1


class Thing:
    """An object of somebody's own."""


def odd(value: Any) -> Iterator[Any]:
    yield value


NOT_ITERABLE: dict[str, Any] = {
    "int": 5,
    "float": 5.5,
    "bool": True,
    "object": object(),
    "class": str,
    "function": len,
    "date": datetime.date(2026, 1, 1),
    "timestamp": pd.Timestamp("2026-01-01"),
    "decimal": decimal.Decimal(5),
    "missing": pd.NA,
    "member": Colour.RED,
    "namespace": SimpleNamespace(url=A),
    "scalar of an array": np.float64(1.5),
    "array of no dimension": np.array(5),
}
WRONG_ITEMS: dict[str, Callable[[], Any]] = {
    "booleans": lambda: [True, False],
    "fractions": lambda: [1.5, 2.25],
    "dates": lambda: pd.date_range("2026-01-01", periods=2),
    "periods": lambda: pd.period_range("2026-01", periods=2),
    "durations": lambda: pd.to_timedelta(["1s", "2s"]),
    "lists": lambda: [["a"], ["b", "c"]],
    "ragged": lambda: [[1], [1, 2]],
    "tuples": lambda: [(A, 1), (B, 2)],
    "dicts": lambda: [{"url": A}, {"url": B}],
    "sets": lambda: [{A}, {B}],
    "objects": lambda: [Thing(), Thing()],
    "members": lambda: [Colour.RED],
    "classes": lambda: [str, int],
    "pairs": lambda: zip([A], [B], strict=True),
    "numbered": lambda: enumerate([A, B]),
    "items": lambda: {A: B}.items(),
    "generator of objects": lambda: odd(Thing()),
    "array of two dimensions": lambda: np.array([[A, B]]),
    "array of numbers": lambda: np.array([1.5, 2.5]),
    "typed array": lambda: array.array("d", [1.5, 2.5]),
    "complex": lambda: [1j],
    "dict of lists": lambda: {"url": [A, B]},
    "dict of dicts": lambda: {"a": {"url": A}},
    "series of lists": lambda: pd.Series([[A], [B]]),
    "series of fractions": lambda: pd.Series([1.5, None]),
    "levels": lambda: pd.MultiIndex.from_tuples([(A, 1)]),
    "frame of fractions": lambda: pd.DataFrame({"x": [1.5]}),
    "frame without columns": lambda: pd.DataFrame(),
    "frame of several": lambda: pd.DataFrame({"x": [1.5], "y": [2.5]}),
    "groups": lambda: pd.DataFrame({"x": [A], "y": [1]}).groupby("y"),
    "frames": lambda: [pd.DataFrame({"url": [A]})],
    "seriess": lambda: [pd.Series([A])],
    "open file of bytes": lambda: io.BytesIO(b"\xff\n"),
}


def called(name: str, given: Any) -> Any:
    operation = OPERATIONS[name]
    settings: dict[str, Any] = {"hmac": {"secret": "k"}, "convert": {"output_format": "webp"}}.get(name, {})
    return getattr(wa, operation.function)(given, retries=0, progress=False, **settings)


@NAMES
@pytest.mark.parametrize("kind", NOT_ITERABLE)
def test_what_is_no_list_is_refused(name: str, kind: str) -> None:
    with pytest.raises(wa.ParameterError) as caught:
        called(name, NOT_ITERABLE[kind])
    assert re.fullmatch(rf"The `{OPERATIONS[name].inputs}` parameter must .*\.", str(caught.value))


@NAMES
@pytest.mark.parametrize("kind", WRONG_ITEMS)
def test_lists_of_what_is_not_understood_are_refused(name: str, kind: str) -> None:
    if name == "convert" and kind == "open file of bytes":
        return  # bytes are images
    with pytest.raises(wa.ParameterError) as caught:
        called(name, WRONG_ITEMS[kind]())
    assert re.fullmatch(r"The `\w+` parameter must .*\.", str(caught.value))
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", [name for name in GOOD if name != "convert"])
@pytest.mark.parametrize("given", [b"http://a.example/", [b"x"], bytearray(b"x"), memoryview(b"x")])
def test_bytes_are_images_only(name: str, given: Any) -> None:
    with pytest.raises(wa.ParameterError, match=r"`\w+` parameter must hold"):
        called(name, given)


@pytest.mark.parametrize("name", [name for name in GOOD if name != "phone"])
def test_integers_are_phone_numbers_only(name: str) -> None:
    with pytest.raises(wa.ParameterError, match=r"must hold .*, not int"):
        called(name, range(3))
    assert wa.phones([2085813945], region="US", details=False)["isDisposable"].tolist() == [True]


@pytest.mark.parametrize("details", [True, False])
def test_phones_refuse_alike_with_and_without_details(details: bool) -> None:
    for wrong in ([1.5], [True], [["x"]], [{}]):
        with pytest.raises(
            wa.ParameterError, match="`numbers` parameter must hold numbers as text or integers"
        ):
            wa.phones(wrong, details=details)


@NAMES
@pytest.mark.parametrize("wrong", [Thing(), {"a": 1}, ["x"], 5.5], ids=["object", "dict", "list", "float"])
def test_a_bad_value_among_good_ones_is_a_row(name: str, wrong: Any) -> None:
    operation = OPERATIONS[name]
    rows = read_inputs([GOOD[name], wrong, None], operation, operation.inputs)
    subjects = [rows.jobs[number].subject for number in rows.numbers]
    assert subjects[1:] == [UNUSABLE, None]
    assert rows.labels[0] == GOOD[name]
    assert rows.labels[1] in ("<Thing>", "<dict>", "<list>", "5.5")


@NAMES
@pytest.mark.parametrize(
    "make",
    [
        lambda value: [value, value],
        lambda value: (value, value),
        lambda value: {"x": value, "y": value},
        lambda value: OrderedDict(x=value, y=value),
        lambda value: deque([value, value]),
        lambda value: {1: value, 2: value}.values(),
        lambda value: dict.fromkeys([value, f"{value} "]).keys(),
        lambda value: (value for _ in range(2)),
        lambda value: map(str, [value, value]),
        lambda value: np.array([value, value]),
        lambda value: pd.array([value, value], dtype="string"),
        lambda value: pd.Series([value, value], dtype="category"),
        lambda value: pd.Series([value, value], dtype="string"),
        lambda value: pd.DataFrame({"a": [value, value]}),
        lambda value: pd.Index([value, value]),
    ],
)
def test_every_list_of_good_values_is_understood(name: str, make: Callable[[str], Any]) -> None:
    operation = OPERATIONS[name]
    rows = read_inputs(make(GOOD[name]), operation, operation.inputs)
    assert len(rows.labels) == 2
    assert rows.labels[0] == GOOD[name]


def test_the_labels_of_a_dict_are_the_index() -> None:
    frame = wa.phones({"ann": "+12085813945", "bob": None, ("c", 1): "x"})
    assert frame.index.tolist() == ["ann", "bob", ("c", 1)]
    assert frame["status"].tolist() == ["ok", "error", "error"]
    pages = wa.metadata({"home": "nonsense", "shop": "http://"})
    assert pages.index.tolist() == ["home", "shop"]
    assert pages["url"].tolist() == ["nonsense", "http://"]


def test_parsed_addresses_are_addresses() -> None:
    for parsed in (urllib.parse.urlsplit(A), urllib.parse.urlparse(A)):
        assert read_inputs(parsed, METADATA, "urls").labels == [A]
        assert read_inputs([parsed, None], METADATA, "urls").labels == [A, None]


def test_a_path_is_no_record(tmp_path: Path) -> None:
    for operation in (HMAC, DANE, PHONE):
        with pytest.raises(wa.ParameterError, match=r"not (Posix|Windows)Path"):
            read_inputs([tmp_path], operation, "x")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from([METADATA, CONVERT, DANE, HMAC, PHONE]),
)
def test_any_value_is_rows_or_a_sentence(value: Any, operation: Operation) -> None:
    try:
        rows = read_inputs(value, operation, operation.inputs)
    except wa.ParameterError as error:
        sentence = str(error)
    else:
        sentence = ""
    if sentence:
        assert sentence.startswith(f"The `{operation.inputs}` parameter must ")
        return
    assert len(rows.labels) == len(rows.index) == len(rows.numbers)
    assert all(one is None or isinstance(one, str) for one in rows.labels)


@given(st.one_of(st.lists(st.integers(), max_size=3), st.dictionaries(st.integers(), st.text()), st.floats()))
def test_any_label_is_a_text_without_a_repr(value: Any) -> None:
    shown = label(value)
    assert shown is None or not shown.startswith(("[", "{"))


# ---------------------------------------------------------------- other libraries


def arrow_inputs() -> dict[str, Any]:
    pa = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    table = pa.table({"phone": ["+12085813945", None], "n": [1, 2]})
    return {
        "table": table,
        "batch": table.to_batches()[0],
        "reader": table.to_reader(),
        "chunked": table["phone"],
        "array": table["phone"].chunk(0),
        "large": table["phone"].cast(pa.large_string()),
        "dictionary": table["phone"].dictionary_encode(),
        "scalars": list(table["phone"]),
        "series of arrow": pd.Series(["+12085813945", None], dtype=pd.ArrowDtype(pa.string())),
    }


def polars_inputs() -> dict[str, Any]:
    pl = pytest.importorskip("polars", reason="polars is no dependency: only tests use it")
    frame = pl.DataFrame({"phone": ["+12085813945", None], "n": [1, 2]})
    return {"frame": frame, "series": frame["phone"], "column": frame.select("phone")}


class Stream:
    """What speaks Arrow's protocol and nothing else."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._inner.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("details", [True, False])
@pytest.mark.parametrize(
    "kind",
    ["table", "batch", "reader", "chunked", "array", "large", "dictionary", "scalars", "series of arrow"],
)
def test_arrow_is_understood(kind: str, details: bool) -> None:
    frame = as_pandas(wa.phones(arrow_inputs()[kind], details=details), "numbers")
    assert frame["input"].tolist()[0] == "+12085813945"
    assert frame["isDisposable"].tolist() == [True, pd.NA]


@pytest.mark.parametrize("kind", ["frame", "series", "column"])
def test_polars_is_understood(kind: str) -> None:
    assert wa.phones(polars_inputs()[kind])["isDisposable"].to_list() == [True, None]


def test_polars_without_pyarrow() -> None:
    class Frame:
        """A polars DataFrame where pyarrow is missing."""

        columns = ("phone",)

        def to_pandas(self) -> pd.DataFrame:
            raise ModuleNotFoundError("pyarrow is required")

        def to_dict(self, *, as_series: bool) -> dict[str, list[Any]]:
            assert not as_series
            return {"phone": ["+12085813945"]}

    assert wa.phones(Frame())["isDisposable"].tolist() == [True]


@pytest.mark.parametrize("kind", ["table", "chunked"])
def test_the_protocol_of_arrow_is_enough(kind: str) -> None:
    assert wa.phones(Stream(arrow_inputs()[kind]))["isDisposable"].to_pylist() == [True, None]


def test_texts_and_records_of_other_libraries() -> None:
    pa = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    assert wa.readability(texts=pa.table({"text": ["The cat sat."]}))["wordCount"].to_pylist() == [3]
    saved = pa.table({"url": [A], "html": ["<title>Tea</title>"]})
    assert wa.metadata(saved)["title"].to_pylist() == ["Tea"]
    assert wa.hmac(pa.array(["a"]), secret="k")["status"].to_pylist() == ["ok"]


def test_columns_of_wrong_kinds_are_refused() -> None:
    pa = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    for wrong in (pa.array([1.5]), pa.array([[A]]), pa.table({"x": [1.5]}), pa.array([{"url": A}])):
        with pytest.raises(wa.ParameterError, match=r"`urls` parameter must hold"):
            wa.metadata(wrong)


@pytest.mark.parametrize("method", ["compute", "collect", "toPandas"])
def test_a_table_elsewhere_is_not_fetched_unasked(method: str) -> None:
    def refuse(self: Any) -> Any:
        raise AssertionError("it was computed")

    far = type("Far", (), {"columns": property(refuse), "to_pandas": refuse, method: refuse})()
    with pytest.raises(wa.ParameterError, match=rf"call its `{method}\(\)` first"):
        wa.metadata(far)


def test_a_broken_table_is_refused() -> None:
    broken = type("Broken", (), {"columns": ("url",)})()
    with pytest.raises(wa.ParameterError, match="Broken cannot be converted here"):
        wa.metadata(broken)


def test_pandas_is_left_as_it_is() -> None:
    for one in (pd.DataFrame({"a": [1]}), pd.Series([1]), pd.Index([1]), "x", [1]):
        assert as_pandas(one, "urls") is one
