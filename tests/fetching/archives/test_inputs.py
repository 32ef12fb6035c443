"""Archives as inputs: names of files, patterns, tables, checkpoints, and what must be installed."""

from __future__ import annotations

import sys
import tracemalloc
from pathlib import Path

import pandas as pd
import pytest
import zstandard

import webanalytics as wa
from tests.fetching.archives.files import page, record, response, title, write
from tests.fetching.archives.reading import told
from tests.runs.hosted.running import equal
from webanalytics.errors import MissingExtraError
from webanalytics.fetching.archives.sources import pages as read

BODY = title("Tea")


def test_patterns_lists_and_names_that_look_like_patterns(tmp_path: Path) -> None:
    for name in ("b", "a", "[x]"):
        write(tmp_path / f"{name}.warc.gz", page(name.strip("[]")))
    assert [name for name, _ in told(str(tmp_path / "*.warc.gz"))] == ["x", "a", "b"]
    assert [name for name, _ in told(str(tmp_path / "[x].warc.gz"))] == ["x"]
    several = [tmp_path / "b.warc.gz", str(tmp_path / "?.warc.gz")]
    assert [name for name, _ in told(several)] == ["b", "a"]  # type: ignore[arg-type]
    assert wa.metadata(several)["title"].tolist() == ["b", "a"]
    with pytest.raises(wa.ParameterError, match=r"`urls` parameter must be a pattern .* no file fits"):
        wa.metadata(str(tmp_path / "none-*.warc.gz"))
    with pytest.raises(wa.ParameterError, match="`source` parameter must be an archive"):
        read("https://a.example/")
    with pytest.raises(wa.ParameterError, match="`duplicates` parameter must be one of"):
        read(str(tmp_path / "*.warc.gz"), duplicates="first")  # type: ignore[arg-type]


def test_archives_among_addresses_and_saved_pages(tmp_path: Path) -> None:
    saved = tmp_path / "page.html"
    saved.write_bytes(title("Saved"))
    archive = write(tmp_path / "a.warc", page("a"), page("b"))
    frame = wa.metadata([str(saved), archive, "nowhere"])
    assert frame["title"].tolist()[:3] == ["Saved", "a", "b"]
    assert frame["error_type"].tolist()[3] == "invalid"


def test_addresses_and_names_of_an_archive_are_data(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>"
    file = write(
        tmp_path / "a.warc",
        response(
            f"https://a.example/{name}", title("X"), "Content-Disposition: attachment; filename=../../x"
        ),
        record("warcinfo", b"", WARC_Filename="../../../etc/passwd"),
    )
    audit = wa.audit(file)
    report = audit.report(tmp_path / "report.html")
    assert "<script>alert(1)" not in Path(report).read_text("utf-8")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["a.warc", "report.html"]


def test_a_row_of_a_table_is_one_page(tmp_path: Path) -> None:
    file = write(tmp_path / "a.warc", page("a"), page("b"))
    frame = wa.metadata(pd.DataFrame({"url": ["no address", file]}))
    assert len(frame) == 2


def test_archives_and_sitemaps_are_audited_apart(tmp_path: Path) -> None:
    file = write(tmp_path / "a.warc", page("a"))
    with pytest.raises(
        wa.ParameterError, match="`urls` parameter must be addresses where a `sitemap` is given"
    ):
        wa.audit(file, sitemap="https://a.example/sitemap.xml")


def test_pages_of_an_archive_are_kept_in_a_checkpoint(tmp_path: Path) -> None:
    file = write(tmp_path / "a.warc.gz", page("a"), page("b"))
    first = wa.metadata(file, store=tmp_path / "kept")
    with Path(file).open("r+b") as content:  # nothing of it is read again but its heads
        again = wa.metadata(file, store=tmp_path / "kept")
        assert content.read(2) == b"\x1f\x8b"
    equal(first, again)


def test_a_page_at_a_time_is_in_memory(tmp_path: Path) -> None:
    file = write(tmp_path / "a.warc.gz", *(page(str(number), "tea " * 50_000) for number in range(150)))
    tracemalloc.start()
    try:
        assert sum(len(entry.html or "") for entry in read(file)) > 50_000_000
        assert tracemalloc.get_traced_memory()[1] < 12_000_000
    finally:
        tracemalloc.stop()


def test_what_is_not_installed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = response(
        "https://a.example/x", zstandard.compress(BODY), "Content-Type: text/html", "Content-Encoding: zstd"
    )
    file = write(tmp_path / "a.warc", encoded)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    assert told(file) == [("x", "http")]
    monkeypatch.setitem(sys.modules, "warcio.recordloader", None)
    for call in (read, wa.metadata):
        with pytest.raises(MissingExtraError, match=r'pip install "\.\[archives\]"'):
            call(file)
