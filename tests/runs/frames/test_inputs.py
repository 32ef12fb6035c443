"""Inputs of every kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.core.outcomes import UNUSABLE, PageRecord
from webanalytics.errors import ParameterError
from webanalytics.operations import CONVERT, DANE, HMAC, METADATA, PHONE
from webanalytics.runs.frames.inputs import read_inputs

A, B = "https://a.example/", "https://b.example/"


def subjects(rows):
    return [rows.jobs[number].subject for number in rows.numbers]


@pytest.mark.parametrize(
    "given",
    [
        [A, B, A],
        (A, B, A),
        iter([A, B, A]),
        (url for url in [A, B, A]),
        np.array([A, B, A]),
        pd.Series([A, B, A]),
        pd.Index([A, B, A]),
        pd.DataFrame({"url": [A, B, A]}),
        pd.DataFrame({"name": ["x", "y", "z"], "website": [A, B, A]}),
    ],
    ids=["list", "tuple", "iterator", "generator", "array", "series", "index", "frame", "found"],
)
def test_every_kind_of_list(given: object) -> None:
    rows = read_inputs(given, METADATA, "urls")
    assert subjects(rows) == [A, B, A]
    assert rows.labels == [A, B, A]
    assert len(rows.jobs) == 2, "a duplicate is one job"


def test_one_string_is_one_row() -> None:
    assert subjects(read_inputs(A, METADATA, "urls")) == [A]


def test_no_rows() -> None:
    assert read_inputs([], METADATA, "urls").labels == []
    assert read_inputs(pd.DataFrame({"url": []}), METADATA, "urls").labels == []


def test_the_index_is_kept() -> None:
    index = pd.MultiIndex.from_tuples([("x", 1), ("y", 2)], names=["site", "page"])
    rows = read_inputs(pd.DataFrame({"url": [A, B]}, index=index), METADATA, "urls")
    assert rows.index.equals(index)
    assert read_inputs(pd.Series([A, B], index=[7, 7]), METADATA, "urls").index.tolist() == [7, 7]


@pytest.mark.parametrize("wrong", [3.5, {"a": 1}, b"http://a.example/", True])
def test_what_cannot_be_a_url_is_told_apart_from_nothing(wrong: object) -> None:
    assert subjects(read_inputs([A, wrong, None], METADATA, "urls")) == [A, UNUSABLE, None]
    with pytest.raises(ParameterError, match="`urls` parameter must hold URLs"):
        read_inputs([wrong, None], METADATA, "urls")


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT, "", "  "])
def test_what_is_no_url_is_a_row_without_subject(missing: object) -> None:
    rows = read_inputs([A, missing], METADATA, "urls")
    assert subjects(rows) == [A, None]


def test_white_space_round_a_url_is_taken_off_but_shown() -> None:
    rows = read_inputs([f"  {A}\n"], METADATA, "urls")
    assert subjects(rows) == [A]
    assert rows.labels == [f"  {A}\n"]


def test_white_space_of_a_message_is_part_of_it() -> None:
    assert subjects(read_inputs([" a ", ""], HMAC, "messages")) == [" a ", ""]


def test_two_candidates_are_listed() -> None:
    frame = pd.DataFrame({"from": [A], "to": [B], "note": ["x"]})
    with pytest.raises(ParameterError, match=r"`column`.*`from`, `to`\.$"):
        read_inputs(frame, METADATA, "urls")
    assert subjects(read_inputs(frame, METADATA, "urls", "to")) == [B]


def test_a_name_decides_where_values_do_not() -> None:
    frame = pd.DataFrame({"url": ["example.org"], "referrer": [A]})
    assert subjects(read_inputs(frame, METADATA, "urls")) == ["example.org"]


def test_a_wrong_column_lists_the_columns() -> None:
    with pytest.raises(ParameterError, match=r"`column`.*`link`; candidates are: `from`, `to`"):
        read_inputs(pd.DataFrame({"from": [A], "to": [B]}), METADATA, "urls", "link")


def test_a_column_that_stands_twice_is_refused() -> None:
    frame = pd.DataFrame([[A, B]], columns=["url", "url"])
    with pytest.raises(ParameterError, match="there once; the DataFrame has 2 called `url`"):
        read_inputs(frame, METADATA, "urls", "url")


def test_a_column_without_a_frame_is_refused() -> None:
    with pytest.raises(ParameterError, match="`column`"):
        read_inputs([A], METADATA, "urls", "url")


@pytest.mark.parametrize("wrong", [5, None])
def test_what_is_no_list_is_refused(wrong: object) -> None:
    with pytest.raises(ParameterError, match="`urls`"):
        read_inputs(wrong, METADATA, "urls")


def test_saved_pages(tmp_path: Path) -> None:
    file = tmp_path / "page, one.html"
    file.write_text("<p>x")
    frame = pd.DataFrame({"url": [A, B], "html": ["<p>a", None]})
    assert subjects(read_inputs(frame, METADATA, "urls")) == [PageRecord(A, "<p>a"), B]
    assert subjects(read_inputs([str(file), file], METADATA, "urls")) == [file, file]
    assert subjects(read_inputs([str(tmp_path / "none.html")], METADATA, "urls")) == [
        str(tmp_path / "none.html")
    ]


def test_images(tmp_path: Path) -> None:
    given = [
        b"\x89PNG",
        bytearray(b"GIF8"),
        "photo.jpg",
        "https://a.example/x.png",
        "data:image/png;base64,AA==",
    ]
    expected = [
        b"\x89PNG",
        b"GIF8",
        Path("photo.jpg"),
        "https://a.example/x.png",
        "data:image/png;base64,AA==",
    ]
    rows = read_inputs(given, CONVERT, "images")
    assert subjects(rows) == expected
    assert rows.labels[:2] == ["<4 bytes>", "<4 bytes>"]


def test_columns_of_other_operations_are_found() -> None:
    record = "_443._tcp.a.example. IN TLSA 3 1 1 00"
    frame = pd.DataFrame({"id": [1], "line": [record]})
    assert subjects(read_inputs(frame, DANE, "records")) == [record]
    frame = pd.DataFrame({"id": ["a"], "contact": ["+12085813945"]})
    assert subjects(read_inputs(frame, PHONE, "numbers")) == ["+12085813945"]
    assert subjects(read_inputs([12085813945], PHONE, "numbers")) == ["12085813945"]


def test_html_is_used_whatever_the_url_column_is_called() -> None:
    saved = [PageRecord(A, "<p>a")]
    for frame in (
        pd.DataFrame({"url": [A], "html": ["<p>a"]}),
        pd.DataFrame({"link": [A], "html": ["<p>a"], "note": ["x"]}),
    ):
        assert subjects(read_inputs(frame, METADATA, "urls")) == saved
    frame = pd.DataFrame({"x": [A], "y": [B], "html": ["<p>a"]})
    assert subjects(read_inputs(frame, METADATA, "urls", "x")) == saved
    assert subjects(read_inputs(pd.DataFrame({"html": ["<p>a"]}), METADATA, "urls")) == [
        PageRecord("", "<p>a")
    ]
    with pytest.raises(ParameterError, match="`column`"):
        read_inputs(frame, METADATA, "urls")


def test_numbers_with_a_blank_cell_stay_numbers() -> None:
    rows = read_inputs(pd.Series([2085813945.0, None]), PHONE, "numbers")
    assert subjects(rows) == ["2085813945", None]
    assert rows.labels == ["2085813945", None]


def test_levels_of_an_index_are_no_inputs() -> None:
    with pytest.raises(ParameterError, match="one level"):
        read_inputs(pd.MultiIndex.from_tuples([(A, 1)]), METADATA, "urls")


def test_no_row_shows_the_password_of_an_address() -> None:
    urls = [
        "https://ann:tea-secret@127.0.0.1:9/x",
        "HTTPS:\\\\ann:tea-secret@127.0.0.1:9",
        "https://a@tea-secret@127.0.0.1:9/",
        "https://ann:tea-secret/1@127.0.0.1:9/",  # no address: its host ends there
        "https://ann:a#1?tea-secret@127.0.0.1:9/",
    ]
    with wa.option_context(progress=False, robots=False):
        for frame in (
            wa.metadata(urls),
            wa.audit(urls).pages,
            wa.convert(urls[:1], "webp"),
            wa.sitemap(urls[0]),
        ):
            assert frame["status"].eq("error").all()
            assert "tea-secret" not in frame.to_csv()
        assert wa.hmac(urls[:1], secret="k").loc[0, "message"] == urls[0]


@pytest.mark.parametrize(
    ("final", "kept"),
    [
        ("https://ann:tea-secret@a.example/z", "https://a.example/z"),
        ("https://ann:tea-secret/1@a.example/z", "https://a.example/z"),
        *((text, text) for text in ("https://a.example:port/", "https://a.example:99999/", "https://[::1/")),
    ],
)
def test_a_saved_page_from_an_odd_address_is_judged_like_any_other(
    tmp_path: Path, final: str, kept: str
) -> None:
    html = "<title>Tea</title><p>About tea."
    audit = wa.audit(
        pd.DataFrame(
            {
                "url": ["https://a.example/", final],
                "html": html,
                "final_url": [final, None],
                "redirects": [[final], None],
            }
        )
    )
    assert audit.raw["final_url"].tolist() == [kept, kept]
    assert audit.raw["redirects"].tolist() == [[kept], []]
    assert audit.issues.attrs["webanalytics"]["rules_failed"] == []
    assert audit.score > 0
    assert audit.prune()["url"].isin(audit.raw["url"]).all()
    report = audit.report(tmp_path / "report.html").read_text("utf-8")
    assert "tea-secret" not in report + audit.pages.to_csv() + audit.issues.to_csv()
