"""What files say of their columns, against what pyarrow reads of whole files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from tests.limits import limited
from webanalytics.frames.arrow import Unreadable
from webanalytics.frames.footers import Chunk, chunks_of

TABLE = pa.table(
    {
        "text": ["a", "b", None, "a"] * 50,
        "number": list(range(200)),
        "real": [0.5] * 200,
        "truth": [True, False] * 100,
        "list": [["x", "y"], []] * 100,
        "deep": [{"one": {"two": [1, 2]}, "bytes": b"z"}] * 200,
        "map": pa.array([[("k", 1.0)]] * 200, pa.map_(pa.string(), pa.float64())),
    }
)
WAYS: dict[str, dict[str, Any]] = {
    "as parts are written": {"compression": "zstd"},
    "several groups": {"row_group_size": 30},
    "no dictionaries": {"use_dictionary": False},
    "no statistics": {"write_statistics": False},
    "an index of pages": {"write_page_index": True, "write_page_checksum": True},
    "the first version": {"version": "1.0", "use_dictionary": ["text"]},
    "one order": {"sorting_columns": [parquet.SortingColumn(1)]},
}


def written(**options: Any) -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(TABLE, buffer, **options)
    return buffer.getvalue()


def chunks(content: bytes) -> list[Chunk]:
    return list(chunks_of(io.BufferedReader(io.BytesIO(content))))  # type: ignore[arg-type]


@pytest.mark.parametrize("way", WAYS)
def test_the_figures_are_those_that_pyarrow_reads(way: str) -> None:
    content = written(**WAYS[way])
    known = parquet.ParquetFile(io.BytesIO(content)).metadata
    columns = [
        known.row_group(group).column(place)
        for group in range(known.num_row_groups)
        for place in range(known.num_columns)
    ]
    assert chunks(content) == [
        Chunk(
            column.path_in_schema,
            column.num_values,
            column.total_uncompressed_size,
            column.physical_type == "BYTE_ARRAY"
            and any("DICTIONARY" in encoding for encoding in column.encodings),
        )
        for column in columns
    ]


def test_a_file_without_rows_has_no_chunks_or_empty_ones() -> None:
    buffer = io.BytesIO()
    parquet.write_table(TABLE.slice(0, 0), buffer)
    assert all(chunk.values == 0 for chunk in chunks(buffer.getvalue()))


@pytest.mark.parametrize(
    "footer",
    [
        b"", b"\x19", b"\x49\xfc\xff\xff\xff\xff\x0f", b"\x1c" * 200, b"\x49\x1c" + b"\x19\x1c" * 50, b"\x4b\x01\x88\x00",
        b"\x15" + b"\xff" * 40, b"\x18\xff\xff\xff\x7f", b"\x49\x1c\x19\x1c\x00\x00\x00", b"\x49\x18\x01a\x00", b"\x19\xf9" * 400,
        b"\x49\x1c\x19\x1c\x3c\x15\x0c\x39\x18\x01\xff\x00\x00\x00\x00", b"\x49\x1c\x19\x1c\x3c\x15\x0c\x45\x01\x15\x02\x00\x00\x00\x00",
    ],
)  # fmt: skip
def test_what_is_no_footer_is_refused(footer: bytes) -> None:
    content = b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    with pytest.raises(Unreadable):
        chunks(content)


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"PAR1PAR1PAR1", b"PAR1" + b"\xff" * 4 + b"PAR1", b"x" * 99]
)
def test_what_is_no_file_of_parquet_is_refused(content: bytes) -> None:
    with pytest.raises(Unreadable):
        chunks(content)


def test_many_empty_structures_are_not_kept() -> None:
    """Half a million row groups of a byte each."""
    footer = b"\x49\xfc" + b"\xa0\xc2\x1e" + b"\x00" * 500_000 + b"\x00"
    content = b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    with limited(steps=10_000_000, memory=3_000_000):
        assert chunks(content) == []


def test_a_path_is_read_from_a_real_file(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(written())
    with path.open("rb") as file:
        assert next(chunks_of(file)) == Chunk("text", 200, next(chunks_of(file)).size, True)
