r"""The envelope in the two formats without JSON's structure: XML 1.0 and CSV (RFC 4180).

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
import re
from collections.abc import Container, Iterator, Mapping
from functools import cache
from typing import Any

from lxml import etree

from webanalytics.core.operations.types import shape_of
from webanalytics.core.strings import for_xml
from webanalytics.operations import OPERATIONS

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

    Examples
    --------
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

    Examples
    --------
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
