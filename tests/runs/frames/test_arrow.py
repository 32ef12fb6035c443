"""Arrow tables of frames: one declared type for each column, and equal frames on the way back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from pandas.testing import assert_frame_equal

import webanalytics as wa
from webanalytics.core.operations.types import shape_of
from webanalytics.operations import AUDIT_PAGES, OPERATIONS, Field, Operation
from webanalytics.runs.frames.arrow import Unreadable, arrow_table, arrow_type, frame_of
from webanalytics.runs.frames.output_files import write_frame
from webanalytics.runs.frames.schema import frame_fields

OPTIONS: dict[str, Any] = {"progress": False, "workers": 1}
FULL = """<html lang="en"><head><title>Lamps</title><link rel="icon" href="/a.png" sizes="16x16" type="image/png">
<link rel="icon" href="/b.png"><link rel="canonical" href="/x"><link rel="alternate" hreflang="de" href="/de">
<script type="application/ld+json">[{"@type": "Product", "offers": {"price": 1.5}}, {"@type": ["A", "B"]}]</script>
<body><h1>Lamps</h1><h2>Oil</h2><img src="/i.png" alt="i" width="3"><img src="/j.png"><form action="http://x.example/">
<p>Lamps of brass and lamps of tin, for every room of the house and for the shed behind it."""
PAGES = pd.DataFrame({
    "url": [f"https://lamps.example/{number}" for number in range(5)],
    "html": [FULL, "", '<script type="application/ld+json">{"name": "\\ud800"}</script>', "<title>Two</title><h1>Two</h1>", None],
})  # fmt: skip


@pytest.fixture(scope="module")
def audit() -> pd.DataFrame:
    return wa.audit(PAGES.iloc[:4], **OPTIONS).raw


@pytest.fixture(scope="module")
def on_corpus(corpus_pages: dict[str, bytes]) -> pd.DataFrame:
    urls = [f"https://site.example/{name}" for name in corpus_pages]
    return wa.audit(pd.DataFrame({"url": urls, "html": list(corpus_pages.values())}), progress=False).raw


def arrow_schema(operations: Sequence[Operation]) -> pa.Schema:
    """Return the schema that the declarations ask for."""
    fields = frame_fields(tuple(operations))
    return pa.schema([(field.column_name, arrow_type(shape_of(field.type))) for field in fields])


def test_every_declared_column_has_a_type_of_its_own() -> None:
    fields = {field.name: field.type for field in arrow_schema(AUDIT_PAGES)}
    assert fields["keywords"] == pa.map_(pa.string(), pa.int64())
    assert fields["jsonld"] == pa.large_string()
    assert fields["title"] == pa.large_string()
    assert fields["wordCount"] == pa.int64()
    assert fields["fleschReadingEase"] == pa.float64()
    assert [field.name for field in fields["favicons"].value_type] == ["rel", "href", "sizes", "type"]
    assert [field.name for field in fields["date"]] == ["published", "modified"]


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_has_a_schema_in_the_order_of_its_frame(name: str) -> None:
    operation = OPERATIONS[name]
    schema = arrow_schema([operation])
    assert schema.names[:2] == [operation.input_column, "status"]
    assert pa.null() not in schema.types


@pytest.mark.parametrize("rows", [slice(0), slice(1), slice(1, 2), slice(1, 3), slice(2, 4), slice(4)])
def test_any_rows_have_the_same_schema(audit: pd.DataFrame, rows: slice) -> None:
    table = arrow_table(audit.iloc[rows].reset_index(drop=True))
    assert table.schema.equals(arrow_schema(AUDIT_PAGES))


def test_frames_without_a_row_have_the_schema_of_others() -> None:
    assert arrow_table(wa.audit([], **OPTIONS).raw).schema.equals(arrow_schema(AUDIT_PAGES))
    assert arrow_table(wa.dane([])).schema.equals(arrow_schema([OPERATIONS["dane"]]))
    assert arrow_table(wa.dane(["x"])).schema.equals(arrow_schema([OPERATIONS["dane"]]))


def test_frames_come_back_equal(audit: pd.DataFrame, tmp_path: Path) -> None:
    frames = [
        audit,
        audit.set_axis(pd.Index(list("abcd"), name="own"), axis=0),
        wa.keywords(PAGES.iloc[:2], **OPTIONS),
        wa.phones(["+12085813945", None, "x"]),
        wa.dane(["_25._tcp.mx.example. 3600 IN TLSA 3 1 1 " + "ab" * 32, "x"]),
        wa.hmac(["a", None], secret="k"),
        wa.convert([b"x"], "webp", **OPTIONS),
    ]
    for frame in frames:
        parquet.write_table(arrow_table(frame), tmp_path / "x.parquet")
        back = frame_of(parquet.read_table(tmp_path / "x.parquet"))
        assert_frame_equal(back, frame, check_exact=True, check_index_type="exact")
        assert back.attrs == frame.attrs
        assert back.dtypes.tolist() == frame.dtypes.tolist()


def test_no_large_string_stands_below_a_map() -> None:
    """pyarrow before 24 reads such as strings, and what was saved was refused as changed."""
    types = [str(field.type) for field in arrow_schema([*OPERATIONS.values()])]
    below = [text.partition("map<")[2] for text in types if "map<" in text]
    assert below
    assert not [text for text in below if "large" in text]


def test_the_corpus_comes_back_equal(on_corpus: pd.DataFrame) -> None:
    table = arrow_table(on_corpus)
    assert table.schema.equals(arrow_schema(AUDIT_PAGES))
    assert_frame_equal(frame_of(table), on_corpus, check_exact=True)
    for rows in (slice(0, 50), slice(50, None)):
        assert arrow_table(on_corpus.iloc[rows]).schema.equals(table.schema)


def test_what_is_said_again_is_one_text_in_memory() -> None:
    links = [{"url": f"https://a.example/{place % 7}", "text": None} for place in range(700)]
    frame = pd.DataFrame({"links": [links[:300], None, [], links[300:]]}).astype({"links": object})
    field = Field("links", list[dict[str, str | None]], "Links.")
    back = frame_of(arrow_table(frame, {"links": field}), {"links": field})["links"].tolist()
    assert back[0] + back[3] == links
    assert back[2] == []
    assert len({id(link["url"]) for link in [*back[0], *back[3]]}) == 7


def test_a_written_file_is_read_by_plain_pyarrow(audit: pd.DataFrame, tmp_path: Path) -> None:
    parquet.write_table(arrow_table(audit), tmp_path / "x.parquet")
    row = parquet.read_table(tmp_path / "x.parquet").slice(0, 1).to_pylist()[0]
    assert row["headings"] == [{"level": "h1", "text": "Lamps"}, {"level": "h2", "text": "Oil"}]
    assert dict(row["keywords"])["lamps"] == 3
    assert row["favicons"][1] == {
        "rel": "icon",
        "href": "https://lamps.example/b.png",
        "sizes": None,
        "type": None,
    }


@pytest.mark.parametrize(
    "cell",
    [
        [{"level": "h1", "text": "x", "more": "of a foreign service"}],
        [{"level": "h1"}],
        [{"level": "h1", "text": "\ud800"}],
        [None],
        [],
    ],
)
def test_what_does_not_fit_its_declaration_is_kept_all_the_same(audit: pd.DataFrame, cell: Any) -> None:
    odd = audit.copy()
    odd["headings"] = pd.Series([cell, *audit["headings"].tolist()[1:]], index=odd.index, dtype=object)
    assert_frame_equal(frame_of(arrow_table(odd)), odd)


def test_a_table_without_a_layout_is_refused() -> None:
    with pytest.raises((Unreadable, ValueError)):
        frame_of(pa.table({"url": ["x"]}))


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (list[str], pa.list_(pa.field("element", pa.large_string()))),
        (dict[str, float], pa.map_(pa.string(), pa.float64())),
        (dict[str, Any], pa.large_string()),
        (list[dict[str, Any]], pa.large_string()),
        (int | str, pa.large_string()),
        (bytes | None, pa.large_binary()),
    ],
)
def test_shapes_have_types(annotation: Any, expected: pa.DataType) -> None:
    assert arrow_type(shape_of(annotation)) == expected


def test_the_package_writes_typed_columns(audit: pd.DataFrame, tmp_path: Path) -> None:
    schema = arrow_schema(AUDIT_PAGES)
    for rows in (slice(None), slice(1, 2)):
        written = parquet.read_schema(write_frame(audit.iloc[rows], tmp_path / "x.parquet"))
        for name in ("headings", "keywords", "favicons", "links", "date"):
            assert written.field(name).type == schema.field(name).type, name
