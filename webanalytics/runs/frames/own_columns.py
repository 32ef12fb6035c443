"""What users extracted -> columns of an audit's frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from webanalytics.runs.frames.schema import make_series

if TYPE_CHECKING:
    from webanalytics.page.extraction import Selector

REPLACED = frozenset(("price", "priceCurrency", "availability"))
"""Columns of an audit that users may fill themselves: no rule reads them."""

BEFORE = "headings"
"""The column of an audit before which users' columns stand."""


def spread(frame: pd.DataFrame, selectors: Sequence[Selector]) -> pd.DataFrame:
    """Return a frame with one column for each selector in the place of ``extracted``.

    A selector with one value makes a column of strings, missing where nothing was found; one with all of its
    values makes a column of lists. A row that failed has missing values in both.

    Examples
    --------
    >>> from webanalytics.page.extraction import Selector
    >>> frame = pd.DataFrame({"url": ["a", "b"], "extracted": [{"sku": "12"}, None]})
    >>> spread(frame, [Selector("sku", "css", "#sku")])["sku"].tolist()
    ['12', nan]
    """
    cells = [cell if isinstance(cell, dict) else {} for cell in frame["extracted"].tolist()]
    columns: dict[str, pd.Series] = {}
    for selector in selectors:
        kind = list if selector.several else str
        values: list[Any] = [_of_kind(cell.get(selector.name), kind) for cell in cells]
        columns[selector.name] = make_series(values, "object" if selector.several else "string", frame.index)
    others = [name for name in frame.columns if name not in ("extracted", *columns)]
    place = others.index(BEFORE) if BEFORE in others else len(others)
    made = pd.concat([frame[others[:place]], pd.DataFrame(columns), frame[others[place:]]], axis=1)
    made.attrs = {
        key: dict(value) if isinstance(value, dict) else value for key, value in frame.attrs.items()
    }
    made.attrs.setdefault("webanalytics", {})["extract"] = {item.name: item.shown for item in selectors}
    return made


def _of_kind(value: Any, kind: type) -> Any:
    return value if isinstance(value, kind) else None
