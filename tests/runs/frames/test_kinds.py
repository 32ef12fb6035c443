"""Tables of polars, pyarrow and whatever speaks Arrow: the same kind comes back, and every cell of it."""

from __future__ import annotations

import io
import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal
from PIL import Image

import webanalytics as wa
from webanalytics.core.operations.types import shape_of
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.runs.frames.arrow import arrow_type, declared
from webanalytics.runs.frames.foreign import as_pandas, kind_of
from webanalytics.runs.frames.sitemap import sitemap_files

OPTIONS: dict[str, Any] = {"progress": False, "workers": 1}
TLSA = "_25._tcp.mx.example. 3600 IN TLSA 3 1 1 " + "ab" * 32
NUMBERS = ["+12085813945", "+12125550123", None, "x"]


def png(side: int) -> bytes:
    file = io.BytesIO()
    Image.linear_gradient("L").resize((side, side)).save(file, "png")
    return file.getvalue()


RECORDS: dict[str, tuple[pd.DataFrame, Callable[[Any], Any]]] = {
    "hmac": (pd.DataFrame({"m": ["one", None, "ünï"]}), lambda given: wa.hmac(given, secret="k")),
    "dane": (pd.DataFrame({"r": [TLSA, None, "3 1 1 x"]}), wa.dane),
    "phones": (pd.DataFrame({"n": NUMBERS}), wa.phones),
    "phones without details": (pd.DataFrame({"n": NUMBERS}), lambda given: wa.phones(given, details=False)),
    "convert": (
        pd.DataFrame({"i": [png(40), b"no image", None]}),
        lambda given: wa.convert(given, "webp", column="i", **OPTIONS),
    ),
    "texts": (
        pd.DataFrame({"text": ["The cat sat on the mat. It was warm there.", None, "The cat sat."]}),
        lambda given: wa.keywords(texts=given, min_length=3, **OPTIONS),
    ),
}
PAGES: dict[str, Callable[[Any], Any]] = {
    "metadata": lambda given: wa.metadata(given, **OPTIONS),
    "text": lambda given: wa.text(given, **OPTIONS),
    "readability": lambda given: wa.readability(given, **OPTIONS),
    "keywords": lambda given: wa.keywords(given, **OPTIONS),
}
MAKE: dict[str, Callable[[pd.DataFrame], Any]] = {
    "polars": lambda frame: pl.DataFrame(frame.replace({float("nan"): None}).to_dict("list")),
    "pyarrow": lambda frame: pa.table(frame.replace({float("nan"): None}).to_dict("list")),
}
KINDS = {"polars": pl.DataFrame, "pyarrow": pa.Table}
each_kind = pytest.mark.parametrize("kind", KINDS)


def cells_of(table: Any) -> dict[str, list[Any]]:
    """The plain values of a table, by its own library."""
    return table.to_dict(as_series=False) if isinstance(table, pl.DataFrame) else table.to_pydict()


def same(cell: Any, found: Any) -> bool:
    """Whether a cell of another library says what the one of pandas does, by a reading of its own."""
    if cell is None or cell is pd.NA or (isinstance(cell, float) and math.isnan(cell)):
        return found is None
    if isinstance(cell, (list, dict)) and isinstance(found, str):
        return json.loads(found) == cell
    if isinstance(cell, dict):
        if isinstance(found, list):  # a map
            found = (
                {e["key"]: e["value"] for e in found} if found and isinstance(found[0], dict) else dict(found)
            )
        return all(same(cell.get(key), value) for key, value in found.items()) and cell.keys() <= found.keys()
    if isinstance(cell, list):
        return len(cell) == len(found) and all(map(same, cell, found))
    return type(found) in (str, bool, int, float, bytes) and cell == found


def compared(frame: pd.DataFrame, table: Any) -> int:
    """How many cells are equal, of all; every column of the frame must be there."""
    columns = cells_of(table)
    assert [name for name in columns if name != "row"] == list(frame.columns)
    if "row" in columns:
        assert columns["row"] == frame.index.tolist()
    wrong = [
        (name, cell, found)
        for name in frame.columns
        for cell, found in zip(frame[name].tolist(), columns[name], strict=True)
        if not same(cell, found)
    ]
    assert wrong[:3] == []
    return frame.size


@pytest.fixture(scope="module")
def pages(corpus_pages: dict[str, bytes]) -> pd.DataFrame:
    """Every third saved page: each column of each frame that all of them fill has values."""
    some = list(corpus_pages.items())[::3]
    urls = [f"https://site.example/{name}" for name, _ in some]
    return pd.DataFrame({"url": urls, "html": [page for _, page in some]})


@pytest.fixture(scope="module")
def audit(pages: pd.DataFrame) -> wa.Audit:
    return wa.audit(pages, progress=False)


# ---------------------------------------------------------------- every function, every column


@pytest.mark.parametrize("name", PAGES)
def test_functions_of_pages_over_the_corpus(pages: pd.DataFrame, name: str) -> None:
    expected = PAGES[name](pages)
    for kind, made in MAKE.items():
        found = PAGES[name](made(pages))
        assert type(found) is KINDS[kind]
        count = compared(expected, found)
        assert_frame_equal(as_pandas(found, "x"), expected, check_exact=True)
        print(f"{name}, {kind}: {count:,} cells equal")


@each_kind
@pytest.mark.parametrize("name", RECORDS)
def test_functions_of_records(name: str, kind: str) -> None:
    given, call = RECORDS[name]
    expected, found = call(given), call(MAKE[kind](given))
    assert type(found) is KINDS[kind]
    count = compared(expected, found)
    assert_frame_equal(as_pandas(found, "x"), expected, check_exact=True)
    print(f"{name}, {kind}: {count:,} cells equal")


@each_kind
def test_every_frame_of_an_audit(audit: wa.Audit, kind: str) -> None:
    made = {"polars": wa.to_polars, "pyarrow": wa.to_arrow}[kind]
    for name, frame in {"Audit": audit.raw, **audit.parts()}.items():
        table = made(frame)
        count = compared(frame, table)
        print(f"{name}, {kind}: {count:,} cells equal")
    table = made(audit.raw)
    assert type(table) is KINDS[kind]
    assert_frame_equal(as_pandas(table, "x"), audit.raw, check_exact=True)


@each_kind
def test_an_audit_of_tables_is_an_audit(pages: pd.DataFrame, audit: wa.Audit, kind: str) -> None:
    found = wa.audit(MAKE[kind](pages.head(9)), progress=False)
    assert isinstance(found, wa.Audit)
    assert found.raw["title"].tolist() == audit.raw["title"].head(9).tolist()
    table = {"polars": wa.to_polars, "pyarrow": wa.to_arrow}[kind](audit.raw)
    again = wa.Audit(table)  # the rules read lists and dicts: they must be what they were
    assert_frame_equal(again.issues, wa.Audit(audit.raw).issues)
    assert wa.compare(table, audit).summary().equals(wa.compare(wa.Audit(audit.raw), audit).summary())


@pytest.fixture
def site() -> Iterator[SiteServer]:
    links = '<xhtml:link rel="alternate" hreflang="de" href="{{origin}}/de"/>'
    urlset = (
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">'
        f"<url><loc>{{{{origin}}}}/1</loc><priority>0.5</priority>{links}</url><url><loc>{{{{origin}}}}/2</loc></url></urlset>"
    )
    xml = Reply(headers={"Content-Type": "application/xml"}, body=urlset.encode())
    pages = {
        "/": b"<title>Home</title><a href=/1>One</a>",
        "/1": b"<title>One</title>",
        "/2": b"<title>Two</title>",
    }
    with SiteServer(
        {**pages, "/sitemap.xml": xml, "/llms.txt": b"# Tea\n\n## Docs\n\n- no link\n"}
    ) as server:
        yield server


COLUMNS: dict[str, Callable[[list[str]], Any]] = {
    "polars": lambda urls: pl.Series("url", urls),
    "pyarrow": lambda urls: pa.chunked_array([urls]),
}


@each_kind
def test_sites(site: SiteServer, kind: str) -> None:
    own: dict[str, Any] = {"allow_private": True}
    address = COLUMNS[kind]([f"{site.url}/sitemap.xml"])
    found, expected = wa.sitemap(address, **own), wa.sitemap(f"{site.url}/sitemap.xml", **own)
    assert type(found) is KINDS[kind]
    assert compared(expected, found) == 2 * 13
    back = as_pandas(found, "x")
    assert_frame_equal(back, expected)
    audit = wa.audit(found, progress=False, **own)
    assert audit.raw["title"].tolist() == ["One", "Two"]
    assert audit.site.sitemap is not None  # it is known for a sitemap, and its pages are not mistaken for all
    if kind == "pyarrow":
        assert type(sitemap_files(found)) is pa.Table
        assert sitemap_files(found).num_rows == 1
    llms = wa.llms_txt(address, **own)
    assert type(llms) is KINDS[kind]
    assert compared(wa.llms_txt(site.url, **own), llms) == 10
    crawl = wa.crawl(COLUMNS[kind]([site.url]), sitemap=None, **own)
    assert crawl.raw["title"].tolist() == ["Home", "One"]


@each_kind
def test_the_gap_between_tables(kind: str) -> None:
    ours = pd.DataFrame({"url": ["https://a.example/"], "text": ["Lamps made of brass. " * 9]})
    theirs = pd.DataFrame({"url": ["https://b.example/"], "text": ["Lamps, repair kits. " * 9]})
    expected = wa.content_gap(ours, theirs)
    found = wa.content_gap(MAKE[kind](ours), MAKE[kind](theirs))
    assert type(found) is KINDS[kind]
    columns = cells_of(found)
    assert columns["keyword"] == expected["keyword"].tolist()
    assert type(wa.content_gap(ours, [MAKE[kind](theirs)])) is pd.DataFrame


# ---------------------------------------------------------------- one schema


@each_kind
def test_the_schema_does_not_depend_on_the_rows(kind: str) -> None:
    html = "<title>Tea</title><h1>Tea</h1><script type='application/ld+json'>[{\"a\": 1}, [2]]</script>"
    rich = MAKE[kind](pd.DataFrame({"url": ["https://a.example/"], "html": [html]}))
    poor = MAKE[kind](pd.DataFrame({"url": ["https://a.example/"], "html": [""]}))
    for call in PAGES.values():
        made = call(rich)
        assert call(poor).schema == made.schema
        both = pl.concat([made, call(poor)]) if kind == "polars" else pa.concat_tables([made, call(poor)])
        assert len(both) >= 2


def test_polars_and_arrow_have_the_same_types(audit: wa.Audit) -> None:
    made, table = wa.to_polars(audit.raw), wa.to_arrow(audit.raw)
    read = pl.from_arrow(table)
    assert isinstance(read, pl.DataFrame)
    assert made.schema == read.schema
    assert cells_of(made) == cells_of(read)
    for name, field in declared("audit").items():
        if name in audit.raw.columns:
            assert table.schema.field(name).type == arrow_type(shape_of(field.type)), name
    assert table.schema.field("keywords").type == pa.map_(pa.string(), pa.int64())
    assert json.loads(made["jsonld"].drop_nulls()[0]) == audit.raw["jsonld"].dropna().iloc[0]


def test_links_and_categories_are_texts(audit: wa.Audit) -> None:
    links = audit.links
    assert "category" in set(map(str, links.dtypes))
    made, table = wa.to_polars(links), wa.to_arrow(links)
    assert made["source"].to_list() == table["source"].to_pylist() == links["source"].tolist()
    assert made.schema["source"] == pl.String
    own = pd.DataFrame({"a": pd.Categorical(["x", None, "x"]), "b": pd.Categorical([2, 1, 2])})
    assert wa.to_polars(own).to_dict(as_series=False) == {"a": ["x", None, "x"], "b": [2, 1, 2]}


# ---------------------------------------------------------------- what goes in


def test_what_a_kind_is() -> None:
    table = pa.table({"a": [1]})
    of_arrow = (table, table["a"], table["a"].chunk(0), table.to_batches()[0], table.to_reader())
    assert [kind_of(one) for one in of_arrow] == ["pyarrow"] * 5
    assert [kind_of(one) for one in (pl.DataFrame(), pl.Series())] == ["polars"] * 2
    plain = (
        pd.DataFrame(),
        pd.Series(),
        pd.Index([]),
        [],
        {},
        "x",
        b"",
        None,
        5,
        pl.DataFrame,
        iter(()),
        pa.scalar(1),
    )
    assert [kind_of(one) for one in plain] == [None] * len(plain)


def test_a_relation_of_duckdb_is_a_table_of_arrow() -> None:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is no dependency: only tests use it")
    relation = duckdb.sql("select * from (values ('one', 1), (null, 2)) as t(message, n)")
    found = wa.hmac(relation, secret="k", column="message")
    assert type(found) is pa.Table
    assert found["status"].to_pylist() == ["ok", "error"]
    assert duckdb.sql("select count(*) from found where status = 'ok'").fetchall() == [(1,)]


def test_a_lazy_frame_is_a_sentence() -> None:
    for call in PAGES.values():
        with pytest.raises(
            wa.ParameterError,
            match=r"^The `urls` parameter must be .*LazyFrame: call its `collect\(\)` first\.$",
        ):
            call(pl.DataFrame({"url": ["x"]}).lazy())


def test_headers_and_redirects_of_a_table_are_read() -> None:
    saved = pl.DataFrame({
        "url": ["https://a.example/"],
        "html": ["<title>Tea</title>"],
        "headers": [[["Content-Type", "text/html"], ["X-Robots-Tag", "noindex"]]],
        "redirects": [["https://b.example/"]],
        "http_status": [200],
    })  # fmt: skip
    audit = wa.audit(saved, **OPTIONS)
    assert audit.raw["x_robots_tag"].tolist() == ["noindex"]
    assert audit.raw["redirects"].tolist() == [["https://b.example/"]]
    assert audit.raw["http_status"].tolist() == [200]


def test_large_integers_stay_exact() -> None:
    number = 2**53 + 1
    for made in (pl.DataFrame({"n": [number, None]}), pa.table({"n": [number, None]})):
        assert as_pandas(made, "x")["n"].tolist() == [number, pd.NA]


def test_columns_of_ones_own_are_left_as_they_are() -> None:
    table = pa.table({"keywords": ["tea, milk"], "jsonld": ["no json"], "wordCount": ["many"], "a": [[1, 2]]})
    frame = as_pandas(table, "x")
    assert frame.iloc[0].tolist() == ["tea, milk", "no json", "many", [1, 2]]
    twice = pa.Table.from_arrays([pa.array([1]), pa.array(["x"])], names=["a", "a"])
    assert as_pandas(twice, "x").columns.tolist() == ["a", "a"]


def test_rows_taken_of_a_table_are_read_by_their_names() -> None:
    whole = wa.dane(pa.chunked_array([[TLSA, "x"]]))
    part = as_pandas(whole.slice(1), "x")
    assert part["status"].tolist() == ["error"]
    assert part.attrs["webanalytics"]["operation"] == "dane"
    assert as_pandas(whole.select(["parsed", "status"]), "x")["parsed"].iloc[0]["port"] == 25


# ---------------------------------------------------------------- to_arrow, to_polars


@pytest.mark.parametrize("made", [wa.to_polars, wa.to_arrow])
def test_labels_become_a_column(made: Callable[[Any], Any]) -> None:
    labelled = wa.hmac({"a": "one", "b": "two"}, secret="k")
    assert cells_of(made(labelled))["index"] == ["a", "b"]
    named = wa.hmac(pd.Series(["one"], index=pd.Index(["x"], name="who")), secret="k")
    assert cells_of(made(named))["who"] == ["x"]
    assert "index" not in cells_of(made(wa.hmac(["one", "two"], secret="k").tail(1)))


@pytest.mark.parametrize("made", [wa.to_polars, wa.to_arrow])
def test_what_no_table_can_hold_is_a_sentence(made: Callable[[Any], Any]) -> None:
    for wrong in (pd.DataFrame([[1, 2]], columns=["a", "a"]), pd.DataFrame({"a": [object()]}), ["x"], 5):
        with pytest.raises(wa.ParameterError, match="The `frame` parameter must be "):
            made(wrong)


@pytest.mark.parametrize("made", [wa.to_polars, wa.to_arrow])
def test_times_and_texts_of_ones_own(made: Callable[[Any], Any]) -> None:
    frame = pd.DataFrame({
        "day": pd.to_datetime(["2026-01-02", None]),
        "word": pd.Series(["x", None], dtype=object),
        "n": pd.array([1, None], dtype="UInt8"),
        "f": [0.5, None],
        "yes": [True, False],
    })  # fmt: skip
    columns = cells_of(made(frame))
    assert [str(day)[:10] for day in columns["day"]] == ["2026-01-02", "None"]
    assert [columns[name] for name in ("word", "n", "f", "yes")] == [
        ["x", None],
        [1, None],
        [0.5, None],
        [True, False],
    ]


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout.strip()


def test_polars_needs_no_pyarrow() -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import polars as pl, webanalytics as wa\n"
        "page = pl.DataFrame({'url': ['https://a.example/'], 'html': ['<title>Tea</title><h1>Tea</h1>']})\n"
        "print(wa.metadata(page, progress=False)['headings'].to_list())\n"
        "print(wa.keywords(page, min_length=3, progress=False)['keyword'].to_list())\n"
    )
    assert run(code).splitlines() == ["[[{'level': 'h1', 'text': 'Tea'}]]", "['tea']"]


def test_arrow_without_pyarrow_is_refused_before_any_work() -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import webanalytics as wa\n"
        "class Stream:\n"
        "    def __arrow_c_stream__(self, requested_schema=None): raise AssertionError('it was read')\n"
        "try: wa.hmac(Stream(), secret='k')\n"
        "except ImportError as error: print(error)\n"
    )
    assert run(code).endswith('needs pyarrow: in the clone, pip install ".[parquet]"')


def test_neither_is_loaded_without_its_tables() -> None:
    code = "import sys, webanalytics as wa; wa.hmac(['a'], secret='b'); print(*{'polars'} & set(sys.modules))"
    assert run(code) == ""
