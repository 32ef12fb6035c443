"""Audits kept in folders, and what hostile folders do."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

import webanalytics as wa
from tests.audits.saved import HOME, audit
from webanalytics.audits.origin import Origin
from webanalytics.audits.storage import folders as storage
from webanalytics.errors import MissingExtraError
from webanalytics.runs.frames.arrow import LAYOUT
from webanalytics.runs.frames.schema import PANDAS_3

SITEMAP = pd.DataFrame({"url": [HOME, None], "priority": [0.5, np.nan], "status": ["ok", "error"]})


@pytest.fixture(scope="module")
def made() -> wa.Audit:
    return wa.Audit(audit(), Origin(SITEMAP, {"https://lamps.example": ["Line 2 names no user agent."]}))


@pytest.fixture
def folder(made: wa.Audit, tmp_path: Path) -> Path:
    return made.save(tmp_path / "kept")


def again(audit: wa.Audit, folder: Path) -> wa.Audit:
    return wa.load(audit.save(folder))


def test_an_audit_comes_back_as_it_was(made: wa.Audit, folder: Path) -> None:
    loaded = wa.load(folder)
    assert type(loaded) is wa.Audit
    assert_frame_equal(
        loaded.raw, made.raw, check_exact=True, check_index_type="exact", check_column_type="exact"
    )
    assert loaded.raw.dtypes.tolist() == made.raw.dtypes.tolist()
    assert loaded.raw.attrs == made.raw.attrs
    assert loaded.raw.loc[0, "headings"] == [{"level": "h1", "text": "Lamps"}]
    assert loaded.raw.loc[0, "keywords"] == made.raw.loc[0, "keywords"]
    assert list(loaded.raw.loc[0, "keywords"]) == list(made.raw.loc[0, "keywords"]), (
        "the order of a dict is kept"
    )
    assert loaded.site.robots == {"https://lamps.example": ["Line 2 names no user agent."]}
    assert_frame_equal(loaded.site.sitemap, SITEMAP.astype({"url": SITEMAP["url"].dtype}))
    assert_frame_equal(loaded.issues, made.issues)
    assert loaded.issues.attrs == made.issues.attrs


def test_failed_pages_and_no_pages_come_back(tmp_path: Path) -> None:
    for frame in (wa.audit([], progress=False), wa.audit(["nonsense", None], progress=False)):
        loaded = again(frame, tmp_path)
        assert_frame_equal(loaded.raw, frame.raw)
        assert loaded.raw.dtypes.tolist() == frame.raw.dtypes.tolist()


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(10, 2, -2),
        pd.RangeIndex(4, name="row"),
        pd.Index(["a", "b", "c", "d"], name="label"),
        pd.Index([1, 1, 3, 2]),
        pd.Index([0.5, 1.5, np.nan, 2.0]),
        pd.Index(["a", 1, None, 2.5], dtype=object),
        pd.DatetimeIndex(["2026-01-01", "2026-01-03", "2026-01-02", "NaT"]),
        pd.DatetimeIndex(["2026-01-01", "2026-01-03", "2026-01-02", "2026-02-01"], tz="Europe/Berlin"),
        pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1), ("b", 2)], names=["host", None]),
        pd.MultiIndex.from_arrays([["x", "y", "z", "w"]], names=["one"]),
    ],
    ids=str,
)
def test_every_usual_index_comes_back(made: wa.Audit, tmp_path: Path, index: pd.Index) -> None:
    frame = wa.Audit(made.raw.set_axis(index, axis=0))
    loaded = again(frame, tmp_path)
    assert_frame_equal(loaded.raw, frame.raw)
    assert type(loaded.raw.index) is type(index)
    assert list(loaded.raw.index.names) == list(index.names)


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([1, 2, 3, 4], dtype="int64"),
        pd.Series([1, None, 2**62 + 1, 4], dtype="Int64"),
        pd.Series([1, 2, 3, 4], dtype="uint8"),
        pd.Series([True, False, True, True], dtype="bool"),
        pd.Series([True, None, False, True], dtype="boolean"),
        pd.Series([0.1, np.nan, -0.0, np.inf], dtype="float64"),
        pd.Series([0.5, 1.5, 2.5, 3.5], dtype="float32"),
        pd.Series(
            pd.to_datetime(["2026-01-02 03:04:05.678901", None, "2026-01-02", "2026-01-02"], format="mixed")
        ),
        pd.Series(pd.to_datetime(["2026-01-02"] * 4)).dt.tz_localize("UTC"),
        pd.Series([{"b": [1, None, 1.5, True], "a": {}}, [], "text", np.nan], dtype=object),
        pd.Series(["\ud800", "null", "NaN", ""], dtype=object),
        pd.Series([[float("inf")], 2**70, False, 0.1], dtype=object),
    ],
    ids=lambda values: str(values.dtype),
)
def test_columns_of_the_users_own_come_back(made: wa.Audit, tmp_path: Path, values: pd.Series) -> None:
    frame = wa.Audit(made.raw.assign(own=values))
    loaded = again(frame, tmp_path)
    assert_frame_equal(loaded.raw, frame.raw, check_exact=True)
    assert [type(cell) for cell in loaded.raw["own"]] == [type(cell) for cell in frame.raw["own"]]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters()), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(json_values, min_size=1, max_size=6))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_lists_and_dicts_are_kept_exactly(tmp_path: Path, values: list[Any]) -> None:
    column = pd.Series([None] * len(values), dtype=object)
    for row, value in enumerate(values):
        column.iat[row] = value
    frame = wa.Audit(pd.DataFrame({"url": ["x"] * len(values), "status": "ok", "own": column}))
    loaded = again(frame, tmp_path / "any")
    assert repr(loaded.raw["own"].tolist()) == repr(frame.raw["own"].tolist())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda frame: frame.assign(own=[(1,)] * 4), "column `own` holds values"),
        (lambda frame: frame.assign(own=[object()] * 4), "column `own` holds values"),
        (lambda frame: frame.assign(own=[b"x"] * 4), "column `own` holds values"),
        (lambda frame: frame.assign(own=pd.Categorical(["a"] * 4)), "column `own` has the dtype category"),
        (lambda frame: frame.set_axis([*frame.columns[:-1], 5], axis=1), "names of their own"),
        (lambda frame: frame.set_axis([*frame.columns[:-1], "url"], axis=1), "each column only once"),
        (lambda frame: frame.set_index(pd.Index([1, 2, 3, 4], name=("a", "b"))), "index must have a name"),
    ],
)
def test_what_cannot_be_kept_exactly_is_refused(
    made: wa.Audit, tmp_path: Path, change: Callable[[pd.DataFrame], pd.DataFrame], sentence: str
) -> None:
    with pytest.raises(wa.ParameterError, match=sentence):
        wa.Audit(change(made.raw.copy())).save(tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_attrs_that_json_cannot_hold_are_refused(made: wa.Audit, tmp_path: Path) -> None:
    odd = wa.Audit(made)
    odd.raw.attrs["own"] = (1, 2)
    with pytest.raises(wa.ParameterError, match="attrs must be what JSON can hold"):
        odd.save(tmp_path / "kept")


def test_a_profile_is_kept(made: wa.Audit, tmp_path: Path) -> None:
    strict = made.with_profile("strict", {"title_too_short": 2})
    loaded = again(strict, tmp_path)
    assert_frame_equal(loaded.issues, strict.issues)
    assert "title_too_short" not in set(loaded.issues["rule"])
    assert len(wa.compare(strict, loaded).issues.query("change != 'remaining'")) == 0


def test_an_audit_takes_the_place_of_the_one_before(made: wa.Audit, folder: Path) -> None:
    other = wa.Audit(audit({HOME: "<title>Other"}))
    assert other.save(folder) == folder
    assert_frame_equal(wa.load(folder).raw, other.raw)
    assert len(list(folder.iterdir())) == 2, "the files of the first are gone"
    made.save(str(folder))
    assert_frame_equal(wa.load(str(folder)).raw, made.raw)


def test_a_save_that_is_broken_off_leaves_what_was_there(
    made: wa.Audit, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, replace = made.raw, Path.replace

    def broken(self: Path, target: Path) -> Path:
        if target.name == storage.MANIFEST:
            raise OSError(28, "No space left on device")
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", broken)
        with pytest.raises(wa.ParameterError, match="that can be written to: No space left"):
            wa.Audit(audit({HOME: "<title>Other"})).save(folder)
    assert_frame_equal(wa.load(folder).raw, whole)
    made.save(folder)
    assert len(list(folder.iterdir())) == 3, "no leftovers after the next one"


def test_a_folder_with_other_files_is_left_alone(made: wa.Audit, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(
        wa.ParameterError, match="The `folder` parameter must be a folder that is empty or holds"
    ):
        made.save(tmp_path)
    assert [item.name for item in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(
        wa.ParameterError, match="The `folder` parameter must be a folder that can be written"
    ):
        made.save(tmp_path / "mine.txt")


@pytest.mark.parametrize("name", ["", "a\0b", 5, None])
def test_a_wrong_name_is_told(made: wa.Audit, name: Any) -> None:
    for function in (made.save, wa.load):
        with pytest.raises(wa.ParameterError, match="The `folder` parameter must be a folder"):
            function(name)


def test_a_folder_without_an_audit_is_told(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(wa.ParameterError, match="must be a folder that holds a saved audit"):
            wa.load(folder)


def test_without_pyarrow_it_says_what_to_install(
    made: wa.Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for function in (made.save, wa.load):
        with pytest.raises(MissingExtraError, match=r'pip install "\.\[parquet\]"'):
            function(tmp_path)


# Hostile folders


def manifest_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / storage.MANIFEST).read_text("utf-8"))


def put(folder: Path, manifest: Any) -> None:
    (folder / storage.MANIFEST).write_text(json.dumps(manifest), "utf-8")


def put_table(folder: Path, table: pa.Table) -> None:
    """Put another table in the place of the pages, with a manifest that fits it."""
    manifest = manifest_of(folder)
    part = manifest["parts"]["pages"]
    (folder / part["file"]).unlink()
    parquet.write_table(table, folder / "new", compression="zstd")
    content = (folder / "new").read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    (folder / "new").rename(folder / f"pages-{digest[:32]}.parquet")
    part["file"] = f"pages-{digest[:32]}.parquet"
    put(folder, manifest)


def pages_table(folder: Path) -> pa.Table:
    return parquet.read_table(folder / manifest_of(folder)["parts"]["pages"]["file"])


def refused(folder: Path) -> None:
    with pytest.raises(
        wa.ParameterError, match="The `folder` parameter must be a folder that holds a saved audit"
    ):
        wa.load(folder)


def changed_manifest(*keys: Any, value: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        manifest = manifest_of(folder)
        inner = manifest
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value
        put(folder, manifest)

    return change


def changed_layout(*keys: Any, value: Any) -> Callable[[Path], None]:
    """Return what changes the layout that a table carries of its frame."""

    def change(folder: Path) -> None:
        table = pages_table(folder)
        layout = inner = json.loads(table.schema.metadata[LAYOUT])
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value
        put_table(folder, table.replace_schema_metadata({LAYOUT: json.dumps(layout)}))

    return change


PAGES = ("parts", "pages")


@pytest.mark.parametrize(
    "change",
    [
        changed_manifest("format", value=1),
        changed_manifest("parts", value={}),
        changed_manifest("parts", value=[]),
        changed_manifest("parts", "more", value={"file": "x"}),
        changed_manifest("robots", value=[1]),
        changed_manifest("robots", value={"https://x.example": "text"}),
        changed_manifest("robots", value={"https://x.example": [1]}),
        changed_manifest("profile", value="strict"),
        changed_manifest("profile", value={"name": "x", "off": ["none"], "priorities": {}, "thresholds": {}}),
        changed_manifest("profile", value={"name": "x", "off": 5, "priorities": {}, "thresholds": {}}),
        changed_manifest(
            "profile", value={"name": "x", "off": [], "priorities": {}, "thresholds": {"title_too_long": "1"}}
        ),
        changed_manifest(*PAGES, "file", value="../kept/pages.parquet"),
        changed_manifest(*PAGES, "file", value="/etc/passwd"),
        changed_manifest(*PAGES, "file", value="sitemap-" + "0" * 32 + ".parquet"),
        changed_manifest(*PAGES, "file", value=None),
        changed_layout("rows", value=5),
        changed_layout("rows", value=True),
        changed_layout("columns", value=[["url", "string"]]),
        changed_layout("columns", 0, value=["url", "category"]),
        changed_layout("columns", 0, value=["url", "declared"]),
        changed_layout("columns", 0, value=["url", 5]),
        changed_layout("columns", 0, value=["url", "float64"]),
        changed_layout("columns", 0, value=[5, "string"]),
        changed_layout("columns", 0, value=["status", "string"]),
        changed_layout("index", value={"range": [0, 10**30, 1], "names": [None]}),
        changed_layout("index", value={"range": [0, 5, 1], "names": [None]}),
        changed_layout("index", value={"range": [0, 4, 0], "names": [None]}),
        changed_layout("index", value={"range": [0, 4, 1], "names": [["a"]]}),
        changed_layout("index", value={"levels": ["json"], "several": False, "names": [None]}),
        changed_layout("index", value={"levels": [], "several": True, "names": []}),
        changed_layout("index", value=None),
        changed_layout("attrs", value=[1]),
        lambda folder: put(folder, [1]),
        lambda folder: put(folder, None),
        lambda folder: (folder / storage.MANIFEST).write_bytes(b"\xff\xfe"),
        lambda folder: (folder / storage.MANIFEST).write_text("[" * 100_000),
        lambda folder: (folder / storage.MANIFEST).write_text('{"parts": NaN}'),
        lambda folder: (folder / manifest_of(folder)["parts"]["pages"]["file"]).unlink(),
        lambda folder: (folder / manifest_of(folder)["parts"]["pages"]["file"]).write_bytes(b"PAR1" * 10),
    ],
)
def test_a_changed_folder_is_refused(folder: Path, change: Callable[[Path], object]) -> None:
    wa.load(folder)
    change(folder)
    refused(folder)


def replaced_column(folder: Path, name: str, cells: list[Any], kind: str = "json") -> None:
    """Put other cells into a column: JSON text, or what Arrow makes of them."""
    table = pages_table(folder)
    place = table.column_names.index(name)
    array = pa.array(cells, pa.large_string() if kind == "json" else None)
    layout = json.loads(table.schema.metadata[LAYOUT])
    layout["columns"][place][1] = kind
    replaced = table.set_column(place, name, array)
    put_table(folder, replaced.replace_schema_metadata({LAYOUT: json.dumps(layout)}))


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("headings", '{"level": "h1"}'),
        ("headings", '["h1"]'),
        ("headings", '[{"level": 1, "text": []}]'),
        ("headings", "5"),
        ("keywords", '["word"]'),
        ("keywords", '{"word": "many"}'),
        ("links", "[1]"),
        ("jsonld", "[" * 300 + "]" * 300),
        ("jsonld", "[" * 100_000 + "]" * 100_000),
        ("jsonld", "__import__('os')"),
    ],
)
def test_json_of_another_kind_is_refused(folder: Path, name: str, cell: str) -> None:
    replaced_column(folder, name, [cell, "[]" if name != "keywords" else "{}", None, None])
    refused(folder)


@pytest.mark.parametrize("cell", [[{"level": "h1"}], ["h1"], "h1", {"h1": 1}])
def test_a_column_of_another_type_is_refused(folder: Path, cell: Any) -> None:
    replaced_column(folder, "headings", [cell, None, None, None], "declared")
    refused(folder)


def test_a_rightly_changed_cell_is_not_refused(folder: Path) -> None:
    replaced_column(folder, "headings", ['[{"level": "h1", "text": "Other"}]', "[]", None, None])
    assert wa.load(folder).raw.loc[0, "headings"] == [{"level": "h1", "text": "Other"}]


def test_types_of_arrow_that_hold_objects_are_refused(folder: Path) -> None:
    table = pages_table(folder)
    nested = pa.array([["x"]] * table.num_rows, pa.list_(pa.string()))
    put_table(folder, table.set_column(0, "url", nested))
    refused(folder)


def test_metadata_of_pandas_in_a_file_is_not_used(folder: Path) -> None:
    table = pages_table(folder)
    pandas = {b"pandas": b'{"index_columns": ["url"], "columns": []}'}
    put_table(folder, table.replace_schema_metadata({**table.schema.metadata, **pandas}))
    assert "url" in wa.load(folder).raw


@pytest.mark.skipif(not PANDAS_3, reason="before pandas 3 strings are objects")
def test_strings_come_back_as_strings(folder: Path) -> None:
    assert str(wa.load(folder).raw["title"].dtype) == "str"


def test_an_audit_keeps_its_date_and_its_score(tmp_path: Path) -> None:
    made = audit()
    assert made.audited_at is not None
    assert abs(pd.Timestamp.now("UTC") - made.audited_at) < pd.Timedelta(hours=1)
    manifest = json.loads((made.save(tmp_path / "kept") / "audit.json").read_text())
    assert (manifest["date"], manifest["score"]) == (made.origin.date, made.score)
    loaded = wa.load(tmp_path / "kept")
    assert loaded.audited_at == made.audited_at
    assert loaded.origin.score == made.score == loaded.score


@pytest.mark.parametrize(
    "wrong", [{"date": "yesterday"}, {"date": "2026-W01-1"}, {"date": 5}, {"score": 101}, {"score": "x"}]
)
def test_a_date_and_a_score_are_checked(tmp_path: Path, wrong: dict[str, object]) -> None:
    path = audit().save(tmp_path / "kept") / "audit.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | wrong))
    with pytest.raises(wa.ParameterError, match="holds a saved audit"):
        wa.load(tmp_path / "kept")
