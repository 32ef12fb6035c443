"""JSON Schema (2020-12) of parameters and results, from the declarations; part of the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from webanalytics.core.operations.types import Shape, shape_of
from webanalytics.operations import Field, Operation, Parameter
from webanalytics.service.parameters import IN_PLACE_OF_IMAGE
from webanalytics.service.results import CODE_FIELD

REFERENCE = "#/components/schemas/{model}"

Schema = dict[str, Any]


def visible(operation: Operation) -> list[Field]:
    """Return the fields that the service answers with."""
    return [field for field in operation.fields if not field.extra and not field.path]


def accepted(operation: Operation) -> list[Parameter]:
    """Return the parameters that the service takes."""
    return [parameter for parameter in operation.parameters if not parameter.local]


_TYPES = {"list": "array", "map": "object", "bytes": "string"}


def type_schema(shape: Shape, definitions: dict[str, Schema]) -> Schema:
    """Return the schema of a type; those of the objects in it are added to `definitions` by their names.

    >>> type_schema(shape_of(list[str] | None), {})
    {'anyOf': [{'type': 'array', 'items': {'type': 'string'}}, {'type': 'null'}]}
    """
    parts = [type_schema(part, definitions) for part in shape.alternatives] or [_one(shape, definitions)]
    if shape.nullable:
        parts.append({"type": "null"})
    return parts[0] if len(parts) == 1 else {"anyOf": parts}


def _one(shape: Shape, definitions: dict[str, Schema]) -> Schema:
    if shape.kind == "object":
        definitions[shape.name] = _object(shape, definitions)
        return {"$ref": REFERENCE.format(model=shape.name)}
    if shape.kind == "json":
        return {}
    schema: Schema = {"type": _TYPES.get(shape.kind, shape.kind)}
    if shape.choices:
        schema["enum"] = list(shape.choices)
    if shape.items is not None:
        schema["items" if shape.kind == "list" else "additionalProperties"] = type_schema(
            shape.items, definitions
        )
    return schema


def _object(shape: Shape, definitions: dict[str, Schema]) -> Schema:
    members = shape.members or {}
    schema: Schema = {"description": shape.meaning} if shape.meaning else {}
    schema["properties"] = {name: type_schema(part, definitions) for name, (part, _) in members.items()}
    schema["required"] = [name for name, (_, required) in members.items() if required]
    return schema | {"type": "object"}


def parameter_schema(operation: Operation, parameter: Parameter) -> Schema:
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


def parameters_schema(operation: Operation) -> Schema:
    """Return the schema of a JSON body with an operation's parameters."""
    parameters = accepted(operation)
    properties = {item.name: parameter_schema(operation, item) for item in parameters}
    required = [item.name for item in parameters if item.required]
    schema: Schema = {"type": "object", "properties": properties, "required": required}
    if operation.kind == "image":
        _offer_url(schema, operation.subject)
    other = operation.alternative
    if other is not None and not other.local:
        schema["required"] = [name for name in required if name != operation.subject]
        schema["oneOf"] = [{"required": [operation.subject]}, {"required": [other.name]}]
    schema["additionalProperties"] = True
    return schema


def form_schema(operation: Operation) -> Schema:
    """Return the schema of a multipart/form-data body (RFC 7578) with the image as a file."""
    schema = parameters_schema(operation)
    meaning = schema["properties"][operation.subject]["description"]
    schema["properties"][operation.subject] = {
        "type": "string",
        "contentMediaType": "application/octet-stream",
        "description": f"{meaning} A file part.",
    }
    return schema


def _offer_url(schema: Schema, subject: str) -> None:
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


def data_schemas(operations: Iterable[Operation]) -> tuple[dict[str, Schema], dict[str, Schema]]:
    """Return the schema of each operation's data by its name, and the named schemas they refer to."""
    data: dict[str, Schema] = {}
    shared: dict[str, Schema] = {}
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


def _field_schema(field: Field) -> tuple[Schema, dict[str, Schema]]:
    definitions: dict[str, Schema] = {}
    schema = type_schema(shape_of(field.type), definitions)
    schema["description"] = field.meaning + (" Premium." if field.premium else "")
    if field.premium:
        schema["x-premium"] = True
    return schema, definitions


def envelope_schema(operation: Operation | None, data: Schema) -> Schema:
    """Return the schema of a successful answer."""
    return _with_code(
        operation, {"status": {"const": "ok", "type": "string"}, "error": {"type": "null"}, "data": data}, 200
    )


def failure_schema(operation: Operation | None = None, status: int | None = None) -> Schema:
    """Return the schema of a failure: one sentence that names what to change."""
    return _with_code(
        operation,
        {
            "status": {"const": "error", "type": "string"},
            "error": {"type": "string", "description": "One sentence that names the parameter to change."},
            "data": {"type": "null"},
        },
        status,
    )


def _with_code(operation: Operation | None, properties: dict[str, Schema], status: int | None) -> Schema:
    if operation is not None and operation.kind == "image":
        properties[CODE_FIELD] = {"type": "integer", "description": "The HTTP status."}
        if status is not None:
            properties[CODE_FIELD]["const"] = status
    return {"type": "object", "properties": properties, "required": list(properties)}
