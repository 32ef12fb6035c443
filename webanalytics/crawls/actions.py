"""Addresses that do something when they are asked: log out, delete, fill a basket."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final
from urllib.parse import unquote_plus

from webanalytics.core.access_by_host import Avoid
from webanalytics.core.url_patterns import compiled

_BASKET = "cart|basket|(?:shopping )?bag|trolley|wish ?list|warenkorb|merkzettel|panier|carrito|carrello"
WORDS: Final[Mapping[str, str]] = {
    "logout": (
        "(?:log|sign) ?(?:out|off)|end ?session|abmelden|ausloggen|d[eé]connexion|cerrar ?sesi[oó]n|uitloggen"
        "|logga ?ut|wyloguj"
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
