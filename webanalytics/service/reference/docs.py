"""The documentation page: one HTML file, made from the OpenAPI document by the template ``static/docs.html``.

It is rendered once, when the service starts, and needs no script, font, image or other host.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from webanalytics.service.answer_formats import MEDIA_TYPES, render
from webanalytics.service.reference.openapi_parts import ERRORS, FORBIDDEN_SENTENCES
from webanalytics.service.results import failure

_STATIC = files("webanalytics.service").joinpath("static")
_STYLE = _STATIC.joinpath("docs.css").read_text("utf-8")
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

CONTENT_SECURITY_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The header that the page can be sent with: it has one style sheet inside, and nothing else."""

MANY_FIELDS = 14
"""From this many rows, a table of fields is folded."""

LONG_EXAMPLE = 2500
"""From this many characters, an example answer is folded."""

KEY = "YOUR_API_KEY"
LOCAL = "http://127.0.0.1:8080"
"""Address in examples if no public address is configured."""

JSON = "application/json"
_CODE = re.compile(r"`([^`]+)`")

Document = Mapping[str, Any]
Row = dict[str, Any]


def prose(text: object) -> Markup:
    """Return a sentence as HTML, with code between backticks.

    >>> prose("Send `url` & wait.")
    Markup('Send <code>url</code> &amp; wait.')
    """
    safe = str(escape(str(text).replace("``", "`")))
    return Markup(_CODE.sub(r"<code>\1</code>", safe))  # noqa: S704 - escaped


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


_TEMPLATES = Environment(autoescape=True, undefined=StrictUndefined)
_TEMPLATES.filters |= {"prose": prose, "json": _json}


def docs_page(document: Document) -> bytes:
    """Return the page as HTML in UTF-8, from what `openapi.document` returned."""
    template = _TEMPLATES.from_string(_STATIC.joinpath("docs.html").read_text("utf-8"))
    page = template.render(
        info=document["info"],
        docs=document.get("externalDocs", {}).get("url"),
        style=Markup(_STYLE),  # noqa: S704 - our own
        failure=failure("The `url` parameter is required."),
        forbidden=FORBIDDEN_SENTENCES,
        operations=[_operation(document, *item) for item in _tagged(document, "operations")],
        many_fields=MANY_FIELDS,
        long_example=LONG_EXAMPLE,
        batch=_batch(document),
        graphql=_graphql(document),
        formats=_formats(document),
        errors=[(f"`{status}`", meaning, retry) for status, (meaning, retry) in ERRORS.items()],
        plans=[_plan(plan) for plan in document["x-plans"]],
        limits=[(limit["name"], limit["value"]) for limit in document["x-limits"]],
    )
    return page.encode("utf-8", "replace")


def _tagged(document: Document, tag: str) -> Iterator[tuple[str, str, Document]]:
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            if tag in described["tags"]:
                yield path, method.upper(), described


def _operation(document: Document, path: str, method: str, described: Document) -> Row:
    offered = next(item for item in described["parameters"] if item.get("name") == "format")
    example = described["responses"]["200"]["content"][JSON].get("example")
    return {
        "name": described["operationId"],
        "method": method,
        "path": path,
        "summary": described["summary"],
        "credits": described["x-credits"],
        "formats": ", ".join(item.upper() for item in offered["schema"]["enum"]),
        "parameters": [_row(document, *item) for item in _parameters(document, described)],
        "request": curl(document, path, method, described),
        "upload": _upload(document, path, described),
        "fields": list(_fields(document, described)),
        "answer": _json(example) if example is not None else None,
    }


def _row(document: Document, name: str, schema: Document, required: bool, inner: bool = False) -> Row:
    kind = kind_of(document, schema)
    default = schema.get("default")
    if default is not None:
        kind += f"; default {default if isinstance(default, str) else json.dumps(default)}"
    return {
        "name": name,
        "required": required,
        "premium": schema.get("x-premium", False),
        "kind": kind,
        "meaning": schema.get("description", "").removesuffix(" Premium."),
        "inner": inner,
    }


def _parameters(document: Document, described: Document) -> Iterator[tuple[str, Document, bool]]:
    if "requestBody" not in described:
        for item in described["parameters"]:
            if item.get("in") == "query" and item["name"] != "format":
                yield item["name"], item["schema"], item["required"]
        return
    body = resolve(document, described["requestBody"]["content"][JSON]["schema"])
    for name, schema in body["properties"].items():
        yield name, schema, name in body["required"]


def _fields(document: Document, described: Document) -> Iterator[Row]:
    answer = resolve(document, described["responses"]["200"]["content"][JSON]["schema"])
    for name, schema in resolve(document, answer["properties"]["data"])["properties"].items():
        yield _row(document, name, schema, required=False)
        for path, inner in inner_fields(document, schema):
            yield _row(document, name + path, inner, required=False, inner=True)


def _upload(document: Document, path: str, described: Document) -> str | None:
    """Return a shell command that sends a file, if the operation takes one."""
    contents = described.get("requestBody", {}).get("content", {})
    if "multipart/form-data" not in contents:
        return None
    form = contents["multipart/form-data"]["schema"]["properties"]
    example = contents[JSON].get("example", {})
    fields = [f"{name}=@photo.jpg" for name, schema in form.items() if "contentMediaType" in schema]
    fields += [f"{name}={value}" for name, value in example.items() if form[name].get("format") != "uri"]
    arguments = " ".join(f"-F {shlex.quote(field)}" for field in fields)
    return f"curl {shlex.quote(_base_url(document) + path)} \\\n  {_key_header()} \\\n  {arguments}"


def curl(document: Document, path: str, method: str, described: Document) -> str:
    """Return a shell command that makes an operation's example call."""
    if method == "POST":
        return _post(document, path, described["requestBody"]["content"][JSON].get("example", {}))
    given = {item["name"]: item["example"] for item in described["parameters"] if "example" in item}
    address = f"{_base_url(document)}{path}?{urlencode(given)}"
    return f"curl {shlex.quote(address)} \\\n  {_key_header()}"


def _post(document: Document, path: str, body: Any) -> str:
    return (
        f"curl -X POST {shlex.quote(_base_url(document) + path)} \\\n  {_key_header()} \\\n"
        f"  -H 'Content-Type: application/json' \\\n  -d {shlex.quote(json.dumps(body, ensure_ascii=False))}"
    )


def _key_header() -> str:
    return f"-H {shlex.quote(f'x-api-key: {KEY}')}"


def _base_url(document: Document) -> str:
    """Return the address that examples start with."""
    address: str = document["servers"][0]["url"].rstrip("/")
    return address or LOCAL


def _batch(document: Document) -> Row:
    path, _, described = next(_tagged(document, "batch"))
    body = described["requestBody"]["content"][JSON]
    return {
        "most": body["schema"]["properties"]["inputs"]["maxItems"],
        "request": _post(document, path, body.get("example", {"inputs": []})),
    }


def _graphql(document: Document) -> Row:
    path, _, described = next(_tagged(document, "graphql"))
    example = described["requestBody"]["content"][JSON]["example"]
    return {"description": described["description"], "request": _post(document, path, example)}


def _formats(document: Document) -> Row:
    """Return the media types of each format, and the shortest example answer in each."""
    answers = [
        described["responses"]["200"]["content"][JSON].get("example")
        for _, _, described in _tagged(document, "operations")
    ]
    shortest = min(filter(None, answers), key=lambda answer: len(str(answer)), default=None)
    examples = {name.upper(): render(shortest, name)[0].decode() for name in MEDIA_TYPES if shortest}
    types = [(f"`{name}`", f"`{', '.join(types)}`") for name, types in MEDIA_TYPES.items()]
    return {"types": types, "examples": examples.items()}


def _plan(plan: Document) -> tuple[str, ...]:
    return (
        plan["name"],
        f"{plan['monthlyCredits']:,}",
        f"{plan['bonusCredits']:,}" if plan["bonusCredits"] else "–",
        "yes" if plan["premium"] else "no",
        f"{plan['requestsPerMinute']:,}" if plan["requestsPerMinute"] else "not limited",
        f"{plan['uploadBytes'] / 1e6:,g} MB",
    )


def resolve(document: Document, schema: Document) -> Document:
    """Return the target of a reference."""
    while "$ref" in schema:
        found: Any = document
        for step in schema["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        schema = found
    return schema


def kind_of(document: Document, schema: Document) -> str:
    """Return a schema's type in words.

    >>> kind_of({}, {"type": "integer", "minimum": 1, "maximum": 100})
    'integer, 1 to 100'
    >>> kind_of({}, {"anyOf": [{"type": "string"}, {"type": "null"}]})
    'string or null'
    """
    schema = resolve(document, schema)
    if "anyOf" in schema and "properties" not in schema:
        return " or ".join(kind_of(document, part) for part in schema["anyOf"])
    if "enum" in schema:
        return f"one of: {', '.join(map(str, schema['enum']))}"
    kind = schema.get("type", "any")
    if kind == "array":
        inner = kind_of(document, schema.get("items", {}))
        return f"array of {inner}{'s' if inner in ('object', 'string', 'integer', 'number') else ''}"
    if kind == "string" and "maxLength" in schema:
        return f"string of at most {schema['maxLength']:,} characters"
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"map of {kind_of(document, schema['additionalProperties'])}s"
    if "minimum" in schema and "maximum" in schema:
        return f"{kind}, {schema['minimum']:,} to {schema['maximum']:,}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def inner_fields(document: Document, schema: Document) -> Iterator[tuple[str, Document]]:
    """Yield the fields of a schema's object, by their path below it."""
    schema = resolve(document, schema)
    for part in schema.get("anyOf", ()):
        yield from inner_fields(document, part)
    if schema.get("type") == "array":
        yield from ((f"[]{path}", field) for path, field in inner_fields(document, schema.get("items", {})))
    for name, field in schema.get("properties", {}).items():
        yield f".{name}", field
        yield from ((f".{name}{path}", inner) for path, inner in inner_fields(document, field))
