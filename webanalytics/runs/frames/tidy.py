"""The tidy form of keywords, one row per page and keyword; what users extracted as columns of an audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from webanalytics.core.operations.model import Dtype
from webanalytics.page.keywords.keyness import PLACES, keyness
from webanalytics.runs.frames.schema import as_frame, make_series

if TYPE_CHECKING:
    from webanalytics.page.extraction import Selector

T = TypeVar("T")

_TAKEN = ("keywords", "density", "places", "counts", "source")


def tidy_keywords(frame: pd.DataFrame, source: str | None = None) -> pd.DataFrame:
    """Return one row per page and keyword; a page without any keeps one row with an empty keyword."""
    maps = [value if isinstance(value, dict) else {} for value in frame["keywords"]]
    shares = _of(frame, "density", dict)
    counts = np.array([max(1, len(words)) for words in maps], dtype=np.int64)
    repeated = frame.drop(columns=[name for name in _TAKEN if name in frame]).iloc[
        np.repeat(np.arange(len(frame)), counts)
    ]
    index = repeated.index
    good = (frame["status"] == "ok").tolist()
    nothing: list[Any] = [None] * len(maps)

    def cells(lists: Iterable[Iterable[Any]], empty: Iterable[Any], dtype: Dtype) -> pd.Series:
        """Return a column: the cells of each page's keywords, or the one of a page without any."""
        filled = (list(found) or [none] for found, none in zip(lists, empty, strict=True))
        return make_series(list(chain.from_iterable(filled)), dtype, index)

    no_times = [0 if fine else None for fine in good]
    no_share = [0.0 if fine and share is not None else None for fine, share in zip(good, shares, strict=True)]
    said = [
        text or (source if fine else None) for text, fine in zip(_of(frame, "source", str), good, strict=True)
    ]
    columns = {
        "url": repeated["url"],
        "keyword": cells(maps, [""] * len(maps), "string"),
        "frequency": cells((words.values() for words in maps), no_times, "integer"),
        "density": cells(
            ([(share or {}).get(word) for word in words] for words, share in zip(maps, shares, strict=True)),
            no_share,
            "float",
        ),
        "distinctiveness": cells(_distinctiveness(frame, maps, shares), nothing, "float"),
        "rank": cells((range(1, len(words) + 1) for words in maps), nothing, "integer"),
        **{f"in_{place}": cells(_standing(frame, place, maps), nothing, "boolean") for place in PLACES},
        "source": cells(
            ([text] * len(words) for text, words in zip(said, maps, strict=True)), said, "string"
        ),
    }
    columns |= {name: repeated[name] for name in repeated.columns if name not in columns}
    return as_frame(columns, index, "keywords")


def _of(frame: pd.DataFrame, column: str, kind: type[T]) -> list[T | None]:
    """Return the cells of a column that are of a type, None for all others."""
    if column not in frame:
        return [None] * len(frame)
    return [value if isinstance(value, kind) else None for value in frame[column]]


def _standing(frame: pd.DataFrame, place: str, maps: Sequence[dict[str, int]]) -> list[list[bool | None]]:
    """Return for each page whether its keywords stand in a place; None where that is not known."""
    found = [None if cell is None else cell.get(place) for cell in _of(frame, "places", dict)]
    known = [None if stand is None else frozenset(stand) for stand in found]
    return [
        [None if stand is None else word in stand for word in words]
        for stand, words in zip(known, maps, strict=True)
    ]


def _distinctiveness(
    frame: pd.DataFrame, maps: Sequence[dict[str, int]], shares: Sequence[dict[str, float] | None]
) -> list[list[float | None]]:
    """Return how distinctive each keyword is of its page; all counts of all pages must have come."""
    counted = _of(frame, "counts", dict)
    sizes = [
        _words(words, share) if counts is not None else 0
        for words, share, counts in zip(maps, shares, counted, strict=True)
    ]
    totals: Counter[str] = Counter()
    words = 0
    seen: set[Any] = set()
    for page, counts, size in zip(_pages(frame), counted, sizes, strict=True):
        if counts is not None and size and page not in seen:
            seen.add(page)
            totals.update(counts)
            words += size
    return [
        _against(totals, words, counts, size) if size and len(seen) > 1 else [None] * len(counts)
        for counts, size in zip(maps, sizes, strict=True)
    ]


def _against(totals: Mapping[str, int], words: int, counts: dict[str, int], size: int) -> list[float | None]:
    """Return the keyness of the keywords of one page against all other pages."""
    here = np.fromiter(counts.values(), np.float64, len(counts))
    everywhere = np.fromiter((totals[word] for word in counts), np.float64, len(counts))
    return [*keyness(here, size, np.maximum(everywhere - here, 0), words - size).tolist()]


def _words(words: dict[str, int], share: dict[str, float] | None) -> int:
    """Return how many words a page has, from the frequency and the share of one of them."""
    for word, times in words.items():
        density = (share or {}).get(word)
        return round(times / density) if density else 0
    return 0


def _pages(frame: pd.DataFrame) -> list[Any]:
    """Return what tells the pages apart: where they were found, else how they were given, else their row."""
    names = [name for name in ("final_url", "url") if name in frame]
    cells = [_of(frame, name, str) for name in names]
    return [next(filter(None, known), row) for row, known in enumerate(zip(*cells, strict=True))]


REPLACED = frozenset(("price", "priceCurrency", "availability"))
"""Columns of an audit that users may fill themselves: no rule reads them."""

BEFORE = "headings"
"""The column of an audit before which users' columns stand."""


def spread(frame: pd.DataFrame, selectors: Sequence[Selector]) -> pd.DataFrame:
    """Return a frame with one column for each selector in the place of ``extracted``.

    >>> from webanalytics.page.extraction import Selector
    >>> frame = pd.DataFrame({"url": ["a", "b"], "extracted": [{"sku": "12"}, None]})
    >>> spread(frame, [Selector("sku", "css", "#sku")])["sku"].tolist()
    ['12', nan]
    """
    cells = [cell if isinstance(cell, dict) else {} for cell in frame["extracted"].tolist()]
    columns: dict[str, pd.Series] = {}
    for selector in selectors:
        kind = list if selector.several else str
        found = (cell.get(selector.name) for cell in cells)
        values: list[Any] = [value if isinstance(value, kind) else None for value in found]
        columns[selector.name] = make_series(values, "object" if selector.several else "string", frame.index)
    others = [name for name in frame.columns if name not in ("extracted", *columns)]
    place = others.index(BEFORE) if BEFORE in others else len(others)
    made = pd.concat([frame[others[:place]], pd.DataFrame(columns), frame[others[place:]]], axis=1)
    made.attrs = {
        key: dict(value) if isinstance(value, dict) else value for key, value in frame.attrs.items()
    }
    made.attrs.setdefault("webanalytics", {})["extract"] = {item.name: item.shown for item in selectors}
    return made
