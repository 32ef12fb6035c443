"""Who asked: the crawlers of a log by the names in their user agents, and whether they are who they say."""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote_to_bytes

from webanalytics.audits.ai.roster import roster
from webanalytics.audits.logs.formats import unescaped
from webanalytics.errors import ParameterError

SEARCH, OTHER, PEOPLE = "search", "other bot", "people"
_AI_SEARCH = frozenset(("OpenAI", "Anthropic", "Perplexity", "Amazon"))
_BESIDES: Mapping[str, str] = {
    SEARCH: "YandexBot Baiduspider SeznamBot PetalBot Sogou Yeti Slurp Qwantbot GoogleOther",
    "ai training": "Bytespider cohere-ai Diffbot",
    "seo": "AhrefsBot AhrefsSiteAudit SemrushBot SiteAuditBot MJ12bot DotBot rogerbot Screaming Sitebulb "
    "serpstatbot DataForSeoBot BLEXBot SEOkicks Chrome-Lighthouse webanalytics",
}
"""Names that the roster of search engines and AI services has not, as of 2026-11-24."""
_DOMAINS: Mapping[str, tuple[str, ...]] = {
    **{"Googlebot": (".googlebot.com", ".google.com"), "Bingbot": (".search.msn.com",)},
    **{"Applebot": (".applebot.apple.com",), "Amazonbot": (".crawl.amazonbot.amazon",)},
    **{"CCBot": (".crawl.commoncrawl.org",), "YandexBot": (".yandex.ru", ".yandex.net", ".yandex.com")},
    **{"Baiduspider": (".baidu.com", ".baidu.jp"), "SeznamBot": (".seznam.cz",)},
    **{"AhrefsBot": (".ahrefs.com", ".ahrefs.net"), "SemrushBot": (".bot.semrush.com",)},
}
"""In what the names of crawlers' addresses end, as their operators say; as of 2026-11-24."""
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9-]{1,60}")
_ENDS = ("bot", "crawler", "spider")
# A program names itself instead of a browser, or beside the page that tells of it.
_SAYS = re.compile(
    r"(?i:compatible)[;,] *+(?!MSIE|Konqueror)([A-Za-z][A-Za-z0-9-]{1,60})"
    r"|(?<![\w./-])([A-Za-z][A-Za-z0-9-]{1,60})(?:[ /][vV]?\d[^ ;(]*+)?[;,:]? *+[-(+]*+ *+https?://"
)
_OF_PEOPLE = re.compile(
    "Mozilla/|Opera/|Android|iPhone|iPad|iOS|Darwin/|Windows|Macintosh|X11|MIDP|BlackBerry|Nokia|Symbian"
)
"""In what user agents of browsers begin, and what applications say of the devices that they run on."""


class Agent(NamedTuple):
    """A crawler by its name; people have none."""

    name: str
    purpose: str


Check: TypeAlias = Callable[[str, IPv4Address | IPv6Address], bool | None]
Verify: TypeAlias = Callable[[Collection[tuple[Agent, str]]], Mapping[tuple[Agent, str], bool | None]]
"""Whether crawlers are who they say, by the addresses that they come from; None where nobody knows."""


@lru_cache(maxsize=1)
def _known() -> Mapping[str, Agent]:
    found = {name.lower(): Agent(name, what) for what, names in _BESIDES.items() for name in names.split()}
    for one in roster():
        ai = one.purpose != SEARCH or one.operator in _AI_SEARCH
        if one.robots != "token only":
            found[one.token.lower()] = Agent(one.token, f"ai {one.purpose}" if ai else SEARCH)
    return found


@lru_cache(maxsize=20_000)
def named(agent: bytes) -> Agent:
    """Return who sent a user agent, by the name in it.

    >>> named(b"Mozilla/5.0%20(compatible;%20bingbot/2.0)"), named(b"Mozilla/5.0 (Windows)")
    (Agent(name='Bingbot', purpose='search'), Agent(name='', purpose='people'))
    """
    text = unquote_to_bytes(unquote_to_bytes(unescaped(agent[:2000]))).decode("utf-8", "replace")
    known, words, other = _known(), _WORD.findall(text), ""
    for word in words:
        name = word.lower()
        if not other and name.endswith(_ENDS) and name != "cubot":
            other = word  # a Cubot is a telephone
        while name:  # Googlebot-Image, too
            if name in known:
                return known[name]
            name = name.rpartition("-")[0]
    other = other or _program(text.replace("+", " "), words)
    return Agent(other, OTHER if other else PEOPLE)


def _program(text: str, words: Sequence[str]) -> str:
    """Return the name of a program by which no person reads, '' where a user agent speaks of none."""
    said = _SAYS.search(text)
    if said or "://" in text or not _OF_PEOPLE.search(text):
        return (said and (said[1] or said[2])) or next((word for word in words if word != "Mozilla"), "")
    return next((word for word in words if word.startswith("Headless")), "")


def verifier(verify: object) -> Verify | None:
    """Return what tells crawlers from others, None for None; raises `ParameterError` for a wrong folder."""
    for cached in (_known, named):  # the list of crawlers may be another one by now
        cached.cache_clear()
    if verify is None or verify == "dns":
        return partial(_checked, _by_name) if verify else None
    if not isinstance(verify, (str, os.PathLike)) or not (files := sorted(Path(verify).glob("*.json"))):
        raise ParameterError.must_be(
            "verify", '"dns", or a folder with files of ranges such as Googlebot.json'
        )
    stems = {"searchbot": "oai-searchbot"}  # files that are called otherwise
    ranges = {stems.get(path.stem.lower(), path.stem.lower()): _ranges(path) for path in files}
    return partial(_checked, partial(_by_range, ranges))


def _checked(check: Check, pairs: Collection[tuple[Agent, str]]) -> dict[tuple[Agent, str], bool | None]:
    def verdict(pair: tuple[Agent, str]) -> bool | None:
        try:
            address = ip_address(pair[1])
            # a server that listens for both writes IPv4 within IPv6: ::ffff:192.0.2.7 (RFC 4291, 2.5.5.2)
            return check(pair[0].name, getattr(address, "ipv4_mapped", None) or address)
        except ValueError:  # the log has names, or something else
            return None

    with ThreadPoolExecutor(16) as pool:
        return dict(zip(pairs, pool.map(verdict, pairs), strict=True))


def _ranges(path: Path) -> list[Any]:
    """Return the ranges of a file as Google, Bing, OpenAI and others publish them."""
    try:
        listed = json.loads(path.read_bytes())["prefixes"]
        return [ip_network(entry.get("ipv4Prefix") or entry["ipv6Prefix"]) for entry in listed]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ParameterError.must_be("verify", f"files of prefixes, and {path.name} is none") from None


def _by_range(ranges: Mapping[str, list[Any]], name: str, address: IPv4Address | IPv6Address) -> bool | None:
    known = ranges.get(name.lower())
    return None if known is None else any(address in network for network in known)


def _by_name(name: str, address: IPv4Address | IPv6Address) -> bool | None:
    if name not in _DOMAINS:
        return None
    try:
        host = socket.gethostbyaddr(str(address))[0].rstrip(".").lower()
        found = socket.getaddrinfo(host, None) if host.endswith(_DOMAINS[name]) else []
        return address in {ip_address(one[4][0]) for one in found}
    except OSError as error:
        return None if error.errno in (socket.EAI_AGAIN, 2) else False  # 2 asks to try again, too
