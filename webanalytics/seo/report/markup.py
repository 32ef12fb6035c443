"""Pieces of HTML: text is always escaped, and characters that hide or turn around text are made visible."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from typing import Any

# What would not show, or would change how its surroundings show: control characters, line and paragraph
# separators, embeddings, overrides and isolates of the writing direction, lone surrogates, noncharacters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
_IN_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


class Markup(str):
    """Text that is HTML already; everything else is escaped where it is put in."""

    __slots__ = ()


def visible(text: str) -> str:
    """Return text in which characters that do not show are named.

    Examples
    --------
    >>> print(visible("photo\u202egpj.exe"))
    photo⟨U+202E⟩gpj.exe
    """
    return _UNSEEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


def escaped(value: object) -> Markup:
    """Return a value as HTML.

    Examples
    --------
    >>> escaped("<script>"), escaped(Markup("<b>"))
    ('&lt;script&gt;', '<b>')
    """
    return value if isinstance(value, Markup) else Markup(html.escape(visible(str(value))))


def joined(parts: Iterable[object]) -> Markup:
    """Return pieces one after the other, escaped where they are not HTML."""
    return Markup("".join(map(escaped, parts)))


def element(tag: str, *children: object, **attributes: object) -> Markup:
    """Return an element; in names of attributes a last underscore is dropped, others are hyphens.

    An attribute that is None is left out.

    Examples
    --------
    >>> element("a", "R&D", href="#rd", class_="link", aria_label=None)
    '<a href="#rd" class="link">R&amp;D</a>'
    """
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escaped(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{tag}{given}>{joined(children)}</{tag}>")


def script_data(value: Any) -> Markup:
    r"""Return JSON for a script element: without any character that could end it or open a comment.

    Characters that do not show are escapes: no encoding can hold a lone surrogate, and no reader sees others.

    Examples
    --------
    >>> script_data(["</script><!--"])
    '["\\u003c/script\\u003e\\u003c!--"]'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(_UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text.translate(_IN_SCRIPT)))
