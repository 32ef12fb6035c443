"""Pieces of HTML: text that is always escaped, tables, code, and the schemas of JSON Schema in words."""

from __future__ import annotations

import html
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

Schema = Mapping[str, Any]

_CODE = re.compile(r"`([^`]+)`")


class Markup(str):
    """Text that is HTML already; everything else is escaped where it is put in."""

    __slots__ = ()


def escaped(value: object) -> Markup:
    """Return a value as HTML.

    Examples
    --------
    >>> escaped("<script>"), escaped(Markup("<b>"))
    ('&lt;script&gt;', '<b>')
    """
    return value if isinstance(value, Markup) else Markup(html.escape(str(value)))


def joined(parts: Iterable[object]) -> Markup:
    """Return pieces one after the other, escaped where they are not HTML."""
    return Markup("".join(map(escaped, parts)))


def prose(text: str) -> Markup:
    """Return a sentence as HTML, with code between backticks.

    Examples
    --------
    >>> prose("Send `url` & wait.")
    'Send <code>url</code> &amp; wait.'
    """
    return Markup(_CODE.sub(r"<code>\1</code>", html.escape(text.replace("``", "`"))))


def element(tag: str, *children: object, **attributes: str) -> Markup:
    """Return an element; a trailing underscore of an attribute's name is dropped.

    Examples
    --------
    >>> element("a", "A & B", href="#x")
    '<a href="#x">A &amp; B</a>'
    """
    names = "".join(f' {name.rstrip("_")}="{html.escape(value)}"' for name, value in attributes.items())
    return Markup(f"<{tag}{names}>{joined(children)}</{tag}>")


def code(text: object) -> Markup:
    """Return words of the interface."""
    return element("code", text)


def block(text: str) -> Markup:
    """Return an example of several lines, which a keyboard can scroll."""
    return element("pre", element("code", text), tabindex="0")


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    numbers: Container[int] = (),
    labelled: Container[int] = (),
) -> Markup:
    """Return a table, which narrow windows show as a list.

    Parameters
    ----------
    heads : sequence of str
        Head of each column.
    rows : iterable of sequence
        The cells; a row whose first cell is an `Inner` belongs to the one above.
    numbers : container of int
        Columns that hold numbers.
    labelled : container of int
        Columns whose cells mean nothing without their head.
    """
    columns = [_Column(head, place in numbers, place in labelled) for place, head in enumerate(heads)]
    head = element("tr", joined(column.cell("th", column.head) for column in columns))
    body = joined(_row(row, columns) for row in rows)
    content = element("table", element("thead", head), element("tbody", body))
    return element("div", content, class_="scroll", tabindex="0")


class _Column(NamedTuple):
    head: str
    is_number: bool
    is_labelled: bool

    def cell(self, tag: str, content: object) -> Markup:
        attributes = {"class": "number" if self.is_number else "kind" if self.head == "Type" else ""}
        if tag == "td" and self.is_labelled:
            attributes["data-label"] = self.head
        return element(tag, content, **{name: value for name, value in attributes.items() if value})


def _row(row: Sequence[object], columns: Sequence[_Column]) -> Markup:
    cells = joined(column.cell("td", value) for column, value in zip(columns, row, strict=True))
    return element("tr", cells, class_="inner") if isinstance(row[0], Inner) else element("tr", cells)


class Inner(Markup):
    """The first cell of a row about a part of the row above."""

    __slots__ = ()


def resolve(document: Schema, schema: Schema) -> Schema:
    """Return what a reference stands for."""
    while "$ref" in schema:
        found: Any = document
        for step in schema["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        schema = found
    return schema


def kind_of(document: Schema, schema: Schema) -> str:
    """Return a schema's type in words.

    Examples
    --------
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
        return (
            f"array of {inner}s"
            if inner in ("object", "string", "integer", "number")
            else f"array of {inner}"
        )
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"map of {kind_of(document, schema['additionalProperties'])}s"
    if "minimum" in schema and "maximum" in schema:
        return f"{kind}, {schema['minimum']:,} to {schema['maximum']:,}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def inner_fields(document: Schema, schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield the fields of the object behind a schema, by their path under it."""
    schema = resolve(document, schema)
    for part in schema.get("anyOf", ()):
        yield from inner_fields(document, part)
    if schema.get("type") == "array":
        yield from ((f"[]{path}", field) for path, field in inner_fields(document, schema.get("items", {})))
    for name, field in schema.get("properties", {}).items():
        yield f".{name}", field
        yield from ((f".{name}{path}", inner) for path, inner in inner_fields(document, field))
