"""What a judged audit in a folder keeps in memory: nothing that can be read again, and no texts of evidence."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import webanalytics as wa
from tests.audits.test_stored import cells, pages, same
from webanalytics.audits import site
from webanalytics.runs.frames.schema import PANDAS_3
from webanalytics.runs.storage.lazy_columns import HELD


@pytest.fixture(scope="module")
def whole() -> wa.Audit:
    return wa.audit(pages(), progress=False)


@pytest.fixture
def kept(tmp_path: Path) -> wa.Audit:
    return wa.audit(pages(), progress=False, store=tmp_path / "audit")


def test_what_the_rules_have_read_is_let_go(whole: wa.Audit, kept: wa.Audit) -> None:
    assert kept.site.inlinks is not None
    assert len(kept.issues) == len(whole.issues)
    assert not vars(kept.site).keys() & site._READ_AGAIN
    held = set(kept.site._values) | set(kept.site._stored._lists)
    assert all(str(kept.site.pages[name].dtype).lower() in {*HELD, "str", "int64"} for name in held)
    assert len(whole.site._values) > 50, "one in memory keeps its lists"


def test_what_is_asked_for_afterwards_is_read_again(whole: wa.Audit, kept: wa.Audit) -> None:
    assert len(kept.issues) == len(whole.issues)
    assert kept.site.inlinks == whole.site.inlinks
    assert kept.site.row_of == whole.site.row_of
    same(kept.pages, whole.pages)
    same(kept.links, whole.links)
    assert kept.score == whole.score


@pytest.mark.skipif(not PANDAS_3, reason="before pandas 3 a column of texts is one of objects")
def test_the_evidence_is_an_ordinary_column_of_a_file(
    whole: wa.Audit, kept: wa.Audit, tmp_path: Path
) -> None:
    before = pa.total_allocated_bytes()
    issues = wa.load(kept.save(tmp_path / "copy")).issues
    assert issues["evidence"].dtype == whole.issues["evidence"].dtype
    assert pa.total_allocated_bytes() - before < whole.issues["evidence"].str.len().sum()
    assert cells(issues["evidence"]) == cells(whole.issues["evidence"])
    assert pa.Table.from_pandas(issues)["evidence"].to_pylist() == whole.issues["evidence"].tolist()


def addresses(issues: pd.DataFrame) -> list[int]:
    """Return where in memory the bytes of the evidence are."""
    column = pa.chunked_array(pa.array(issues["evidence"]))
    return [chunk.buffers()[2].address for chunk in column.chunks]


@pytest.mark.skipif(not PANDAS_3, reason="before pandas 3 a column of texts is one of objects")
def test_a_comparison_shows_the_evidence_where_it_is(tmp_path: Path) -> None:
    first, second = (
        wa.audit(pages(count).drop_duplicates("url"), progress=False, store=tmp_path / str(count))
        for count in (30, 20)
    )
    made = wa.compare(first, second)
    assert (made.issues["change"] == "removed").any()
    assert addresses(made.issues)[0] == addresses(second.issues)[0]
