r"""Reading and writing TLSA records in the presentation format of zone files.

RFC 1035 section 5.1 (names, TTL and class in either order, parentheses, comments, escapes), RFC 6698
section 2.2 (the record's own fields), RFC 7218 section 3 (acronyms in place of numbers) and RFC 3597
section 5 (``TYPE52`` and ``\# length hex``). TTLs may be written with units (``1h30m``), as BIND does.

DNS libraries refuse a record whose data are malformed; here such a record has to be read, so that it can be
explained. Hence this parser.

What the three codes mean says IANA's registry "DNS-Based Authentication of Named Entities (DANE) Parameters",
set up by RFC 6698 section 7 and given acronyms by RFC 7218: numbers, acronyms and short descriptions.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from webanalytics.errors import RowError


class Code(NamedTuple):
    """One code of a registry: its acronym, its registered description and what it does."""

    name: str
    description: str
    full_description: str


def _registry(field: str) -> Mapping[int, Code]:
    with Path(__file__).with_name("codes.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row.pop("field") == field]
    return {int(row.pop("code")): Code(**row) for row in rows}


USAGES: Final = _registry("usage")
SELECTORS: Final = _registry("selector")
MATCHING: Final = _registry("matching")

LAST_ASSIGNED: Final = {"usage": 3, "selector": 1, "matching": 2}
"""Highest code in public use, for each of the three fields."""

DIGEST_HEX_LENGTH: Final[Mapping[int, int]] = {1: 64, 2: 128}
"""Hexadecimal digits of the association data, for the matching types that are digests."""


def explain(codes: Mapping[int, Code], code: int) -> Code:
    """Return the meaning of a code, assigned or not.

    >>> explain(USAGES, 3).name
    'DANE-EE'
    >>> explain(MATCHING, 7).description
    'Unassigned (7)'
    """
    known = codes.get(code)
    if known is not None:
        return known
    if code > 255:
        text = "The code does not fit into the one octet the record has for it, so no such record can exist."
        return Code("Out of range", f"Out of range ({code})", text)
    text = "The code is not assigned in the IANA registry, so clients treat the record as unusable."
    return Code("Unassigned", f"Unassigned ({code})", text)


def by_acronym(codes: Mapping[int, Code]) -> dict[str, int]:
    """Map the acronyms of a registry, case folded, to their codes."""
    return {code.name.casefold(): number for number, code in codes.items()}


PROTOCOLS: Final = ("tcp", "udp", "sctp")
"""Transports that RFC 6698 section 3 names for the owner's second label."""

_TOKEN = re.compile(
    r"""(?P<blank>[ \t\v\f]++)
    | (?P<newline>[\r\n]++)
    | (?P<comment>;[^\r\n]*+)
    | (?P<open>\()
    | (?P<close>\))
    | (?P<word>"(?:[^"\\\r\n]++|\\[^\r\n])*+" | (?:[^ \t\v\f\r\n;()"\\]++|\\[^\r\n])++)
    | (?P<broken>.)""",
    re.VERBOSE | re.DOTALL,
)
_LABEL_PART = re.compile(
    r"(?P<dot>\.) | \\(?P<decimal>[0-9]{3}) | \\(?P<escaped>[^0-9]) | (?P<plain>[^.\\]++)",
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(r"[0-9]{1,9}")
_TTL_NUMBER = re.compile(r"[0-9]{1,10}")
_TTL_UNITS = re.compile(r"(?:[0-9]{1,10}[wdhms])++", re.IGNORECASE)
_CLASS = re.compile(r"CLASS(?:0|[1-9][0-9]{0,4})")
_PORT_LABEL = re.compile(rb"_[0-9]{1,9}|\*")
_PORT = re.compile(rb"_[1-9][0-9]{0,4}")
_HEX = re.compile(r"[0-9A-Fa-f]*")
HOST_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.IGNORECASE)

_MORE_HEX = re.compile(r"\s*[0-9A-Fa-f]{2}[0-9A-Fa-f \t]*")

_UNIT_SECONDS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_CLASSES = {"IN", "CS", "CH", "HS"}
_CLASS_NUMBERS = {"CLASS1": "IN", "CLASS2": "CS", "CLASS3": "CH", "CLASS4": "HS"}
_TYPES = {"TLSA", "TYPE52"}
_ACRONYMS = tuple(by_acronym(codes) for codes in (USAGES, SELECTORS, MATCHING))
_CODES = r"\s+".join(rf"(?:[0-9]{{1,3}}|{'|'.join(map(re.escape, names))})" for names in _ACRONYMS)
# A line that begins with the three codes and data, or with the generic form.
_BARE = re.compile(rf"\s*(?:\\#\s+[0-9]|{_CODES}\s+\S)", re.IGNORECASE)


class Owner(NamedTuple):
    """The parts of an owner name: the service, the host, and what is wrong with the name, if anything."""

    port: int | None
    protocol: str | None
    hostname: str
    problem: str | None


class _Label(NamedTuple):
    presentation: str
    octets: bytes


@dataclass(frozen=True)
class TlsaRecord:
    """A TLSA record as read, valid or not."""

    name: str  # owner name as written, empty for a record that was given without
    ttl: int | None  # seconds; None if the record leaves the TTL to its zone
    dns_class: str  # upper case; ``IN`` by default
    # the three codes, assigned or not
    usage: int
    selector: int
    matching: int
    data: str  # association data without the blanks between its parts: lower case when hexadecimal
    as_declared: bool = True  # false when the length of the generic form (RFC 3597) contradicts its data

    @cached_property
    def owner(self) -> Owner:
        """Port, protocol and host name, read from the owner name; a record without one has none of them."""
        return read_owner(self.name) if self.name else Owner(None, None, "", None)

    @property
    def is_hex(self) -> bool:
        """Whether the data contain only hexadecimal digits."""
        return _HEX.fullmatch(self.data) is not None

    def render(self) -> str:
        """Write the record on one line.

        >>> parse("_25._tcp.mx.example. TLSA DANE-EE SPKI SHA2-256 (ABCD ef01)").render()
        '_25._tcp.mx.example. IN TLSA 3 1 1 abcdef01'
        """
        ttl = "" if self.ttl is None else f"{self.ttl} "
        return (
            f"{self.name} {ttl}{self.dns_class} TLSA {self.usage} {self.selector} {self.matching} {self.data}"
        )


def parse(record: object, limit: int = 200_000, name: str | None = "") -> TlsaRecord:
    r"""Read one TLSA record, possibly over several lines within parentheses, from its presentation format.

    Its codes and data may still be wrong. A record without a name, type and class, as ``dig +short`` prints
    it, is one of this name; with None one without a name, and with "" it is not read at all.

    >>> parse(r"_443._tcp.www.example. 1h IN TYPE52 \# 5 030101 abcd").data
    'abcd'
    >>> parse("3 1 1 AB CD", name="_25._tcp.mx.example.").owner.port
    25
    """
    if not isinstance(record, str):
        raise RowError("tlsa_record", parameter="record")
    if len(record) > limit:
        raise RowError("long_text", parameter="record", limit=limit)
    if name != "" and (rdata := _bare(record)) is not None:
        return _record(name or "", None, "IN", rdata)
    words = _words(record)
    ttl, dns_class, at = _header(words)
    return _record(words[0], ttl, dns_class, words[at:])


def _record(name: str, ttl: int | None, dns_class: str, rdata: list[str]) -> TlsaRecord:
    if rdata and rdata[0] == r"\#":
        return _generic(name, ttl, dns_class, rdata[1:])
    if len(rdata) < 4:
        raise RowError("tlsa_record", parameter="record")
    usage, selector, matching = map(_code, rdata[:3], _ACRONYMS)
    return TlsaRecord(name, ttl, dns_class, usage, selector, matching, _lower_hex("".join(rdata[3:])))


def _bare(text: str) -> list[str] | None:
    """Return the words of a record that is nothing but its data; None for any other text."""
    first, *others = [line for line in text.splitlines() if line.strip()] or [""]
    if _BARE.match(first) is None or any(map(_BARE.match, others)):
        return None
    try:
        words = _words(f"({text}\n)")  # data may go on in the next line
    except RowError:
        return None
    return None if any(word.upper() in _TYPES for word in words[1:4]) else words


def is_bare(record: object) -> bool:
    """Return whether a text is a record without its name, as ``dig +short`` prints it.

    >>> is_bare("3 1 1 ABCD"), is_bare("_25._tcp.mx.example. IN TLSA 3 1 1 ABCD")
    (True, False)
    """
    return isinstance(record, str) and _bare(record) is not None


def named(record: str, name: str) -> str:
    r"""Return a record without a name as a whole line.

    >>> named("3 1 1 AB\nCD", "_25._tcp.mx.example.")
    '_25._tcp.mx.example. IN TLSA 3 1 1 AB CD'
    """
    return f"{name} IN TLSA {' '.join(_bare(record) or ())}"


def split_records(text: str, limit: int = 200_000) -> list[str]:
    r"""Return the records of a text with several, such as the output of ``dig +short``.

    Comments and blank lines are left out, and data may go on in the next line. A record that begins with a
    blank has the name of the one before (RFC 1035 section 5.1). A text that is not entirely made of records
    is returned as it is, whole.

    >>> split_records("3 1 1 AB\nCD\n; comment\n2 1 1 EF")
    ['3 1 1 AB\nCD', '2 1 1 EF']
    """
    found: list[str] = []
    for entry in _entries(text) if len(text) <= limit else ():
        if not entry.strip() or entry.lstrip().startswith(";"):
            continue
        more = _MORE_HEX.fullmatch(entry) and not _BARE.match(entry)
        if found and more and _BARE.match(found[-1]):
            found[-1] += f"\n{entry}"
        else:
            found.append(_with_owner(entry, found[-1]) if found else entry)
    try:
        for record in found:
            parse(record, limit, None)
    except RowError:
        return [text]
    return found if len(found) > 1 else [text]


def _entries(text: str) -> Iterator[str]:
    """Yield the lines of a zone file, several as one where a parenthesis is open."""
    start = depth = 0
    for match in _TOKEN.finditer(text):
        depth += (match.lastgroup == "open") - (match.lastgroup == "close")
        if match.lastgroup == "newline" and depth <= 0:
            yield text[start : match.start()]
            start = match.end()
    yield text[start:]


def _with_owner(entry: str, before: str) -> str:
    """Return an entry that leaves out its owner with that of the one before it."""
    if not entry[0].isspace() or _BARE.match(entry) or _BARE.match(before):
        return entry
    try:
        _header(["", *_words(entry)])
    except RowError:
        return entry
    return _words(before)[0] + entry


def _words(text: str) -> list[str]:
    """Split one entry of a zone file into its words, without comments and parentheses."""
    words: list[str] = []
    depth = 0
    ended = False
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "word":
            if ended:
                raise RowError("tlsa_record", parameter="record")
            words.append(match.group())
        elif kind == "newline":
            ended = depth == 0 and bool(words)
        elif kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        if depth < 0 or kind == "broken":
            raise RowError("tlsa_record", parameter="record")
    if depth or not words:
        raise RowError("tlsa_record", parameter="record")
    return words


def _header(words: list[str]) -> tuple[int | None, str, int]:
    """Return TTL, class and the position of the first word after the type."""
    ttl: int | None = None
    dns_class: str | None = None
    for position, word in enumerate(words[1:4], start=1):
        upper = word.upper()
        if upper in _TYPES:
            return ttl, dns_class or "IN", position + 1
        if dns_class is None and (found := _read_class(upper)) is not None:
            dns_class = found
        elif ttl is None and (seconds := read_ttl(word)) is not None:
            ttl = seconds
        else:
            break
    raise RowError("tlsa_record", parameter="record")


def _read_class(upper: str) -> str | None:
    if upper in _CLASSES:
        return upper
    if _CLASS.fullmatch(upper) and int(upper[5:]) <= 65_535:
        return _CLASS_NUMBERS.get(upper, upper)
    return None


def read_ttl(word: str) -> int | None:
    """Return a TTL in seconds, or None for a word that is not a TTL.

    >>> read_ttl("3600"), read_ttl("1h30m"), read_ttl("soon")
    (3600, 5400, None)
    """
    if _TTL_NUMBER.fullmatch(word):
        return int(word)
    if len(word) <= 60 and _TTL_UNITS.fullmatch(word):
        parts = re.findall(r"([0-9]+)([a-z])", word.lower())
        return sum(int(number) * _UNIT_SECONDS[unit] for number, unit in parts)
    return None


def _code(word: str, acronyms: dict[str, int]) -> int:
    if _NUMBER.fullmatch(word):
        return int(word)
    code = acronyms.get(word.casefold())
    if code is None:
        raise RowError("tlsa_record", parameter="record")
    return code


def _generic(name: str, ttl: int | None, dns_class: str, words: list[str]) -> TlsaRecord:
    r"""Read ``\# length hex``: one octet for each code, then the data."""
    octets = "".join(words[1:])
    if not words or not _NUMBER.fullmatch(words[0]) or len(octets) < 7 or not _HEX.fullmatch(octets[:6]):
        raise RowError("tlsa_record", parameter="record")
    usage, selector, matching = bytes.fromhex(octets[:6])
    as_declared = 2 * int(words[0]) == len(octets)
    data = _lower_hex(octets[6:])
    return TlsaRecord(name, ttl, dns_class, usage, selector, matching, data, as_declared)


def _lower_hex(data: str) -> str:
    return data.lower() if _HEX.fullmatch(data) else data


def read_owner(name: str) -> Owner:
    r"""Read service and host from an owner name, ``_port._protocol.host``, whose port may be ``*``.

    The host is without the final dot, empty if nothing follows the prefix (a name relative to its zone), and
    the whole name if there is no such prefix.

    Notes
    -----
    RFC 6698 section 3: a decimal port without leading zeros, the transport's name, and a host whose labels
    are those of hosts (RFC 952), for names in other scripts A-labels: no client asks for another one.

    Examples
    --------
    >>> read_owner("_443._tcp.www.example.com.")
    Owner(port=443, protocol='tcp', hostname='www.example.com', problem=None)
    >>> read_owner("www.example.com.").problem
    'the name must begin with `_port._protocol`, such as `_443._tcp`'
    """
    labels = _labels(name)
    if labels is None:
        return Owner(None, None, name.removesuffix("."), "the name is not a domain name")
    service = labels[:2]
    prefixed = (
        len(service) == 2
        and _PORT_LABEL.fullmatch(service[0].octets) is not None
        and service[1].octets.startswith(b"_")
    )
    if not prefixed:
        hostname = _join(labels)
        return Owner(None, None, hostname, "the name must begin with `_port._protocol`, such as `_443._tcp`")
    port, port_problem = _read_port(service[0].octets)
    protocol, protocol_problem = _read_protocol(service[1].octets)
    plain = all(HOST_LABEL.fullmatch(label.octets.decode("latin-1")) for label in labels[2:])
    host_problem = None if plain else "the host in the name must be letters, digits and hyphens, or `xn--`"
    return Owner(port, protocol, _join(labels[2:]), port_problem or protocol_problem or host_problem)


def _read_port(label: bytes) -> tuple[int | None, str | None]:
    if label == b"*":
        return None, "the name must begin with a port such as _443; a wildcard names none"
    port = int(label[1:])
    if not _PORT.fullmatch(label) or port > 65_535:
        return port, "the port in the name must be a number from 1 to 65535 without leading zeros"
    return port, None


def _read_protocol(label: bytes) -> tuple[str | None, str | None]:
    protocol = label[1:].decode("latin-1").lower()
    if protocol in PROTOCOLS:
        return protocol, None
    return None, f"the protocol in the name must be one of: {', '.join(PROTOCOLS)}"


def _join(labels: list[_Label]) -> str:
    return ".".join(label.presentation for label in labels)


def _labels(name: str) -> list[_Label] | None:
    """Split a name into its labels; None when it is not a domain name (RFC 1035 section 2.3.4)."""
    labels = _split_labels(name)
    if labels is None:
        return None
    if labels and not labels[-1].octets:
        labels.pop()  # the final dot of an absolute name
    sizes = [len(label.octets) for label in labels]
    fits = all(1 <= size <= 63 for size in sizes) and sum(sizes) + len(sizes) + 1 <= 255
    return labels if labels and fits else None


def _split_labels(name: str) -> list[_Label] | None:
    if name.startswith('"'):
        return None
    labels: list[_Label] = []
    written: list[str] = []
    octets = bytearray()
    position = 0
    for part in _LABEL_PART.finditer(name):
        if part.start() != position:
            return None
        position = part.end()
        if part["dot"]:
            labels.append(_Label("".join(written), bytes(octets)))
            written, octets = [], bytearray()
            continue
        written.append(part.group())
        if part["decimal"]:
            if int(part["decimal"]) > 255:
                return None
            octets.append(int(part["decimal"]))
        else:
            octets += (part["escaped"] or part["plain"]).encode("utf-8", "surrogatepass")
    labels.append(_Label("".join(written), bytes(octets)))
    return labels if position == len(name) else None
