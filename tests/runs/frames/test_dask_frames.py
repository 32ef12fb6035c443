"""Dask DataFrames in, Dask DataFrames out: lazy, with the declared columns, and as polite as one machine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import webanalytics as wa
from tests.runs.backends import s3_server
from tests.runs.backends.origin import BUSY, Origin
from webanalytics.operations import OPERATIONS
from webanalytics.runs.frames.arrow import declared

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")

OPTIONS: dict[str, Any] = {"allow_private": True, "delay": 0.3}
TLSA = "_443._tcp.example.org. 3600 IN TLSA 3 1 1 " + "ab" * 32


def computed(lazy: Any) -> pd.DataFrame:
    with dask.config.set({"dataframe.shuffle.method": "tasks"}):  # a client of another test means a cluster
        return lazy.compute(scheduler="threads", num_workers=4)


def nulls(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with None for what is missing in columns of objects: texts are such in some versions."""
    objects = [
        name for name, dtype in frame.dtypes.items() if isinstance(dtype, np.dtype) and dtype.kind == "O"
    ]
    return frame.assign(**{name: frame[name].where(frame[name].notna(), None) for name in objects})


@pytest.mark.parametrize("function", ["metadata", "text", "readability", "audit"])
def test_pages_are_asked_host_by_host_from_one_partition_each(function: str) -> None:
    with Origin() as origin:
        frame = pd.DataFrame({"n": range(12), "url": origin.urls(4, 3)}, index=range(100, 112))
        # the origin shares this process, whose pauses come off a gap
        lazy = getattr(wa, function)(dd.from_pandas(frame, npartitions=4), **(OPTIONS | {"delay": 0.8}))
        assert origin.visits == []
        got = computed(lazy)
        assert min(origin.gaps().values()) >= BUSY * 0.8
        assert len(origin.visits) == 4 + 12
        wanted = getattr(wa, function)(frame, allow_private=True, progress=False)
    wanted = wanted.raw if function == "audit" else wanted
    assert lazy.dtypes.to_dict() == got.dtypes.to_dict()
    for column, field in declared(function).items():
        if column in wanted and field.dtype == "object":
            texts = [None if cell is None or cell != cell else json.dumps(cell) for cell in wanted[column]]
            wanted[column] = pd.Series(texts, wanted.index, dtype=got[column].dtype)
    left_out = [column for column in ("elapsed", "fetched_at") if column in wanted]
    assert_frame_equal(
        nulls(got.sort_index().drop(columns=left_out)),
        nulls(pd.DataFrame(wanted).drop(columns=left_out)),
        check_flags=False,
    )


def test_lists_and_dicts_are_json_text() -> None:
    html = (
        '<title>T</title><h1>a</h1><h2>b</h2><script type="application/ld+json">{"@type": "Thing"}</script>'
    )
    pages = pd.DataFrame({"url": ["http://a.example/", "http://b.example/"], "html": [html, html]})
    got = computed(wa.audit(dd.from_pandas(pages, npartitions=2)))
    wanted = wa.audit(pages, progress=False).raw
    for column in ("headings", "jsonld", "keywords", "imgTags"):
        assert [json.loads(cell) for cell in got[column]] == wanted[column].tolist()


def test_records_are_answered_once_for_each_partition_in_order() -> None:
    records = pd.DataFrame({"raw_record": [TLSA, "no record", TLSA, None, TLSA]})
    lazy = wa.dane(dd.from_pandas(records, npartitions=2))
    assert lazy.npartitions == 2
    wanted = wa.dane(records, progress=False)
    got = computed(lazy)
    lists = ["parsed", "interpretation", "validation"]
    assert_frame_equal(got.drop(columns=lists), wanted.drop(columns=lists), check_flags=False)
    assert json.loads(got["parsed"][0]) == wanted["parsed"][0]


def test_a_series_and_the_asynchronous_functions() -> None:
    numbers = pd.Series(["+12085813945", "no number"], name="number")
    wanted = wa.phones(numbers, progress=False)
    for lazy in (
        wa.phones(dd.from_pandas(numbers, npartitions=1)),
        asyncio.run(wa.aio.phones(dd.from_pandas(numbers, npartitions=1))),
    ):
        assert_frame_equal(computed(lazy), wanted, check_flags=False)


def test_no_row_is_made_up_to_find_the_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    from webanalytics.runs.backends import local

    monkeypatch.setattr(local, "_record", lambda *_: pytest.fail("a record is analysed"))
    wa.dane(dd.from_pandas(pd.DataFrame({"raw_record": [TLSA]}), npartitions=1))


@pytest.mark.parametrize(
    ("function", "settings", "parameter"),
    [
        ("hmac", {"secret": "k"}, "secret"),
        ("dane", {"store": "kept"}, "store"),
        ("dane", {"backend": wa.Hosted("https://api.example.com", "a-key")}, "backend"),
        ("crawl", {}, "start"),
        ("dane", {"nonsense": 1}, "nonsense"),
    ],
)
def test_what_cannot_go_to_other_machines_is_refused(
    function: str, settings: dict[str, Any], parameter: str
) -> None:
    table = dd.from_pandas(pd.DataFrame({"raw_record": [TLSA]}), npartitions=1)
    with pytest.raises(wa.ParameterError) as caught:
        getattr(wa, function)(table, **settings)
    assert caught.value.parameter == parameter


def test_options_of_the_session_travel() -> None:
    with Origin() as origin:
        table = dd.from_pandas(pd.DataFrame({"url": origin.urls(1, 1)}), npartitions=1)
        with wa.option_context(allow_private=True, user_agent="Keeper/1.0"):
            lazy = wa.metadata(table)
        assert computed(lazy)["status"].tolist() == ["ok"]


# Dask's own call of pandas
INPLACE = pytest.mark.filterwarnings("ignore:The inplace keyword")


@pytest.fixture(params=["folder", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "folder":
        yield str(tmp_path / "rows")
    else:
        with s3_server.running():
            yield f"{s3_server.ADDRESS}/rows"


def read(place: str) -> pd.DataFrame:
    files, path = fsspec.core.url_to_fs(place)
    return pd.read_parquet(path, filesystem=files)


@INPLACE
def test_every_operation_is_written_as_parquet_with_default_arguments(place: str) -> None:
    html = '<title>T</title><h1>a</h1><script type="application/ld+json">{"@type": "Thing"}</script>'
    pages = pd.DataFrame({"url": [f"http://{name}.example/" for name in "abcd"], "html": [html] * 3 + [""]})
    for operation in OPERATIONS.values():
        if operation.kind != "page" or operation.name == "keywords":
            continue
        lazy = getattr(wa, operation.function)(dd.from_pandas(pages, npartitions=2))
        lazy.to_parquet(f"{place}/{operation.name}")
        kept = read(f"{place}/{operation.name}")
        assert_frame_equal(nulls(kept), nulls(computed(lazy)), check_flags=False, check_names=False)
    for name, given in (
        ("dane", {"raw_record": [TLSA, "x"]}),
        ("phones", {"number": ["+12085813945", None]}),
    ):
        lazy = getattr(wa, name)(dd.from_pandas(pd.DataFrame(given), npartitions=2))
        lazy.to_parquet(f"{place}/{name}")
        assert read(f"{place}/{name}")["status"].tolist() == computed(lazy)["status"].tolist()
    lazy = wa.audit(dd.from_pandas(pages, npartitions=2))
    lazy.to_parquet(f"{place}/audit")
    kept = read(f"{place}/audit")
    assert [json.loads(text) for text in kept["headings"].head(3)] == [[{"level": "h1", "text": "a"}]] * 3


@INPLACE
def test_pages_are_asked_once_where_rows_are_written(tmp_path: Path) -> None:
    with Origin() as origin:
        table = dd.from_pandas(pd.DataFrame({"url": origin.urls(3, 2)}), npartitions=3)
        with dask.config.set({"dataframe.shuffle.method": "tasks", "scheduler": "threads"}):
            wa.audit(table, allow_private=True).to_parquet(str(tmp_path))
        assert len(origin.pages()) == 6
    assert pd.read_parquet(tmp_path)["status"].tolist() == ["ok"] * 6
