"""Dask DataFrames in, Dask DataFrames out: lazy, with the declared columns, and as polite as one machine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import webanalytics as wa
from tests.audits.test_stored import same
from tests.backends.origin import BUSY, Origin
from webanalytics.frames.stored import StoredDtype

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")

OPTIONS: dict[str, Any] = {"allow_private": True, "delay": 0.3}
TLSA = "_443._tcp.example.org. 3600 IN TLSA 3 1 1 " + "ab" * 32


def computed(lazy: Any) -> pd.DataFrame:
    with dask.config.set({"dataframe.shuffle.method": "tasks"}):  # a client of another test means a cluster
        return lazy.compute(scheduler="threads", num_workers=4)


@pytest.mark.parametrize("function", ["metadata", "text", "readability", "audit"])
def test_pages_are_asked_host_by_host_from_one_partition_each(function: str) -> None:
    with Origin() as origin:
        frame = pd.DataFrame({"n": range(12), "url": origin.urls(4, 3)}, index=range(100, 112))
        lazy = getattr(wa, function)(dd.from_pandas(frame, npartitions=4), **OPTIONS)
        assert origin.visits == []
        got = computed(lazy)
        assert min(origin.gaps().values()) >= BUSY * 0.3
        assert len(origin.visits) == 4 + 12
        wanted = getattr(wa, function)(frame, allow_private=True, progress=False)
    wanted = wanted.raw if function == "audit" else wanted
    assert lazy.dtypes.to_dict() == wanted.dtypes.to_dict() == got.dtypes.to_dict()
    left_out = [column for column in ("elapsed", "fetched_at") if column in wanted]
    assert_frame_equal(
        got.sort_index().drop(columns=left_out),
        pd.DataFrame(wanted).drop(columns=left_out),
        check_flags=False,
    )


def test_lists_and_dicts_stay_what_they_are() -> None:
    html = (
        '<title>T</title><h1>a</h1><h2>b</h2><script type="application/ld+json">{"@type": "Thing"}</script>'
    )
    pages = pd.DataFrame({"url": ["http://a.example/", "http://b.example/"], "html": [html, html]})
    got = computed(wa.audit(dd.from_pandas(pages, npartitions=2)))
    wanted = wa.audit(pages, progress=False).raw
    for column in ("headings", "jsonld", "keywords", "imgTags"):
        assert got[column].tolist() == wanted[column].tolist()
        assert {type(cell) for cell in got[column]} == {type(cell) for cell in wanted[column]}


def test_records_are_answered_once_for_each_partition_in_order() -> None:
    records = pd.DataFrame({"raw_record": [TLSA, "no record", TLSA, None, TLSA]})
    lazy = wa.dane(dd.from_pandas(records, npartitions=2))
    assert lazy.npartitions == 2
    assert_frame_equal(computed(lazy), wa.dane(records, progress=False), check_flags=False)


def test_a_series_and_the_asynchronous_functions() -> None:
    numbers = pd.Series(["+12085813945", "no number"], name="number")
    wanted = wa.phones(numbers, progress=False)
    for lazy in (
        wa.phones(dd.from_pandas(numbers, npartitions=1)),
        asyncio.run(wa.aio.phones(dd.from_pandas(numbers, npartitions=1))),
    ):
        assert_frame_equal(computed(lazy), wanted, check_flags=False)


def test_no_row_is_made_up_to_find_the_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    from webanalytics.backends import local

    monkeypatch.setattr(local, "_record", lambda *_: pytest.fail("a record is analysed"))
    wa.dane(dd.from_pandas(pd.DataFrame({"raw_record": [TLSA]}), npartitions=1))


@pytest.mark.parametrize(
    ("function", "settings", "parameter"),
    [
        ("hmac", {"secret": "k"}, "secret"),
        ("dane", {"checkpoint": "kept"}, "checkpoint"),
        ("dane", {"backend": wa.Hosted("https://api.example.com", "a-key")}, "backend"),
        ("crawl", {}, "start"),
        ("hmac", {"secret": "k", "save_to": "kept"}, "secret"),
        ("crawl", {"save_to": "kept"}, "start"),
        ("dane", {"save_to": 5}, "save_to"),
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


# -------------------------------------------------------------------- with `save_to`


@pytest.fixture(params=["path", "file", "memory"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    places = {
        "path": str(tmp_path / "kept"),
        "file": (tmp_path / "kept").as_uri(),
        "memory": "memory://lazy/x",
    }
    yield places[request.param]
    if request.param == "memory":
        fsspec.filesystem("memory").rm("/lazy", recursive=True)


def test_with_a_folder_inputs_are_answered_at_once_in_their_order(folder: str) -> None:
    with Origin() as origin:
        index = pd.Index([5, 3, 8, 3, 1, 7, 2, 9], name="n")
        frame = pd.DataFrame({"url": origin.urls(4, 2)[::-1], "other": range(8)}, index=index)
        table = dd.from_pandas(frame, npartitions=3, sort=False)
        with dask.config.set(scheduler="threads"):
            made = wa.audit(table, save_to=folder, allow_private=True, progress=False)
        wanted = wa.audit(frame, allow_private=True, progress=False)
    assert isinstance(made, wa.Audit)
    assert isinstance(made.raw["text"].dtype, StoredDtype)
    same(made.raw, wanted.raw)
    same(wa.load(folder).raw, wanted.raw)


def test_records_are_kept_too(tmp_path: Path) -> None:
    numbers = pd.Series(["+12085813945", "no number", None, "+12125550123"], name="number")
    table = dd.from_pandas(numbers, npartitions=2)
    for call in (wa.phones, lambda *args, **kept: asyncio.run(wa.aio.phones(*args, **kept))):
        same(call(table, save_to=tmp_path / "kept", progress=False), wa.phones(numbers, progress=False))
    with wa.option_context(save_to=tmp_path / "kept"):
        same(wa.phones(table, progress=False), wa.phones(numbers, progress=False))


def test_pages_stay_in_their_partitions(tmp_path: Path) -> None:
    pages = pd.DataFrame({"url": ["http://a.example/"], "html": ["<title>T</title>"]})
    with pytest.raises(wa.ParameterError, match=r"`urls` parameter must be without a column `html`"):
        wa.metadata(dd.from_pandas(pages, npartitions=1), save_to=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_what_is_wrong_is_said_before_anything_is_computed(tmp_path: Path) -> None:
    table = dd.from_pandas(pd.DataFrame({"url": ["http://a.example/"]}), npartitions=1)
    failing = table.assign(url=table["url"].map_partitions(pytest.fail, meta=("url", "object")))
    for call, parameter in (
        (lambda: wa.keywords(failing, save_to=tmp_path), "save_to"),
        (lambda: wa.metadata(failing, save_to=tmp_path, delay=-1), "delay"),
        (lambda: wa.metadata(failing, save_to=tmp_path, column="address"), "column"),
        (lambda: wa.metadata(failing, save_to="zz://bucket"), "save_to"),
    ):
        with pytest.raises(wa.ParameterError) as caught:
            call()
        assert caught.value.parameter == parameter
