"""The width in pixels of a title or a description in a list of search results.

Search engines cut titles and descriptions by their width, not by their number of characters. The width
here is the sum of the characters' advance widths in Liberation Sans, whose metrics are those of Arial.

Examples
--------
>>> text_width("Lamps"), text_width("WWWWW"), text_width("iiiii")
(60.029296875, 94.384765625, 22.216796875)
>>> text_widths(["Lamps", None, ""])
[60, None, 0]
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from importlib import resources

TITLE_SIZE = 20.0
"""Size in pixels of a title in search results on a desktop screen (Arial, regular).

Search engines publish neither the size nor the width at which they cut: a title link "is truncated in
Google Search results as needed" (https://developers.google.com/search/docs/appearance/title-link). 20 and
14 pixels are what analysts read from the style of the result pages, and the sizes that the customary limits
belong to: at 20 pixels 561 pixels hold the 60 characters of the usual limit for titles, and at 14 pixels 985
pixels the 155 of that for descriptions (English text takes 0.46 em a character).
"""

DESCRIPTION_SIZE = 14.0
"""Size in pixels of a description in search results on a desktop screen (Arial, regular)."""

UNITS = 2048
"""Units of the font in one em, the size of the font."""

OTHER = 1003
"""Units of a character that neither the table nor a rule covers: the mean of a to z, 0.49 em."""

_DATA = resources.files("webanalytics.audits").joinpath("data")
_SPACES = frozenset("\t\n\f\r\u2028\u2029")
_WIDE = "\u3000"  # the ideographic space, one em

# What a font with emoji shows as one picture: pictures joined by U+200D, flags, keycaps, and signs that ask
# for their coloured form. Every alternative holds one of the characters of `_EMOJI_SIGNS`.
_EMOJI_SIGNS = re.compile("[\u200d\ufe0f\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff]")
_EMOJI_CLUSTER = re.compile(
    "[\U0001f1e6-\U0001f1ff]{2}"
    "|[0-9#*]\ufe0f\u20e3"
    "|[\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff][\ufe0f\U0001f3fb-\U0001f3ff]*"
    "(?:\u200d[\u203c-\u3299\U0001f000-\U0001faff][\ufe0f\U0001f3fb-\U0001f3ff]*)+"
    "|[\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff][\ufe0f\U0001f3fb-\U0001f3ff]+"
)


def text_width(text: str, size: float = TITLE_SIZE) -> float:
    """Return the width of one line of text in CSS pixels, runs of white space included.

    Notes
    -----
    The widths are those of Liberation Sans 2.1.5 (SIL Open Font License 1.1,
    https://github.com/liberationfonts/liberation-fonts), 2048 units per em: Latin, Greek, Cyrillic, Hebrew,
    punctuation and signs. Kerning, ligatures and hinting are not counted. Of other characters

    - wide ones of East Asia (Unicode's East Asian Width W and F) and emoji take 1 em, half-width ones
      0.5 em; a flag, a keycap or pictures joined to one take 1 em together;
    - combining marks, joiners, variation selectors, soft hyphens and control characters take nothing; tabs
      and line breaks take as much as a space, which browsers show for them;
    - all others, as Arabic or Devanagari, take 0.49 em, the mean of the letters a to z. That is a rough
      figure: letters of such scripts change their width with their neighbours.

    Examples
    --------
    >>> text_width("灯台", size=14)
    28.0
    """
    if _EMOJI_SIGNS.search(text):
        text = _EMOJI_CLUSTER.sub(_WIDE, text)
    return sum(map(_widths().__getitem__, text)) * size / UNITS


def text_widths(texts: Sequence[str | None], size: float = TITLE_SIZE) -> list[int | None]:
    """Return the width of each text in whole pixels.

    Examples
    --------
    >>> text_widths(["Lamps and lanterns", None], size=DESCRIPTION_SIZE)
    [123, None]
    """
    return [None if text is None else int(text_width(text, size) + 0.5) for text in texts]


class _Widths(dict[str, int]):
    """Widths of characters in units; characters outside the font are added on first use."""

    def __missing__(self, character: str) -> int:
        width = _width_of_other(character)
        self[character] = width
        return width


@cache
def _widths() -> _Widths:
    widths = _Widths()
    for line in _DATA.joinpath("character-widths.txt").read_text("utf-8").splitlines():
        _read_run(line, widths)
    for space in _SPACES:
        widths[space] = widths[" "]
    return widths


def _read_run(line: str, widths: _Widths) -> None:
    first, *entries = line.split()
    code = int(first, 16)
    for entry in entries:
        width, _, count = entry.partition("*")
        for character in map(chr, range(code, code + int(count or 1))):
            # The font shows a soft hyphen; browsers show it only where they break a line.
            widths[character] = 0 if unicodedata.category(character) == "Cf" else int(width)
            code += 1


def _width_of_other(character: str) -> int:
    # Vowels and final consonants of decomposed Hangul are drawn into the syllable of the first one.
    if unicodedata.category(character) in ("Mn", "Me", "Cf", "Cc") or "\u1160" <= character <= "\u11ff":
        return 0
    if "\U0001f1e6" <= character <= "\U0001f1ff":
        return UNITS // 2
    east_asian = unicodedata.east_asian_width(character)
    if east_asian in "WF" or "\U0001f000" <= character <= "\U0001faff":
        return UNITS
    return UNITS // 2 if east_asian == "H" else OTHER
