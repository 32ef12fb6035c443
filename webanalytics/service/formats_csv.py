"""The envelope as CSV (RFC 4180): a table of two columns, ``key`` and ``value``.

The rows of ``data`` stand without a prefix, after ``status`` and ``error``. Keys of nested objects and
places in arrays, from 0, are joined by dots: ``parsed.port``, ``headings.0.text``. Null, an empty string
and an empty array or object are an empty cell; booleans are ``true`` and ``false``. White space in
``text`` is collapsed.

Cells hold values as they are: one that starts with ``=``, ``+``, ``-`` or ``@`` gets no prefix, since a
phone number such as ``+12025550123`` and a negative number must read back exactly. Who opens the table in
a spreadsheet imports the column ``value`` as text, so that nothing a page wrote is taken for a formula.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

COLUMNS = ("key", "value")
DATA = "data"
COLLAPSED = "text"
"""The field whose white space means nothing in a table."""

_NUL = "\x00"


def _cell(key: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    # No CSV parser written in C reads on after NUL; XML and HTML parsers replace it by U+FFFD as well.
    text = str(value).replace(_NUL, "\ufffd")
    return " ".join(text.split()) if key == COLLAPSED else text


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
        if key == DATA and isinstance(value, Mapping):
            for name, item in value.items():
                writer.writerows(_rows(name, name, item))
        else:
            writer.writerows(_rows(key, key, value))
    return buffer.getvalue().encode()
