"""One schema for every frame: the same columns and dtypes, whatever the rows hold.

`frames.build` lays answers out by it, and `frames.arrow` gives each column its one Arrow type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict

import numpy as np
import pandas as pd

from webanalytics.core.operations.model import Dtype
from webanalytics.core.outcomes import Certificate
from webanalytics.core.strings import encodable
from webanalytics.operations import AUDIT_PAGES, Field, Operation

PANDAS_3 = int(pd.__version__.split(".", 1)[0]) >= 3
_DTYPES: dict[Dtype, Any] = {
    # before pandas 3 there is no NaN-missing string dtype without pyarrow: objects, with NaN too
    "string": "str" if PANDAS_3 else object,
    "integer": "Int64",
    "float": "float64",
    "boolean": "boolean",
    "object": object,
}

STATUS = Field("status", str, "ok or error.")
ERROR_COLUMNS = (
    Field("error", str, "One sentence on what failed, and the option that changes it if there is one."),
    Field("error_type", str, "Kind of failure."),
)
ERROR_KEY = Field("error_key", str, "Which failure it is: one word or more, the same in every version.")
FETCH_COLUMNS = (
    Field("final_url", str, "Where the fetch ended."),
    Field("redirects", list[str], "URLs passed through before the final one."),
    Field("http_status", int, "HTTP status of the last answer."),
    Field("elapsed", float, "Seconds the fetch took."),
    Field("bytes", int, "Size of the body after decompression."),
)
AUDIT_FETCH_COLUMNS = (
    *FETCH_COLUMNS,
    Field("content_type", str, "The Content-Type header of the page, or that of a text without one."),
    Field("x_robots_tag", str, "The X-Robots-Tag headers of the page, one a line."),
    Field("redirect_kinds", list[str], "Status of each redirect, or `meta` for one in the page."),
    Field("fetched_at", str, "When the page was fetched: ISO 8601, UTC."),
    Field("headers", str, "The headers of the last answer as lines; Set-Cookie is left out."),
    Field("certificate", Certificate, "The server's certificate: who issued it, and its first and last day."),
)

AUDIT_FIRST = (
    *("url", "status", "title", "description", "headings", "robots", "canonical", "wordCount", "language"),
    *("error", "error_type", "http_status", "final_url", "redirects", "keywords", "averageGradeLevel"),
    *("fleschReadingEase", "readingTimeMinutes", "targetAudience", "internal_links", "external_links"),
    *("images_without_alt", "lang", "elapsed", "bytes"),
)
"""Columns with which an audit begins, by use; the others follow in the order of their operations."""
AUDIT_LAST = (
    "og:",
    "card:",
    "favicons",
    "theme-color",
    "application-name",
    "responseBody",
    "sent_html",
    "error_key",
    "headers",
    "certificate",
)
"""How the columns begin with which an audit ends: what is rarely read."""


class LanguageVersion(TypedDict):
    """One language version of a page, as its sitemap names it."""

    lang: str
    url: str


SITEMAP_FIELDS = (
    Field("url", str, "Address of the page."),
    Field("lastmod", str, "Date of the last change, as the sitemap gives it."),
    Field("changefreq", str, "How often the page changes, as the sitemap says."),
    Field("priority", float, "Priority within the site, 0 to 1."),
    Field("sitemap", str, "The file that lists the page."),
    Field("alternates", list[LanguageVersion], "Language versions that the entry names (hreflang)."),
    Field("images", int, "Images that the entry names."),
    Field("videos", int, "Videos that the entry names."),
    Field("news", int, "News articles that the entry names."),
    Field("extension_faults", str, "What images, videos and articles of the entry lack."),
    STATUS,
    *ERROR_COLUMNS,
)
"""Columns of `webanalytics.sitemap`."""


def ordered(fields: Sequence[Field]) -> tuple[Field, ...]:
    """Return the columns of an audit in the one order that they have everywhere."""
    first = {name: place for place, name in enumerate(AUDIT_FIRST)}

    def place(field: Field) -> tuple[int, int]:
        name = field.column_name
        if name in first:
            return 0, first[name]
        last = next((n for n, start in enumerate(AUDIT_LAST) if name.startswith(start)), None)
        return (1, 0) if last is None else (2, last)

    return tuple(sorted(fields, key=place))


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or another of pandas' missing values.

    >>> [is_missing(value) for value in (None, float("nan"), pd.NaT, "", [None], {})]
    [True, True, True, False, False, False]
    """
    known = value is None or value is pd.NA or value is pd.NaT
    return known or (isinstance(value, (float, np.generic)) and bool(value != value))


def make_series(values: Sequence[Any] | np.ndarray[Any, Any], dtype: Dtype, index: pd.Index) -> pd.Series:
    """Return a column with the dtype of its field; None becomes the dtype's missing value."""
    if dtype == "string":
        return _strings(values, index)
    if dtype == "object":
        column = np.fromiter((np.nan if value is None else value for value in values), object, len(values))
        return pd.Series(column, index=index, dtype=object)
    if dtype == "float":
        return pd.Series(
            [np.nan if value is None else value for value in values], index=index, dtype="float64"
        )
    return pd.Series(pd.array(list(values), dtype=_DTYPES[dtype]), index=index)


def make_columns(cells: Mapping[str, Sequence[Any]], dtypes: Mapping[str, Dtype]) -> dict[str, pd.Series]:
    """Return the columns that ``dtypes`` names, each with its dtype, over rows numbered from 0."""
    index = pd.RangeIndex(len(next(iter(cells.values()), ())))
    return {name: make_series(cells[name], dtype, index) for name, dtype in dtypes.items()}


def frame_of(dtypes: Mapping[str, Dtype], rows: Iterable[Mapping[str, Any]] = ()) -> pd.DataFrame:
    """Return rows as a frame of the columns that ``dtypes`` names; what a row lacks is missing."""
    known = list(rows)
    return pd.DataFrame(make_columns({name: [row.get(name) for row in known] for name in dtypes}, dtypes))


def _strings(values: Sequence[Any] | np.ndarray[Any, Any], index: pd.Index) -> pd.Series:
    if isinstance(values, list) and not _all_ascii(values):
        # a page may contain lone surrogates, which no encoding can store
        values = [encodable(value, "?") if isinstance(value, str) else value for value in values]
    if PANDAS_3:
        return pd.Series(values, index=index, dtype="str")
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return pd.Series(np.where(pd.isna(column), np.nan, column), index=index, dtype=object)


def _all_ascii(values: list[Any]) -> bool:
    try:
        return all(map(str.isascii, filter(None, values)))
    except TypeError:  # not all of them are strings
        return False


def answer_fields(operations: Sequence[Operation]) -> tuple[tuple[int, Field], ...]:
    """Return the columns that come from answers: position of the operation, and the field as a column.

    If two operations of an audit share a column, the first one's is kept. An audit without the last of the
    operations has its columns too, without values.
    """
    taken = {field.name for field in fetch_fields(operations)}
    if len(operations) == 1:
        return tuple((0, field) for field in operations[0].columns if field.column_name not in taken)
    chosen: dict[str, tuple[int, Field]] = {}
    for position, operation in enumerate((*AUDIT_PAGES, *operations[len(AUDIT_PAGES) :])):
        for field in operation.columns:
            if field.audited and field.audit_name not in taken:
                chosen.setdefault(field.audit_name, (position, replace(field, column=field.audit_name)))
    return tuple(chosen.values())


def fetch_fields(operations: Sequence[Operation]) -> tuple[Field, ...]:
    """Return the columns about how a page was fetched."""
    if len(operations) > 1:
        return AUDIT_FETCH_COLUMNS
    return FETCH_COLUMNS if operations[0].kind == "page" else ()


def error_fields(operations: Sequence[Operation]) -> tuple[Field, ...]:
    """Return the columns about a failure."""
    return (*ERROR_COLUMNS, ERROR_KEY) if len(operations) > 1 else ERROR_COLUMNS


def frame_fields(operations: Sequence[Operation]) -> tuple[Field, ...]:
    """Return every column of a frame in order, the input's own first."""
    answers = (field for _, field in answer_fields(operations))
    own = Field(operations[0].input_column, str, "The input as it was given.")
    fields = (own, STATUS, *answers, *error_fields(operations), *fetch_fields(operations))
    return ordered(fields) if len(operations) > 1 else fields


class About(dict[str, Any]):
    """What a frame's attrs say of it, which pandas copies deeply for each part that is taken of the frame.

    Examples
    --------
    >>> frame = pd.DataFrame({"url": ["a"]})
    >>> frame.attrs["webanalytics"] = About(operation="text")
    >>> frame["url"].attrs["webanalytics"]["operation"] = "audit"
    >>> frame.attrs
    {'webanalytics': {'operation': 'text'}}
    """

    def __deepcopy__(self, memo: object) -> About:
        return About(self)


def as_frame(columns: dict[str, pd.Series], index: pd.Index, operation: str) -> pd.DataFrame:
    """Return the columns as a frame that knows which operation made it."""
    from webanalytics._version import __version__

    frame = pd.DataFrame(columns, index=index)
    frame.attrs["webanalytics"] = About(operation=operation, version=__version__, schema=1)
    return frame
