"""Texts in place of pages."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import webanalytics as wa
from tests.runs.hosted.running import equal
from webanalytics.core.outcomes import TextRecord, digest
from webanalytics.operations import KEYWORDS, READABILITY
from webanalytics.page.page import Page
from webanalytics.page.readability.readability import score
from webanalytics.page.visible_text import given_text
from webanalytics.runs.frames.inputs import SHOWN, pages_or_texts, read_texts

ENGLISH = "The cat sat on the mat. The dog ran to the door. " * 8
GERMAN = "Der Hund schläft im Garten, und die Katze liegt den ganzen Tag auf dem Sofa. " * 8


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **more: object) -> None:
        raise AssertionError("something was looked up")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.usefixtures("offline")
def test_each_text_is_a_row_with_its_index() -> None:
    texts = pd.Series([ENGLISH, None, GERMAN, 5, ENGLISH], index=list("abcde"))
    frame = wa.readability(texts=texts)
    assert frame.index.tolist() == list("abcde")
    assert frame["status"].tolist() == ["ok", "error", "ok", "error", "ok"]
    assert frame.columns[0] == "text"
    assert not {"url", "final_url", "http_status", "bytes", "elapsed", "redirects"} & set(frame)
    assert frame.loc["b", "error"] == "The `text` parameter is required."
    assert frame.loc["d", "error"].startswith("The `text` parameter must be a string")
    english = score(ENGLISH, "en")
    assert frame.loc["a", "fleschReadingEase"] == english["fleschReadingEase"]
    assert frame.loc["a", "wordCount"] == english["wordCount"] == 96
    assert frame.loc["c", "fleschReadingEase"] == score(GERMAN, "de")["fleschReadingEase"]
    equal(frame.loc[["a"]].reset_index(drop=True), frame.loc[["e"]].reset_index(drop=True))


def test_keywords_of_texts_are_tidy_and_do_not_repeat_the_texts() -> None:
    long = "Lantern keepers polish lanterns. " * 2_000
    frame = wa.keywords(texts={"long": long, "empty": "", "short": "green tea, green leaves"}, top=2)
    assert frame.index.tolist() == ["long", "long", "empty", "short", "short"]
    assert frame.columns[:2].tolist() == ["text", "keyword"]
    assert set(frame.loc["long", "keyword"]) == {"lantern", "keepers"}
    assert frame.loc["long", "frequency"].tolist() == [2_000, 2_000]
    assert frame["text"].str.len().max() == SHOWN
    assert frame.loc["empty", "keyword"] == ""
    assert frame.loc["short", "text"].tolist() == ["green tea, green leaves"] * 2
    assert memory(frame) < len(long)


def memory(frame: pd.DataFrame) -> int:
    return int(frame.memory_usage(deep=True).sum())


@pytest.mark.parametrize(
    "texts",
    [
        ENGLISH,
        [ENGLISH],
        pd.Series([ENGLISH]),
        pd.DataFrame({"text": [ENGLISH], "note": ["x"]}),
        pd.DataFrame({"body": [ENGLISH]}),
        iter([ENGLISH]),
        {0: ENGLISH},
    ],
    ids=["text", "list", "series", "frame", "one column", "iterator", "dict"],
)
def test_every_kind_of_input(texts: object) -> None:
    assert wa.readability(texts=texts)["wordCount"].tolist() == [96]


def test_a_column_may_be_named() -> None:
    frame = pd.DataFrame({"body": [ENGLISH], "note": ["x"]})
    assert wa.readability(texts=frame, column="body")["wordCount"].tolist() == [96]
    with pytest.raises(wa.ParameterError, match=r"`column`.*`body`, `note`"):
        wa.readability(texts=frame)


def test_the_main_text_of_pages_gives_what_the_pages_give() -> None:
    html = "<html lang=en><h1>Tides</h1><p>" + "The sea rises and falls twice a day. " * 9 + "</p></html>"
    pages = pd.DataFrame({"url": ["https://sea.example/"], "html": [html]})
    shared = [item.column_name for item in READABILITY.columns if item.name != "url"]
    equal(wa.readability(texts=wa.text(pages))[shared], wa.readability(pages)[shared])


def test_the_language_can_be_named() -> None:
    both = "Chat, table, porte et train."  # too short, and alike in several languages
    assert wa.readability(texts=both, language="fr").loc[0, "fleschReadingEase"] == pytest.approx(
        score(given_text(both), "fr")["fleschReadingEase"]
    )
    assert wa.keywords(texts="Und der Hund", language="de", min_length=3)["keyword"].tolist() == ["hund"]


def test_charts_name_texts_by_their_labels() -> None:
    texts = {"cats": ENGLISH, "offices": "Considerable deliberation characterises administrative work. " * 8}
    axes = wa.charts.readability(wa.readability(texts=texts))
    assert {label.get_text() for label in axes.get_yticklabels()} >= {"cats", "offices"}
    words = wa.keywords(texts=list(texts.values()))
    assert wa.charts.keywords(words).patches
    assert wa.charts.keyword_heatmap(words).figure is not None


def test_asynchronous_functions_take_texts() -> None:
    frame = asyncio.run(wa.aio.readability(texts=[ENGLISH]))
    assert frame["wordCount"].tolist() == [96]


def test_bytes_that_were_no_text_when_a_file_was_read_do_not_end_its_analysis() -> None:
    damaged = f"{ENGLISH} \udcfc {ENGLISH}"  # as open(..., errors="surrogateescape") reads them (PEP 383)
    mended = damaged.replace("\udcfc", "\ufffd")  # what the Encoding standard puts in their place
    for function in (wa.readability, wa.keywords):
        got, wanted = function(texts=[damaged]), function(texts=[mended])
        assert got["status"].eq("ok").all()
        pd.testing.assert_frame_equal(
            got.drop(columns="text"), wanted.drop(columns="text"), check_flags=False
        )


@pytest.mark.parametrize("function", [wa.readability, wa.keywords])
@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "The `urls` parameter is required where no `texts` are given."),
        (
            {"urls": "https://a.example/", "texts": "x"},
            "The `urls` parameter must be left out where `texts` are given.",
        ),
        (
            {"urls": "https://a.example/", "language": "en"},
            "The `language` parameter must be left out unless `texts` are given.",
        ),
        (
            {"texts": "x", "language": "english"},
            "The `language` parameter must be a code of ISO 639-1, such as en.",
        ),
        ({"texts": [1, 2]}, "The `texts` parameter must hold texts, not int."),
        ({"texts": [b"x"]}, "The `texts` parameter must hold texts, not bytes."),
        ({"texts": [["x"]]}, "The `texts` parameter must hold texts, not list."),
    ],
)
@pytest.mark.usefixtures("offline")
def test_a_wrong_call_names_its_parameter(function, given: dict[str, object], sentence: str) -> None:
    with pytest.raises(wa.ParameterError) as caught:
        function(**given)
    assert str(caught.value) == sentence


def test_a_hosted_readability_takes_no_texts() -> None:
    backend = wa.Hosted("http://127.0.0.1:1", "22bce1bb-4929-4c08-a13f-6061b2c16adc")
    with pytest.raises(wa.ParameterError, match="`texts` parameter must be left out with a hosted backend"):
        wa.readability(texts="x", backend=backend)
    with pytest.raises(wa.ParameterError, match="`language` parameter must be left out with a hosted"):
        wa.keywords(texts="x", language="en", backend=backend)


def test_the_accessors_leave_texts_to_the_functions() -> None:
    with pytest.raises(wa.ParameterError, match="`texts` parameter must be left out"):
        pd.Series([ENGLISH]).web.readability(texts=[ENGLISH])


def test_a_text_above_the_limit_is_a_row() -> None:
    frame = wa.readability(texts=[ENGLISH, "é" * 2_000], max_download=3_000)
    assert frame["error_type"].tolist()[1] == "too_large"
    assert "3000 bytes; `max_download=`" in frame["error"].tolist()[1]
    assert frame["status"].tolist()[0] == "ok"


def test_a_text_that_takes_too_long_costs_its_own_row() -> None:
    slow = " ".join(f"{number}wörter" for number in range(700_000))
    row = wa.readability(texts=[slow], parse_timeout=0.1).iloc[0]
    assert row["error_type"] == "timeout"
    assert row["error"].endswith("`parse_timeout=` sets how long to wait.")


def test_markup_in_a_text_is_text() -> None:
    frame = wa.keywords(texts="<script>alpha</script> <p hidden>beta</p> &lt;gamma&gt;")
    assert {"script", "alpha", "hidden", "beta", "gamma"} <= set(frame["keyword"])
    places = wa.keywords(texts="<title>alpha</title> <h1>alpha</h1>")[["in_title", "in_h1", "in_description"]]
    assert places.isna().all(axis=None), "a text has no title that could be known"


@pytest.mark.parametrize("text", ["", " \n", "\u200b", "12345"])
def test_a_text_without_a_word_is_a_row_like_any_other(text: str) -> None:
    frames = [wa.keywords(texts=[text], source=source) for source in ("main", "page")]
    assert [frame.loc[0, "status"] for frame in (*frames, wa.readability(texts=[text]))] == ["ok"] * 3
    assert [frame.loc[0, "frequency"] for frame in frames] == [0, 0]
    assert len({frame.loc[0, "note"] for frame in frames}) == 1


def test_a_checkpoint_keeps_texts_apart(tmp_path: Path) -> None:
    first = wa.readability(texts=[ENGLISH, GERMAN], store=tmp_path / "c")
    again = wa.readability(texts=[ENGLISH, GERMAN], store=tmp_path / "c")
    equal(first, again)
    assert digest(TextRecord("a")) != digest(TextRecord("a", "en")) != digest("a")


def test_the_frame_of_an_interrupted_run_is_one_of_texts() -> None:
    # what `collect` finishes is also what an interrupt keeps
    empty = wa.keywords(texts=[])
    assert empty.columns[0] == "text"
    assert len(empty) == 0


@given(st.text(max_size=300))
def test_a_text_is_one_line_per_block(text: str) -> None:
    page = Page(text, is_text=True)
    assert page.lang == ""
    lines = page.visible_text.split("\n")
    assert all(line == " ".join(line.split()) for line in lines)
    assert all(lines) or lines == [""]


@given(st.lists(st.one_of(st.text(max_size=200), st.none()), max_size=8))
def test_rows_and_jobs_agree_with_the_texts(texts: list[str | None]) -> None:
    rows = read_texts(pages_or_texts(None, texts, None))
    assert [rows.jobs[number].subject.text for number in rows.numbers] == texts
    assert len(rows.jobs) == len(set(texts))
    assert all(label is None or len(label) <= SHOWN for label in rows.labels)


def test_the_declarations_say_which_operations_take_texts() -> None:
    assert KEYWORDS.alternative is not None
    assert not KEYWORDS.alternative.local
    assert KEYWORDS.alternative.longest == 50_000
    assert READABILITY.alternative is not None
    assert READABILITY.alternative.local
