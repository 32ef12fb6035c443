"""Whose report it is: logo, introduction, colour, language and form, checked before any work."""

from __future__ import annotations

import base64
import io
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webanalytics.audits.report.pdf import printer
from webanalytics.audits.words import checked_language
from webanalytics.errors import ParameterError

LARGEST_LOGO, WIDEST_LOGO = 1_000_000, 5_000
"""Bytes of a logo, and pixels of its sides."""
CONTRAST = 4.5
"""Least contrast of text with its ground (WCAG 2.2, 1.4.3)."""
_GROUNDS = (((247, 248, 248), (0, 0, 0)), ((27, 32, 37), (255, 255, 255)))
"""Grounds of the light and the dark theme, each with what a colour is mixed with until it can be read."""

Colour = tuple[int, ...]


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
        logo: Any = None,
        intro: str = "",
        prepared_for: str = "",
        accent: str | None = None,
        language: str = "en",
        appendix: bool = False,
    ) -> Brand:
        """Check what a report is to bear; see `webanalytics.Audit.report`."""
        for name, text in (("intro", intro), ("prepared_for", prepared_for)):
            if not isinstance(text, str):
                raise ParameterError(f"The `{name}` parameter must be text.", name)
        return cls(
            "" if logo is None else _logo(logo),
            tuple(filter(None, map(str.strip, re.split(r"\n\s*\n", intro)))),
            prepared_for,
            "" if accent is None else _style(accent),
            checked_language(language),
            bool(appendix),
            printer(path),
        )


def _logo(given: Any) -> str:
    """Return a picture as a data: address, which a page shows as a picture alone: no script of it runs."""
    try:
        content = given if isinstance(given, bytes) else _read(Path(given))
    except (OSError, TypeError, ValueError):
        raise ParameterError.must_be("logo", "a file that can be read, or bytes") from None
    kind = _kind(content) if len(content) <= LARGEST_LOGO else ""
    if not kind:
        text = (
            f"The `logo` parameter must be a PNG, JPEG or SVG picture of at most {LARGEST_LOGO // 1000:,} kB"
        )
        raise ParameterError(f"{text} and {WIDEST_LOGO:,} pixels a side.", "logo")
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def _read(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(LARGEST_LOGO + 1)


def _kind(content: bytes) -> str:
    from lxml import etree
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content), formats=["PNG", "JPEG"]) as picture:
            picture.verify()
            return str(picture.format).lower() if max(picture.size) <= WIDEST_LOGO else ""
    except Exception:  # Pillow raises many kinds for what is no picture
        parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        return "svg+xml" if etree.fromstring(content, parser).tag == "{http://www.w3.org/2000/svg}svg" else ""
    except (etree.XMLSyntaxError, ValueError):
        return ""


def _style(accent: str) -> str:
    """Return rules for a colour, made darker or lighter until it can be read on each theme's ground."""
    from PIL import ImageColor

    if not re.fullmatch(r"#([0-9a-fA-F]{3}){1,2}", str(accent)):
        raise ParameterError('The `accent` parameter must be a colour such as "#0b5d6b".', "accent")
    light, dark = (_readable(ImageColor.getrgb(accent), *pair) for pair in _GROUNDS)
    in_dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ --accent: {dark}; }} }}"
    return f":root {{ --accent: {light}; }}\n{in_dark}\n"


def _readable(colour: Colour, ground: Colour, end: Colour) -> str:
    """Return a colour, mixed with another as far as it must be to be read on a ground.

    >>> _readable((255, 221, 0), (255, 255, 255), (0, 0, 0)), _readable((11, 93, 107), (255,) * 3, (0,) * 3)
    ('#877500', '#0b5d6b')
    """
    for step in range(101):
        mixed = tuple(round(a + (b - a) * step / 100) for a, b in zip(colour, end, strict=False))
        darker, lighter = sorted((_luminance(mixed), _luminance(ground)))
        if (lighter + 0.05) / (darker + 0.05) >= CONTRAST:
            break
    return f"#{bytes(mixed).hex()}"


def _luminance(colour: Colour) -> float:
    parts = [part / 255 for part in colour]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(part * weight for part, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))
