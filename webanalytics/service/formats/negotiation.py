"""The format of an answer: which one is requested, and the envelope in JSON, XML, YAML or CSV.

It is the last step before an answer leaves the service. `webanalytics.service.formats.xml_csv` says how XML
and CSV hold what JSON can.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import orjson
import yaml

from webanalytics.core.messages import one_of
from webanalytics.core.strings import encodable
from webanalytics.service.formats.xml_csv import to_csv, to_xml
from webanalytics.service.results import Problem

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

    The ``format`` parameter of the ``query`` wins over the ``Accept`` header. Of the formats with the
    highest quality, the one that the header names most precisely is taken, then the one it names first:
    ``application/xml, */*`` asks for XML. A header that accepts none of them is disregarded, as RFC 9110
    section 12.5.1 allows.

    Raises
    ------
    Problem
        400 when ``query`` names a format that is not offered.

    Examples
    --------
    >>> choose_format("application/json;q=0.5, application/xml", None, ("json", "xml"))
    'xml'
    >>> choose_format("text/html", None, ("json", "xml"))
    'json'
    """
    if query is not None:
        if query not in offered:
            raise Problem(400, one_of("format", offered))
        return query
    if accept is None or accept == "*/*":
        return offered[0]
    return _negotiated(accept, tuple(offered))


@lru_cache(maxsize=256)
def _negotiated(accept: str, offered: tuple[str, ...]) -> str:
    ranges = _media_ranges(accept)
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

    Examples
    --------
    >>> plain({"price": float("nan"), "name": "lamp" + chr(0xD800)}) == {"price": None, "name": "lamp\ufffd"}
    True
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
    """Return an envelope's bytes and their ``Content-Type``; ``format`` is a key of `MEDIA_TYPES`.

    Examples
    --------
    >>> render({"status": "error", "error": "unauthorized", "data": None}, "json")
    (b'{"status":"error","error":"unauthorized","data":null}', 'application/json; charset=utf-8')
    """
    return _WRITERS[format](envelope), CONTENT_TYPES[format]
