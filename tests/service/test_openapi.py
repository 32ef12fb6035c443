"""The OpenAPI document: valid by an independent validator, complete, and true of sample answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.service.examples import ORIGIN, RECORDS, record_example
from webanalytics.core.operations.model import example_of
from webanalytics.operations import OPERATIONS, Field, Operation, Parameter
from webanalytics.service.calls import STATUS_FIELD
from webanalytics.service.graphql_endpoint import STATUS_EXTENSION
from webanalytics.service.reference.openapi import document
from webanalytics.service.results import Result, envelope, failure
from webanalytics.service.settings import ServiceSettings

DOCUMENT = document(ServiceSettings())

# path, method, credits: written out by hand from the specification
ROWS = [
    ("metadataextractor", "post", 2),
    ("hmac", "post", 2),
    ("websitetotext", "post", 10),
    ("danevalidator", "post", 2),
    ("websitereadability", "post", 10),
    ("webpconverter", "post", 5),
    ("keywordextractor", "post", 10),
    ("disposablephone", "get", 1),
]


def validator(schema: dict[str, Any]) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator({**schema, "components": DOCUMENT["components"]})


def faults(document: dict[str, Any]) -> list[Any]:
    """Return what the OpenAPI validator finds; its import takes seconds, which each test process would wait."""
    from openapi_spec_validator import OpenAPIV31SpecValidator

    return list(OpenAPIV31SpecValidator(document).iter_errors())


def body_schema(path: str, kind: str = "application/json") -> dict[str, Any]:
    schema: dict[str, Any] = DOCUMENT["paths"][path]["post"]["requestBody"]["content"][kind]["schema"]
    return schema


def example(name: str) -> dict[str, Any]:
    """Return the declared example of an operation; each of the package's own has one."""
    found = example_of(OPERATIONS[name])
    assert found is not None
    return found


def answer_schema(path: str, method: str = "post", status: int = 200) -> dict[str, Any]:
    responses = DOCUMENT["paths"][path][method]["responses"]
    schema: dict[str, Any] = responses[str(status)]["content"]["application/json"]["schema"]
    return schema


def operation_path(name: str) -> str:
    return f"/v1/{OPERATIONS[name].path}"


def test_the_document_is_valid() -> None:
    assert faults(DOCUMENT) == []


def test_the_document_follows_the_settings() -> None:
    settings = ServiceSettings({"batch_size": 7, "max_redirects": 3}, credits={"hmac": 9})
    changed = document(settings, base_url="https://api.example/")
    assert changed["servers"] == [{"url": "https://api.example"}]
    assert changed["paths"]["/v1/hmac"]["post"]["x-credits"] == 9
    batch = changed["paths"]["/v1/hmac/batch"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert batch["properties"]["inputs"]["maxItems"] == 7
    assert {"name": "Redirects of a page", "value": "3"} in changed["x-limits"]
    assert faults(changed) == []


@pytest.mark.parametrize(("path", "method", "price"), ROWS)
def test_every_operation_is_there(path: str, method: str, price: int) -> None:
    assert list(DOCUMENT["paths"][f"/v1/{path}"]) == [method]
    assert DOCUMENT["paths"][f"/v1/{path}"][method]["x-credits"] == price
    assert list(DOCUMENT["paths"][f"/v1/{path}/batch"]) == ["post"]


def test_no_path_is_there_beyond_those() -> None:
    others = {"/v1/graphql", "/v1/openapi.json", "/v1/downloads/{name}", "/healthz", "/readyz", "/metrics"}
    operations = {f"/v1/{item.path}{end}" for item in OPERATIONS.values() for end in ("", "/batch")}
    assert set(DOCUMENT["paths"]) == operations | others


def test_only_what_needs_a_key_asks_for_one() -> None:
    assert DOCUMENT["security"] == [{"apiKey": []}]
    assert DOCUMENT["components"]["securitySchemes"]["apiKey"]["name"] == "x-api-key"
    without = {
        path
        for path, methods in DOCUMENT["paths"].items()
        for item in methods.values()
        if item.get("security") == []
    }
    assert without == {"/v1/openapi.json", "/v1/downloads/{name}", "/healthz", "/readyz", "/metrics"}


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_status_of_the_service_is_described(name: str) -> None:
    method = OPERATIONS[name].method.lower()
    responses = DOCUMENT["paths"][operation_path(name)][method]["responses"]
    once = {"409", "422"} if method == "post" else set()
    assert set(responses) == {"200", "400", "401", "403", "404", "429", "500", "503"} | once
    assert all("x-edge-request-id" in response["headers"] for response in responses.values())
    assert all(
        "X-Request-ID" in response["headers"] for status, response in responses.items() if status != "200"
    )
    assert {"retry-after", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} <= set(
        responses["429"]["headers"]
    )
    assert "text/html" in responses["403"]["content"]
    kinds = {
        "json": "application/json",
        "xml": "application/xml",
        "yaml": "application/yaml",
        "csv": "text/csv",
    }
    assert set(responses["200"]["content"]) == {kinds[item] for item in OPERATIONS[name].formats}


@pytest.mark.parametrize("name", OPERATIONS)
def test_premium_fields_are_marked_and_not_required(name: str) -> None:
    data = DOCUMENT["components"]["schemas"][f"{name.capitalize()}Data"]
    shown = [field for field in OPERATIONS[name].fields if not field.extra]
    assert list(data["properties"]) == [field.name for field in shown]
    assert data["required"] == [field.name for field in shown if not field.premium]
    marked = {key for key, schema in data["properties"].items() if schema.get("x-premium")}
    assert marked == {field.name for field in shown if field.premium}


@pytest.mark.parametrize(
    ("name", "body", "valid"),
    [
        ("hmac", {"message": "a", "secret": "b"}, True),
        ("hmac", {"message": "a", "secret": "b", "undeclared": 1}, True),
        ("hmac", {"message": "a"}, False),
        ("hmac", {"message": "a", "secret": ""}, False),
        ("hmac", {"message": 1, "secret": "b"}, False),
        ("hmac", {"message": "a", "secret": "b", "algorithm": "sha256"}, True),
        ("hmac", {"message": "a", "secret": "b", "algorithm": "sha3"}, False),
        ("convert", {"image": "x", "outputFormat": "png"}, True),
        ("convert", {"url": "http://a.example/", "outputFormat": "png"}, True),
        ("convert", {"outputFormat": "png"}, False),
        ("convert", {"image": "x"}, False),
        ("convert", {"image": "x", "outputFormat": "bmp"}, False),
        ("convert", {"image": "x", "outputFormat": "jpg", "quality": 0}, False),
        ("convert", {"image": "x", "outputFormat": "jpg", "quality": 101}, False),
        ("convert", {"image": "x", "outputFormat": "jpg", "quality": "90"}, False),
        ("convert", {"image": "x", "outputFormat": "jpg", "maxWidth": 10000, "maxHeight": None}, True),
        ("convert", {"image": "x", "outputFormat": "jpg", "maxWidth": 10001}, False),
        ("metadata", {}, False),
        ("metadata", {"url": "https://a.example/"}, True),
        ("keywords", {"url": "https://a.example/"}, True),
        ("keywords", {"text": "tea"}, True),
        ("keywords", {"text": "x" * 50_001}, False),
        ("keywords", {"text": 5}, False),
        ("keywords", {"url": "https://a.example/", "text": "tea"}, False),
        ("keywords", {}, False),
    ],
)
def test_bodies(name: str, body: dict[str, Any], valid: bool) -> None:
    assert validator(body_schema(operation_path(name))).is_valid(body) is valid


@pytest.mark.parametrize(("count", "valid"), [(0, False), (1, True), (200, True), (201, False)])
def test_the_batch_is_bounded(count: int, valid: bool) -> None:
    inputs = {"inputs": [{"record": "x"}] * count}
    assert validator(body_schema("/v1/danevalidator/batch")).is_valid(inputs) is valid


def test_local_parameters_are_not_offered() -> None:
    assert list(DOCUMENT["components"]["schemas"]["KeywordsParameters"]["properties"]) == ["url", "text"]
    assert list(DOCUMENT["components"]["schemas"]["ReadabilityParameters"]["properties"]) == ["url"]
    query = DOCUMENT["paths"]["/v1/disposablephone"]["get"]["parameters"]
    assert [item["name"] for item in query if item.get("in") == "query"] == ["phone", "format"]


def test_an_image_may_be_sent_as_a_file() -> None:
    form = body_schema("/v1/webpconverter", "multipart/form-data")
    assert form["properties"]["image"]["contentMediaType"] == "application/octet-stream"


@pytest.mark.parametrize("premium", [True, False])
@pytest.mark.parametrize("name", OPERATIONS)
def test_answers_are_within_the_schema(name: str, premium: bool) -> None:
    operation, path = OPERATIONS[name], operation_path(name)
    method = operation.method.lower()
    good = envelope(operation, Result(200, example(name)["data"]), premium=premium)
    validator(answer_schema(path, method)).validate(good)
    bad = envelope(operation, Result(400, None, "The `url` parameter is required."), premium=premium)
    validator(answer_schema(path, method, 400)).validate(bad)
    assert not validator(answer_schema(path, method)).is_valid(bad)
    assert not validator(answer_schema(path, method, 400)).is_valid(good)
    results = [{**good, STATUS_FIELD: 200}, {**bad, STATUS_FIELD: 400}]
    batch = {"status": "ok", "error": None, "data": {"results": results, "succeeded": 1, "failed": 1}}
    validator(answer_schema(f"{path}/batch")).validate(batch)


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_wrong_answer_is_outside_the_schema(name: str) -> None:
    operation = OPERATIONS[name]
    check = validator(answer_schema(operation_path(name), operation.method.lower()))
    good = envelope(operation, Result(200, example(name)["data"]), premium=True)
    required = next(field.name for field in operation.fields if not field.premium)
    assert not check.is_valid({**good, "data": {**good["data"], required: ["wrong"]}})
    assert not check.is_valid(
        {**good, "data": {key: value for key, value in good["data"].items() if key != required}}
    )
    assert not check.is_valid({**good, "status": "error"})
    assert not check.is_valid({**good, "data": None})


def test_the_failure_of_a_path_outside_the_operations() -> None:
    validator(answer_schema("/v1/graphql", status=400)).validate(
        failure("The `query` parameter is required.")
    )


def test_graphql_answers_are_within_the_schema() -> None:
    error = {
        "message": "x",
        "path": ["a"],
        "locations": [{"line": 1, "column": 2}],
        "extensions": {STATUS_FIELD: 503},
    }
    check = validator(answer_schema("/v1/graphql"))
    check.validate({"data": {"a": None}, "errors": [error]})
    assert not check.is_valid({"errors": [error]})
    assert not check.is_valid({"data": {}, "errors": [{}]})
    assert STATUS_EXTENSION == STATUS_FIELD


@pytest.mark.parametrize("name", OPERATIONS)
def test_examples_have_every_field_and_pass_their_own_schema(name: str) -> None:
    operation, given = OPERATIONS[name], example(name)
    assert list(given["data"]) == [field.name for field in operation.fields if not field.extra]
    if operation.method == "POST":
        validator(body_schema(operation_path(name))).validate(given["parameters"])


@pytest.mark.parametrize("name", RECORDS)
def test_examples_are_what_the_analyses_answer(name: str) -> None:
    assert example(name) == record_example(name)


def test_examples_name_no_real_host() -> None:
    # RFC 6761, section 6.5: names under .example are nobody's
    assert all(
        example(name)["parameters"]["url"].startswith(ORIGIN)
        for name in OPERATIONS
        if "url" in example(name)["parameters"]
    )


def test_a_ninth_operation_is_described_from_its_declaration_alone() -> None:
    ninth = Operation(
        name="ninth", path="ninth", method="POST", summary="A new one.", kind="record", subject="value",
        input_column="value",
        parameters=(Parameter("value", str, "What to look at."), Parameter("deep", bool, "How.", default=False)),
        fields=(Field("count", int, "How many."), Field("note", str | None, "Why.", premium=True)),
        credits=3, graphql=True,
    )  # fmt: skip
    described = document(ServiceSettings(), [*OPERATIONS.values(), ninth])
    assert faults(described) == []
    assert described["paths"]["/v1/ninth"]["post"]["x-credits"] == 3
    assert described["components"]["schemas"]["NinthData"]["required"] == ["count"]
    assert "`ninth`" in described["paths"]["/v1/graphql"]["post"]["description"]


def test_two_shapes_of_one_name_are_refused() -> None:
    from typing_extensions import TypedDict

    class Heading(TypedDict):
        words: int

    wrong = replace(OPERATIONS["dane"], fields=(Field("headings", list[Heading], "Other headings."),))
    with pytest.raises(ValueError, match="Heading"):
        document(ServiceSettings(), [OPERATIONS["metadata"], wrong])
