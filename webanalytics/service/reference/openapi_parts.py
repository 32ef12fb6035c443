"""The parts of the OpenAPI document: headers, parameters, errors and limits, and JSON Schema (2020-12).

The schemas of parameters and results are made from the declarations.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from webanalytics.core.messages import ERROR_TYPES, MESSAGES
from webanalytics.core.operations.types import Shape, shape_of
from webanalytics.operations import Field, Operation, Parameter
from webanalytics.service.answer_formats import MEDIA_TYPES
from webanalytics.service.headers import ERROR_KEY_HEADER, ERROR_TYPE_HEADER, KEY_HEADER, REMAINING_HEADER
from webanalytics.service.parameters import IN_PLACE_OF_IMAGE
from webanalytics.service.results import CODE_FIELD, KEY_FIELD, TYPE_FIELD
from webanalytics.service.settings import Plan, ServiceSettings

Part = dict[str, Any]

_READ = tomllib.loads(Path(__file__).with_name("openapi.toml").read_text("utf-8"))
ERRORS: dict[int, tuple[str, str]] = {int(status): tuple(said) for status, said in _READ["errors"].items()}
"""Meaning of each status, and whether the same request may be sent again."""

FORBIDDEN_SENTENCES = (
    "Access to `<api>` is blocked for this API key",
    "IP address not allowed for this API key",
    "API key has been revoked.",
)

_EDGE_ID, _TRACE, _REQUEST_ID = "x-edge-request-id", "x-cloud-trace-context", "X-Request-ID"
_RATE = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
_RETRY = "retry-after"
_REQUEST_HEADERS: dict[str, tuple[Part, str]] = _READ["request_headers"]

ERROR_FIELDS: Part = {
    TYPE_FIELD: {
        "type": "string",
        "enum": list(ERROR_TYPES),
        "description": f"Kind of a failure, as in the header {ERROR_TYPE_HEADER} of a single call.",
    },
    KEY_FIELD: {
        "type": "string",
        "examples": sorted(MESSAGES)[:3],
        "description": f"Which failure it is, as in the header {ERROR_KEY_HEADER} of a single call.",
    },
}
"""The fields next to the status of an item that failed."""


def reference(kind: str, name: str) -> Part:
    """Return a reference to a part of the document.

    >>> reference("headers", "retry-after")
    {'$ref': '#/components/headers/retry-after'}
    """
    return {"$ref": f"#/components/{kind}/{name}"}


def components() -> Part:
    """Return the named headers and parameters, and the way to authenticate."""
    return {
        "securitySchemes": {
            "apiKey": {
                "type": "apiKey",
                "in": "header",
                "name": KEY_HEADER,
                "description": "An API key, a UUID. Without one the edge answers 403 with HTML.",
            }
        },
        "headers": {
            name: {
                "schema": {"type": kind},
                "description": meaning.format(types=", ".join(ERROR_TYPES)),
                "required": name == _EDGE_ID,
            }
            for name, (kind, meaning) in _READ["headers"].items()
        },
        "parameters": {
            name: {"name": name, "in": "header", "required": False, "schema": schema, "description": meaning}
            for name, (schema, meaning) in _REQUEST_HEADERS.items()
        },
    }


def format_parameter(formats: Iterable[str]) -> Part:
    """Return the query parameter that chooses the format of the answer."""
    return {
        "name": "format",
        "in": "query",
        "required": False,
        "schema": {"type": "string", "enum": list(formats)},
        "description": "Format of the answer; it wins over the Accept header.",
    }


def request_headers(method: str) -> list[Part]:
    """Return references to the header parameters of an operation."""
    names = [name for name in _REQUEST_HEADERS if method == "POST" or name != "Idempotency-Key"]
    return [reference("parameters", name) for name in names]


def headers(*names: str) -> Part:
    """Return references to the headers of a response, the edge's identifier among them."""
    return {name: reference("headers", name) for name in (_EDGE_ID, *names)}


def content(schema: Part, formats: Iterable[str], example: Any = None) -> Part:
    """Return a body in each format: as XML and CSV it is text whose structure the guide explains."""
    bodies: Part = {}
    for name in formats:
        body: Part = {"schema": schema if name in ("json", "yaml") else {"type": "string"}}
        if example is not None and name == "json":
            body["example"] = example
        bodies[MEDIA_TYPES[name][0]] = body
    return bodies


def success(schema: Part, formats: Iterable[str], example: Any = None) -> Part:
    """Return the response 200 of a path that needs a key."""
    return {
        "description": "The answer.",
        "headers": headers(_TRACE, REMAINING_HEADER, *_RATE),
        "content": content(schema, formats, example),
    }


def failures(schema: Part, formats: Iterable[str], method: str) -> Part:
    """Return the responses of all errors."""
    offered = tuple(formats)
    responses: Part = {}
    for status, (meaning, _) in ERRORS.items():
        if status in (409, 422) and method != "POST":
            continue
        names = [_TRACE, _REQUEST_ID, ERROR_TYPE_HEADER, ERROR_KEY_HEADER]
        if status != 401:
            names.append(REMAINING_HEADER)
        names += [*_RATE, _RETRY] if status == 429 else [_RETRY] if status in (409, 503) else []
        responses[str(status)] = {
            "description": meaning,
            "headers": headers(*names),
            "content": content(schema, offered),
        }
    responses["403"]["content"]["text/html"] = {"schema": {"type": "string"}}
    return responses


def plan_table(plans: Iterable[Plan]) -> list[Part]:
    """Return what each plan includes."""
    return [
        {
            "name": plan.name,
            "monthlyCredits": plan.monthly_credits,
            "bonusCredits": plan.bonus_credits,
            "premium": plan.premium,
            "requestsPerMinute": plan.requests_a_minute,
            "uploadBytes": plan.upload_bytes,
        }
        for plan in plans
    ]


def limit_table(settings: ServiceSettings) -> list[Part]:
    """Return the limits that a caller can meet, as configured, in words."""
    known = {
        **settings.values,
        "port_list": ", ".join(map(str, settings.ports)),
        "image_hours": settings.image_seconds / 3600,
        "idempotency_hours": settings.idempotency_seconds / 3600,
    }
    return [{"name": name, "value": value.format(**known)} for name, value in _READ["limits"].items()]


def visible(operation: Operation) -> list[Field]:
    """Return the fields that the service answers with."""
    return [field for field in operation.fields if not field.extra and not field.path]


def accepted(operation: Operation) -> list[Parameter]:
    """Return the parameters that the service takes."""
    return [parameter for parameter in operation.parameters if not parameter.local]


_TYPES = {"list": "array", "map": "object", "bytes": "string"}


def type_schema(shape: Shape, definitions: dict[str, Part]) -> Part:
    """Return the schema of a type; those of the objects in it are added to `definitions` by their names.

    >>> type_schema(shape_of(list[str] | None), {})
    {'anyOf': [{'type': 'array', 'items': {'type': 'string'}}, {'type': 'null'}]}
    """
    parts = [type_schema(part, definitions) for part in shape.alternatives] or [_one(shape, definitions)]
    if shape.nullable:
        parts.append({"type": "null"})
    return parts[0] if len(parts) == 1 else {"anyOf": parts}


def _one(shape: Shape, definitions: dict[str, Part]) -> Part:
    if shape.kind == "object":
        definitions[shape.name] = _object(shape, definitions)
        return reference("schemas", shape.name)
    if shape.kind == "json":
        return {}
    schema: Part = {"type": _TYPES.get(shape.kind, shape.kind)}
    if shape.choices:
        schema["enum"] = list(shape.choices)
    if shape.items is not None:
        schema["items" if shape.kind == "list" else "additionalProperties"] = type_schema(
            shape.items, definitions
        )
    return schema


def _object(shape: Shape, definitions: dict[str, Part]) -> Part:
    members = shape.members or {}
    schema: Part = {"description": shape.meaning} if shape.meaning else {}
    schema["properties"] = {name: type_schema(part, definitions) for name, (part, _) in members.items()}
    schema["required"] = [name for name, (_, required) in members.items() if required]
    return schema | {"type": "object"}


def parameter_schema(operation: Operation, parameter: Parameter) -> Part:
    """Return the schema of one parameter: type, limits, choices, default and meaning.

    >>> from webanalytics.operations import OPERATIONS
    >>> convert = OPERATIONS["convert"]
    >>> schema = parameter_schema(convert, convert.parameter("quality"))
    >>> schema["type"], schema["minimum"], schema["maximum"], schema["default"]
    ('integer', 1, 100, 90)
    """
    schema = type_schema(parameter.shape, {})
    for part in schema.get("anyOf", [schema]):
        if parameter.low is not None and part.get("type") in ("integer", "number"):
            part.update(minimum=parameter.low, maximum=parameter.high)
    expects = f" Expects {parameter.expects}." if parameter.expects else ""
    schema["description"] = f"{parameter.meaning}{expects}{' Premium.' if parameter.premium else ''}"
    if parameter.longest is not None:
        schema["maxLength"] = parameter.longest
    if parameter.alternative_to:
        schema["description"] += f" In place of `{parameter.alternative_to}`: exactly one of the two."
    elif not parameter.required:
        schema["default"] = parameter.default
    if parameter.premium:
        schema["x-premium"] = True
    if parameter.secret:
        schema.update(format="password", minLength=1)
    if operation.kind == "page" and parameter.name == operation.subject:
        schema["format"] = "uri"
    return schema


def parameters_schema(operation: Operation) -> Part:
    """Return the schema of a JSON body with an operation's parameters."""
    parameters = accepted(operation)
    properties = {item.name: parameter_schema(operation, item) for item in parameters}
    required = [item.name for item in parameters if item.required]
    schema: Part = {"type": "object", "properties": properties, "required": required}
    if operation.kind == "image":
        _offer_url(schema, operation.subject)
    other = operation.alternative
    if other is not None and not other.local:
        schema["required"] = [name for name in required if name != operation.subject]
        schema["oneOf"] = [{"required": [operation.subject]}, {"required": [other.name]}]
    schema["additionalProperties"] = True
    return schema


def form_schema(operation: Operation) -> Part:
    """Return the schema of a multipart/form-data body (RFC 7578) with the image as a file."""
    schema = parameters_schema(operation)
    meaning = schema["properties"][operation.subject]["description"]
    schema["properties"][operation.subject] = {
        "type": "string",
        "contentMediaType": "application/octet-stream",
        "description": f"{meaning} A file part.",
    }
    return schema


def _offer_url(schema: Part, subject: str) -> None:
    """Allow an image to be given by its URL."""
    image = schema["properties"][subject]
    image["description"] += " As base64, a data: URL, or an http or https URL."
    schema["properties"][IN_PLACE_OF_IMAGE] = {
        "type": "string",
        "format": "uri",
        "description": f"URL of the image, in place of `{subject}`.",
    }
    schema["required"] = [name for name in schema["required"] if name != subject]
    schema["anyOf"] = [{"required": [subject]}, {"required": [IN_PLACE_OF_IMAGE]}]


def data_schemas(operations: Iterable[Operation]) -> tuple[dict[str, Part], dict[str, Part]]:
    """Return the schema of each operation's data by its name, and the named schemas they refer to."""
    data: dict[str, Part] = {}
    shared: dict[str, Part] = {}
    for operation in operations:
        properties = {}
        for field in visible(operation):
            schema, definitions = _field_schema(field)
            properties[field.name] = schema
            for name, definition in definitions.items():
                if shared.setdefault(name, definition) != definition:
                    raise ValueError(f"two declarations use the name {name} for different shapes")
        required = [field.name for field in visible(operation) if not field.premium]
        data[operation.name] = {"type": "object", "properties": properties, "required": required}
    return data, shared


def _field_schema(field: Field) -> tuple[Part, dict[str, Part]]:
    definitions: dict[str, Part] = {}
    schema = type_schema(shape_of(field.type), definitions)
    schema["description"] = field.meaning + (" Premium." if field.premium else "")
    if field.premium:
        schema["x-premium"] = True
    return schema, definitions


def envelope_schema(operation: Operation | None, data: Part) -> Part:
    """Return the schema of a successful answer."""
    return _with_code(
        operation, {"status": {"const": "ok", "type": "string"}, "error": {"type": "null"}, "data": data}, 200
    )


def failure_schema(operation: Operation | None = None) -> Part:
    """Return the schema of a failure: one sentence that names what to change."""
    return _with_code(
        operation,
        {
            "status": {"const": "error", "type": "string"},
            "error": {"type": "string", "description": "One sentence that names the parameter to change."},
            "data": {"type": "null"},
        },
    )


def _with_code(operation: Operation | None, properties: dict[str, Part], status: int | None = None) -> Part:
    if operation is not None and operation.kind == "image":
        properties[CODE_FIELD] = {"type": "integer", "description": "The HTTP status."}
        if status is not None:
            properties[CODE_FIELD]["const"] = status
    return {"type": "object", "properties": properties, "required": list(properties)}
