r"""The format of an answer: which one is requested, and the envelope in JSON, XML, YAML or CSV.

It is the last step before an answer leaves the service.

XML: the root is ``<response>``. An object holds one element for each key: ``<title>``, or
``<item key="og:title">`` where the key is not a plain name (letters, digits and underscores, not starting
with a digit or ``xml``) and for every entry of a map such as keyword to frequency. An array holds one
``<item>`` without ``key`` for each entry. Null is ``xsi:nil="true"``, an empty array ``type="array"``, an
empty object ``type="object"``, an empty string an empty element without attributes. Characters that
XML 1.0 cannot hold (section 2.2) become U+FFFD.

CSV: a table of two columns, ``key`` and ``value``. The rows of ``data`` stand without a prefix, after
``status`` and ``error``. Keys of nested objects and places in arrays, from 0, are joined by dots:
``parsed.port``, ``headings.0.text``. Null, an empty string and an empty array or object are an empty cell;
booleans are ``true`` and ``false``. White space in ``text`` is collapsed. Cells hold values as they are:
one that starts with ``=``, ``+``, ``-`` or ``@`` gets no prefix, since a phone number such as
``+12025550123`` and a negative number must read back exactly. To open the table in a spreadsheet, import
the column ``value`` as text, so that nothing a page wrote is taken for a formula.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import orjson
import yaml
from lxml import etree

from webanalytics.core.messages import one_of
from webanalytics.core.operations.types import shape_of
from webanalytics.core.strings import encodable, for_xml
from webanalytics.operations import OPERATIONS
from webanalytics.service.results import Problem

XSI = "http://www.w3.org/2001/XMLSchema-instance"
COLUMNS = ("key", "value")
DATA = "data"
COLLAPSED = "text"
"""The field whose white space is collapsed in a table."""

_NIL = f"{{{XSI}}}nil"
_NAME = re.compile(r"(?![Xx][Mm][Ll])[A-Za-z_][A-Za-z0-9_]*")
_ITEM = "item"
_NUL = "\x00"


def to_xml(envelope: Mapping[str, Any]) -> bytes:
    r"""Return an envelope of plain values as an XML document in UTF-8.

    >>> print(to_xml({"status": "ok", "error": None, "data": {"og:title": "A & B"}}).decode())
    <?xml version='1.0' encoding='UTF-8'?>
    <response xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><status>ok</status><error
    xsi:nil="true"/><data><item key="og:title">A &amp; B</item></data></response>
    """
    root = etree.Element("response", nsmap={"xsi": XSI})
    _fill(root, envelope, _maps(tuple(OPERATIONS)))
    return etree.tostring(root, encoding="UTF-8", xml_declaration=True)


@cache
def _maps(operations: tuple[str, ...]) -> frozenset[str]:
    """Return the names of fields whose keys are data, which are all written as the same element."""
    fields = (field for name in operations for field in OPERATIONS[name].fields)
    return frozenset(field.name for field in fields if shape_of(field.type).kind == "map")


def _fill(element: etree._Element, value: Any, maps: Container[str], is_map: bool = False) -> None:
    if value is None:
        element.set(_NIL, "true")
    elif isinstance(value, bool):
        element.text = _boolean(value)
    elif isinstance(value, Mapping):
        if not value:
            element.set("type", "object")
        for key, item in value.items():
            _fill(_child(element, key, is_map), item, maps, key in maps)
    elif isinstance(value, list):
        if not value:
            element.set("type", "array")
        for item in value:
            _fill(etree.SubElement(element, _ITEM), item, maps)
    else:
        element.text = for_xml(str(value), "\ufffd")


def _child(parent: etree._Element, key: str, is_map: bool) -> etree._Element:
    if not is_map and key != _ITEM and _NAME.fullmatch(key):
        return etree.SubElement(parent, key)
    child = etree.SubElement(parent, _ITEM)
    child.set("key", for_xml(key, "\ufffd"))
    return child


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def to_csv(envelope: Mapping[str, Any]) -> bytes:
    r"""Return an envelope of plain values as a key/value table in UTF-8.

    >>> to_csv({"status": "ok", "error": None, "data": {"title": "A, B", "sizes": [1, 2]}})
    b'key,value\r\nstatus,ok\r\nerror,\r\ntitle,"A, B"\r\nsizes.0,1\r\nsizes.1,2\r\n'
    """
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for key, value in envelope.items():
        items = value.items() if key == DATA and isinstance(value, Mapping) else ((key, value),)
        for name, item in items:
            writer.writerows(_rows(name, name, item))
    return buffer.getvalue().encode()


def _rows(path: str, key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        items: Iterator[tuple[str, Any]] = ((str(name), item) for name, item in value.items())
    elif isinstance(value, list) and value:
        items = ((str(place), item) for place, item in enumerate(value))
    else:
        yield path.replace(_NUL, "\ufffd"), "" if isinstance(value, Mapping | list) else _cell(key, value)
        return
    for name, item in items:
        yield from _rows(f"{path}.{name}", name, item)


def _cell(key: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return _boolean(value)
    # No CSV parser written in C reads on after NUL; XML and HTML parsers replace it by U+FFFD as well.
    text = str(value).replace(_NUL, "\ufffd")
    return " ".join(text.split()) if key == COLLAPSED else text


MEDIA_TYPES: dict[str, tuple[str, ...]] = {
    "json": ("application/json",),
    "xml": ("application/xml", "text/xml"),
    "yaml": ("application/yaml", "application/x-yaml", "text/yaml"),
    "csv": ("text/csv",),
}
"""The media types by which each format can be requested; answers carry the first one."""

CONTENT_TYPES = {name: f"{types[0]}; charset=utf-8" for name, types in MEDIA_TYPES.items()}

MAX_DEPTH = 200
"""Deepest nesting written; XML parsers refuse documents deeper than 256 elements."""

MAX_BITS = 13_000
"""Longest integer written; Python itself reads no decimal integer of more than 4,300 digits."""

_QUALITY = re.compile(r"0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?")  # RFC 9110 section 12.4.2


def choose_format(accept: str | None, query: str | None, offered: Sequence[str]) -> str:
    """Return the format for an answer, one of ``offered``, which lists the preferred one first.

    The ``format`` parameter of the ``query`` wins over the ``Accept`` header. Of the formats with the highest
    quality, the one that the header names most precisely is taken, then the one it names first:
    ``application/xml, */*`` asks for XML. A header that accepts none of them is disregarded, as RFC 9110
    section 12.5.1 allows. Raises `Problem` 400 when ``query`` names a format that is not offered.

    >>> choose_format("application/json;q=0.5, application/xml", None, ("json", "xml"))
    'xml'
    >>> choose_format("text/html", None, ("json", "xml"))
    'json'
    """
    if query is not None:
        if query not in offered:
            raise Problem(400, one_of("format", offered))
        return query
    ranges = _media_ranges(accept or "")
    best = offered[0]
    best_rank = (0.0, 0, 0)
    for name in offered:
        for media_type in MEDIA_TYPES[name]:
            rank = _rank(media_type, ranges)
            if rank[0] > 0 and rank > best_rank:
                best, best_rank = name, rank
    return best


def _media_ranges(accept: str) -> dict[str, tuple[float, int]]:
    """Return the quality and the position of each media range; malformed ones are left out."""
    ranges: dict[str, tuple[float, int]] = {}
    for place, item in enumerate(accept.split(",")):
        media_range, *parameters = (part.strip().lower() for part in item.split(";"))
        quality = next((part[2:].strip() for part in parameters if part.startswith("q=")), "1")
        if _QUALITY.fullmatch(quality):
            ranges.setdefault(media_range, (float(quality), -place))
    return ranges


def _rank(media_type: str, ranges: Mapping[str, tuple[float, int]]) -> tuple[float, int, int]:
    """Return quality, precision and position of the most precise range that matches a media type."""
    main_type = media_type.partition("/")[0]
    for precision, media_range in ((2, media_type), (1, f"{main_type}/*"), (0, "*/*")):
        if media_range in ranges:
            quality, place = ranges[media_range]
            return quality, precision, place
    return 0.0, 0, 0


def plain(value: Any, depth: int = MAX_DEPTH) -> Any:
    r"""Return a copy that every format can write: JSON's types, and nothing that UTF-8 cannot encode.

    Lone surrogates become U+FFFD; NaN, the infinities, integers of thousands of digits and values
    nested too deeply become None.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return encodable(str(value))  # of a subclass too: no format writes those
    if isinstance(value, int):
        return int(value) if value.bit_length() <= MAX_BITS else None
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if depth <= 0:
        return None
    if isinstance(value, Mapping):
        return {encodable(str(key)): plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, depth - 1) for item in value]
    return encodable(str(value))


def to_json(envelope: Mapping[str, Any]) -> bytes:
    """Return the envelope as JSON (RFC 8259)."""
    try:
        return orjson.dumps(envelope)
    except TypeError:  # surrogates, integers over 64 bits, deep nesting, keys that are no strings
        text = json.dumps(plain(envelope), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode()


_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

# YAML 1.1 folds and normalises the line breaks of unquoted and single-quoted text, next line (U+0085)
# and the Unicode separators among them; between double quotes all of them are escaped.
_NEEDS_QUOTES = re.compile("[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]")


class _EnvelopeDumper(_Dumper):  # type: ignore[misc]
    """Writes plain data without anchors, and every line break and control character escaped."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the library's signature
        return True

    def represent_text(self, text: str) -> yaml.ScalarNode:
        style = '"' if _NEEDS_QUOTES.search(text) else None
        node: yaml.ScalarNode = self.represent_scalar("tag:yaml.org,2002:str", text, style=style)
        return node


_EnvelopeDumper.add_representer(str, _EnvelopeDumper.represent_text)


def to_yaml(envelope: Mapping[str, Any]) -> bytes:
    """Return the envelope as YAML 1.1, which YAML 1.2 parsers also read."""
    text: str = yaml.dump(
        plain(envelope), Dumper=_EnvelopeDumper, sort_keys=False, allow_unicode=True, width=1_000_000
    )
    return text.encode()


_WRITERS: dict[str, Callable[[Mapping[str, Any]], bytes]] = {
    "json": to_json,
    "xml": lambda envelope: to_xml(plain(envelope)),
    "yaml": to_yaml,
    "csv": lambda envelope: to_csv(plain(envelope)),
}


def render(envelope: Mapping[str, Any], format: str) -> tuple[bytes, str]:  # noqa: A002 - the API's own word
    """Return an envelope's bytes and their ``Content-Type``; ``format`` is a key of `MEDIA_TYPES`."""
    return _WRITERS[format](envelope), CONTENT_TYPES[format]
