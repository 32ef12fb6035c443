"""Texts that a spreadsheet would evaluate, marked as texts: the rule of every CSV file.

A spreadsheet treats text that begins with ``=``, ``+``, ``-`` or ``@`` as a formula, and the text comes from
pages that anyone may have written. Such a cell gets a leading apostrophe (OWASP, *CSV injection*), unless it
is a number, a phone number or a signature in base64. Invisible characters before the sign are skipped, and
the full-width forms of the signs count too.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import pandas as pd

_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"  # a spreadsheet takes the wide ones for the others
_FORMULA = re.compile(rf"[{_SIGNS}\t\r\n]")
_SIGNED_NUMBER = re.compile(r"[+-]?[\d .,()-]+%?$")
# A signature in base64 may begin with a sign, and must stay as it is: without brackets, quotes and further
# signs it calls nothing.
_DIGEST = re.compile(r"[+-][A-Za-z0-9+/_-]{20,}={0,2}$")


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with an apostrophe before every text that a spreadsheet would evaluate."""
    result = frame.copy()
    for place in _text_columns(frame):
        cells: Any = pd.Series(
            list(map(harmless, frame.iloc[:, place].tolist())), index=frame.index, dtype=object
        )
        result.isetitem(place, cells)
    result.columns = [harmless(name) for name in frame.columns]
    return result


def _text_columns(frame: pd.DataFrame) -> list[int]:
    kinds = ("object", "str", "string", "category")
    return [place for place, dtype in enumerate(frame.dtypes) if str(dtype).startswith(kinds)]


def begins_after_semicolon(frame: pd.DataFrame) -> bool:
    """Return whether a cell would begin with a sign of a formula where semicolons separate cells.

    All texts of such a file are quoted.
    """
    columns = (frame.iloc[:, place].tolist() for place in _text_columns(frame))
    texts = (text for column in (frame.columns.tolist(), *columns) for text in column)
    return any(
        _FORMULA.match(_visible(part))
        for text in texts
        if isinstance(text, str) and ";" in text
        for part in text.split(";")[1:]
    )


def _visible(text: str) -> str:
    """Return the text from its first visible character: not a space, control, mark or format character."""
    for place, character in enumerate(text):
        if unicodedata.category(character)[0] not in "CZM":
            return text[place:]
    return ""


def harmless(value: object) -> object:
    """Return text that no spreadsheet treats as a formula; anything else unchanged.

    Examples
    --------
    >>> [harmless(value) for value in ("=cmd()", "-5.2", "+1 208 581", "- a dash", 7)]
    ["'=cmd()", '-5.2', '+1 208 581', "'- a dash", 7]
    """
    if not isinstance(value, str):
        return value
    # a lone carriage return ends a row for some readers
    text = value.replace("\r\n", "\n").replace("\r", "\n")
    risky = _FORMULA.match(text) or _FORMULA.match(_visible(text))
    known = _SIGNED_NUMBER.match(text) or _DIGEST.match(text)
    return f"'{text}" if risky and not known else text
