"""Texts in place of pages: the argument ``texts`` -> rows, and the frame that names its rows by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from webanalytics.core.outcomes import UNUSABLE, Job, TextRecord
from webanalytics.core.strings import one_line
from webanalytics.errors import ParameterError
from webanalytics.runs.frames.inputs import Inputs, Rows, Wanted, is_missing, not_understood, values_of
from webanalytics.runs.frames.schema import FETCH_COLUMNS

COLUMN = "text"
"""Column of the result that shows the beginning of each text."""
SHOWN = 80
"""Characters of a text that the column shows: the whole text would be repeated with every keyword."""

_WANTED = Wanted("texts", ("text", "texts"), lambda _: None, digits=False, kinds="texts")


@dataclass(frozen=True)
class Texts:
    """What a caller gave as ``texts``, and the language, "" where it is to be detected."""

    given: Inputs
    language: str = ""


def pages_or_texts(urls: Any, texts: Any, language: str | None) -> Any:
    """Return the one of two arguments that was given, texts as `Texts`."""
    if urls is None and texts is None:
        raise ParameterError("The `urls` parameter is required where no `texts` are given.", "urls")
    if urls is not None and texts is not None:
        raise ParameterError("The `urls` parameter must be left out where `texts` are given.", "urls")
    if language is None:
        return urls if texts is None else Texts(texts)
    if texts is None:
        raise ParameterError(
            "The `language` parameter must be left out unless `texts` are given.", "language"
        )
    from webanalytics.page.text.language import primary_subtag

    code = primary_subtag(language) if isinstance(language, str) else ""
    if not code:
        raise ParameterError("The `language` parameter must be a code of ISO 639-1, such as en.", "language")
    return Texts(texts, code)


def read_texts(texts: Texts, column: str | None = None) -> Rows:
    """Return texts as rows, in input order; equal texts share one job."""
    values = values_of(texts.given, _WANTED, column)
    known: dict[Any, int] = {}
    numbers = np.empty(len(values), dtype=np.int64)
    listed = values.tolist()
    for row, value in enumerate(listed):
        subject = value if isinstance(value, str) else None if is_missing(value) else UNUSABLE
        numbers[row] = known.setdefault(subject, len(known))
    if UNUSABLE in known and known.keys() <= {UNUSABLE, None}:
        raise not_understood(listed, _WANTED)
    jobs = [Job(number, TextRecord(text, texts.language)) for text, number in known.items()]
    return Rows(values.index, [_shown(value) for value in listed], jobs, numbers)


def _shown(value: Any) -> str | None:
    """Return the beginning of a text, on one line."""
    if not isinstance(value, str):
        return None
    line = one_line(value[: 4 * SHOWN])
    return line if len(line) <= SHOWN and len(value) <= 4 * SHOWN else f"{line[: SHOWN - 1]}…"


def about_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of pages as one of texts: ``text`` in place of ``url``, and nothing about a fetch."""
    fetch = [field.name for field in FETCH_COLUMNS if field.name in frame.columns]
    return frame.drop(columns=fetch).rename(columns={"url": COLUMN})
