"""The table of sentences."""

from __future__ import annotations

import pickle
from string import Formatter

import pytest

from webanalytics.errors import ERROR_TYPES, RowError
from webanalytics.fetching import SENTENCES, FetchError, recognise, sentence

DETAILS = {
    "limit": "10,000,000",
    "ports": "80, 443",
    "seconds": "0.5",
    "status": "503",
    "content_type": "application/pdf",
    "count": "12",
}


@pytest.mark.parametrize("key", SENTENCES)
@pytest.mark.parametrize("redirected", [False, True])
@pytest.mark.parametrize("parameter", ["url", "image"])
def test_every_sentence_is_recognised_as_its_own_type(key: str, redirected: bool, parameter: str) -> None:
    error_type, template = SENTENCES[key]
    wanted = {name for _, name, _, _ in Formatter().parse(template) if name} - {"parameter", "names"}
    text = sentence(key, parameter, redirected=redirected, **{name: DETAILS[name] for name in wanted})
    assert error_type in ERROR_TYPES
    assert text.startswith(f"The `{parameter}` parameter ")
    assert text.endswith(".")
    found = recognise(text)
    assert found is not None
    assert found[0] == error_type
    assert found[1]["parameter"] == parameter
    assert {name: found[1][name] for name in wanted} == {name: DETAILS[name] for name in wanted}
    assert [other for other in SENTENCES if recognise(text) != found] == []


def test_each_sentence_has_one_type() -> None:
    templates = [template for _, template in SENTENCES.values()]
    assert len(set(templates)) == len(templates)
    for text in ("", "The `url` parameter is required.", "A page that answered HTTP 404."):
        assert recognise(text) is None


def test_errors_survive_pickling() -> None:
    error = FetchError(
        "The `url` parameter names a page that answered HTTP 404.",
        "http",
        http_status=404,
        final_url="https://example.com/b",
        redirects=("https://example.com/a",),
        elapsed=0.5,
        bytes=12,
    )
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(copy, RowError)
    assert vars(copy) == vars(error)
    assert str(copy) == error.sentence
