"""Of an answer without a type, such as a foreign server's, the sentence tells the type of a failure."""

from __future__ import annotations

import string
from typing import Any

import pytest

import webanalytics
from webanalytics.core.messages import CONTENT, FETCHING, MESSAGES, SERVICE, sentence
from webanalytics.operations import OPERATIONS
from webanalytics.runs.backends.hosted.wire import failure_of

SUBJECTS = tuple(dict.fromkeys(operation.subject for operation in OPERATIONS.values()))
WORDS = ("something", "a `b`: c", "0.5")


def _values(key: str, parameter: str, word: str) -> dict[str, Any]:
    holes = [(name, form) for _, name, form, _ in string.Formatter().parse(MESSAGES[key][1]) if name]
    shown = {name: 10_000_000 if form else word for name, form in holes if name != "names"}
    return shown | ({"parameter": parameter} if "parameter" in shown else {})


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("key", [*FETCHING, *CONTENT, *SERVICE])
def test_the_sentence_tells_the_type(key: str, word: str) -> None:
    kind = MESSAGES[key][0]
    for subject in SUBJECTS:
        text = sentence(key, **_values(key, subject, word))
        for status in (400, 503):
            by_status = "invalid" if status == 400 else "service"
            assert failure_of(status, {}, text) == (key, kind or by_status), text


@pytest.mark.parametrize("key", MESSAGES)
def test_what_the_answer_names_goes_before_its_sentence(key: str) -> None:
    kind = MESSAGES[key][0]
    named = {"errorKey": key} | ({"errorType": kind} if kind else {})
    text = sentence("status", parameter="url", status=404)
    assert failure_of(503, named, text) == (key, kind or "service")


@pytest.mark.parametrize("wrong", [None, 7, "nonsense", ["dns"], {}, ""])
def test_what_is_no_type_and_no_key_is_not_taken(wrong: object) -> None:
    text = sentence("unknown_host", parameter="url")
    assert failure_of(400, {"errorType": wrong, "errorKey": wrong}, text) == ("unknown_host", "dns")
    assert failure_of(400, {"errorType": "tls", "errorKey": wrong}, text) == (None, "tls")


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda operation: operation.name)
def test_sentences_of_parameters(operation: webanalytics.operations.Operation) -> None:
    for parameter in operation.parameters:
        for text in (parameter.sentence(), sentence("required", parameter=parameter.name)):
            assert failure_of(400, {}, text).error_type == "invalid"
            assert failure_of(413, {}, text).error_type == (
                "invalid" if failure_of(413, {}, text).key else "service"
            )


@pytest.mark.parametrize(
    ("text", "status", "kind"),
    [
        ("", 500, "service"),
        ("", 400, "invalid"),
        ("Something else.", 503, "service"),
        ("x" * 100_000, 400, "invalid"),
        ("The `url` parameter names " * 5_000, 503, "service"),
    ],
)
def test_of_other_sentences_the_status_tells_the_type(text: str, status: int, kind: str) -> None:
    assert failure_of(status, {}, text) == (None, kind)
