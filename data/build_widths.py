"""Build the package's table of character widths from the Liberation Sans fonts.

Run once for each new release of the fonts; the files it writes are kept in the repository, so neither
the package nor its tests need the fonts. It needs fontTools and the fonts' release, or the Debian package
fonts-liberation (before Debian 13: fonts-liberation2), unpacked:

    python data/build_widths.py LiberationSans-Regular.ttf LICENSE

A line of the table is a run of neighbouring characters: the code point of the first in hexadecimal, then
their advance widths in units of the font, `1139*4` for four equal ones.
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

from fontTools.ttLib import TTFont

DATA = Path(__file__).resolve().parent.parent / "webanalytics" / "audits" / "data"
NOTICE = """character-widths.txt: advance widths of the characters of Liberation Sans, regular.

Taken from the fonts ({version}, https://github.com/liberationfonts/liberation-fonts) by
data/build_widths.py: numbers only, no outlines. The fonts' licence follows.

"""


def advance_widths(font: TTFont) -> dict[int, int]:
    """Return the advance width of each character that the font can show."""
    metrics = font["hmtx"]
    return {code: metrics[glyph][0] for code, glyph in sorted(font.getBestCmap().items())}


def runs(widths: dict[int, int]) -> list[str]:
    """Return the table's lines."""
    lines = []
    for _, run in groupby(enumerate(widths), key=lambda pair: pair[1] - pair[0]):
        codes = [code for _, code in run]
        equal = [(width, len(list(same))) for width, same in groupby(widths[code] for code in codes)]
        written = (f"{width}*{count}" if count > 1 else str(width) for width, count in equal)
        lines.append(f"{codes[0]:X} {' '.join(written)}")
    return lines


def main(regular: str, licence: str) -> None:
    """Write the table and the licence."""
    font = TTFont(regular)
    if font["head"].unitsPerEm != 2048:
        raise SystemExit(f"{regular}: the package reads widths as 1/2048 of an em")
    lines = runs(advance_widths(font))
    version = font["name"].getDebugName(5).split(";")[0]
    DATA.mkdir(exist_ok=True)
    (DATA / "character-widths.txt").write_text("\n".join(lines) + "\n", "utf-8")
    terms = NOTICE.format(version=version.lower()) + Path(licence).read_text("utf-8").lstrip("\ufeff")
    (DATA / "character-widths-LICENSE.txt").write_text(terms, "utf-8")
    print(f"{version}: {len(lines)} lines")


if __name__ == "__main__":
    main(*sys.argv[1:])
