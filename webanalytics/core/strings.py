"""Text for display: its width on a terminal, on one line, cut to a width; shares in per cent, scores."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import Literal, cast
from unicodedata import category, east_asian_width, normalize

_SURROGATE = re.compile("[\ud800-\udfff]")
_MARKS = re.compile(r"[^\w\s\x00-\x7f]{30}")
"""Marks that combine with a letter, among other signs, in a row longer than any language writes (UAX 15)."""
OTHER_SCRIPT = re.compile(
    "[^\u0000-\u00b1\u00b4-\u00b8\u00ba\u00bb\u00bf-\u024f\u0370-\u0482\u048a-\u052f\u1e00-\u1eff"
    "\u2000-\u200b\u200e\u200f\u2010-\u203e\u20a0-\u20bf\u2100-\u214f\u2190-\u245f\u2500-\u25ff"
    "\u2600-\u2775\u2794-\u27bf\U0001f300-\U0001f6ff\U0001f900-\U0001f9ff]"
)
"""All but Latin, Greek, Cyrillic and common signs without combining marks or raised digits.

There the standard library's engine and `regex` agree on what is a word, and the former is faster.
"""
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def display_width(text: str) -> int:
    """Return how many terminal cells a printable text takes (Unicode Standard Annex 11)."""
    if text.isascii() or text.removesuffix("…").isascii():
        return len(text)
    return sum(map(_cells, _graphemes(text)))


def _graphemes(text: str) -> list[str]:
    import regex  # takes longer to load than most texts need

    return cast("list[str]", regex.findall(r"\X", text))


def _cells(grapheme: str) -> int:
    """Return the cells of what is shown as one character: an emoji of several code points has two."""
    if "\ufe0f" in grapheme or "\U0001f1e6" <= grapheme[:-1] <= "\U0001f1ff":  # an emoji, a flag
        return 2
    wide = max(east_asian_width(character) in "WF" for character in grapheme)
    return 1 + wide if any(category(character) not in ("Mn", "Me", "Cf") for character in grapheme) else 0


def counted(count: int, noun: str = "page") -> str:
    """Return a count with its noun.

    >>> counted(1), counted(1200, "rule")
    ('1 page', '1,200 rules')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def size_in_words(size: float) -> str:
    """Return a number of bytes in readable, decimal units.

    >>> [size_in_words(size) for size in (1, 999, 12_000, 999_999, 3_456_789)]
    ['1 byte', '999 bytes', '12 kB', '1 MB', '3.5 MB']
    """
    if size < 1000:
        return "1 byte" if size == 1 else f"{size:g} bytes"
    value, unit = float(size), 0
    while value >= 999.95 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.1f}".removesuffix(".0") + f" {_UNITS[unit]}"


def part_of(done: int, total: int, least: bool = False) -> str:
    """Return how many pages of all are done; of a crawl, of those that are known at least.

    >>> part_of(128, 500), part_of(128, 1500, least=True)
    ('128 of 500 pages', '128 of at least 1,500 pages')
    """
    return f"{done:,} of {'at least ' * least}{counted(total)}"


def one_line(text: str) -> str:
    r"""Return a text on one line and without control characters, which would act on the terminal."""
    if not text.isprintable():
        text = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(text.split())


def for_xml(text: str, instead: str = "") -> str:
    r"""Return a text without what no XML document can hold (XML 1.0, section 2.2), for every writer of one.

    >>> for_xml("Green\x00 tea\uffff\n"), for_xml("\ud800", "?")
    ('Green tea\n', '?')
    """
    if text.isprintable():  # what XML cannot hold is not printable either
        return text
    return _NO_XML.sub(instead, text)


def normalized(text: str, form: Literal["NFC", "NFD", "NFKC"] = "NFC") -> str:
    r"""Return a text in a normal form of Unicode, in time that grows with its length and no faster.

    The marks on a letter are put in order, each compared with each: of too many only some are, at a time.
    """
    if not OTHER_SCRIPT.search(text):  # and so no marks
        return normalize(form, text)
    parts, place = [], 0
    for found in _MARKS.finditer(text):
        parts.append(normalize(form, text[place : found.end()]))
        place = found.end()
    return "".join((*parts, normalize(form, text[place:])))


def encodable(text: str, instead: str = "\ufffd") -> str:
    """Return a text that UTF-8 can encode, with ``instead`` for each lone surrogate.

    >>> encodable("Tea" + chr(0xD800)), encodable("Tea" + chr(0xD800), "?")
    ('Tea\ufffd', 'Tea?')
    """
    if text.isascii():
        return text
    try:
        text.encode()  # many times faster than a search for what is hardly ever there
    except UnicodeEncodeError:
        return _SURROGATE.sub(instead, text)
    return text


def shortened(text: str, width: int) -> str:
    """Return a text cut to a number of terminal cells, never within a character of several code points."""
    most = 20 * width  # code points of as many cells at most: to part many flags takes time by their square
    if len(text) <= most and display_width(text) <= width:
        return text
    if text.isascii():
        return text[: width - 1] + "…"
    kept, room = [], width - 1
    for grapheme in _graphemes(text[:most])[: -1 if len(text) > most else None]:  # that one may be cut
        room -= _cells(grapheme)
        if room < 0:
            break
        kept.append(grapheme)
    return "".join(kept) + "…"


def did_you_mean(name: object, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the end of a sentence that names the known name nearest to another, "" where none is near."""
    text, names = str(name)[:100], list(known)
    near = get_close_matches(text, names, n=1, cutoff=cutoff)
    if not near:
        by_case = {item.casefold(): item for item in names}
        near = [by_case[item] for item in get_close_matches(text.casefold(), by_case, n=1, cutoff=cutoff)]
    return f"; did you mean `{near[0]}`?" if near else ""


def to_one_decimal(value: float) -> str:
    """Return a number with at most one decimal, and none where it is whole.

    >>> to_one_decimal(65.0), to_one_decimal(65.25)
    ('65', '65.2')
    """
    return f"{value:.1f}".removesuffix(".0")


def percent(share: float) -> str:
    """Return a share in readable form: never 0% for some, never 100% for less than all.

    >>> [percent(share) for share in (1.0, 0.999, 0.4, 0.001, 0.0)]
    ['100%', '>99%', '40%', '<1%', '0%']
    """
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{share:.0%}"


GAP = "  "
NARROWEST = 8
"""Cells below which no column is made narrower."""


def table_lines(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],  # cells, each printable text of one line
    *,
    numbers: Collection[str] = (),  # headings of the columns that are aligned on the right
    # terminal cells of a line: the widest columns are narrowed until it fits, as far as they can be
    width: int | None = None,
    rule: bool = False,  # whether a line of hyphens follows the headings
) -> list[str]:
    """Return the lines of a table: the headings, a rule if wanted, and the rows."""
    table = [list(headings), *map(list, rows)]
    sizes = [max(map(display_width, column)) for column in zip(*table, strict=True)]
    if width is not None:
        _narrow(sizes, width)
    right = [heading in numbers for heading in headings]
    lines = [GAP.join(_cell(*part) for part in zip(row, sizes, right, strict=True)).rstrip() for row in table]
    if rule:
        lines.insert(1, GAP.join("-" * size for size in sizes))
    return lines


def _narrow(sizes: list[int], width: int) -> None:
    """Take cells from the widest column until the line fits."""
    while sizes and sum(sizes) + len(GAP) * (len(sizes) - 1) > width and max(sizes) > NARROWEST:
        sizes[sizes.index(max(sizes))] -= 1


def _cell(text: str, size: int, right: bool) -> str:
    text = shortened(text, size)
    space = " " * (size - display_width(text))
    return space + text if right else text + space
