"""Whose report it is: logo, introduction, colour, language and form, checked before any work."""

from __future__ import annotations

import base64
import io
import os
import re
from dataclasses import dataclass
from pathlib import Path

from webanalytics.audits.report import pdf
from webanalytics.audits.words import checked_language
from webanalytics.errors import ParameterError

LARGEST_LOGO = 1_000_000
"""Bytes of a logo."""
WIDEST_LOGO = 5_000
"""Pixels of its sides."""
CONTRAST = 4.5
"""Least contrast of text in the accent colour with its ground, by WCAG 2.2, 1.4.3."""
_GROUNDS = (((247, 248, 248), (0, 0, 0)), ((27, 32, 37), (255, 255, 255)))
"""Grounds of the light and the dark theme, each with what a colour is mixed with until it can be read."""
_KINDS = {"PNG": "png", "JPEG": "jpeg"}

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Brand:
    """What a report bears besides its content."""

    logo: str = ""  # a data: address
    intro: tuple[str, ...] = ()  # paragraphs
    prepared_for: str = ""
    style: str = ""  # rules of CSS
    language: str = "en"
    appendix: bool = False
    browser: str = ""  # what prints it, "" where it is HTML

    @classmethod
    def of(
        cls,
        path: str | os.PathLike[str],
        *,
        logo: str | os.PathLike[str] | bytes | None = None,
        intro: str = "",
        prepared_for: str = "",
        accent: str | None = None,
        language: str = "en",
        appendix: bool = False,
    ) -> Brand:
        """Check what a report is to bear; raises `ParameterError` or `MissingExtraError`."""
        for name, text in (("intro", intro), ("prepared_for", prepared_for)):
            if not isinstance(text, str):
                raise ParameterError(f"The `{name}` parameter must be text.", name)
        return cls(
            "" if logo is None else _logo(logo),
            tuple(part.strip() for part in re.split(r"\n\s*\n", intro) if part.strip()),
            prepared_for,
            "" if accent is None else _style(accent),
            checked_language(language),
            bool(appendix),
            pdf.browser() if Path(path).suffix.lower() == ".pdf" else "",
        )


def _logo(given: str | os.PathLike[str] | bytes) -> str:
    """Return a picture as a data: address, which a page shows as a picture alone: no script of it runs."""
    try:
        content = given if isinstance(given, bytes) else _read(Path(given))
    except (OSError, TypeError, ValueError):
        raise ParameterError("The `logo` parameter must be a file that can be read, or bytes.", "logo") from None
    kind = _kind(content) if len(content) <= LARGEST_LOGO else ""
    if not kind:
        text = f"The `logo` parameter must be a PNG, JPEG or SVG picture of at most {LARGEST_LOGO // 1000:,} kB"
        raise ParameterError(f"{text} and {WIDEST_LOGO:,} pixels a side.", "logo")
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def _read(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(LARGEST_LOGO + 1)


def _kind(content: bytes) -> str:
    """Return what follows ``image/`` in the type of a picture, "" for all else."""
    from lxml import etree
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content), formats=list(_KINDS)) as picture:
            known, small = _KINDS[str(picture.format)], max(picture.size) <= WIDEST_LOGO
            picture.verify()
        return known if small else ""
    except Exception:  # Pillow raises many kinds for what is no picture
        pass
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        return "svg+xml" if etree.fromstring(content, parser).tag == "{http://www.w3.org/2000/svg}svg" else ""
    except (etree.XMLSyntaxError, ValueError):
        return ""


def _style(accent: str) -> str:
    """Return rules for a colour, made darker or lighter until it can be read on each theme's ground."""
    found = re.fullmatch(r"#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})", str(accent))
    if not found:
        raise ParameterError('The `accent` parameter must be a colour such as "#0b5d6b".', "accent")
    digits = found[1] if len(found[1]) == 6 else "".join(digit * 2 for digit in found[1])
    colour = (int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16))
    light, dark = (_readable(colour, *pair) for pair in _GROUNDS)
    in_dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ --accent: {dark}; }} }}"
    return f":root {{ --accent: {light}; }}\n{in_dark}\n"


def _readable(colour: Colour, ground: Colour, end: Colour) -> str:
    """Return a colour, mixed with another as far as it must be to be read on a ground.

    >>> _readable((255, 221, 0), (255, 255, 255), (0, 0, 0)), _readable((11, 93, 107), (255,) * 3, (0,) * 3)
    ('#857300', '#0b5d6b')
    """
    for step in range(101):
        red, green, blue = (round(a + (b - a) * step / 100) for a, b in zip(colour, end, strict=True))
        if contrast((red, green, blue), ground) >= CONTRAST:
            break
    return f"#{red:02x}{green:02x}{blue:02x}"


def contrast(one: Colour, other: Colour) -> float:
    """Return the contrast of two colours, from 1 to 21 (WCAG 2.2).

    >>> contrast((0, 0, 0), (255, 255, 255))
    21.0
    """
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Colour) -> float:
    parts = [part / 255 for part in colour]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(part * weight for part, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))
