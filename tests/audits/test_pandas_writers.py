"""Every writer of pandas takes an audit of real pages, or names the package that it needs."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa

HTML = """<title>Tea &#xFFFF;&#8;\u017c\u00f3\u0142ty</title><meta name=description content="=1+1"><h1>Tea</h1>
<link rel=canonical href="/a"><img src=a.png alt=x><a href=/b>more</a><p>Green tea and black tea.
<script type="application/ld+json">%s</script>"""
GRAPHS = [
    {"@type": "Thing", "name": "one", "offers": [{"price": 1}]},
    [{"@type": "Thing", "name": ["a", "b"]}, {"offers": {"price": "1"}}],
    {"@graph": [{"@type": ["A", "B"]}, 3, None]},
]
NEED_PACKAGES = {"to_hdf": "tables", "to_markdown": "tabulate", "to_xarray": "xarray", "to_gbq": "gbq"}
OTHERS = {"to_clipboard", "to_iceberg", "to_period", "to_timestamp"}
"""Writers that need a display, a catalogue, or an index of times."""


@pytest.fixture(scope="module")
def audit() -> wa.Audit:
    urls = [f"https://a.example/{number}" for number in range(4)]
    pages = [HTML % json.dumps(graph) for graph in GRAPHS] + ["<p>nothing"]
    return wa.audit(pd.DataFrame({"url": urls, "html": pages}), progress=False, workers=1)


def test_the_pages_are_of_the_kind_that_failed(audit: wa.Audit, tmp_path: Path) -> None:
    assert {type(value) for value in audit["jsonld"].dropna()} >= {list}
    with pytest.raises(Exception, match="jsonld"):
        audit.plain().to_parquet(tmp_path / "plain.parquet")


def test_every_writer_is_known(audit: wa.Audit) -> None:
    writers = {name for name in dir(pd.DataFrame) if name.startswith("to_")}
    tried = {
        "to_csv",
        "to_dict",
        "to_excel",
        "to_feather",
        "to_html",
        "to_json",
        "to_latex",
        "to_numpy",
        "to_orc",
    }
    tried |= {"to_parquet", "to_pickle", "to_records", "to_sql", "to_stata", "to_string", "to_xml"}
    assert writers - OTHERS - set(NEED_PACKAGES) == tried


def test_parquet_has_the_declared_types(audit: wa.Audit, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    path = tmp_path / "audit.parquet"
    audit.to_parquet(path)
    schema = parquet.read_schema(path)
    assert pa.types.is_map(schema.field("keywords").type)
    assert pa.types.is_list(schema.field("links").type) or pa.types.is_large_list(schema.field("links").type)
    back = pd.read_parquet(path)
    assert [json.loads(text) for text in back["jsonld"].dropna()] == audit["jsonld"].dropna().tolist()
    assert back["title"].tolist() == audit["title"].tolist()
    assert dict(back["keywords"][0]) == audit["keywords"][0]
    assert isinstance(audit.to_parquet(), bytes)
    audit.to_parquet(tmp_path / "parts", partition_cols=["status"])
    assert len(pd.read_parquet(tmp_path / "parts")) == 4


def test_a_selection_of_columns_is_written_too(audit: wa.Audit, tmp_path: Path) -> None:
    audit[["url", "jsonld", "links"]].to_parquet(tmp_path / "some.parquet")
    mixed = audit.assign(own=[1, "a", [2], None])
    mixed.to_parquet(tmp_path / "own.parquet")
    assert pd.read_parquet(tmp_path / "own.parquet")["own"].tolist()[:3] == ["1", "a", "[2]"]


def test_the_other_writers(audit: wa.Audit, tmp_path: Path) -> None:
    audit.to_feather(tmp_path / "a.feather")
    audit.to_orc(tmp_path / "a.orc")
    for read, name in ((pd.read_feather, "a.feather"), (pd.read_orc, "a.orc")):
        assert read(tmp_path / name)["title"].tolist() == audit["title"].tolist()
    with closing(sqlite3.connect(":memory:")) as database:
        audit.to_sql("pages", database)
        found = pd.read_sql("SELECT jsonld FROM pages", database)["jsonld"]
    assert [json.loads(text) for text in found.dropna()] == audit["jsonld"].dropna().tolist()
    audit.to_xml(tmp_path / "a.xml")
    assert pd.read_xml(tmp_path / "a.xml")["title"].tolist()[0] == "Tea \u017c\u00f3\u0142ty"
    with pytest.warns(Warning, match="Stata-compliant"):
        audit.to_stata(tmp_path / "a.dta")
    assert pd.read_stata(tmp_path / "a.dta")["url"].tolist() == audit["url"].tolist()
    for name, arguments in {
        "to_csv": [tmp_path / "a.csv"], "to_dict": [], "to_html": [], "to_json": [], "to_latex": [],
        "to_numpy": [], "to_pickle": [tmp_path / "a.pickle"], "to_records": [], "to_string": [],
    }.items():  # fmt: skip
        getattr(audit, name)(*arguments)


@pytest.mark.parametrize(("name", "package"), NEED_PACKAGES.items())
def test_a_package_that_is_missing_is_named(
    audit: wa.Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    if name == "to_gbq":  # gone from pandas 3, which the loop over all writers would notice
        return
    monkeypatch.setitem(sys.modules, package, None)
    arguments, keywords = ([tmp_path / "a.h5"], {"key": "a"}) if name == "to_hdf" else ([], {})
    with pytest.raises(ImportError, match=package):
        getattr(audit, name)(*arguments, **keywords)
