"""JSON Schema (2020-12) of parameters and results, from the declarations; part of the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from webanalytics.operations import Field, Operation, Parameter
from webanalytics.operations.types import json_schema, shape_of
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


def _without_titles(schema: Any) -> Any:
    """Return a schema without pydantic's titles, which repeat names; a property may be called title."""
    if isinstance(schema, Mapping):
        return {
            key: _without_titles(value)
            for key, value in schema.items()
            if key != "title" or not isinstance(value, str)
        }
    return [_without_titles(item) for item in schema] if isinstance(schema, list) else schema


def parameter_schema(operation: Operation, parameter: Parameter) -> Schema:
    """Return the schema of one parameter: type, limits, choices, default and meaning.

    Examples
    --------
    >>> from webanalytics.operations import OPERATIONS
    >>> convert = OPERATIONS["convert"]
    >>> schema = parameter_schema(convert, convert.parameter("quality"))
    >>> schema["type"], schema["minimum"], schema["maximum"], schema["default"]
    ('integer', 1, 100, 90)
    """
    written = json_schema(parameter.type, low=parameter.low, high=parameter.high)
    schema: Schema = _without_titles(written)
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
    schema = json_schema(field.type, mode="serialization", ref_template=REFERENCE)
    definitions: dict[str, Schema] = _without_titles(schema.pop("$defs", {}))
    schema = _without_titles(schema)
    if "properties" in schema:  # pydantic gives no name to an object on its own
        name = shape_of(field.type).name
        definitions[name] = schema
        schema = {"$ref": REFERENCE.format(model=name)}
    schema["description"] = field.meaning + (" Premium." if field.premium else "")
    if field.premium:
        schema["x-premium"] = True
    return schema, definitions


def envelope_schema(operation: Operation | None, data: Schema) -> Schema:
    """Return the schema of a successful answer."""
    return _with_code(
        operation,
        {
            "status": {"const": "ok", "type": "string"},
            "error": {"type": "null"},
            "data": data,
        },
        200,
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
