"""The one normal form of web addresses, in which links are compared and pages are fetched.

It follows the URL Standard (url.spec.whatwg.org). What may be fetched is decided above, in `fetching.guard`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from itertools import takewhile
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit
from zlib import crc32

DEFAULT_PORTS = {"http": 80, "https": 443}

# Nearly all links of a page are in normal form already: one match says so, and finds their host. The last
# label of a name that starts with a digit may make it a number, and so an IPv4 address.
NORMAL_NAME = r"(?:[a-z0-9_-]++\.)*+[a-z_][a-z0-9_-]*+"
NORMAL_IN_PATH = r"[!$-;=@-\[\]_a-z|~]*+"
NORMAL_QUERY = r"(?:\?[!$-&(-;=?-\[\]-~]++)?"
_NORMAL = re.compile(rf"https?://({NORMAL_NAME})/{NORMAL_IN_PATH}{NORMAL_QUERY}")
_PARTS = re.compile(r"(?a:(https?)://)([^/?#\\]++)([^?#]*+)(?:\?([^#]*+))?", re.IGNORECASE | re.DOTALL)
# Without the forbidden host code points.
_HOST = re.compile(r"[!$&-.0-9;=_a-z~]+|\[[0-9a-f:.]+\]")
_PORT = re.compile(r"[0-9]{1,5}")
_NUMBER = re.compile(r"[0-9]{1,20}|0x[0-9a-f]{0,20}")
_MAX_FOREIGN_NAME = 253
_MAX_LABEL = 63
# What the standard encodes in the path and in the query; everything else stays as it is written, because
# servers with signed URLs compare the text. A query's backslash is encoded
# besides, for servers that refuse it.
_PATH_ENCODED = re.compile(r"""[^!-~]+|["#<>?^`{}]+""")
_QUERY_ENCODED = re.compile(r"""[^!-~]+|["#<>'\\]+""")
_DOTS = {".": ".", "%2e": ".", "..": "..", ".%2e": "..", "%2e.": "..", "%2e%2e": ".."}


_WITHOUT_SCHEME = re.compile(r"([^\s/?#:@\\]{1,253})(:[0-9]{1,5})?(?:[/?#]\S*)?")
_LABEL = re.compile(r"\w(?:[\w-]{0,61}\w)?")
_NOT_HOSTS = frozenset(["csv", "htm", "html", "json", "jsonl", "pdf", "tsv", "txt", "xhtml", "xlsx", "xml"])
"""Ends of names of files, none of which is a top-level domain."""


_USER = re.compile(
    r"(?i)^(\s*(?:[a-z][a-z0-9+.-]*:)?[/\\]{2,})(?:[^/?#\\]*@|[^/?#\\:@\[]*:(?!\d*(?:[/?#\\]|$))\S*@)"
    r"|^\s*(?!mailto:)[^\s/?#\\@:]+:[^\s/?#\\]*@"
)


def without_user(text: str) -> str:
    """Return an address as it may be shown: without the user name and the password in it.

    Examples
    --------
    >>> without_user("https://ann:tea@a.example/x@y"), without_user("https://a.example/?mail=ann@a.example")
    ('https://a.example/x@y', 'https://a.example/?mail=ann@a.example')
    >>> list(map(without_user, ("ann:tea@a.example", "https://ann:t#a@a.example", "mailto:ann@a.example")))
    ['a.example', 'https://a.example', 'mailto:ann@a.example']
    """
    return _USER.sub(r"\1", text) if "@" in text else text


def is_web(text: str) -> bool:
    """Return whether a text is an absolute http or https address, by its beginning."""
    return text[:8].lower().startswith(("http://", "https://"))


def lacks_scheme(text: str) -> bool:
    """Return whether a text is an address without its scheme: a host, maybe with a port and a path.

    A host has a dot and ends in letters, or is an IPv4 address, or is localhost with a port.

    Examples
    --------
    >>> [lacks_scheme(text) for text in ("www.example.org", "bücher.example/a?b", "127.0.0.1:8000")]
    [True, True, True]
    >>> [lacks_scheme(text) for text in ("localhost", "page.html", "a@b.example", "1.5", "https://a.example")]
    [False, False, False, False, False]
    """
    found = _WITHOUT_SCHEME.fullmatch(text)
    if found is None:
        return False
    *labels, last = found[1].removesuffix(".").lower().split(".")
    if not labels:
        return last == "localhost" and found[2] is not None
    if last.isdecimal():
        numbers = [int(part) for part in (*labels, last) if part.isascii() and part.isdecimal()]
        return len(numbers) == len(labels) + 1 == 4 and max(numbers) < 256
    named = (last.isalpha() and len(last) > 1) or last.startswith("xn--")
    return named and last not in _NOT_HOSTS and all(map(_LABEL.fullmatch, [*labels, last]))


class Address(NamedTuple):
    """An address on the web: its host, with the port unless it is the default, and the whole URL."""

    host: str
    url: str


def address(url: str) -> Address | None:
    """Return an absolute http(s) address in normal form and without fragment, None for any other text.

    Scheme and host are in lower case, host names in ASCII and without a final dot, usual ports and user
    information left out, dot segments removed, and what the standard encodes is encoded.

    Examples
    --------
    >>> address("HTTPS://Bücher.Example:443?q=ü#top")
    Address(host='xn--bcher-kva.example', url='https://xn--bcher-kva.example/?q=%C3%BC')
    >>> address("mailto:tea@example.org")
    """
    found = _NORMAL.fullmatch(url)
    if found and "/." not in url and "/%2" not in url:
        return Address(found[1], url)
    parts = _PARTS.match(url)
    if parts is None:
        return None
    scheme = parts[1].lower()
    try:
        name, port = split_port(parts[2].rpartition("@")[2], DEFAULT_PORTS[scheme])
        host = place(scheme, normal_host(name), port)
        return Address(host, f"{scheme}://{host}{normal_path(parts[3])}{normal_query(parts[4])}")
    except ValueError:
        return None


@lru_cache(maxsize=10_000)
def registrable_domain(host: str) -> str:
    """Return the part of a host, given in normal form, that its owner has registered; else the host itself.

    Parts are told by the Public Suffix List (publicsuffix.org), with the suffixes under which others let
    people have names of their own, such as github.io.

    Examples
    --------
    >>> [registrable_domain(host) for host in ("shop.example.co.uk:8080", "tea.github.io", "localhost")]
    ['example.co.uk', 'tea.github.io', 'localhost']
    """
    from tld import get_fld  # reading the list takes time, and many calls never ask

    name = split_port(host, 0)[0]
    found = get_fld(f"http://{name}/", fail_silently=True)
    return found if isinstance(found, str) else name


def place(scheme: str, host: str, port: int) -> str:
    """Return a host with its port, unless that is the default of the scheme."""
    return host if port == DEFAULT_PORTS[scheme] else f"{host}:{port}"


def split_port(authority: str, default: int) -> tuple[str, int]:
    """Return host and port of an authority without user information; raises ValueError.

    Examples
    --------
    >>> split_port("example.org:8080", 80), split_port("[::1]", 80)
    (('example.org', 8080), ('[::1]', 80))
    """
    end = authority.find("]") + 1 if authority.startswith("[") else 0
    name, colon, port = authority[end:].partition(":")
    if not colon:
        return authority, default
    if not _PORT.fullmatch(port) or int(port) > 65535:
        raise ValueError(port)
    return authority[:end] + name, int(port)


def normal_host(text: str) -> str:
    """Return a host in normal form; raises ValueError for anything else.

    Examples
    --------
    >>> normal_host("Bücher.example."), normal_host("0x7f.1"), normal_host("[0:0::1]")
    ('xn--bcher-kva.example', '127.0.0.1', '[::1]')
    """
    name = ascii_host(text)
    if not _HOST.fullmatch(name) or name.endswith("."):
        raise ValueError(text)
    if name[0] == "[":
        return f"[{IPv6Address(name[1:-1]).compressed}]"
    return str(_ipv4(name)) if _NUMBER.fullmatch(name.rpartition(".")[2]) else name


def ascii_host(text: str) -> str:
    """Return a host in lower case, in ASCII and without its final dot, or raise ValueError."""
    name = text.lower() if text.isascii() else ".".join(map(_ascii_label, _mapped(text).split(".")))
    return name if name.startswith("[") else name.removesuffix(".")


def _mapped(name: str) -> str:
    import idna  # few pages link to names that are not ASCII

    if len(name) > _MAX_FOREIGN_NAME:
        raise ValueError(name)
    try:
        return str(idna.uts46_remap(name, std3_rules=False, transitional=False))
    except (idna.IDNAError, IndexError) as error:
        raise ValueError(name) from error


def _ascii_label(label: str) -> str:
    if label.isascii():
        return label
    import idna

    # The encoder's time grows with the square of the length.
    if len(label) > _MAX_LABEL:
        raise ValueError(label)
    try:
        return idna.alabel(label).decode("ascii")
    except idna.IDNAError:
        # IDNA 2008 knows no emoji; the URL Standard, browsers and registries of such names do.
        return "xn--" + label.encode("punycode").decode("ascii")


def _ipv4(name: str) -> IPv4Address:
    """Return the IPv4 address of 127.0.0.1, 0x7f.1, 0177.0.0.1 or 2130706433."""
    *first, last = map(_number, name.split("."))
    if len(first) > 3 or any(part > 255 for part in first) or last >= 256 ** (4 - len(first)):
        raise ValueError(name)
    return IPv4Address(last + sum(part << 8 * (3 - index) for index, part in enumerate(first)))


def _number(part: str) -> int:
    if not _NUMBER.fullmatch(part):
        raise ValueError(part)
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    return int(part, 8 if part.startswith("0") else 10)


def normal_path(path: str) -> str:
    r"""Return a path in normal form, at least a slash; raises ValueError for lone surrogates.

    Examples
    --------
    >>> normal_path("/open/../closed/%2e/ü"), normal_path(r"/a\b"), normal_path("")
    ('/closed/%C3%BC', '/a/b', '/')
    """
    encoded = _encoded(path.replace("\\", "/"), _PATH_ENCODED) or "/"
    if "/." not in encoded and "/%2" not in encoded:
        return encoded
    kept: list[str] = []
    segments = encoded.split("/")[1:]
    for number, segment in enumerate(segments, 1):
        dots = _DOTS.get(segment.lower())
        if dots is None:
            kept.append(segment)
            continue
        if dots == ".." and kept:
            kept.pop()
        if number == len(segments):
            kept.append("")
    return "/" + "/".join(kept)


def normal_query(query: str | None) -> str:
    """Return a query in normal form with its question mark; '' for an empty one."""
    return f"?{_encoded(query, _QUERY_ENCODED)}" if query else ""


def _encoded(text: str, encoded: re.Pattern[str]) -> str:
    # Header bytes that are no UTF-8 arrive as surrogates from aiohttp: they are sent as they came.
    return encoded.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogateescape")), text
    )


def with_slashes(link: str) -> str:
    r"""Return a link with the backslashes before its query as the slashes that browsers read them as.

    Examples
    --------
    >>> with_slashes(r"..\tea?a\b")
    '../tea?a\\b'
    """
    if "\\" not in link:
        return link
    before, mark, query = link.partition("?")
    return before.replace("\\", "/") + mark + query


LONGEST_FRAGMENT = 500
"""Longest fragment that is looked at, in characters."""


def place_asked(fragment: str) -> str:
    """Return the place of a page that a fragment names; "" for its top, a text of it, and what scripts read.

    Notes
    -----
    HTML Standard, section 7.4.6.4 "find a potential indicated element"; URL Fragment Text Directives.

    Examples
    --------
    >>> [place_asked(text) for text in ("cold", "", "TOP", "a:~:text=b", ":~:text=b", "/cart", "t=30")]
    ['cold', '', '', 'a', '', '', '']
    """
    fragment = "".join(fragment.split(":~:", 1)[0].split("\n")).strip()
    by_script = fragment.startswith(("/", "!")) or "=" in fragment or len(fragment) > LONGEST_FRAGMENT
    return "" if by_script or fragment.lower() == "top" else fragment


def place_hashes(fragment: str) -> tuple[int, int]:
    """Return the hashes of the places of which one must be on the page for a fragment to lead there.

    Examples
    --------
    >>> place_hashes("caf%C3%A9")[1] == place_hashes("café")[0]
    True
    """
    written, decoded = (crc32(text.encode("utf-8", "replace")) for text in (fragment, unquote(fragment)))
    return written, decoded


def parts_of(url: object) -> SplitResult:
    """Return the parts of an address; empty ones of a text that is none, as with an unclosed bracket."""
    try:
        return urlsplit(str(url))
    except ValueError:
        return urlsplit("")


def host_of(url: object) -> str:
    """Return the host of an address as it is written, with its port; '' where there is none."""
    return parts_of(url).netloc.rpartition("@")[2].lower()


def behind_host(url: str) -> str:
    """Return what is behind the host of an address, with no slash at the end of its path.

    >>> behind_host("https://a.example/tea/?id=7#top"), behind_host("http://b.example"), behind_host("http://[")
    ('/tea?id=7', '/', '/')
    """
    parts = parts_of(url)
    return (parts.path.rstrip("/") or "/") + (f"?{parts.query}" if parts.query else "")


HOME_PATHS = re.compile(
    r"/?(?:(?:index|default|home)?(?:\.\w{2,5})?|[a-z]{2}(?:[-_][a-z]{2})?)/?", re.IGNORECASE
)
"""Paths that home pages have besides that of the root, such as those of one language."""

ARCHIVE_SUFFIXES = (".warc.gz", ".warc", ".arc.gz", ".arc")
"""How the names of web archives end."""


def is_archive(value: object) -> bool:
    """Return whether an input is the name of an archive, or a pattern of such names.

    Examples
    --------
    >>> [is_archive(text) for text in ("a.warc.gz", "crawls/*.warc", "https://a.example/x.warc", "x.html")]
    [True, True, False, False]
    """
    if not isinstance(value, (str, os.PathLike)):
        return False
    text = os.fspath(value)
    named = isinstance(text, str) and text[-8:].lower().endswith(ARCHIVE_SUFFIXES)
    return named and "://" not in text and "\0" not in text


def common_section(urls: Sequence[str]) -> str:
    """Return the deepest folder that all addresses lie in; '' if that is a whole site, or they share no host.

    Examples
    --------
    >>> common_section(["https://a.example/docs/api/x", "https://a.example/docs/api/y/z"])
    'https://a.example/docs/api/'
    >>> common_section(["https://a.example/docs/x", "https://a.example/blog/x"])
    ''
    """
    folders = [url.partition("?")[0].rpartition("/")[0] + "/" for url in urls]
    ends = [folder.split("/")[:-1] for folder in (min(folders, default=""), max(folders, default=""))]
    shared = [name for name, other in takewhile(lambda both: both[0] == both[1], zip(*ends, strict=False))]
    return "/".join(shared) + "/" if len(shared) > 3 else ""
