"""The OpenAPI 3.1 document, made from the declarations and the configuration when the service starts.

``/v1/openapi.json`` returns it, and the documentation page is made from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from webanalytics._version import __version__
from webanalytics.core.operations.model import example_of
from webanalytics.operations import OPERATIONS, Operation
from webanalytics.service.graphql_endpoint import STATUS_EXTENSION
from webanalytics.service.reference import openapi_parts as parts
from webanalytics.service.reference.openapi_parts import Part
from webanalytics.service.results import CODE_FIELD
from webanalytics.service.settings import ServiceSettings

TITLE = "Web Utility API"
SUMMARY = "Page metadata, text, keywords and readability, HMAC, DANE/TLSA, images and phone numbers."
BATCH = "batch"


def document(
    settings: ServiceSettings, operations: Iterable[Operation] = OPERATIONS.values(), base_url: str = ""
) -> Part:
    """Return the OpenAPI document of the service.

    ``base_url`` is its public address, empty for the one the document comes from. ``x-credits``,
    ``x-premium``, ``x-plans`` and ``x-limits`` hold what the standard does not cover.
    """
    offered = tuple(operations)
    data, shared = parts.data_schemas(offered)
    schemas: Part = {**shared, "Failure": parts.failure_schema()}
    paths: Part = {}
    for operation in offered:
        name = operation.name.capitalize()
        schemas |= _schemas(operation, data[operation.name])
        price = settings.credits.get(operation.name, operation.credits)
        paths[f"/v1/{operation.path}"] = {operation.method.lower(): _single(operation, name, price)}
        paths[f"/v1/{operation.path}/{BATCH}"] = {"post": _batch(operation, name, price, settings)}
    paths["/v1/graphql"] = {"post": _graphql([item for item in offered if item.graphql])}
    paths |= _public_paths()
    return {
        "openapi": "3.1.0",
        "info": {"title": TITLE, "version": __version__, "summary": SUMMARY},
        "servers": [{"url": base_url.rstrip("/") or "/"}],
        "tags": [{"name": "operations"}, {"name": BATCH}, {"name": "graphql"}, {"name": "service"}],
        "security": [{"apiKey": []}],
        "paths": paths,
        "components": {"schemas": schemas, **parts.components()},
        **({"externalDocs": {"url": settings.docs_url}} if settings.docs_url else {}),
        "x-plans": parts.plan_table(settings.plans.values()),
        "x-limits": parts.limit_table(settings),
    }


def _schemas(operation: Operation, data: Part) -> Part:
    """Return the named schemas of one operation: its parameters, data, answers and failure."""
    name = operation.name.capitalize()
    answer = parts.envelope_schema(operation, parts.reference("schemas", f"{name}Data"))
    failure = parts.failure_schema(operation)
    status = {STATUS_EXTENSION: {"type": "integer", "description": "What a single call would answer."}}
    items = [
        {
            **one,
            "properties": one["properties"] | status | named,
            "required": [*one["required"], STATUS_EXTENSION],
        }
        for one, named in ((answer, {}), (failure, parts.ERROR_FIELDS))
    ]
    named = {
        f"{name}Parameters": parts.parameters_schema(operation),
        f"{name}Data": data,
        f"{name}Answer": answer,
        f"{name}Batch": _batch_answer(items),
    }
    if CODE_FIELD in failure["properties"]:
        named[f"{name}Failure"] = failure
    return named


def _failure(operation: Operation | None = None) -> Part:
    own = operation is not None and CODE_FIELD in parts.failure_schema(operation)["properties"]
    return parts.reference("schemas", f"{operation.name.capitalize() if own and operation else ''}Failure")


def _single(operation: Operation, name: str, price: int) -> Part:
    example = example_of(operation)
    described: Part = {
        "operationId": operation.name,
        "summary": operation.summary,
        "tags": ["operations"],
        "x-credits": price,
        "parameters": [parts.format_parameter(operation.formats), *parts.request_headers(operation.method)],
    }
    if operation.method == "POST":
        described["requestBody"] = _body(operation, name, example)
    else:
        described["parameters"] = [
            *(_query_parameter(operation, item, example) for item in parts.accepted(operation)),
            *described["parameters"],
        ]
    answer = {"status": "ok", "error": None, "data": example["data"]} if example else None
    if answer and operation.kind == "image":
        answer[CODE_FIELD] = 200
    answered = parts.reference("schemas", f"{name}Answer")
    described["responses"] = {
        "200": parts.success(answered, operation.formats, answer),
        **parts.failures(_failure(operation), operation.formats, operation.method),
    }
    return described


def _body(operation: Operation, name: str, example: Part | None) -> Part:
    body: Part = {"schema": parts.reference("schemas", f"{name}Parameters")}
    if example:
        body["example"] = example["parameters"]
    contents: Part = {"application/json": body}
    if operation.kind == "image":
        contents["multipart/form-data"] = {"schema": parts.form_schema(operation)}
    return {"required": True, "content": contents}


def _query_parameter(operation: Operation, parameter: Any, example: Part | None) -> Part:
    described: Part = {
        "name": parameter.name,
        "in": "query",
        "required": parameter.required,
        "schema": parts.parameter_schema(operation, parameter),
        "description": parameter.meaning,
    }
    if example and parameter.name in example["parameters"]:
        described["example"] = example["parameters"][parameter.name]
    return described


def _batch(operation: Operation, name: str, price: int, settings: ServiceSettings) -> Part:
    inputs = {
        "type": "array",
        "minItems": 1,
        "maxItems": settings.batch_size,
        "items": parts.reference("schemas", f"{name}Parameters"),
        "description": "Parameters of each call; a wrong one fails alone.",
    }
    body: Part = {"schema": {"type": "object", "properties": {"inputs": inputs}, "required": ["inputs"]}}
    example = example_of(operation)
    if example:
        body["example"] = {"inputs": [example["parameters"]]}
    return {
        "operationId": f"{operation.name}Batch",
        "summary": f"{operation.summary} Up to {settings.batch_size} inputs.",
        "tags": [BATCH],
        "x-credits": price,
        "parameters": [parts.format_parameter(operation.formats), *parts.request_headers("POST")],
        "requestBody": {"required": True, "content": {"application/json": body}},
        "responses": {
            "200": parts.success(parts.reference("schemas", f"{name}Batch"), operation.formats),
            **parts.failures(_failure(), operation.formats, "POST"),
        },
    }


def _batch_answer(items: list[Part]) -> Part:
    count = {"type": "integer", "minimum": 0}
    properties = {
        "results": {"type": "array", "items": {"oneOf": items}, "description": "In the order of the inputs."},
        "succeeded": count,
        "failed": count,
    }
    data = {"type": "object", "properties": properties, "required": list(properties)}
    return parts.envelope_schema(None, data)


def _graphql(operations: list[Operation]) -> Part:
    fields = ", ".join(f"`{operation.path}`" for operation in operations)
    properties = {
        "query": {"type": "string", "description": "The query."},
        "variables": {"type": ["object", "null"], "description": "Values of its variables."},
        "operationName": {"type": ["string", "null"], "description": "Which of several queries to run."},
    }
    error = {
        "type": "object",
        "properties": {
            "message": {"type": "string"},
            "path": {"type": "array", "items": {"type": ["string", "integer"]}},
            "locations": {"type": "array"},
            "extensions": {
                "type": "object",
                "properties": {STATUS_EXTENSION: {"type": "integer"}, **parts.ERROR_FIELDS},
            },
        },
        "required": ["message"],
    }
    answer = {
        "type": "object",
        "properties": {"data": {"type": ["object", "null"]}, "errors": {"type": "array", "items": error}},
        "required": ["data"],
    }
    return {
        "operationId": "graphql",
        "summary": "Call several operations in one GraphQL query (alpha).",
        "description": (
            f"Root fields: {fields}. Each operation called costs its own credits. A selection has each "
            "field of an answer once."
        ),
        "tags": ["graphql"],
        "parameters": [parts.format_parameter(("json",)), *parts.request_headers("POST")],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {"type": "object", "properties": properties, "required": ["query"]},
                    "example": _graphql_example(operations),
                }
            },
        },
        "responses": {
            "200": parts.success(answer, ("json",)),
            **parts.failures(_failure(), ("json",), "POST"),
        },
    }


def _graphql_example(operations: list[Operation]) -> Part:
    """Return a query that calls each operation with its example's parameters."""
    calls = []
    for operation in operations:
        given = (example_of(operation) or {}).get("parameters", {})
        inner = ", ".join(f"{name}: {orjson.dumps(value).decode()}" for name, value in given.items())
        plain = [field.name for field in parts.visible(operation) if field.dtype != "object"]
        calls.append(f"{operation.path}(input: {{{inner}}}) {{ {' '.join(plain[:3])} }}")
    return {"query": f"{{ {' '.join(calls) or '__typename'} }}"}


def _public_paths() -> Part:
    """Return the paths that need no key."""
    return {
        "/v1/openapi.json": {"get": _public("openapi", "This document.", "application/json", kind="object")},
        "/v1/downloads/{name}": {"get": _download()},
        "/healthz": {"get": _public("healthz", "Whether the process is alive.", "text/plain")},
        "/readyz": {"get": _public("readyz", "Whether requests are welcome.", "text/plain", unready=True)},
        "/metrics": {"get": _public("metrics", "Counters for Prometheus.", "text/plain")},
    }


def _public(name: str, summary: str, media_type: str, *, kind: str = "string", unready: bool = False) -> Part:
    body = {"headers": parts.headers(), "content": {media_type: {"schema": {"type": kind}}}}
    responses = {"200": {"description": "Yes." if kind == "string" else "The document.", **body}}
    if unready:
        responses["503"] = {"description": "Not now.", **body}
    return {
        "operationId": name,
        "summary": summary,
        "tags": ["service"],
        "security": [],
        "responses": responses,
    }


def _download() -> Part:
    described = _public("download", "A converted image, until it expires.", "application/octet-stream")
    described["parameters"] = [{"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}]
    described["responses"] = {
        "200": {
            "description": "The image, as an attachment.",
            "headers": parts.headers(),
            "content": {"image/*": {"schema": {"type": "string", "format": "binary"}}},
        },
        "404": {
            "description": "There is no such image, or it has expired.",
            "headers": parts.headers("X-Request-ID"),
            "content": parts.content(_failure(), ("json",)),
        },
    }
    return described
