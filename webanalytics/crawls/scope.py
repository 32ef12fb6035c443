"""Which addresses a crawl fetches: decided once for each address, from the address alone.

Some do something when they are asked: log out, delete, fill a basket.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, Literal, get_args
from urllib.parse import unquote_plus

from webanalytics.core.access_by_host import Avoid
from webanalytics.core.url_patterns import compiled
from webanalytics.errors import ParameterError, choice, whole_number
from webanalytics.runs.frames.link_table import KINDS, Kind
from webanalytics.urls import address, lacks_scheme

PAGE_KINDS: tuple[Kind, ...] = (
    *("link", "redirect", "refresh", "canonical", "hreflang", "next", "prev", "amp", "frame", "form"),
)
"""Kinds of links that lead to pages; the others lead to what pages are made of."""

FOLLOWED: tuple[Kind, ...] = ("link", "redirect", "refresh", "canonical", "frame")
"""Kinds that are followed by default, as by Screaming Frog SEO Spider: its tutorials say that it crawls
canonicals by default and pagination not (screamingfrog.co.uk/seo-spider/tutorials, how-to-audit-canonicals
and how-to-audit-pagination), and tell users to switch hreflang and AMP on."""

NAMED_KINDS: tuple[Kind, ...] = ("canonical", "hreflang", "next", "prev", "amp")
"""Kinds whose targets are asked for their status where a crawl does not go there."""

TRACKING = re.compile(
    r"utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|twclid|ttclid|li_fat_id|igshid|yclid|ysclid|_openstat"
    r"|mc_[ce]id|_hs\w+|hsctatracking|mkt_tok|vero_\w+|oly_\w+_id|pk_\w+|mtm_\w+|matomo_\w+|wickedid|s_kwcid|ef_id"
    r"|_ga|_gl|_ke|epik|srsltid|at_\w+|wt_\w+|itm_\w+",
    re.IGNORECASE,
)
"""Parameters that say where a visitor came from: those of analytics, advertising and mailing services."""

SESSION = re.compile(
    r"(?:php|j|asp)?sess(?:ion)?_?id|phpsessid|jsessionid|aspsessionid\w*|sid|cfid|cftoken|oscsid|zenid|x?tsid",
    re.IGNORECASE,
)
"""Parameters that tell one visit from another."""

MAX_SEQUENCE = 5_000
"""Pages of one sequence of numbers that bring nothing new and are fetched all the same."""

Handling = Literal["stop", "report", "off"]
External = Literal["list", "check", "ignore"]
Resources = Literal["ignore", "check"]


@dataclass(frozen=True)
class Scope:
    """What a crawl was asked to fetch, checked and in plain values."""

    starts: tuple[str, ...]  # addresses as they were given
    max_pages: int = 10_000
    max_depth: int | None = None
    # patterns of addresses, see `webanalytics.core.url_patterns`
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    subdomains: bool = False
    query: tuple[str, ...] = ()  # parameters that are dropped, "tracking" and "drop" (all of them) among them
    nofollow: bool = False
    external: External = "list"
    resources: Resources = "ignore"
    sitemap: tuple[str, ...] | None = ("auto",)  # sitemaps, ("auto",) to look for them, None for none
    follow: tuple[Kind, ...] = FOLLOWED
    traps: Handling = "stop"
    max_sequence: int = MAX_SEQUENCE
    image_sizes: bool = False
    avoid: tuple[str, ...] = ()

    @property
    def plain(self) -> dict[str, Any]:
        """What was asked for, by parameter, as JSON has it."""
        shown = {name: list(item) if isinstance(item, tuple) else item for name, item in vars(self).items()}
        return {name: item for name, item in shown.items() if name in self.__dataclass_fields__}

    @cached_property
    def _include(self) -> tuple[re.Pattern[str], ...]:
        return tuple(compiled(one, "include") for one in self.include)

    @cached_property
    def _exclude(self) -> tuple[re.Pattern[str], ...]:
        return tuple(compiled(one, "exclude") for one in self.exclude)

    def pattern(self, url: str) -> str | None:
        """Return the pattern that keeps an address out, "include" if none lets it in, else None.

        >>> scope = Scope((), include=("/docs/",), exclude=("*.pdf",))
        >>> [scope.pattern(f"https://a.example{path}") for path in ("/docs/x", "/docs/x.pdf", "/blog")]
        [None, '*.pdf', 'include']
        """
        if self._include and not any(one.search(url) for one in self._include):
            return "include"
        return next(
            (text for text, one in zip(self.exclude, self._exclude, strict=True) if one.search(url)), None
        )

    def normal(self, url: str) -> str:
        """Return an address in normal form without the parameters that are dropped.

        >>> scope = Scope((), query=("tracking", "ref"))
        >>> scope.normal("https://a.example/?utm_source=x&b=2&ref=y&a=1")
        'https://a.example/?b=2&a=1'
        """
        if not self.query or "?" not in url:
            return url
        path, _, query = url.partition("?")
        if "drop" in self.query:
            return path
        kept = [part for part in query.split("&") if not self._drops(part.partition("=")[0])]
        return f"{path}?{'&'.join(kept)}" if kept else path

    def _drops(self, name: str) -> bool:
        if name in self.query:
            return True
        known = "tracking" in self.query
        return known and bool(TRACKING.fullmatch(name) or SESSION.fullmatch(name))


class Site:
    """The hosts of a crawl: those of its starts and of where these redirect to, with subdomains if wanted."""

    def __init__(self, *, subdomains: bool) -> None:
        self._subdomains = subdomains
        self._hosts: dict[str, bool] = {}
        self._domains: set[str] = set()

    def add(self, host: str) -> None:
        """Take a host as one of the site's."""
        if self._subdomains:
            self._domains.add(registrable(host))
            self._hosts.clear()
        self._hosts[host] = True

    def __contains__(self, host: str) -> bool:
        known = self._hosts.get(host)
        if known is None:
            known = self._hosts[host] = self._subdomains and registrable(host) in self._domains
        return known


def registrable(host: str) -> str:
    """Return the registrable domain of a host by the Public Suffix List; the host itself where it has none.

    Notes
    -----
    publicsuffix.org/list, "Algorithm": where no rule matches, the last label is the suffix.

    Examples
    --------
    >>> registrable("shop.example.co.uk"), registrable("www.example.test:8080"), registrable("127.0.0.1:80")
    ('example.co.uk', 'example.test', '127.0.0.1:80')
    """
    from tld import get_fld

    found = get_fld(f"http://{host}", fail_silently=True, search_private=True)
    name = host.rpartition(":")[0] if host[-1:].isdigit() and ":" in host else host
    labels = name.split(".")
    if found or len(labels) < 2 or labels[-1].isdigit() or name.endswith("]"):
        return found or host
    return ".".join(labels[-2:])


def start_address(text: str) -> str | None:
    """Return a start address in normal form, None for what is no address on the web."""
    text = text.strip()
    found = address(f"https://{text}" if lacks_scheme(text) else text)
    return None if found is None else found.url


def checked(start: Any, given: Mapping[str, Any]) -> Scope:
    """Return the scope of a call, or refuse a wrong argument."""
    return Scope(
        _starts(start),
        whole_number("max_pages", given["max_pages"], 1, 10_000_000),
        None
        if given["max_depth"] is None
        else whole_number("max_depth", given["max_depth"], 0, 100_000, ", or None for no limit"),
        _patterns("include", given["include"]),
        _patterns("exclude", given["exclude"]),
        _flag("subdomains", given["subdomains"]),
        _query(given["query"]),
        _flag("nofollow", given["nofollow"]),
        choice("external", given["external"], get_args(External)),
        choice("resources", given["resources"], get_args(Resources)),
        _sitemaps(given["sitemap"]),
        _kinds(given["follow"]),
        choice("traps", given["traps"], get_args(Handling)),
        whole_number("max_sequence", given["max_sequence"], 1, 10_000_000),
        _flag("image_sizes", given["image_sizes"]),
        _patterns("avoid", given["avoid"]),
    )


def _texts(name: str, value: Any, what: str) -> tuple[str, ...]:
    if isinstance(value, str):
        value = (value,)
    found = tuple(value) if isinstance(value, Iterable) and not isinstance(value, (bytes, Mapping)) else (0,)
    if not all(isinstance(item, str) and item.strip() for item in found):
        raise ParameterError(f"The `{name}` parameter must be {what}.", name)
    return tuple(item.strip() for item in found)


def _starts(value: Any) -> tuple[str, ...]:
    what = "the address of a web page in http or https, or a list of them"
    found = _texts("start", value, what)
    if not found or not all(start_address(one) for one in found):
        raise ParameterError(f"The `start` parameter must be {what}.", "start")
    return tuple(dict.fromkeys(found))


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise ParameterError.one_of(name, (True, False))
    return value


def _patterns(name: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    found = _texts(
        name,
        value,
        "a regular expression, a folder such as `/shop/*`, a pattern that begins with `*`, or a list of them",
    )
    for one in found:
        compiled(one, name)
    return found


def _query(value: Any) -> tuple[str, ...]:
    what = "keep, drop, tracking, or names of parameters to drop"
    found = tuple(name for name in _texts("query", value, what) if name != "keep")
    if any("=" in name or "&" in name for name in found):
        raise ParameterError(f"The `query` parameter must be {what}.", "query")
    return found


def _sitemaps(value: Any) -> tuple[str, ...] | None:
    what = "auto, the URL of a sitemap, a list, or None"
    found = None if value is None else _texts("sitemap", value, what)
    others = () if found in (None, ("auto",)) else found or ()
    if not all(one != "auto" and start_address(one) for one in others):
        raise ParameterError(f"The `sitemap` parameter must be {what}.", "sitemap")
    return found


def _kinds(value: Any) -> tuple[Kind, ...]:
    if value is None:
        return FOLLOWED
    what = f"kinds of links: {', '.join(PAGE_KINDS)}"
    found = _texts("follow", value, what)
    if not set(found) <= set(PAGE_KINDS):
        raise ParameterError(f"The `follow` parameter must be {what}.", "follow")
    return tuple(kind for kind in KINDS if kind in found)


_BASKET = "cart|basket|(?:shopping )?bag|trolley|wish ?list|warenkorb|merkzettel|panier|carrito|carrello"
WORDS: Final[Mapping[str, str]] = {
    "logout": (
        r"(?:log|sign) ?(?:out|off)|end ?session|abmelden|ausloggen|d[eé]connexion|cerrar ?sesi[oó]n"
        r"|uitloggen|logga ?ut|wyloguj|log ?ud|logg ?ut|kirjaudu ?ulos|odhl[aá]s\w*|odjava|kijelentkez[eé]s"
        r"|deautentificare|terminar ?sess[aã]o|logi ?v[aä]lja|log ?keluar|[dđ][aă]ng ?xu[aấ]t"
    ),
    "delete": (
        "delete|remove|destroy|erase|purge|deactivate|unsubscribe|revoke|cancel|l(?:ö|oe)schen|entfernen|supprimer"
        "|effacer|eliminar|borrar|elimina|verwijder(?:en)?|usu[nń]"
    ),
    "basket": f"add ?to ?(?:{_BASKET}|compare)|buy ?now|in den warenkorb|ajouter au panier",
}
"""What such addresses are called, as of November 2026: the first, second or last word of a part of a path or
a query."""
_PARTS: Final[Mapping[str, str]] = {
    "delete": "(?:del|trash|kill|drop)(?=[/?&=.]|$)",
    "basket": rf"(?:{_BASKET})(?:\.\w+)?[/?&](?:[^/?]*[?&=])?(?:add|update|change|set|empty|clear)(?!\w)",
}
"""What is meant only where it is a whole part."""
_SIGNS = re.compile(r"(?<=[a-z])(?=[A-Z])|[-_+ ]+")
_PATTERNS: Final = {
    name: re.compile(
        rf"(?<=[/?&=;])(?:\w+ )?(?:{words})(?!\w)|(?<!\w)(?:{words})(?=[/?&=;.]|$)"
        + (rf"|(?<=[/?&=])(?:{_PARTS[name]})" if name in _PARTS else "")
    )
    for name, words in WORDS.items()
}


def does(name: str, url: str) -> bool:
    """Return whether an address looks as if asking for it did something.

    >>> [does("logout", f"https://a.example/{path}") for path in ("user/logOut", "?do=logout", "log/outdoor")]
    [True, True, False]
    >>> [does("delete", f"https://a.example/{path}") for path in ("posts/7/delete", "how-to-delete-a-post")]
    [True, False]
    >>> [does("basket", f"https://a.example/{path}") for path in ("?add-to-cart=7", "cart/add/7", "cart")]
    [True, True, False]
    """
    path = "/" + unquote_plus(url.split("/", 3)[-1])
    return _PATTERNS[name].search(_SIGNS.sub(" ", path).lower()) is not None


def avoid_of(texts: Iterable[str]) -> Avoid:
    """Return what ``avoid=`` names: "actions" or words of `WORDS`, and patterns as for ``exclude=``."""
    named = (name for text in texts for name in (WORDS if text == "actions" else (text,)))
    return tuple(
        (one, partial(does, one) if one in WORDS else compiled(one, "avoid").search) for one in named
    )
