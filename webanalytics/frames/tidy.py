"""The tidy form of keywords: one row per page and keyword."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from webanalytics.frames.schema import as_frame, make_series


def tidy_keywords(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row per page and keyword; a page without any keeps one row with an empty keyword.

    Returns
    -------
    pandas.DataFrame
        ``url``, ``keyword``, ``frequency``, ``density``, ``rank``, then the page's other columns.
    """
    maps = [value if isinstance(value, dict) else {} for value in frame["keywords"]]
    shares = [value if isinstance(value, dict) else None for value in frame["density"]]
    counts = np.array([max(1, len(words)) for words in maps], dtype=np.int64)
    rows = np.repeat(np.arange(len(frame)), counts)
    repeated = frame.drop(columns=["keywords", "density"]).iloc[rows]
    index = repeated.index
    failed = (frame["status"] != "ok").tolist()
    columns: dict[str, Any] = {
        "keyword": make_series(_flat([list(words) or [""] for words in maps]), "string", index),
        "frequency": make_series(
            _flat(
                [
                    list(words.values()) or [None if bad else 0]
                    for words, bad in zip(maps, failed, strict=True)
                ]
            ),
            "integer",
            index,
        ),
        "density": make_series(
            _flat(
                [
                    [None if share is None else share.get(word) for word in words]
                    or [None if bad or share is None else 0.0]
                    for words, share, bad in zip(maps, shares, failed, strict=True)
                ]
            ),
            "float",
            index,
        ),
        "rank": make_series(
            _flat([list(range(1, len(words) + 1)) or [None] for words in maps]), "integer", index
        ),
    }
    others = {name: repeated[name] for name in repeated.columns if name != "url"}
    return as_frame({"url": repeated["url"], **columns, **others}, index, "keywords")


def _flat(lists: list[list[Any]]) -> list[Any]:
    return list(chain.from_iterable(lists))
