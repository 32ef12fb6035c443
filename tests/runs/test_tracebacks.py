"""A wrong call is shown at the caller's line, and says what was meant."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import webanalytics as wa
from tests.core.operations.toys import SHOUT
from webanalytics.core.run_options import RECORDS
from webanalytics.core.strings import did_you_mean
from webanalytics.operations import OPERATIONS, register

MOST_LINES = 12
PAGES = pd.Series(["https://a.example/"])
FRAME = pd.DataFrame({"url": ["https://a.example/"], "note": ["x"]})

CALLS: dict[str, Callable[[], Any]] = {
    "audit": lambda: wa.audit(PAGES, concurency=3),
    "audit of nothing": lambda: wa.audit(),
    "metadata": lambda: wa.metadata(PAGES, timeout="5"),
    "text": lambda: wa.text(PAGES, format="html"),
    "readability": lambda: wa.readability(),
    "keywords": lambda: wa.keywords(PAGES, ngram=2),
    "hmac": lambda: wa.hmac(["x"], secret="k", algorithm="sha3"),
    "hmac without secret": lambda: wa.hmac(["x"]),
    "dane": lambda: wa.dane(["x"], certificates="no such file"),
    "convert": lambda: wa.convert(["x"], "bmp"),
    "phones": lambda: wa.phones(["x"], region="Sweden"),
    "sitemap": lambda: wa.sitemap(5),
    "inputs": lambda: wa.metadata(5),
    "column": lambda: wa.metadata(FRAME, column="ulr"),
    "series": lambda: PAGES.web.metadata(timout=3),
    "frame": lambda: FRAME.web.audit(profile="strikt"),
    "method": lambda: PAGES.web.metdata(),
    "chart": lambda: FRAME.web.plot.redability(),
    "module": lambda: wa.metdata,
    "charts": lambda: wa.charts.readabilty,
    "widgets": lambda: wa.widgets.exlore,
    "aio": lambda: wa.aio.metdata,
    "option": lambda: wa.options.concurency,
    "new option": lambda: setattr(wa.options, "concurency", 3),
}


def shown(call: Callable[[], Any]) -> list[str]:
    """Return the lines of the traceback of a call, as a script prints it."""
    try:
        call()
    except Exception:
        return traceback.format_exc().splitlines()
    raise AssertionError("the call was right")


@pytest.mark.parametrize("name", CALLS)
def test_a_traceback_shows_the_caller_and_little_else(name: str) -> None:
    lines = shown(CALLS[name])
    assert len(lines) <= MOST_LINES + 3, "\n".join(lines)  # of which one frame more is this file's
    text = "\n".join(lines)
    assert "asyncio" not in text
    assert "During handling" not in text
    assert "direct cause" not in text


@pytest.mark.parametrize("function", ["audit", "keywords", "hmac", "readability"])
def test_a_wrong_call_takes_at_most_twelve_lines(function: str) -> None:
    try:
        getattr(wa, function)(["https://a.example/"], concurency=3)
    except wa.ParameterError:
        lines = traceback.format_exc().splitlines()
    assert len(lines) <= MOST_LINES
    assert lines[-1].endswith("The `concurency` parameter does not exist; did you mean `concurrency`?")
    assert sum(line.lstrip().startswith("File") for line in lines) == 2


def test_asynchronous_calls_too() -> None:
    async def main() -> list[str]:
        try:
            await wa.aio.audit(PAGES, timeout="5")
        except wa.ParameterError:
            return traceback.format_exc().splitlines()
        raise AssertionError

    lines = asyncio.run(main())
    assert len(lines) <= MOST_LINES
    assert sum(line.lstrip().startswith("File") for line in lines) == 2


def test_functions_of_operations_registered_later_too() -> None:
    with register(SHOUT):
        lines = shown(lambda: wa.shouts(["x"], concurency=3))
    assert sum(line.lstrip().startswith("File") for line in lines) == 3  # two of them are this file's


def test_debugging_keeps_the_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBANALYTICS_TRACEBACK", "full")
    lines = shown(lambda: wa.metadata(PAGES, timeout="5"))
    assert len(lines) > 20
    assert any("run_options.py" in line for line in lines)


def test_no_secret_is_in_a_traceback_with_variables() -> None:
    async def main() -> None:
        await wa.aio.hmac(["a"], secret="hunter" + "2", algorithm="sha3")

    for call in (
        lambda: asyncio.run(main()),
        lambda: pd.Series(["a"]).web.hmac(secret="hunter" + "2", algorithm="sha3"),
    ):
        try:
            call()
        except wa.ParameterError as error:
            told = traceback.TracebackException.from_exception(error, capture_locals=True)
        assert not any("hunter2" in str(frame.locals) for frame in told.stack)


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda: wa.metadata(PAGES, timout=3), "timeout"),
        (lambda: wa.keywords(PAGES, ngram=2), "ngrams"),
        (lambda: wa.keywords(PAGES, stopwords="en"), "stop_words"),
        (lambda: wa.keywords(text="x"), "texts"),
        (lambda: wa.hmac(["x"], secrt="k"), "secret"),
        (lambda: wa.metadata(FRAME, column="URL"), "url"),
        (lambda: wa.metdata, "metadata"),
        (lambda: wa.Audt, "Audit"),
        (lambda: wa.charts.keyword_heatmp, "keyword_heatmap"),
        (lambda: PAGES.web.keyword, "keywords"),
        (lambda: FRAME.web.plot.keywrds, "keywords"),
        (lambda: wa.aio.phone_numbers_or_phones, None),
        (lambda: wa.options.user_agnet, "user_agent"),
        (lambda: wa.option_context(perhost=3).__enter__(), "per_host"),
        (lambda: wa.audit([], profile="strikt"), "strict"),
        (lambda: wa.audit([], thresholds={"title_to_long": 1}), "title_too_long"),
        (lambda: wa.phones(pd.DataFrame({"phone": [], "country": []}), region="contry"), "country"),
    ],
)
def test_what_was_meant_is_named(call: Callable[[], Any], meant: str | None) -> None:
    with pytest.raises((wa.ParameterError, AttributeError)) as caught:
        call()
    text = str(caught.value)
    assert text.endswith(f"; did you mean `{meant}`?") if meant else "did you mean" not in text


def test_far_names_get_the_list() -> None:
    with pytest.raises(
        wa.ParameterError, match="the options are: accept_language, access, allow_private, archive"
    ):
        wa.metadata([], nonsense=1)


def test_private_names_are_never_guessed_at() -> None:
    assert not hasattr(wa, "__wrapped__")
    with pytest.raises(AttributeError) as caught:
        _ = wa._metadata
    assert "did you mean" not in str(caught.value)


@given(st.sampled_from([*RECORDS, *OPERATIONS]), st.data())
def test_a_name_with_one_letter_left_out_is_found(name: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(name) - 1))
    typed = name[:at] + name[at + 1 :]
    others = [*RECORDS, *OPERATIONS]
    if typed not in others and len(typed) > 3:
        assert did_you_mean(typed, [name]) == f"; did you mean `{name}`?"
    assert did_you_mean(typed.upper(), [name]) == did_you_mean(typed, [name])


@given(st.text(max_size=30), st.lists(st.text(max_size=10), max_size=5))
def test_any_name_gets_nothing_or_a_known_one(name: str, known: list[str]) -> None:
    hint = did_you_mean(name, known)
    assert hint == "" or hint.removeprefix("; did you mean `").removesuffix("`?") in known


@pytest.mark.parametrize("call", [wa.hmac, lambda *args, **kwargs: asyncio.run(wa.aio.hmac(*args, **kwargs))])
def test_a_secret_of_a_wrong_kind_is_in_no_frame_of_the_error(call: Callable[..., Any]) -> None:
    with pytest.raises(wa.ParameterError) as caught:
        call(["x"], secret=["correct horse"])
    ours = [
        frame.f_locals
        for frame, _ in traceback.walk_tb(caught.value.__traceback__)
        if frame.f_code.co_name in ("__init__", "_key_bytes")
    ]
    assert ours == []
    assert "correct horse" not in str(caught.value)


@pytest.mark.parametrize("name", ["auth", "cookies", "headers"])
def test_what_opens_a_host_is_named_by_what_people_try(name: str) -> None:
    with pytest.raises(wa.ParameterError, match=f"`{name}` parameter does not exist: `access` has those"):
        wa.audit(["https://a.example/"], **{name: {"a": "b"}})  # type: ignore[arg-type]
