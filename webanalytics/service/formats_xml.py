"""The envelope as XML 1.0.

The root is ``<response>``. An object holds one element for each key: ``<title>``, or
``<item key="og:title">`` where the key is no plain name (letters, digits and underscores, not starting
with a digit or ``xml``) and for every entry of a map such as keyword to frequency. An array holds one
``<item>`` without ``key`` for each entry. Null is ``xsi:nil="true"``, an empty array ``type="array"``, an
empty object ``type="object"``, an empty string an empty element without attributes. Characters that
XML 1.0 cannot hold (section 2.2) become U+FFFD.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, get_origin

from lxml import etree

from webanalytics.operations import OPERATIONS

XSI = "http://www.w3.org/2001/XMLSchema-instance"

_NIL = f"{{{XSI}}}nil"
_NAME = re.compile(r"(?![Xx][Mm][Ll])[A-Za-z_][A-Za-z0-9_]*")
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ITEM = "item"


@cache
def _maps() -> frozenset[str]:
    """Return the names of fields whose keys are data: one element shape for all of them."""
    return frozenset(
        field.name
        for operation in OPERATIONS.values()
        for field in operation.fields
        if get_origin(field.type) is dict
    )


def _text(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", text)


def _fill(element: etree._Element, value: Any, is_map: bool = False) -> None:
    if value is None:
        element.set(_NIL, "true")
    elif isinstance(value, bool):
        element.text = "true" if value else "false"
    elif isinstance(value, Mapping):
        if not value:
            element.set("type", "object")
        for key, item in value.items():
            _fill(_child(element, key, is_map), item, key in _maps())
    elif isinstance(value, list):
        if not value:
            element.set("type", "array")
        for item in value:
            _fill(etree.SubElement(element, _ITEM), item)
    else:
        element.text = _text(str(value))


def _child(parent: etree._Element, key: str, is_map: bool) -> etree._Element:
    if not is_map and key != _ITEM and _NAME.fullmatch(key):
        return etree.SubElement(parent, key)
    child = etree.SubElement(parent, _ITEM)
    child.set("key", _text(key))
    return child


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
    _fill(root, envelope)
    return etree.tostring(root, encoding="UTF-8", xml_declaration=True)
