"""Text from outside in which nothing is hidden: what every page, notebook and terminal shows of it."""

from __future__ import annotations

import re

# What would not show, or would change how its surroundings show: control characters, line and paragraph
# separators, embeddings, overrides and isolates of the writing direction, lone surrogates, noncharacters.
UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)


def visible(text: str) -> str:
    """Return text in which invisible characters are named.

    Examples
    --------
    >>> print(visible("photo\u202egpj.exe"))
    photo⟨U+202E⟩gpj.exe
    """
    return UNSEEN.sub(_named, text)


def for_terminal(text: str) -> str:
    r"""Return text that writes nothing but itself on a terminal: every control character is named.

    Line feeds and tabs stay, and a carriage return before a line feed goes.

    Examples
    --------
    >>> print(for_terminal("Tea\x1b]0;mine\x07 \x9b2J\r"))
    Tea⟨U+001B⟩]0;mine⟨U+0007⟩ ⟨U+009B⟩2J⟨U+000D⟩
    """
    if text.isprintable():
        return text
    return visible(text.replace("\r\n", "\n")).replace("\r", "⟨U+000D⟩")


def _named(found: re.Match[str]) -> str:
    return f"⟨U+{ord(found[0]):04X}⟩"
