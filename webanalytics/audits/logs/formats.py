"""Lines of access logs -> their parts: formats as templates, W3C headers, and JSON of servers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

Row: TypeAlias = tuple[bytes, ...]
"""The parts of one line in the order of `NAMES`, as they were written; empty where they are not known."""

_END = ' "%r" %>s %b "%{Referer}i" "%{User-Agent}i"'
TEMPLATES: Mapping[str, str] = {
    "vhost_combined": f"%v %h %l %u %t{_END}",
    "combined": f"%h %l %u %t{_END}",
    "common": '%h %l %u %t "%r" %>s %b',
    "alb": "$type $time_iso8601 $elb $client $to $in $request_time $out $status $code $got $bytes_sent "
    '"$request" "$http_user_agent"',
}
"""Formats as Apache (``%h``) and nginx (``$host``) write them; further fields may follow."""
NAMES: Mapping[str, str] = {
    "host": "%v %V %{Host}i $host $http_host $server_name x-host-header cs-host RequestHost request.host",
    "address": "%h %a %{c}a $remote_addr $client c-ip request.client_ip request.remote_ip ClientHost",
    "day": "date",
    "time": "time $time_iso8601 $time_local $msec StartUTC ts timestamp @timestamp",
    "request": "%r $request $request_uri %U $uri cs-uri-stem RequestPath request.uri path url",
    "query": "%q $query_string $args cs-uri-query",
    "status": "%s $status sc-status DownstreamStatus",
    "size": "%b %B %O $body_bytes_sent $bytes_sent sc-bytes DownstreamContentSize size bytes",
    "seconds": "%D %T %{ms}T %{us}T %{s}T $request_time time-taken duration",
    "agent": "%{User-Agent}i $http_user_agent cs(User-Agent) request_User-Agent request.User-Agent",
}
"""What the parts are called by Apache, nginx, W3C, Traefik and Caddy, the best name first."""
MOST_FIELDS = 200
"""Fields of a header that are read; others may follow."""
_UNITS = {"%D": 1e-6, "%{us}T": 1e-6, "%{ms}T": 1e-3, "time-taken": 1e-3}
_IN_JSON = [[name.lstrip("$") for name in names.split() if name[0] != "%"] for names in NAMES.values()]
_FIELD = re.compile(r"%(?:[<>]|[!\d,]+)?((?:\{[^}]*\})?(?:\^[a-z]{2}|[A-Za-z]))|\$\{?(\w+)\}?")
_QUOTED = r'([^"\\\n]*+(?:\\.[^"\\\n]*+)*+)'
_STRING = r'(?>"(?:[^"\n]|"")*+"(?![^ \r\n])|[^ \r\n]*+)'
_EITHER = rf"((?(1){_STRING}|[^ \r\n]*+))"
_MINUTE = r"([^]\n]{11}:\d\d:\d\d):\d\d([^]\n]*+)"  # fewer than seconds, so that days are known already
_FORMS = {
    **{"%t": rf"\[{_MINUTE}\]", "$time_local": _MINUTE, "$client": r"([^ \n]*?)(?::\d+)?"},
    **{"%l": r"([^ .:\n]*+)", "%u": r"([^\n]{0,255}?)"},
}
_HEX = re.compile(rb"(?<!\\)\\x([0-9A-Fa-f]{2})")
_ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_MEANT = dict(zip(b"nrtbvf", b"\n\r\t\b\v\f", strict=True))


class Format(NamedTuple):
    """How the lines of a file are read: what gives the rows of the lines that it fits, in their order."""

    name: str
    rows: Callable[[bytes], Sequence[Row]]
    unit: float = 1.0  # seconds of one unit of the time that an answer took
    tabs: bool = False


def of_template(name: str, template: str) -> Format:
    """Return the format of a ``LogFormat`` of Apache or a ``log_format`` of nginx.

    >>> made = of_template("own", '%h %t "%r" %>s %D')
    >>> made.rows(b'::1 [24/Nov/2026:00:10:00 +0100] "GET /a" 200 1500')[0][4], made.unit
    (b'GET /a', 1e-06)
    """
    names, pattern, place = [], "", 0
    for found in _FIELD.finditer(template):
        field, after = f"%{found[1]}" if found[1] else f"${found[2]}", template[found.end() :][:1] or " "
        form = _QUOTED if after == '"' else _FORMS.get(field, rf"([^{re.escape(after)}\n]*+)")
        pattern += re.escape(template[place : found.start()]) + form
        names += ["date", "time"] if _MINUTE in form else [field]
        place = found.end()
    return _of_fields(name, names, pattern + re.escape(template[place:]) + r"(?:[ \t][^\n]*)?")


def of_header(header: bytes, tabs: bool) -> Format:
    """Return the format below ``#Fields: date time ...``; lines of CloudFront have tabs, and seconds."""
    named = header.decode("latin-1").partition(":")[2].split()
    names = named[:MOST_FIELDS]
    rest = r"(?:[ \t][^\n]*)?" * (names != named)
    if tabs:
        made = _of_fields("w3c", names, "\t".join([r"([^\t\r\n]*+)"] * len(names)) + rest)
        # it escapes the % of an address once more
        return made._replace(rows=lambda block: list(map(_sent, made.rows(block))), unit=1.0, tabs=True)
    # a quotation mark that no space follows, or with which there are too few fields, is a sign as others are
    known = " ".join([_STRING] * len(names)) + rest
    return _of_fields(
        "w3c", ["", *names], rf"(?:(?=({known}\r?$))|)" + " ".join([_EITHER] * len(names)) + rest
    )


def _sent(row: Row) -> Row:
    return (*row[:4], row[4].replace(b"%25", b"%"), row[5].replace(b"%25", b"%"), *row[6:])


def _of_fields(name: str, names: Sequence[str], pattern: str) -> Format:
    """Return the format of a pattern with a group for each field."""
    best = {part: next((one for one in known.split() if one in names), "") for part, known in NAMES.items()}
    pick = itemgetter(*(names.index(one) if one else len(names) for one in best.values()))
    compiled = re.compile(rf"^{pattern}\r?$()".encode(), re.MULTILINE)
    return Format(
        name, lambda block: list(map(pick, compiled.findall(block))), _UNITS.get(best["seconds"], 1.0)
    )


def _json_rows(block: bytes) -> Iterator[Row]:
    for line in block.split(b"\n") if b"{" in block else ():
        if b"{" not in line:
            continue
        # nginx writes \x22 unless it is told that it writes JSON; else no backslash is an escape any more
        text = _HEX.sub(rb"\\\\x\1", line) if _HEX.search(line) else line.replace(rb"\\", rb"\\\\")
        with suppress(ValueError, RecursionError, AttributeError, LookupError, TypeError, OverflowError):
            row = _json_row(json.loads(text))
            if row[4]:
                yield row


def _json_row(found: dict[str, Any]) -> Row:
    inner, took = found.get("request"), found.get("Duration")
    if isinstance(inner, dict):  # of Caddy
        agents = inner.get("headers", {}).get("User-Agent") or [None]
        found |= {f"request.{name}": value for name, value in inner.items()}
        found |= {"request": None, "request.User-Agent": agents[0]}
    if isinstance(took, int):  # of Traefik
        found["duration"] = took * 1e-9
    values = (next((found[name] for name in names if found.get(name) is not None), "") for names in _IN_JSON)
    return tuple(str(value).encode("utf-8", "replace") for value in values)


FORMATS: Mapping[str, Format] = {name: of_template(name, text) for name, text in TEMPLATES.items()} | {
    "json": Format("json", lambda block: list(_json_rows(block)))
}
"""Formats in the order in which they are tried; ``w3c`` says itself what its fields are."""


def unescaped(text: bytes) -> bytes:
    r"""Return what a server wrote with ``\"``, ``\\``, ``\n`` or ``\xhh``."""
    return _ESCAPE.sub(_meant, text) if b"\\" in text else text


def _meant(escape: re.Match[bytes]) -> bytes:
    return bytes([int(escape[1], 16) if escape[1] else _MEANT.get(escape[2][0], escape[2][0])])
