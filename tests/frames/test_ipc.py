"""Arrow files: read and written by the command line and by others, and hostile ones refused in bounds."""

from __future__ import annotations

import random
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
from pandas.testing import assert_frame_equal

import webanalytics as wa
from webanalytics.cli import main
from webanalytics.frames import bounded
from webanalytics.frames.foreign import as_pandas
from webanalytics.frames.reading import read_frame
from webanalytics.frames.writing import write_frame

URLS = [f"https://a.example/{'long ' * 5}{number}" for number in range(50)]
TABLE = pa.table({"url": URLS, "n": list(range(50)), "l": [["x" * 20, None], []] * 25})


def written(table: pa.Table, path: Path, compression: str | None, rows: int | None = 20) -> None:
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(path, table.schema, options=options) as file:
        file.write_table(table, max_chunksize=rows)


WRITERS: dict[str, Callable[[Path], Any]] = {
    "pyarrow": lambda path: written(TABLE, path, None),
    "pyarrow lz4": lambda path: written(TABLE, path, "lz4"),
    "pyarrow zstd": lambda path: written(TABLE, path, "zstd"),
    "feather": lambda path: feather.write_feather(TABLE, str(path)),
    "polars": lambda path: pl.DataFrame(TABLE).write_ipc(path),
    "polars lz4": lambda path: pl.DataFrame(TABLE).write_ipc(path, compression="lz4"),
    "polars zstd": lambda path: pl.DataFrame(TABLE).write_ipc(path, compression="zstd"),
    "polars old": lambda path: pl.DataFrame(TABLE).write_ipc(path, compat_level=pl.CompatLevel.oldest()),
    "polars categories": lambda path: (
        pl.DataFrame(TABLE)
        .with_columns(pl.col("url").cast(pl.Categorical))
        .write_ipc(path, compression="zstd")
    ),
    "dictionaries": lambda path: written(
        TABLE.set_column(0, "url", TABLE["url"].dictionary_encode()), path, "lz4"
    ),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_files_of_all_writers_are_read(writer: str, tmp_path: Path) -> None:
    WRITERS[writer](tmp_path / "x.arrow")
    frame = read_frame(tmp_path / "x.arrow")
    assert frame["url"].tolist() == URLS
    assert frame["n"].tolist() == list(range(50))
    assert frame["l"].tolist() == [["x" * 20, None], []] * 25


@pytest.mark.parametrize("suffix", ["arrow", "parquet"])
def test_what_is_written_is_what_is_read(suffix: str, tmp_path: Path) -> None:
    html = "<title>Tea</title><h1>Tea</h1><p>Green tea, black tea<script type='application/ld+json'>[{\"a\": 1}]</script>"
    pages = pd.DataFrame({"url": ["https://a.example/", "https://b.example/"], "html": [html, ""]})
    audit = wa.audit(pages, progress=False).raw
    path = write_frame(audit, tmp_path / f"x.{suffix}")
    assert_frame_equal(read_frame(path), audit)
    if suffix == "arrow":
        assert pl.read_ipc(path)["title"].to_list()[0] == "Tea"
        assert pa.ipc.open_file(str(path)).schema.field("keywords").type == pa.map_(pa.string(), pa.int64())
        assert dict(feather.read_table(str(path))["keywords"].to_pylist()[0])["green"] == 1
    empty = write_frame(audit.iloc[:0], tmp_path / f"empty.{suffix}")
    assert list(read_frame(empty).columns) == list(audit.columns)


def test_the_command_line_reads_and_writes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pl.DataFrame({"message": ["one", "two"], "n": [1, 2]}).write_ipc(tmp_path / "in.arrow")
    (tmp_path / "secret").write_text("k")
    given = [
        "hmac",
        "-i",
        str(tmp_path / "in.arrow"),
        "-c",
        "message",
        "--secret-file",
        str(tmp_path / "secret"),
    ]
    assert main([*given, "-o", str(tmp_path / "out.arrow")]) == 0
    found = pl.read_ipc(tmp_path / "out.arrow")
    assert found["hmac"].to_list() == wa.hmac(["one", "two"], secret="k")["hmac"].tolist()


# ---------------------------------------------------------------- hostile files


def refused(path: Path) -> None:
    with pytest.raises(
        wa.ParameterError, match=r"^The `input` parameter must be a (well-formed \.arrow file|file that)"
    ):
        read_frame(path)


@pytest.mark.parametrize(
    "content", [b"", b"ARROW1", b"ARROW1" * 9, b"x" * 999, b"ARROW1\0\0" + b"\xff" * 90 + b"ARROW1"]
)
def test_what_is_no_such_file_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.arrow").write_bytes(content)
    refused(tmp_path / "x.arrow")


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "GROWTH_ALLOWED", 1_000_000)
    monkeypatch.setattr(bounded, "LARGEST_GROWTH", 10)


@pytest.mark.usefixtures("little_room")
@pytest.mark.parametrize("compression", ["zstd", "lz4"])
def test_a_small_file_of_much_is_refused_before_it_is_read(compression: str, tmp_path: Path) -> None:
    written(pa.table({"n": np.zeros(20_000_000, np.int8)}), tmp_path / "x.arrow", compression, None)
    assert (tmp_path / "x.arrow").stat().st_size < 400_000
    before, pool = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(pool)
    try:
        refused(tmp_path / "x.arrow")
        assert pool.max_memory() < 5_000_000
    finally:
        pa.set_memory_pool(before)


def one_text_many_times() -> pa.Array:
    """A million views of one text of 10 kB: 16 MB in the file, 10 GB as texts."""
    text = b"y" * 10_000
    view = struct.pack("<i4sii", len(text), text[:4], 0, 0)
    count = 1_000
    buffers = [None, pa.py_buffer(view * count), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.string_view(), count, buffers)


HOSTILE: dict[str, Callable[[], pa.Array]] = {
    "views": one_text_many_times,
    "views in lists": lambda: pa.ListArray.from_arrays([0, 1_000], one_text_many_times()),
    "runs": lambda: pa.RunEndEncodedArray.from_arrays(
        pa.array([10_000_000], pa.int32()), pa.array(["x" * 99])
    ),
    "nothing": lambda: pa.nulls(2_000_000),
    "views of lists": lambda: pa.ListViewArray.from_arrays([0] * 9, [1] * 9, pa.array(["x"])),
    "dictionary": lambda: pa.DictionaryArray.from_arrays(
        pa.array([0] * 1_000, pa.int8()), pa.array(["y" * 10_000])
    ),
}


@pytest.mark.usefixtures("little_room")
@pytest.mark.parametrize("name", HOSTILE)
def test_values_that_are_shown_often_are_counted_as_often(name: str, tmp_path: Path) -> None:
    written(pa.table({"url": HOSTILE[name]()}), tmp_path / "x.arrow", None, None)
    refused(tmp_path / "x.arrow")


def test_missing_texts_may_point_anywhere(tmp_path: Path) -> None:
    views = struct.pack("<i12s", 1, b"a") + struct.pack("<i4sii", 99_999, b"wild", 77_777, 1_000_000)
    texts = pa.Array.from_buffers(pa.string_view(), 2, [pa.py_buffer(b"\1"), pa.py_buffer(views)])
    written(pa.table({"url": pa.ListArray.from_arrays([0, 2], texts)}), tmp_path / "x.arrow", None, None)
    assert read_frame(tmp_path / "x.arrow")["url"].tolist() == [["a", None]]


@pytest.mark.usefixtures("little_room")
def test_parquet_files_are_bounded_too(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"url": ["z" * 10_000] * 1_000}), tmp_path / "x.parquet")
    with pytest.raises(wa.ParameterError, match=r"well-formed \.parquet file"):
        read_frame(tmp_path / "x.parquet")


@pytest.mark.parametrize("writer", ["pyarrow", "pyarrow zstd", "polars lz4", "dictionaries"])
def test_damaged_files_are_read_or_refused(writer: str, tmp_path: Path) -> None:
    path = tmp_path / "x.arrow"
    WRITERS[writer](path)
    good = path.read_bytes()
    chosen = random.Random(writer)
    for number in range(150):
        bad = bytearray(good)
        if number % 3 == 0:
            del bad[chosen.randrange(len(bad)) :]
        for _ in range(chosen.randrange(1, 4)):
            if bad:
                bad[chosen.randrange(len(bad))] = chosen.choice([0, 1, 127, 128, 255, chosen.randrange(256)])
        path.write_bytes(bad)
        try:
            frame = read_frame(path)
        except wa.ParameterError:
            continue
        assert len(frame) <= 10_000


def test_a_table_of_another_zip_is_no_arrow_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.arrow", "w") as archive:
        archive.writestr("a", "b")
    refused(tmp_path / "x.arrow")


def test_large_pages_are_not_too_large(tmp_path: Path) -> None:
    pages = pl.DataFrame(
        {"url": ["https://a.example/"] * 40, "html": ["<p>Green tea, and milk [1]. " * 9_000] * 40}
    )
    pages.write_ipc(tmp_path / "x.arrow", compression="zstd")
    assert as_pandas(pages, "x").equals(read_frame(tmp_path / "x.arrow"))
