"""Audits whose rows are in a folder: equal to those in memory, whatever order the pages finished in."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as parquet
import pytest

import webanalytics as wa
from tests.answers import rows_of
from tests.effort import BUSY_SECONDS
from webanalytics import aio
from webanalytics.core.outcomes import digest
from webanalytics.errors import ParameterError
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.runs.frames.arrow import arrow_table
from webanalytics.runs.storage import row_folder as saving
from webanalytics.runs.storage.lazy_columns import StoredDtype
from webanalytics.runs.storage.parts import RowParts

WORDS = ["lamps", "tea", "island", "harbour", "brass", "lantern", "storm", "glass", "mended", "fleet"]


@pytest.fixture(autouse=True, scope="module")
def small_parts() -> Iterator[None]:
    """Tables of 4 rows and parts of 8, so that a few pages make several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(saving, "FRAME_ROWS", 4)
        patch.setattr(saving, "PART_ROWS", 8)
        yield


SOME = ["row 9", "row 2", "row 20"]
"""Labels of rows of several parts."""


def html(number: int) -> str:
    """Return a page with links, images, structured data, and text of its own."""
    said = " ".join(WORDS[(number * step) % len(WORDS)] for step in range(1, 60))
    return (
        f"<html lang=en><title>Page {number % 7} of lamps</title><meta name=description content='{said[:80]}'>"
        f"<link rel=canonical href='https://a.example/{number}'>"
        f'<script type=\'application/ld+json\'>{{"@type":"Article","n":{number}}}</script>'
        f"<h1>Lamps {number}</h1><h3>None</h3><p>{said}. {said}.</p><img src=/{number}.png>"
        f"<a href='/{(number + 1) % 30}'>next</a> <a href='https://other.example/'>here</a>"
    )


def pages(count: int = 30) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "url": [f"https://a.example/{number}" for number in range(count)],
            "html": [html(number) for number in range(count)],
        },
        index=pd.Index([f"row {number}" for number in range(count)], name="label"),
    )
    frame.loc["row 3", "html"] = None  # fails
    return pd.concat([frame, frame.iloc[[1]]])  # one page twice


def cells(column: Any) -> list[Any]:
    return [
        None if value is pd.NA or (isinstance(value, float) and value != value) else value for value in column
    ]


def plainly(issues: pd.DataFrame) -> pd.DataFrame:
    return issues.astype({name: object for name in issues.columns if issues[name].dtype != float})


@pytest.fixture(scope="module")
def whole() -> wa.Audit:
    return wa.audit(pages(), progress=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "audit"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> wa.Audit:
    """For tests that only read it."""
    return wa.audit(pages(), progress=False, store=tmp_path_factory.mktemp("kept") / "audit")


@pytest.fixture
def own(folder: Path) -> wa.Audit:
    """For one test alone, which may look into its folder and change it."""
    return wa.audit(pages(), progress=False, store=folder)


def same(first: wa.Audit | pd.DataFrame, second: wa.Audit | pd.DataFrame) -> None:
    """Compare cell by cell; the dtypes of columns in a folder are their own."""
    first, second = rows_of(first), rows_of(second)
    assert list(first.columns) == list(second.columns)
    assert first.index.equals(second.index)
    for name in first.columns:
        if name != "fetched_at" and name != "elapsed":
            assert cells(first[name]) == cells(second[name]), name


def test_every_cell_is_that_of_an_audit_in_memory(whole: wa.Audit, own: wa.Audit, folder: Path) -> None:
    same(whole.raw, own.raw)
    assert own.raw.attrs == whole.raw.attrs
    assert isinstance(own.raw["text"].dtype, StoredDtype)
    assert own.raw["wordCount"].dtype == whole.raw["wordCount"].dtype
    names = sorted(path.name for path in folder.iterdir())
    assert sum(name.startswith("rows-") for name in names) == 4
    assert not [name for name in names if name.startswith("part-")], "the log is gone"
    rows = parquet.read_table(min(folder.glob("rows-*")))
    assert rows.num_rows == 8
    assert str(rows.schema.field("keywords").type).startswith("map<string, int64")


def test_issues_score_and_summary_are_equal(whole: wa.Audit, kept: wa.Audit) -> None:
    pd.testing.assert_frame_equal(plainly(kept.issues), plainly(whole.issues))
    pd.testing.assert_frame_equal(kept.summary(), whole.summary())
    pd.testing.assert_frame_equal(kept.failures(), whole.failures())
    assert kept.score == whole.score
    assert kept.select(SOME).issues["rule"].tolist() == whole.select(SOME).issues["rule"].tolist()
    same(kept.pages, whole.pages)


def test_it_is_loaded_again_and_saved_elsewhere(
    whole: wa.Audit, own: wa.Audit, folder: Path, tmp_path: Path
) -> None:
    loaded = wa.load(folder)
    same(loaded.raw, whole.raw)
    pd.testing.assert_frame_equal(plainly(loaded.issues), plainly(whole.issues))
    part = own.select(SOME)
    elsewhere = wa.load(part.save(tmp_path / "other"))
    same(elsewhere.raw, whole.raw.loc[SOME])
    same(pickle.loads(pickle.dumps(loaded)).raw, whole.raw)


def test_a_column_of_few_rows_is_read_once(own: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[tuple[str, str]] = []
    real = RowParts._read

    def counted(self: RowParts, part: Any, column: str) -> Iterator[Any]:
        read.append((part.name, column))
        return real(self, part, column)

    monkeypatch.setattr(RowParts, "_read", counted)
    assert cells(own.raw["title"])[:2] == ["Page 0 of lamps", "Page 1 of lamps"]
    assert len(read) == len(set(read)) == 4


@pytest.mark.parametrize("name", ["title", "keywords", "links", "jsonld"])
def test_a_column_behaves_as_one_in_memory(whole: wa.Audit, kept: wa.Audit, name: str) -> None:
    order = np.random.default_rng(3).permutation(len(whole))
    assert cells(kept.raw[name].iloc[order]) == cells(whole.raw[name].iloc[order])
    assert kept.raw[name].isna().tolist() == whole.raw[name].isna().tolist()
    assert cells(kept.raw[name].dropna()) == cells(whole.raw[name].dropna())
    assert cells(kept.raw[name].astype(object)) == cells(whole.raw[name].astype(object))
    assert kept.raw[name].iloc[7] == whole.raw[name].iloc[7]
    assert cells(pd.concat([kept.raw[name], kept.raw[name].iloc[:2]])) == cells(
        pd.concat([whole.raw[name], whole.raw[name].iloc[:2]])
    )
    first, second = (frame.raw[name].reset_index(drop=True).reindex([2, 99, 0]) for frame in (kept, whole))
    assert cells(first) == cells(second)


def test_lists_are_counted_and_exploded(whole: wa.Audit, kept: wa.Audit) -> None:
    assert isinstance(kept.raw["headings"].dtype, StoredDtype)
    own, others = (audit.raw["headings"] for audit in (whole, kept))
    assert others.str.len().dropna().to_dict() == own.str.len().dropna().to_dict()
    for mine, other in ((own, others), (own.iloc[[5, 3]], others.iloc[[5, 3]])):
        assert other.explode().index.tolist() == mine.explode().index.tolist()
        assert other.explode().str["text"].dropna().tolist() == mine.explode().str["text"].dropna().tolist()
    frame = kept.raw[["url", "headings"]].explode("headings")
    assert frame["url"].tolist() == whole.raw[["url", "headings"]].explode("headings")["url"].tolist()


def test_texts_have_the_methods_of_texts(whole: wa.Audit, kept: wa.Audit) -> None:
    assert (
        kept.raw["title"].str.contains("3").fillna(False).tolist()
        == whole.raw["title"].str.contains("3").fillna(False).tolist()
    )
    assert (kept.raw["title"] == "Page 3 of lamps").tolist() == (
        whole.raw["title"] == "Page 3 of lamps"
    ).tolist()
    assert kept.raw["title"].value_counts().to_dict() == whole.raw["title"].value_counts().to_dict()
    assert kept.raw.sort_values("title")["url"].tolist() == whole.raw.sort_values("title")["url"].tolist()
    assert (
        kept.raw.query("title == 'Page 3 of lamps'")["url"].tolist()
        == whole.raw.query("title == 'Page 3 of lamps'")["url"].tolist()
    )
    with pytest.raises(TypeError, match="assign a whole column"):
        kept.raw["title"].array[0] = "no"
    assert wa.Audit(kept.raw.assign(title="one")).issues["rule"].eq("title_duplicate").sum() > 20


def test_rows_are_written_as_those_in_memory_are(whole: wa.Audit, kept: wa.Audit, tmp_path: Path) -> None:
    for name, audit in (("kept", kept), ("whole", whole)):
        audit.raw.to_csv(tmp_path / f"{name}.csv")
        assert audit.to_excel(tmp_path / f"{name}.xlsx").exists()
    same(pd.read_csv(tmp_path / "kept.csv"), pd.read_csv(tmp_path / "whole.csv"))
    assert arrow_table(kept.raw.drop(columns=["elapsed", "fetched_at"])).equals(
        arrow_table(whole.raw.drop(columns=["elapsed", "fetched_at"]))
    )
    some = kept.raw["title"].where(kept.raw["wordCount"] > 0)
    assert cells(some) == cells(whole.raw["title"].where(whole.raw["wordCount"] > 0))
    assert kept.raw["title"].where(kept.raw["wordCount"] < 0, "none").tolist() == ["none"] * len(kept)


def test_a_comparison_and_a_report_need_no_memory(whole: wa.Audit, kept: wa.Audit, tmp_path: Path) -> None:
    changed = pages()
    changed.loc["row 2", "html"] = html(2).replace("Lamps 2", "Lanterns")
    later = wa.audit(changed, progress=False, store=tmp_path / "later")
    in_memory = wa.compare(whole, wa.audit(changed, progress=False))
    both = wa.compare(kept, later)
    same(both.changes, in_memory.changes)
    same(both.pages, in_memory.pages)
    same(both.summary(), in_memory.summary())
    same(both.issues, in_memory.issues)
    assert both.report(tmp_path / "report.html").stat().st_size > 10_000


@pytest.fixture
def site() -> Iterator[SiteServer]:
    pages: dict[str, Any] = {f"/{number}": html(number).encode() for number in range(40)}
    with SiteServer({**pages, "/late": [Reply(404), html(9).encode()]}) as server:
        yield server


def fetched(site: SiteServer, count: int, folder: Path, **options: Any) -> wa.Audit:
    urls = [f"{site.url}/{number}" for number in range(count)]
    return wa.audit(urls, store=folder, allow_private=True, robots=False, progress=False, **options)


def test_the_same_folder_goes_on(site: SiteServer, folder: Path) -> None:
    assert len(fetched(site, 10, folder)) == 10
    before = len(site.requests)
    again = fetched(site, 15, folder)
    assert len(site.requests) - before == 5
    assert again.raw["title"].tolist() == [f"Page {number % 7} of lamps" for number in range(15)]


def test_what_failed_is_asked_again_when_that_is_wanted(site: SiteServer, folder: Path) -> None:
    urls = [f"{site.url}/{name}" for name in ("1", "late", "2")]
    options: dict[str, Any] = {"store": folder, "allow_private": True, "robots": False, "progress": False}
    assert wa.audit(urls, **options).raw["status"].tolist() == ["ok", "error", "ok"]
    before = len(site.requests)
    assert wa.audit(urls, **options).raw["status"].tolist() == ["ok", "error", "ok"]
    assert len(site.requests) == before
    assert wa.audit(urls, redo="failed", **options).raw["status"].tolist() == ["ok", "ok", "ok"]
    assert wa.load(folder).raw["title"].tolist()[1] == "Page 2 of lamps"


def test_a_cancelled_run_goes_on_with_what_it_has(site: SiteServer, folder: Path) -> None:
    async def begun() -> None:
        urls = [f"{site.url}/{number}" for number in range(40)]
        run = asyncio.create_task(
            aio.audit(urls, store=folder, allow_private=True, robots=False, progress=False, concurrency=2)
        )
        async with asyncio.timeout(BUSY_SECONDS):
            while len(site.requests) < 20:  # noqa: ASYNC110 - of another thread
                await asyncio.sleep(0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(begun())
    part = wa.last_partial()
    assert part is not None
    assert 0 < len(part) < 40
    assert part.raw["text"].notna().all()
    kept = len(part)
    before = len(site.requests)
    audit = fetched(site, 40, folder)
    assert len(site.requests) - before == 40 - kept
    assert audit.raw["title"].tolist() == [f"Page {number % 7} of lamps" for number in range(40)]


def test_answers_that_are_in_no_part_are_in_the_log(
    site: SiteServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed writes no last part."""
    write = saving.SavingBuilder.write
    monkeypatch.setattr(
        saving.SavingBuilder, "write", lambda self, all_of_them=False: [] if all_of_them else write(self)
    )
    fetched(site, 10, folder)
    monkeypatch.setattr(saving.SavingBuilder, "write", write)
    assert parquet.read_table(min(folder.glob("rows-*"))).num_rows == 8
    before = len(site.requests)
    assert fetched(site, 10, folder).raw["title"].tolist() == [
        f"Page {number % 7} of lamps" for number in range(10)
    ]
    assert len(site.requests) == before


def test_a_run_holds_no_more_answers_than_a_part(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []
    add = saving.SavingBuilder.add

    def counting(self: saving.SavingBuilder, answer: Any) -> bool:
        held.append(sum(item is not None for item in self._answers))
        return add(self, answer)

    monkeypatch.setattr(saving.SavingBuilder, "add", counting)
    group = 64  # most answers that a backend hands over at once
    wa.audit(pages(200), progress=False, store=folder)
    assert len(held) == 200
    assert max(held) <= 8 + group


def test_a_row_is_counted_once_while_its_part_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C may come between the part and the end of its answers."""
    counted: list[tuple[int, int]] = []
    keep = saving.SavingBuilder._keep_tables

    def counting(self: saving.SavingBuilder, numbers: list[int], tables: list[Any]) -> None:
        before = self.rows_done, self.done
        keep(self, numbers, tables)
        counted.extend(zip(before, (self.rows_done, self.done), strict=True))

    monkeypatch.setattr(saving.SavingBuilder, "_keep_tables", counting)
    rows = len(wa.audit(pages(20), progress=False, store=folder))
    assert counted
    assert all(before <= after <= rows for before, after in counted), counted


def test_other_functions_keep_their_rows_too(site: SiteServer, folder: Path) -> None:
    urls = [f"{site.url}/{number}" for number in range(12)]
    options: dict[str, Any] = {"allow_private": True, "robots": False, "progress": False}
    for name in ("metadata", "text", "readability"):
        function = getattr(wa, name)
        same(function(urls, store=folder / name, **options), function(urls, **options))


RECORD = f"_25._tcp.mail.example.org. 3600 IN TLSA 3 1 1 {'ab' * 32}"
RECORDS: dict[str, Any] = {
    "phones": lambda **kept: wa.phones(["+12085813945", "+12125550123", "junk", None] * 5, **kept),
    "phones by region": lambda **kept: wa.phones(
        pd.DataFrame({"number": ["2085813945", "0301234567"], "region": ["US", "DE"]}),
        column="number",
        region="region",
        details=False,
        **kept,
    ),
    "dane": lambda **kept: wa.dane([RECORD, "no record", f"3 1 1 {'AB' * 32}"], **kept),
}


@pytest.mark.parametrize("name", RECORDS)
def test_functions_over_records_keep_their_rows_too(folder: Path, name: str) -> None:
    call = RECORDS[name]
    whole = call(progress=False)
    for kept in (call(progress=False, store=folder), call(progress=False, store=folder)):
        same(whole, kept)
        assert kept.attrs == whole.attrs
        assert any(isinstance(dtype, StoredDtype) for dtype in kept.dtypes)
    assert sum(parquet.read_table(path).num_rows for path in folder.glob("rows-*")) == len(
        set(whole.iloc[:, 0].fillna("")) if name != "dane" else whole
    ), "the second call has done nothing"


def test_a_folder_of_signatures_is_of_one_secret_and_holds_neither_it_nor_messages(folder: Path) -> None:
    wa.hmac(["a message"], secret="open sesame", store=folder, progress=False)
    with pytest.raises(ParameterError, match="`secret` had another value"):
        wa.hmac(["a"], secret="another", store=folder, progress=False)
    for path in folder.iterdir():
        assert b"open sesame" not in path.read_bytes()
        assert b"a message" not in path.read_bytes()


def test_a_run_that_goes_on_knows_the_robots_txt_of_before(folder: Path) -> None:
    closed = b"User-agent: Googlebot\nDisallow: /1\n"
    options: dict[str, Any] = {"allow_private": True, "progress": False, "store": folder}
    with SiteServer(
        {"/robots.txt": closed, "/1": b"<title>One</title>", "/2": b"<title>Two</title>"}
    ) as site:
        urls = [f"{site.url}/1", f"{site.url}/2"]
        first = wa.audit(urls, **options)
        asked = len(site.requests)
        again = wa.audit(urls, **options)
        assert len(site.requests) == asked
    for audit in (first, again, wa.load(folder)):
        blocked = audit.issues[audit.issues["rule"] == "blocked_for_googlebot"]
        assert blocked["url"].tolist() == urls[:1]


def test_what_cannot_be_kept_is_refused_before_any_work(folder: Path, tmp_path: Path) -> None:
    for wrong in (5, "s3://bucket/folder"):
        with pytest.raises(ParameterError) as caught:
            wa.audit(pages(5), store=wrong)  # type: ignore[arg-type]
        assert caught.value.parameter == "store"
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "x.txt").write_text("x")
    with pytest.raises(ParameterError, match="The `store` parameter must be a folder that is empty"):
        wa.audit(pages(5), progress=False, store=tmp_path / "notes")


def test_a_folder_of_another_call_is_refused(own: wa.Audit, folder: Path) -> None:
    with pytest.raises(ParameterError, match="`store`"):
        wa.metadata(pages(5), progress=False, store=folder)


def test_a_run_that_has_not_ended_is_not_loaded(own: wa.Audit, folder: Path) -> None:
    (folder / "audit.json").unlink()
    with pytest.raises(ParameterError, match="goes on with the same call and `store`"):
        wa.load(folder)


def test_a_part_that_was_changed_is_refused_and_never_believed(own: wa.Audit, folder: Path) -> None:
    part = sorted(folder.glob("rows-*"))[1]
    table = parquet.read_table(part)
    for wrong in (table.slice(0, 3), table.drop_columns(["title"]), table.replace_schema_metadata({})):
        parquet.write_table(wrong, part)
        with pytest.raises(ParameterError, match="folder"):
            list(wa.load(folder).raw["title"])
    part.write_bytes(b"PAR1")
    with pytest.raises(ParameterError, match="folder"):
        wa.load(folder)
    with pytest.raises(ParameterError, match=rf"unchanged, unlike {part.name} in .*: take that part away"):
        list(own.raw["text"])


def test_the_digest_of_an_input_is_kept_and_not_the_input(own: wa.Audit, folder: Path) -> None:
    table = parquet.read_table(min(folder.glob("rows-*")), columns=["input_digest"])
    assert all(len(key) == len(digest("x")) for key in table.column(0).to_pylist())
