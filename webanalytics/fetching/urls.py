"""URLs that may be fetched: their shape, their host and port, and the form in which they are sent.

Everything is decided here once. The result is already encoded, so that no later library reads the
URL in another way than the check did.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import urljoin

import idna
from yarl import URL

from webanalytics.fetching.addresses import is_public
from webanalytics.fetching.response import Problem

MAX_LENGTH = 8192
# Names that lead nowhere on the public internet: RFC 6761 and 6762, RFC 7686, RFC 8375, ICANN's
# reserved "internal", and those that home and company networks use.
LOCAL_NAMES = frozenset(
    (
        "corp",
        "home",
        "internal",
        "intranet",
        "lan",
        "local",
        "localdomain",
        "localhost",
        "onion",
        "private",
        "svc",
    )
)
_INVISIBLE = "\ufeff\u200b"
_SCHEME = re.compile(r"(https?)://(?=[^/?#])", re.IGNORECASE)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_AUTHORITY_END = re.compile(r"[/?#]")
_NOT_IN_AUTHORITY = re.compile(r"[\s\\%]")
_LABEL = re.compile(r"[a-z0-9_-]{1,63}")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORT = re.compile(r"[0-9]{1,5}")
# What the URL Standard (url.spec.whatwg.org) encodes in the path and in the query; all else is left
# as it is written, because servers with signed URLs compare the text.
_PATH_ENCODED = re.compile(r"""[^!-~]+|["#<>?^`{}]+""")
_QUERY_ENCODED = re.compile(r"""[^!-~]+|["#<>'\\]+""")
_DOTS = {".": ".", "%2e": ".", "..": "..", ".%2e": "..", "%2e.": "..", "%2e%2e": ".."}


def check_url(
    url: object,
    *,
    allow_private: bool = False,
    ports: Collection[int] | None = None,
    max_length: int = MAX_LENGTH,
) -> URL:
    """Return the URL in the form in which it is requested, or raise `Problem`.

    Parameters
    ----------
    url : object
        What a user or a redirect gave. White space at its ends is ignored; the fragment is dropped.
    allow_private : bool
        Allow private addresses and host names of one label.
    ports : collection of int or None
        The only ports allowed; None for any.
    max_length : int
        Characters that a URL may have.

    Raises
    ------
    Problem
        ``invalid_url``, ``credentials``, ``long_url``, ``private`` or ``port``.

    Notes
    -----
    Syntax is RFC 3986, narrowed: no user information, no percent sign or backslash in the
    authority. Host names follow UTS #46 and RFC 5891; a name that ends in a number must be a
    dotted IPv4 address in its usual form (URL Standard, "ends in a number").

    Examples
    --------
    >>> str(check_url(" https://Bücher.example/a b/../ü?q=1,2#top "))
    'https://xn--bcher-kva.example/%C3%BC?q=1,2'
    """
    if not isinstance(url, str):
        raise Problem("invalid_url")
    text = url.strip().strip(_INVISIBLE).strip()
    if len(text) > max_length:
        raise Problem("long_url", limit=max_length)
    scheme, authority, path, query = _split(text)
    if "@" in authority:
        raise Problem("credentials")
    if _NOT_IN_AUTHORITY.search(authority):
        raise Problem("invalid_url")
    host_text, port = _split_port(authority, 443 if scheme == "https" else 80)
    host = _host(host_text, allow_private)
    if ports is not None and port not in ports:
        raise Problem("port", ports=", ".join(map(str, sorted(ports))))
    place = host if port == (443 if scheme == "https" else 80) else f"{host}:{port}"
    try:
        whole = f"{scheme}://{place}{_path(path)}" + (f"?{_encode(query, _QUERY_ENCODED)}" if query else "")
        checked = URL(whole, encoded=True)
    except ValueError:
        raise Problem("invalid_url") from None
    if checked.raw_host != host.strip("[]") or checked.port != port:
        raise Problem("invalid_url")
    return checked


def check_redirect(
    base: URL, location: str | None, *, allow_private: bool = False, ports: Collection[int] | None = None
) -> URL:
    """Return where a Location header leads, checked like any other URL, or raise `Problem`.

    A location without a host is relative to `base` (RFC 9110 section 10.2.2).

    Raises
    ------
    Problem
        ``no_target``, ``redirect_scheme``, ``private`` or ``port``.

    Examples
    --------
    >>> str(check_redirect(URL("https://example.com/a/b"), "../c?d"))
    'https://example.com/c?d'
    """
    if not location or not location.strip():
        raise Problem("no_target")
    try:
        target = urljoin(str(base), location.strip())
    except ValueError:
        raise Problem("no_target") from None
    if not target.lower().startswith(("http:", "https:")):
        raise Problem("redirect_scheme")
    try:
        return check_url(target, allow_private=allow_private, ports=ports)
    except Problem as problem:
        raise problem if problem.key in ("private", "port") else Problem("no_target") from None


def host_key(url: URL) -> str:
    """Return what counts as one host for limits and delays: its name, and an unusual port.

    Examples
    --------
    >>> host_key(URL("https://example.com/a")) == host_key(URL("http://example.com/b"))
    True
    """
    return str(url.raw_host) if url.port in (80, 443) else f"{url.raw_host}:{url.port}"


def _split(text: str) -> tuple[str, str, str, str]:
    found = _SCHEME.match(text)
    if not found:
        raise Problem("invalid_url")
    if _CONTROL.search(text):
        raise Problem("invalid_url")
    rest = text[found.end() :]
    end = _AUTHORITY_END.search(rest)
    authority, tail = (rest[: end.start()], rest[end.start() :]) if end else (rest, "")
    path, _, query = tail.partition("#")[0].partition("?")
    # Browsers take a backslash in a path for a slash, other programs do not.
    if "\\" in path:
        raise Problem("invalid_url")
    return found[1].lower(), authority, path, query


def _split_port(authority: str, default: int) -> tuple[str, int]:
    if authority.startswith("["):
        host, bracket, port = authority.partition("]")
        host += bracket
        if not bracket or (port and not port.startswith(":")):
            raise Problem("invalid_url")
        colon, port = port[:1], port[1:]
    else:
        host, colon, port = authority.partition(":")
    if not colon:
        return host, default
    if not _PORT.fullmatch(port) or not 1 <= int(port) <= 65535:
        raise Problem("invalid_url")
    return host, int(port)


def _host(text: str, allow_private: bool) -> str:
    if text.startswith("["):
        try:
            address = IPv6Address(text[1:-1])
        except AddressValueError:
            raise Problem("invalid_url") from None
        if not allow_private and not is_public(address):
            raise Problem("private")
        return f"[{address.compressed}]"
    name = _ascii_name(text)
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _ipv4(name, allow_private, rooted=text.endswith("."))
    if len(name) > 253 or not all(map(_is_label, labels)):
        raise Problem("invalid_url")
    local = len(labels) < 2 or labels[-1] in LOCAL_NAMES or labels[-2:] == ["home", "arpa"]
    if local and not allow_private:
        raise Problem("private")
    return name


def _ipv4(name: str, allow_private: bool, rooted: bool) -> str:
    # 2130706433, 0x7f.1 and 0177.0.0.1 are 127.0.0.1 to some programs and names to others.
    try:
        address = IPv4Address(name)
    except AddressValueError:
        raise Problem("invalid_url") from None
    if rooted:
        raise Problem("invalid_url")
    if not allow_private and not is_public(address):
        raise Problem("private")
    return name


def _ascii_name(text: str) -> str:
    if text.isascii():
        name = text.lower()
    else:
        try:
            mapped = idna.uts46_remap(text, std3_rules=False, transitional=False)
        except (idna.IDNAError, ValueError, IndexError):
            raise Problem("invalid_url") from None
        name = ".".join(map(_ascii_label, mapped.split(".")))
    return name[:-1] if name.endswith(".") else name


def _ascii_label(label: str) -> str:
    if label.isascii():
        return label
    try:
        return idna.alabel(label).decode("ascii")
    except idna.IDNAError:
        pass
    # IDNA 2008 knows no emoji; browsers and registries of such names do. A label of 63 characters
    # at most is encoded, because the encoder's time grows with the square of the length.
    if len(label) > 63:
        raise Problem("invalid_url")
    try:
        return "xn--" + label.encode("punycode").decode("ascii")
    except UnicodeError:
        raise Problem("invalid_url") from None


def _is_label(label: str) -> bool:
    if not _LABEL.fullmatch(label):
        return False
    if not label.startswith("xn--"):
        return True
    try:
        return not label[4:].encode("ascii").decode("punycode").isascii()
    except UnicodeError:
        return False


def _path(path: str) -> str:
    encoded = _encode(path, _PATH_ENCODED) or "/"
    if "/." not in encoded and "/%2" not in encoded:
        return encoded
    # RFC 3986 section 5.2.4: otherwise "/open/../closed" would pass the rules for "/open/".
    kept: list[str] = []
    segments = encoded.split("/")[1:]
    for index, segment in enumerate(segments):
        dots = _DOTS.get(segment.lower())
        if dots is None:
            kept.append(segment)
            continue
        if dots == ".." and kept:
            kept.pop()
        if index == len(segments) - 1:
            kept.append("")
    return "/" + "/".join(kept)


def _encode(text: str, encoded: re.Pattern[str]) -> str:
    # aiohttp keeps header bytes that are no UTF-8 as surrogates: they are sent as they came.
    return encoded.sub(lambda found: _percent(found[0].encode("utf-8", "surrogateescape")), text)


def _percent(data: bytes) -> str:
    return "".join(f"%{byte:02X}" for byte in data)
