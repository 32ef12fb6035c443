"""Options: defaults, checks, blocks, and one record for each keyword argument."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from typing import Any, get_type_hints

import pytest

import webanalytics as wa
from tests.fresh import printed
from webanalytics import sync
from webanalytics.core.option_types import RunOptions
from webanalytics.core.run_options import FUNCTIONS, RECORDS, resolve
from webanalytics.runs.boundary import kind_of_options


def test_every_option_has_a_typed_keyword_argument() -> None:
    hints = get_type_hints(RunOptions)
    assert set(hints) == set(RECORDS)
    for key in ("concurrency", "delay", "robots", "user_agent", "workers", "progress"):
        record = RECORDS[key]
        assert hints[key] == (record.kind | None if record.none else record.kind), key


def test_the_functions_of_each_kind_are_all_that_there_are() -> None:
    found = {
        name: kind_of_options(function) for name, function in inspect.getmembers(sync, inspect.isroutine)
    }
    made = {name: kind for name, kind in found.items() if kind and name in sync.__all__}
    assert made == {name: kind for kind, names in FUNCTIONS.items() for name in names}


def awaiting(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs a coroutine function."""
    return lambda *args, **kwargs: asyncio.run(function(*args, **kwargs))


@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("key", list(RECORDS))
def test_functions_take_only_options_that_do_something_for_them(key: str, blocking: bool) -> None:
    record = RECORDS[key]
    for kind, names in FUNCTIONS.items():
        for name in names:
            if kind in record.serves or key in inspect.signature(getattr(wa, name)).parameters:
                continue
            call = getattr(wa, name) if blocking else awaiting(getattr(wa.aio, name))
            with pytest.raises(wa.ParameterError, match=f"left out of `{name}`; it is for ") as caught:
                call([], **{key: record.default})
            assert caught.value.parameter == key
            takers = set(str(caught.value).rstrip(".").partition(" it is for ")[2].split(", "))
            served = {other for taken in record.serves for other in FUNCTIONS[taken]}
            assert takers == (served or {f"`webanalytics.options.{key}`", "which is set for a session"})


def test_hmac_is_not_given_what_pages_are_given() -> None:
    with pytest.raises(wa.ParameterError, match="`robots` parameter must be left out of `hmac`"):
        wa.hmac(["a"], secret="k", robots=False)
    with wa.option_context(robots=False):
        assert wa.hmac(["a"], secret="k")["status"].tolist() == ["ok"]


@pytest.mark.parametrize("name", ["max_bytes", "retry", "save_pages", "checkpoint"])
def test_former_names_do_not_exist(name: str) -> None:
    with pytest.raises(wa.ParameterError, match=f"`{name}` parameter does not exist"):
        wa.metadata([], **{name: 1})


@pytest.mark.parametrize("key", list(RECORDS))
def test_default_is_allowed_and_explained(key: str) -> None:
    record = RECORDS[key]
    assert record.check(record.default) == record.default
    assert record.meaning.endswith(".")


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("concurrency", 0, "The `concurrency` parameter must be an integer from 1 to 1000."),
        ("concurrency", 2.5, "The `concurrency` parameter must be an integer from 1 to 1000."),
        ("concurrency", True, "The `concurrency` parameter must be an integer from 1 to 1000."),
        ("timeout", -1, "The `timeout` parameter must be a number of seconds from 0.001 to 3600."),
        ("timeout", float("nan"), "The `timeout` parameter must be a number of seconds from 0.001 to 3600."),
        ("robots", 1, "The `robots` parameter must be True or False."),
        (
            "workers",
            "two",
            "The `workers` parameter must be an integer from 1 to 256, or None for one per processor.",
        ),
        (
            "user_agent",
            "a\r\nb: c",
            "The `user_agent` parameter must be a line of printable ASCII characters.",
        ),
    ],
)
def test_wrong_value_raises_before_any_work(key: str, value: object, sentence: str) -> None:
    with pytest.raises(wa.ParameterError) as caught:
        wa.metadata([], **{key: value})
    assert str(caught.value) == sentence


def test_unknown_option_lists_the_known_ones() -> None:
    with pytest.raises(wa.ParameterError, match=r"`nonsense` parameter does not exist.*retries"):
        wa.text([], nonsense=3)
    with pytest.raises(
        wa.ParameterError, match=r"`retrys` parameter does not exist; did you mean `retries`\?$"
    ):
        wa.text([], retrys=3)


def test_a_block_ends() -> None:
    before = wa.options.concurrency
    with wa.option_context(concurrency=3):
        with wa.option_context(delay=1.5):
            assert (wa.options.concurrency, wa.options.delay) == (3, 1.5)
        assert (wa.options.concurrency, wa.options.delay) == (3, 0.0)
    assert wa.options.concurrency == before


def test_a_block_is_its_own_threads() -> None:
    seen = []
    with wa.option_context(retries=9):
        thread = threading.Thread(target=lambda: seen.append(wa.options.retries))
        thread.start()
        thread.join()
    assert seen == [RECORDS["retries"].default]


def test_the_call_wins_over_the_session() -> None:
    wa.options.per_host = 5
    try:
        assert resolve({})["per_host"] == 5
        assert resolve({"per_host": 2})["per_host"] == 2
    finally:
        wa.options.per_host = RECORDS["per_host"].default


def test_a_wrong_session_value_changes_nothing() -> None:
    with pytest.raises(wa.ParameterError):
        wa.options.per_host = 0
    with pytest.raises(wa.ParameterError):
        wa.options.perhost = 3
    assert wa.options.per_host == RECORDS["per_host"].default


def test_options_print_with_their_meaning() -> None:
    lines = repr(wa.options).splitlines()
    assert len(lines) == len(RECORDS)
    assert any(line.startswith("robots") and "robots.txt" in line for line in lines)


def test_the_options_stay_an_object_when_modules_are_imported() -> None:
    code = "import webanalytics as wa; wa.hmac(['a'], secret='k'); wa.options.delay = 2.0; print(wa.options.delay)"
    assert printed(code) == "2.0\n"
