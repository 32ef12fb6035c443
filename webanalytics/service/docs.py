"""The documentation page: one HTML file made from the OpenAPI document, which needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
from collections.abc import Mapping
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from webanalytics.service import docs_guide as guide
from webanalytics.service.docs_markup import (
    Inner,
    Markup,
    block,
    code,
    element,
    escaped,
    inner_fields,
    joined,
    kind_of,
    prose,
    resolve,
    table,
)

_STYLE = files("webanalytics.service").joinpath("static/docs.css").read_text("utf-8")
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

CONTENT_SECURITY_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The header that the page can be sent with: it has one style sheet inside, and nothing else."""

MANY_FIELDS = 14
"""From how many rows a table of fields is folded."""

LONG_EXAMPLE = 2500
"""From how many characters an example answer is folded."""

PREMIUM = Markup(' <span class="badge">Premium</span>')
REQUIRED = Markup(' <span class="badge need">required</span>')

Document = Mapping[str, Any]


def docs_page(document: Document) -> bytes:
    """Return the documentation page.

    Parameters
    ----------
    document : Mapping
        What `webanalytics.service.openapi.document` returned.

    Returns
    -------
    bytes
        HTML in UTF-8, without scripts, fonts, images or links to other hosts.
    """
    info = document["info"]
    operations = list(_tagged(document, "operations"))
    sections = [
        ("start", "Getting started", guide.start()),
        ("authentication", "Authentication", guide.authentication()),
        ("operations", "Operations", _operations(document, operations)),
        ("batch", "Batch", guide.batch(document)),
        ("graphql", "GraphQL", guide.graphql(document)),
        ("formats", "Formats", guide.formats(document)),
        ("errors", "Errors", guide.errors()),
        ("limits", "Plans and limits", guide.limits(document)),
    ]
    links = [(f"operation-{item['operationId']}", item["operationId"]) for _, _, item in operations]
    main = Markup(
        "".join(element("section", element("h2", title), body, id=name) for name, title, body in sections)
    )
    heading = element("h1", info["title"], Markup(" "), element("small", f"version {info['version']}"))
    body = joined(
        (
            element("header", element("div", heading, element("p", info["summary"]), class_="frame")),
            element("div", _navigation(sections, links), element("main", main), class_="frame columns"),
            element("footer", element("div", _machine_readable(), class_="frame")),
        )
    )
    head = (
        f'<meta charset="utf-8"><title>{escaped(info["title"])}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style>"
    )
    page = f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}</head>\n<body>{body}</body>\n</html>\n'
    return page.encode("utf-8", "replace")


def _machine_readable() -> Markup:
    link = element("a", "openapi.json", href="/v1/openapi.json")
    return element("p", "The same for machines: ", link, ".")


def _tagged(document: Document, tag: str) -> Any:
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            if tag in described["tags"]:
                yield path, method.upper(), described


def _navigation(sections: list[tuple[str, str, Markup]], operations: list[tuple[str, str]]) -> Markup:
    def links(items: Any) -> Markup:
        rows = (element("li", element("a", title, href=f"#{name}")) for name, title in items)
        return element("ul", joined(rows))

    pages = [(name, title) for name, title, _ in sections if name != "operations"]
    return element(
        "nav",
        element("strong", "Guide"),
        links(pages),
        element("strong", "Operations"),
        links(operations),
        aria_label="Contents",
    )


def _operations(document: Document, operations: list[tuple[str, str, Document]]) -> Markup:
    rows = [
        (
            element("a", described["operationId"], href=f"#operation-{described['operationId']}"),
            code(f"{method} {path}"),
            described["summary"],
            described["x-credits"],
        )
        for path, method, described in operations
    ]
    overview = table(("Operation", "Path", "Purpose", "Credits"), rows, numbers=(3,), labelled=(3,))
    return joined((overview, *(_operation(document, *item) for item in operations)))


def _operation(document: Document, path: str, method: str, described: Document) -> Markup:
    name, price = described["operationId"], described["x-credits"]
    credits_text = "1 credit" if price == 1 else f"{price} credits"
    formats = next(item for item in described["parameters"] if item.get("name") == "format")
    offered = ", ".join(item.upper() for item in formats["schema"]["enum"])
    return element(
        "section",
        element("h3", name),
        element(
            "div",
            element("span", method, class_="verb"),
            code(path),
            element("span", f"{credits_text} · {offered}", class_="price"),
            class_="endpoint",
        ),
        element("p", prose(described["summary"])),
        element("h4", "Parameters"),
        _parameters(document, described),
        element("h4", "Request"),
        block(curl(document, path, method, described)),
        *_upload(document, path, described),
        element("h4", "Fields of data"),
        _fields(document, described),
        element("h4", "Answer"),
        _answer(described),
        id=f"operation-{name}",
    )


def _upload(document: Document, path: str, described: Document) -> list[Markup]:
    """Return how to send a file, where an operation takes one."""
    contents = described.get("requestBody", {}).get("content", {})
    if "multipart/form-data" not in contents:
        return []
    form = contents["multipart/form-data"]["schema"]["properties"]
    example = contents["application/json"].get("example", {})
    files_sent = [name for name, schema in form.items() if "contentMediaType" in schema]
    fields = [f"{name}=@photo.jpg" for name in files_sent]
    fields += [f"{name}={value}" for name, value in example.items() if form[name].get("format") != "uri"]
    arguments = " ".join(f"-F {shlex.quote(field)}" for field in fields)
    address = shlex.quote(guide.base_url(document) + path)
    key = shlex.quote(f"x-api-key: {guide.KEY}")
    return [element("p", "Or as a file:"), block(f"curl {address} \\\n  -H {key} \\\n  {arguments}")]


def _parameters(document: Document, described: Document) -> Markup:
    rows = []
    if "requestBody" in described:
        body = resolve(document, described["requestBody"]["content"]["application/json"]["schema"])
        items = [(name, schema, name in body["required"]) for name, schema in body["properties"].items()]
    else:
        items = [
            (item["name"], item["schema"], item["required"])
            for item in described["parameters"]
            if item.get("in") == "query" and item["name"] != "format"
        ]
    for name, schema, required in items:
        default = schema.get("default")
        kind = kind_of(document, schema)
        kind += f"; default {json.dumps(default) if not isinstance(default, str) else default}" * (
            default is not None
        )
        rows.append((_named(name, schema, required), kind, _meaning(schema)))
    return table(("Parameter", "Type", "Meaning"), rows)


def _named(name: str, schema: Document, required: bool = False) -> Markup:
    return Markup(code(name) + (REQUIRED if required else "") + (PREMIUM if schema.get("x-premium") else ""))


def _meaning(schema: Document) -> Markup:
    return prose(schema.get("description", "").removesuffix(" Premium."))


def _fields(document: Document, described: Document) -> Markup:
    answer = described["responses"]["200"]["content"]["application/json"]["schema"]
    data = resolve(document, resolve(document, answer)["properties"]["data"])
    rows: list[tuple[object, ...]] = []
    for name, schema in data["properties"].items():
        rows.append((_named(name, schema), kind_of(document, schema), _meaning(schema)))
        for path, inner in inner_fields(document, schema):
            rows.append((Inner(code(name + path)), kind_of(document, inner), _meaning(inner)))
    fields = table(("Field", "Type", "Meaning"), rows)
    if len(rows) <= MANY_FIELDS:
        return fields
    return element("details", element("summary", f"{len(data['properties'])} fields"), fields)


def _answer(described: Document) -> Markup:
    example = described["responses"]["200"]["content"]["application/json"].get("example")
    if example is None:
        return element("p", "No example.")
    text = json.dumps(example, indent=2, ensure_ascii=False)
    if len(text) <= LONG_EXAMPLE:
        return block(text)
    return element("details", element("summary", "Example, long values cut short"), block(text))


def curl(document: Document, path: str, method: str, described: Document) -> str:
    """Return a shell command that makes an operation's example call."""
    address = guide.base_url(document) + path
    key = f"-H {shlex.quote(f'x-api-key: {guide.KEY}')}"
    if method == "GET":
        given = {
            item["name"]: item["example"]
            for item in described["parameters"]
            if item.get("example") is not None
        }
        return f"curl {shlex.quote(f'{address}?{urlencode(given)}')} \\\n  {key}"
    example = described["requestBody"]["content"]["application/json"].get("example", {})
    body = json.dumps(example, ensure_ascii=False)
    return (
        f"curl -X POST {shlex.quote(address)} \\\n  {key} \\\n"
        f"  -H 'Content-Type: application/json' \\\n  -d {shlex.quote(body)}"
    )
