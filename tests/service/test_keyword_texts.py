"""The keyword extractor with `text` in place of `url`, over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

import webanalytics as wa
from tests.service.live import Server
from webanalytics.page.keywords.keywords import count_keywords

PATH = "/v1/keywordextractor"
TEXT = "Green lanterns light the harbour. The harbour keeper trims the lanterns, and lanterns glow."
BOTH = "The `url` parameter must be left out where `text` is given."
WRONG = "The `text` parameter must be a string of at most 50,000 characters."


def left(answer: Any) -> int:
    return int(answer.headers["x-api-remaining-credits"])


def test_a_text_is_answered_and_charged_like_a_page(server: Server) -> None:
    key = server.key(plan="pro")
    answer = server.call("POST", PATH, key=key, text=TEXT)
    assert answer.data["url"] == ""
    reference = count_keywords(TEXT, "en")
    assert answer.data["keywords"] == dict(zip(reference["keywords"], reference["frequency"], strict=True))
    assert list(answer.data["keywords"].items())[:2] == [("lanterns", 3), ("harbour", 2)]
    assert left(answer) == 250_000 - 10


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, "The `url` parameter is required."),
        ({"url": None, "text": None}, "The `url` parameter is required."),
        ({"url": "https://a.example/", "text": TEXT}, BOTH),
        ({"url": "", "text": ""}, BOTH),
        ({"url": 5, "text": TEXT}, BOTH),
        ({"text": "x" * 50_001}, WRONG),
        ({"text": 5}, WRONG),
        ({"text": [TEXT]}, WRONG),
        ({"text": {"a": 1}}, WRONG),
        ({"text": True}, WRONG),
    ],
)
def test_exactly_one_of_the_two(server: Server, body: dict[str, Any], sentence: str) -> None:
    key = server.key(plan="pro")
    answer = server.call("POST", PATH, key=key, body=json.dumps(body).encode())
    assert (answer.status, answer.error) == (400, sentence)
    assert left(answer) == 250_000


@pytest.mark.parametrize("text", ["x" * 50_000, "é" * 50_000, "🏮" * 50_000, ""])
def test_the_limit_counts_characters(server: Server, pro: str, text: str) -> None:
    answer = server.call("POST", PATH, key=pro, text=text)
    assert answer.status == 200


def test_a_missing_value_is_not_given(server: Server, pro: str) -> None:
    body = json.dumps({"url": None, "text": TEXT}).encode()
    assert server.call("POST", PATH, key=pro, body=body).data["url"] == ""


def test_undeclared_parameters_are_still_dropped(server: Server, pro: str) -> None:
    plain = server.call("POST", PATH, key=pro, text=TEXT).data
    assert server.call("POST", PATH, key=pro, text=TEXT, language="de", texts=["x"]).data == plain


@pytest.mark.parametrize("path", ["/v1/websitereadability", "/v1/websitetotext", "/v1/metadataextractor"])
def test_other_page_operations_know_no_text(server: Server, pro: str, path: str) -> None:
    assert server.call("POST", path, key=pro, text=TEXT).error == "The `url` parameter is required."


def test_a_batch_mixes_texts_and_pages(server: Server, site: Any) -> None:
    key = server.key(plan="pro")
    inputs = [
        {"text": TEXT},
        {"url": site.pages[0]},
        {"url": site.pages[0], "text": TEXT},
        {"text": "x" * 50_001},
        {},
        {"text": TEXT},
    ]
    answer = server.call("POST", f"{PATH}/batch", key=key, inputs=inputs)
    results = answer.data["results"]
    assert [result["statusCode"] for result in results] == [200, 200, 400, 400, 400, 200]
    assert [result["error"] for result in results[2:5]] == [BOTH, WRONG, "The `url` parameter is required."]
    assert [results[place]["data"]["url"] for place in (0, 1)] == ["", site.pages[0]]
    assert results[0]["data"] == results[5]["data"]
    assert left(answer) == 250_000 - 30


def test_an_idempotency_key_charges_a_text_once(server: Server) -> None:
    key = server.key(plan="pro")
    headers = {"Idempotency-Key": "lantern-1"}
    first = server.call("POST", PATH, key=key, headers=headers, text=TEXT)
    again = server.call("POST", PATH, key=key, headers=headers, text=TEXT)
    assert first.data == again.data
    assert left(again) == 250_000 - 10
    assert server.call("POST", PATH, key=key, headers=headers, text=f"{TEXT} more").status == 422
    assert server.call("POST", PATH, key=key, headers=headers, url="https://a.example/").status == 422


@pytest.mark.parametrize("kind", ["xml", "yaml", "csv"])
def test_every_format_has_an_answer(server: Server, pro: str, kind: str) -> None:
    answer = server.call("POST", f"{PATH}?format={kind}", key=pro, text=TEXT)
    assert answer.status == 200
    assert b"lanterns" in answer.body


def test_the_documents_know_both_parameters(server: Server) -> None:
    from jsonschema import Draft202012Validator

    document = server.call("GET", "/v1/openapi.json").json
    schema = document["components"]["schemas"]["KeywordsParameters"]
    assert schema["properties"]["text"]["maxLength"] == 50_000
    judge = Draft202012Validator(schema).is_valid
    assert judge({"text": TEXT})
    assert judge({"url": "https://a.example/"})
    assert not judge({})
    assert not judge({"text": TEXT, "url": "https://a.example/"})
    assert not judge({"text": "x" * 50_001})
    readability = document["components"]["schemas"]["ReadabilityParameters"]
    assert list(readability["properties"]) == ["url"]
    page = server.call("GET", "/docs").body.decode()
    assert "string of at most 50,000 characters" in page
    assert "exactly one of the two" in page


def test_the_client_sends_texts(server: Server) -> None:
    key = server.key(plan="pro")
    texts = {
        "a": TEXT,
        "b": "x" * 50_001,
        "c": None,
        "d": "Black tea and black bread.",
        "e": f"\udcfc {TEXT}",
    }
    there = wa.keywords(texts=texts, backend=wa.Hosted(server.base, key), progress=False)
    here = wa.keywords(texts=texts, progress=False)
    good = ["a", "d", "e"]
    columns = ["text", "keyword", "frequency", "rank", "source", "status"]
    assert there.loc[good, columns].equals(here.loc[good, columns])
    assert list(there.columns) == list(here.columns)
    assert there.loc["b", "error"] == WRONG
    assert there.loc["c", "error"] == here.loc["c", "error"] == "The `text` parameter is required."
    assert there.attrs["credits"]["used"] == 30
