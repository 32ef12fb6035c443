"""The table of messages: each has its type, each is used, each is known again from its sentence."""

from __future__ import annotations

import ast
import pickle
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

import webanalytics
from webanalytics.audits.graph.site_links import fetch_outcome
from webanalytics.core import messages
from webanalytics.core.messages import (
    CONTENT,
    FETCHING,
    HOSTED,
    MESSAGES,
    PARAMETERS,
    SERVICE,
    TOLD,
    Message,
    must_be,
    one_of,
    recognise,
    required,
    row_sentence,
    sentence,
)
from webanalytics.core.outcomes import Outcome, PackedOutcomes
from webanalytics.errors import ERROR_TYPES, ParameterError, RowError
from webanalytics.fetching import FetchError

PACKAGE = Path(webanalytics.__file__).parent
CARRIERS = {"RowError", "FetchError", "Message", "Problem"}
"""What is made with a key."""
PLAIN = {
    "parameter": "url",
    "names": "names",
    "status": "503",
    "content_type": "application/pdf; charset=`x`",
}


def filled(key: str, **values: Any) -> dict[str, Any]:
    """Return values for all that a sentence shows."""
    found: dict[str, Any] = {}
    for _, name, form, _ in Formatter().parse(MESSAGES[key][1]):
        if name is not None and name != "names":
            found[name] = values.get(name, 10_000_000 if form else PLAIN.get(name, f"some {name}"))
    return found


@pytest.mark.parametrize("key", MESSAGES)
def test_each_message_has_one_type_and_one_sentence(key: str) -> None:
    error_type, template = MESSAGES[key]
    assert error_type is None or error_type in ERROR_TYPES
    assert [other for other, (_, text) in MESSAGES.items() if text == template] == [key]
    assert str(Message(key, filled(key))) == sentence(key, **filled(key))


def test_no_key_stands_in_two_parts() -> None:
    assert len(MESSAGES) == sum(map(len, (FETCHING, CONTENT, HOSTED, SERVICE, PARAMETERS)))


@pytest.mark.parametrize("redirected", [False, True])
@pytest.mark.parametrize("parameter", ["url", "image"])
@pytest.mark.parametrize("key", [key for key in MESSAGES if key not in PARAMETERS])
def test_a_sentence_is_known_again(key: str, parameter: str, redirected: bool) -> None:
    text = sentence(key, redirected=redirected, **filled(key, parameter=parameter))
    found = recognise(text)
    assert found is not None
    assert (found.key, found.error_type) == (key, MESSAGES[key][0])
    assert found.values.get("parameter", parameter) == parameter


def test_other_texts_are_not_known() -> None:
    for text in ("", "The `url` parameter is required.", "A page that answered HTTP 404.", "x" * 100_000):
        assert recognise(text) is None
    assert recognise("The `url` parameter names " * 5_000) is None


def test_helpers() -> None:
    assert str(required("url")) == "The `url` parameter is required."
    assert (
        str(one_of("encoding", ["hex", "base64"])) == "The `encoding` parameter must be one of: hex, base64."
    )
    assert str(must_be("quality", "an integer")) == "The `quality` parameter must be an integer."


def test_errors_survive_pickling() -> None:
    values = {"parameter": "url", "status": 404}
    way = {"final_url": "https://example.com/b", "redirects": ("https://example.com/a",), "elapsed": 0.5}
    for error in (
        RowError("status", **values),
        FetchError("status", values, http_status=404, bytes=12, **way),
    ):
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error)
        assert vars(copy) == vars(error)
        assert str(copy) == "The `url` parameter names a page that answered HTTP 404."
    wrong = pickle.loads(pickle.dumps(ParameterError.required("urls")))
    assert (str(wrong), wrong.parameter, wrong.message) == (
        "The `urls` parameter is required.",
        "urls",
        required("urls"),
    )


def test_outcomes_carry_the_key_and_are_worded_when_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = Message("required", {"parameter": "url"})
    packed = PackedOutcomes(PackedOutcomes.pack([{"a": 1}, missing]))
    assert list(packed) == [Outcome({"a": 1}), Outcome(None, str(missing), "invalid")]
    assert [outcome.key for outcome in packed] == [None, "required"]
    monkeypatch.setattr(messages, "MESSAGES", {"required": ("invalid", "{parameter}, please")})
    assert packed[1].error == "url, please"


# ------------------------------------------------------------------ the code that raises them


def _keys(node: ast.expr) -> list[str | None]:
    """Return the keys that an argument may be, None for what is worked out elsewhere."""
    if isinstance(node, ast.IfExp):
        return [*_keys(node.body), *_keys(node.orelse)]
    return [node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None]


@cache
def _trees() -> dict[str, ast.Module]:
    """Return every file of the package, parsed once: by its place."""
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def _calls() -> Iterator[tuple[str, str, ast.Call]]:
    """Yield where a name is called, the name, and the call."""
    for where, tree in _trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                yield f"{where}:{node.lineno}", getattr(node.func, "id", ""), node


@cache
def raised() -> list[tuple[str, str | None]]:
    """Return where something is made with a key, and the key."""
    found = []
    for where, name, call in _calls():
        is_service = where.startswith("service/") and name == "Problem"
        if name in CARRIERS and call.args and not is_service:  # there a status comes first, then a message
            found += [(where, key) for key in _keys(call.args[0])]
    return found


def test_everything_raised_has_a_known_key() -> None:
    assert len(raised()) > 80
    assert [(where, key) for where, key in raised() if key is not None and key not in MESSAGES] == []


def test_keys_are_worked_out_in_few_places() -> None:
    """Where a key is not written in the call: passed on, or from the fetcher's table of exceptions."""
    places = {where.partition(":")[0] for where, key in raised() if key is None}
    assert places <= {"core/messages/__init__.py", "errors.py", "fetching/archives/pages.py", "fetching/exchange.py",
                      "fetching/fetcher.py", "fetching/gates.py", "fetching/rendering/relay.py", "fetching/response.py", "fetching/sitemap.py", "fetching/state.py", "records/hosts/function.py",
                      "runs/backends/content.py", "runs/backends/hosted/wire.py"}  # fmt: skip


def test_every_key_is_used() -> None:
    strings = {
        node.value
        for where, tree in _trees().items()
        if "messages/" not in where
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert [key for key in MESSAGES if key not in strings | set(PARAMETERS)] == []


def test_no_failure_of_an_input_is_a_finished_sentence() -> None:
    """A sentence typed where it is raised would be a second table."""
    wrong = []
    for where, name, call in _calls():
        said = call.args[1:] if name == "Problem" else call.args[1:3] if name == "Outcome" else []
        if any(isinstance(part, ast.JoinedStr) or _is_text(part) for part in said):
            wrong.append(where)
    assert [where for where in wrong if not where.startswith("service/graphql_endpoint")] == []


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value


API_SENTENCES = (
    ("required", {"parameter": "url"}, "The `url` parameter is required."),
    ("invalid_url", {"parameter": "url"}, "The `url` parameter must be a valid URL in http or https format."),
    (
        "must_be",
        {"parameter": "quality", "what": "an integer from 1 to 100"},
        "The `quality` parameter must be an integer from 1 to 100.",
    ),
    ("unauthorized", {}, "unauthorized"),
    ("operation_blocked", {"api": "hmac"}, "Access to `hmac` is blocked for this API key"),
    ("address_blocked", {}, "IP address not allowed for this API key"),
    ("key_revoked", {}, "API key has been revoked."),
)


@pytest.mark.parametrize(("key", "values", "text"), API_SENTENCES, ids=[key for key, *_ in API_SENTENCES])
def test_the_sentences_of_the_contract(key: str, values: dict[str, Any], text: str) -> None:
    assert sentence(key, **values) == text


# ------------------------------------------------------------------ what rows say


@pytest.mark.parametrize("key", TOLD)
def test_a_row_says_it_without_naming_a_parameter_of_a_request(key: str) -> None:
    for redirected in (False, True):
        text = row_sentence(key, sentence(key, redirected=redirected, **filled(key, parameter="url")))
        assert "` parameter" not in text
        assert text[0].isupper()
        assert text.endswith(".")
        found = recognise(text)
        assert found is not None
        assert (found.key, found.error_type) == (key, MESSAGES[key][0])


@pytest.mark.parametrize("reason", ["HTTP 401", "HTTP 403", "HTTP 429", "a page to log in", "a challenge"])
def test_a_host_that_was_given_up_is_known_by_its_row_whatever_is_advised(reason: str) -> None:
    text = row_sentence("host_refused", sentence("host_refused", parameter="url", count=9, reason=reason))
    found = recognise(text)
    assert found is not None
    assert (found.key, found.values["reason"]) == ("host_refused", reason)
    refused = fetch_outcome({"status": "error", "error": text, "error_type": "refused"})
    assert refused.problem == "refused"  # not "no response": nobody asked


ROWS = (
    ("status", {"parameter": "url", "status": 404}, False, "The page answered HTTP 404."),
    ("status", {"parameter": "image", "status": 404}, False, "The image answered HTTP 404."),
    ("status", {"parameter": "url", "status": 404}, True, "The page redirects to a page that answered HTTP 404."),
    ("private", {"parameter": "url"}, False, "The host is not public; `allow_private=True` lets it through."),
    ("redirect_loop", {"parameter": "url"}, True, "The page redirects in a circle."),
    ("page_depth", {"parameter": "url", "limit": 5000}, False,
     "The elements of the page are nested more than 5,000 levels deep."),
)  # fmt: skip


@pytest.mark.parametrize(("key", "values", "redirected", "text"), ROWS)
def test_the_sentences_of_rows(key: str, values: dict[str, Any], redirected: bool, text: str) -> None:
    assert row_sentence(key, sentence(key, redirected=redirected, **values)) == text


def test_what_is_not_of_the_table_is_left_as_it_is() -> None:
    for key, text in (
        (None, "The `url` parameter names a page that answered HTTP 404."),
        ("status", "Nothing there."),
        ("required", "The `url` parameter is required."),
        ("no such key", "Odd."),
        ("status", "x" * 100_000),
    ):
        assert row_sentence(key, text) == text


def test_a_sitemap_is_called_one() -> None:
    said = sentence("status", parameter="url", status=500)
    assert row_sentence("status", said, "sitemap") == "The sitemap answered HTTP 500."
