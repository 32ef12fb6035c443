"""Saved audits of a few kilobytes that would be gigabytes: refused before there are objects of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import webanalytics as wa
from tests.audits.saved import audit
from webanalytics.audits import storage
from webanalytics.frames.arrow import LAYOUT

LARGEST_FILE = 60_000
MEMORY = 120_000_000
"""Bytes that Arrow may take for such a file: what is refused was up to sixteen times as large."""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return audit().save(tmp_path_factory.mktemp("saved"))


@pytest.fixture
def pool() -> Iterator[Any]:
    before = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(before)
    pa.set_memory_pool(pool)
    yield pool
    pa.set_memory_pool(before)


def texts(cell: str, rows: int) -> Callable[[pa.Schema], pa.Table]:
    return lambda _: pa.table({"mine": pa.array([cell] * rows, pa.large_string())})


def empty_headings(schema: pa.Schema, rows: int = 2_000, each: int = 10_000) -> pa.Table:
    """Rows with lists of thousands of objects without values."""
    kind = schema.field("headings").type
    members = [pa.nulls(rows * each, member.type) for member in kind.value_type]
    inner = pa.StructArray.from_arrays(members, fields=list(kind.value_type))
    ends = pa.array(range(0, rows * each + 1, each), pa.int32())
    return pa.table({"headings": pa.ListArray.from_arrays(ends, inner, type=kind)})


HOSTILE = {
    "one text a thousand times": ("string", texts("x" * 1_000_000, 1_500)),
    "JSON of empty lists": ("json", texts("[" + "[]," * 300_000 + "[]]", 250)),
    "JSON of empty objects": ("json", texts("[" + "{}," * 300_000 + "{}]", 250)),
    "lists of empty objects": ("declared", empty_headings),
    "empty rows": ("string", lambda _: pa.table({"mine": pa.nulls(20_000_000, pa.large_string())})),
}


def put(saved: Path, folder: Path, kind: str, make: Callable[[pa.Schema], pa.Table]) -> int:
    """Write a saved audit of one column in the place of the pages; return the size of its file."""
    manifest = json.loads((saved / storage.MANIFEST).read_text("utf-8"))
    schema = parquet.read_schema(saved / manifest["parts"]["pages"]["file"])
    table = make(schema)
    layout = json.loads(schema.metadata[LAYOUT])
    index = {"range": [0, table.num_rows, 1], "names": [None]}
    layout |= {"rows": table.num_rows, "columns": [[table.column_names[0], kind]], "index": index}
    new = folder / "new"
    metadata = {LAYOUT: json.dumps(layout)}
    parquet.write_table(table.replace_schema_metadata(metadata), new, compression="zstd")
    digest = hashlib.sha256(new.read_bytes()).hexdigest()
    new.rename(folder / f"pages-{digest[:32]}.parquet")
    manifest["parts"] = {"pages": {"file": f"pages-{digest[:32]}.parquet", "sha256": digest}}
    (folder / storage.MANIFEST).write_text(json.dumps(manifest), "utf-8")
    return (folder / f"pages-{digest[:32]}.parquet").stat().st_size


@pytest.mark.parametrize("name", HOSTILE)
def test_a_small_file_never_becomes_gigabytes(
    saved: Path, tmp_path: Path, pool: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assert put(saved, tmp_path, *HOSTILE[name]) < LARGEST_FILE
    before = pool.bytes_allocated()
    fresh = pa.proxy_memory_pool(pool)
    pa.set_memory_pool(fresh)

    def made(*_: object) -> None:
        raise AssertionError("objects are made of it")

    monkeypatch.setattr(storage, "frame_of", made)
    with pytest.raises(wa.ParameterError, match="holds a saved audit as this version"):
        wa.load(tmp_path)
    assert fresh.max_memory() - before < MEMORY


def test_the_same_page_many_times_comes_back(tmp_path: Path) -> None:
    """What a site with one page at every address makes compresses as well as what is hostile."""
    markup = "<title>Tea</title>" + '<p>Green tea, <a href="/leaves">leaves</a>, water.</p>' * 200
    pages = audit({f"https://a.example/{number}": markup for number in range(100)})
    assert wa.load(pages.save(tmp_path)).raw.equals(pages)
