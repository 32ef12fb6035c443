"""Labels from pages: shortened to fit, and drawn in fonts that have their glyphs."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pandas as pd
from matplotlib import font_manager

from webanalytics.core.strings import display_width
from webanalytics.runs.frames.schema import is_missing

MISSING_GLYPH = "\u25a1"
_LONGEST = 4000
_NAMELESS = re.compile(r"(index|default|home)\.\w+|\d+(\.\w+)?", re.IGNORECASE)
"""Last parts of paths that say nothing without what is before them."""
_JOINED = re.compile(f"{MISSING_GLYPH}(\u200d{MISSING_GLYPH})+")

BASE_FONT = "DejaVu Sans"  # comes with matplotlib, so it is always there
_FALLBACK_FONTS = Path(__file__).with_name("fonts.txt").read_text("utf-8").splitlines()
"""Fonts with what the first lacks, the better first: scripts of Asia, symbols."""


def path_labels(urls: pd.Series[Any]) -> list[str]:
    """Return for each URL the shortest end of its path that tells it from the others.

    An end is at least one whole part of a path, and a telling one: parts of fewer than four letters and names
    like index.html take what is before them. A host stands before pages that their paths do not tell apart,
    and for home pages where there are several. A page without a URL, given only as HTML, is named by its row.

    Examples
    --------
    >>> path_labels(pd.Series(["https://a.example/", "https://a.example/caf%C3%A9?page=2"]))
    ['/', '/café?page=2']
    >>> path_labels(pd.Series(["https://a.example/x", "https://b.example/x", ""], index=[4, 5, 6]))
    ['a.example/x', 'b.example/x', 'row 6']
    >>> path_labels(pd.Series(["https://a.example/blog/2026/lamps", "https://a.example/blog/2026/wicks"]))
    ['…/lamps', '…/wicks']
    """
    texts = ["" if is_missing(url) else str(url) for url in urls.tolist()]
    split = [_split(text) for text in texts]
    several = len({host for host, _ in split if host}) > 1
    ends = [_ends(host, path, several) for host, path in split]
    # what two pages share tells neither; equal addresses share everything
    uses = Counter(end for whole, found in zip(split, ends, strict=True) for end in {*found} if whole)
    same = Counter(split)
    return [
        next((end for end in found if uses[end] <= same[whole]), found[-1]) or text or f"row {row}"
        for whole, found, text, row in zip(split, ends, texts, urls.index, strict=True)
    ]


def _ends(host: str, path: str, several: bool) -> list[str]:
    whole = host + path if several else path
    if not path.startswith("/"):
        return [path]
    if path == "/":
        return [host] if several and host else [path]
    before, query = path.partition("?")[::2]
    parts = before.strip("/").split("/")
    rest = ("/" if before.endswith("/") else "") + (f"?{query}" if query else "")
    ends = []
    for at in range(len(parts) - 1, 0, -1):
        telling = any(_is_telling(part) for part in parts[at:])
        if telling or query:
            ends.append(f"…/{'/'.join(parts[at:])}{rest}")
    ends.append(path)
    return [*ends, whole] if several else ends


def _is_telling(part: str) -> bool:
    return sum(letter.isalnum() for letter in part) >= 4 and not _NAMELESS.fullmatch(part)


def _split(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url.strip())
    except ValueError:  # an unclosed bracket of an IPv6 address, for example
        return "", url
    if not parts.netloc and not url.startswith("/"):
        return "", url
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return parts.netloc.rpartition("@")[2], unquote(path)


def shorten(text: str, width: int = 40) -> str:
    """Return the text on one line, no wider than so many Latin letters, cut in the middle if necessary.

    East Asian wide characters count as two (Unicode Standard Annex 11).

    Examples
    --------
    >>> shorten("/docs/a-very-long-path/that-goes-on/page.html", 20)
    '/docs/a-ve…page.html'
    >>> shorten("日本語の長い見出しです", 11)
    '日本…しです'
    """
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]} {text[-_LONGEST // 2 :]}"  # only the ends are shown
    text = clean(text)
    widths = list(map(display_width, text))
    if sum(widths) <= width:
        return text
    room = width - 1
    head = _fitting(widths, (room + 1) // 2)
    tail = _fitting(widths[::-1], room - sum(widths[:head]))
    end = text[len(text) - tail :].lstrip("\u200d") if tail else ""
    while end and unicodedata.combining(end[0]):  # a mark without its letter
        end = end[1:]
    return f"{text[:head].rstrip()}…{end.lstrip()}"


def shortened(texts: Sequence[str], width: int) -> list[str]:
    """Return texts of at most this width, cut in the middle, and so that different ones stay different.

    Examples
    --------
    >>> shortened(["the-lantern-of-the-keeper-in-bright-red", "the-lantern-of-the-keeper-or-bright-red"], 18)
    ['…per-in-bright-red', '…per-or-bright-red']
    >>> shortened(["short", "the-lantern-of-the-keeper-in-red"], 16)
    ['short', 'the-lant…-in-red']
    """
    cut = [shorten(text, width) for text in texts]
    cleaned = [clean(text[-_LONGEST:]) for text in texts]
    for same in {label for label in cut if "…" in label}:
        group = [row for row, label in enumerate(cut) if label == same]
        if len({cleaned[row] for row in group}) < 2:
            continue
        first, last = min(cleaned[row] for row in group), max(cleaned[row] for row in group)
        pairs = enumerate(zip(first, last, strict=False))
        shared = next((at for at, (one, other) in pairs if one != other), len(first))
        behind = min(len(cleaned[row]) for row in group) - shared
        for row in group:  # the end where it tells them apart, else what follows their common beginning
            text = cleaned[row]
            start = max(0, min(shared - 3, len(text) - width + 1)) if behind < width else max(0, shared - 3)
            end = text[start:]
            cut[row] = "…" + (end if _width(end) < width else shorten(end, width - 1))
    return cut


def _width(text: str) -> int:
    return sum(map(display_width, text))


def _fitting(widths: list[int], room: int) -> int:
    total = 0
    for count, width in enumerate(widths):
        total += width
        if total > room:
            return count
    return len(widths)


def clean(text: str) -> str:
    """Return the text without line breaks, controls and lone surrogates, which no font can draw.

    >>> clean(" two" + chr(10) + "lines" + chr(0xD800) + chr(0x202E))
    'two lines�'
    """
    kept = []
    for character in " ".join(text.split()):
        category = unicodedata.category(character)
        if "\ufe00" <= character <= "\ufe0f":  # selects a colour emoji, which is not available here
            continue
        if category == "Cs":
            kept.append("\ufffd")
        elif category != "Cc" and (category != "Cf" or character in "\u200c\u200d"):
            kept.append(character)
    return "".join(kept)


def lettering(texts: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the texts as they can be drawn, and the font families to draw them with.

    matplotlib's own font has no Chinese, Japanese, Korean or Indic glyphs. An installed font that has them
    is added as a fallback; a character that no such font has becomes a hollow square, because matplotlib
    would warn about it each time the chart is drawn.

    Examples
    --------
    >>> lettering(["plain", "čeština, русский, العربية"])
    (['plain', 'čeština, русский, العربية'], ['DejaVu Sans'])
    """
    drawn = list(texts)
    families = [BASE_FONT]
    missing = {ord(letter) for text in drawn for letter in text} - _letters(BASE_FONT) - {0x0A}
    for family in _FALLBACK_FONTS if missing else ():
        found = missing & _letters(family)
        if found:
            families.append(family)
            missing -= found
    if missing:
        squares = dict.fromkeys(missing, MISSING_GLYPH)
        # an emoji of several characters is one square
        drawn = [_JOINED.sub(MISSING_GLYPH, text.translate(squares)) for text in drawn]
    return drawn, families


@functools.cache
def _letters(family: str) -> frozenset[int]:
    # findfont would log a warning for each absent family
    installed = {entry.name for entry in font_manager.fontManager.ttflist}
    if family not in installed:
        return frozenset()
    font = font_manager.get_font(font_manager.findfont(family))
    return frozenset(font.get_charmap())
