"""Inputs of every kind -> one subject per row, with the index of the result; the first step of a call."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype

from webanalytics.core.access import Access
from webanalytics.core.access_by_host import without_logins
from webanalytics.core.outcomes import UNUSABLE, ArchivedPage, Job, PageRecord, Particular, TextRecord
from webanalytics.core.strings import did_you_mean, one_line
from webanalytics.errors import ParameterError
from webanalytics.fetching.archives.pages import Pages
from webanalytics.fetching.archives.sources import read_pages
from webanalytics.operations import METADATA, Operation
from webanalytics.runs.frames.foreign import as_pandas, is_plain, kind_of, plain_value
from webanalytics.runs.frames.records import page_records
from webanalytics.runs.frames.schema import FETCH_COLUMNS, is_missing
from webanalytics.urls import is_archive, without_user

Inputs: TypeAlias = (
    str | bytes | Path | Pages | Mapping[Any, Any] | Iterable[Any] | pd.Series | pd.Index | pd.DataFrame
)
"""What every function accepts: one input, any iterable, a dict of label to input, a Series, an Index, a
DataFrame, or a table or column of another library, such as pyarrow and polars."""

LABEL_LENGTH = 200
"""How many characters of a long input, such as a data: URL, its column shows."""

MOST_CANDIDATES = 20
"""How many columns an error message names."""

_HTML_SUFFIXES = (".html", ".htm", ".xhtml")


@dataclass(frozen=True)
class Rows:
    """The inputs of a run, row by row."""

    index: pd.Index  # index of the inputs, and of the result
    labels: list[str | None]  # what the input column shows
    jobs: list[Job]  # the distinct inputs in order of first occurrence
    numbers: np.ndarray[Any, np.dtype[np.int64]]  # the number of each row's job
    # of inputs from archives, how many records there were of each kind
    archive: Mapping[str, int] | None = None
    # what the user names and passwords in addresses open, by host
    logins: Mapping[str, Access] = field(default_factory=dict)


@dataclass(frozen=True)
class Wanted:
    """What the values of a call are, to find their column and to say what would be understood."""

    parameter: str  # the caller's name for them
    names: tuple[str, ...]  # names, in lower case, of columns that hold them
    fits: Callable[[str], object]  # whether a text looks like one
    digits: bool  # whether a number may stand for its digits
    kinds: str  # the end of the sentence about values of other kinds, after "must hold"

    @classmethod
    def of(cls, operation: Operation, parameter: str) -> Wanted:
        """Return what an operation takes."""
        digits = operation.subject_parameter.digits
        kinds = "numbers as text or integers" if digits else _KINDS[operation.kind]
        return cls(parameter, operation.column_names, operation.looks_like_input, digits, kinds)


_KINDS = {
    "page": "URLs or paths of saved pages as text, or be a DataFrame with `url` and `html`",
    "image": "paths, URLs, or the bytes of images",
    "record": "texts",
}


def read_inputs(inputs: Inputs, operation: Operation, parameter: str, column: str | None = None) -> Rows:
    """Return inputs of any kind as rows, in input order; equal inputs share one job.

    The column of a DataFrame is detected unless it is ambiguous; `parameter` is the caller's name for the
    inputs, used in errors.
    """
    wanted = Wanted.of(operation, parameter)
    if operation.kind == "page" and has_archives(inputs):
        return _from_archives(inputs, operation, wanted)
    inputs = inputs if is_plain(inputs) else as_pandas(inputs, parameter)
    if (
        isinstance(inputs, pd.DataFrame)
        and operation.kind == "page"
        and list(inputs.columns).count("html") == 1
    ):
        listed = page_records(inputs, _page_urls(inputs, wanted, column))
        return _distinct(listed, inputs.index, operation, wanted)
    values = values_of(inputs, wanted, column)
    return _distinct(values.tolist(), values.index, operation, wanted)


def has_archives(inputs: Any) -> bool:
    """Return whether inputs are archives, or a list with some."""
    several = isinstance(inputs, (list, tuple)) and any(map(is_archive, inputs))
    return isinstance(inputs, Pages) or several or is_archive(inputs)


def _from_archives(inputs: Any, operation: Operation, wanted: Wanted) -> Rows:
    """Return the pages of archives as rows, in a list with addresses after those before them."""
    parts: list[Any] = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    values: list[Any] = []
    counts: Counter[str] = Counter()
    for archives, group in groupby(parts, key=lambda part: isinstance(part, Pages) or is_archive(part)):
        if not archives:
            values += group
            continue
        named = list(group)
        read = named[0] if isinstance(named[0], Pages) else read_pages(named, wanted.parameter)
        read.keep_robots()
        values += read.entries
        counts.update(read.counts)
    rows = _distinct(values, pd.RangeIndex(len(values)), operation, wanted)
    return replace(rows, archive=dict(counts))


def read_values(inputs: Inputs, operation: Operation, parameter: str, column: str | None = None) -> pd.Series:
    """Return inputs of any kind as a Series; see `read_inputs`."""
    return values_of(inputs, Wanted.of(operation, parameter), column)


def values_of(inputs: Inputs, wanted: Wanted, column: str | None = None) -> pd.Series:
    """Return inputs of any kind as a Series."""
    parameter = wanted.parameter
    inputs = inputs if is_plain(inputs) else as_pandas(inputs, parameter)
    if isinstance(inputs, pd.DataFrame):
        found: pd.Series = inputs[_input_column(inputs, wanted, column)]
        return _numbers_as_digits(found, wanted)
    if column is not None:
        raise ParameterError.must_be("column", "left out unless the input is a DataFrame")
    if isinstance(inputs, pd.Series):
        return _numbers_as_digits(inputs, wanted)
    if isinstance(inputs, pd.MultiIndex):
        raise ParameterError.must_be(parameter, "a list, a Series or an Index of one level")
    if isinstance(inputs, pd.Index):
        return pd.Series(inputs, index=pd.RangeIndex(len(inputs)))
    values = _from_iterable(inputs, wanted)
    if all(type(value) is str for value in values):
        return pd.Series(np.array(values, dtype=object), dtype=object)
    return pd.Series(np.fromiter(map(plain_value, values), object, len(values)), dtype=object)


def addresses_of(inputs: Any, parameter: str) -> Any:
    """Return the addresses in a table or column of another library as a list, and anything else unchanged."""
    return inputs if kind_of(inputs) is None else read_values(inputs, METADATA, parameter).tolist()


def not_understood(values: Iterable[Any], wanted: Wanted) -> ParameterError:
    """Return the error about inputs of which none is of a kind that is understood."""
    first = next(value for value in values if not is_missing(value))
    return ParameterError.on(wanted.parameter, f"must hold {wanted.kinds}, not {type(first).__name__}")


def _numbers_as_digits(values: pd.Series, wanted: Wanted) -> pd.Series:
    """Return numbers that a blank cell has turned into floats as the digits they were."""
    if not wanted.digits or not is_float_dtype(values.dtype):
        return values
    try:
        return values.astype("Int64")
    except (TypeError, ValueError):  # there are fractions among them
        return values


def _from_iterable(inputs: Any, wanted: Wanted) -> list[Any]:
    inputs = inputs if is_plain(inputs) else plain_value(inputs)
    if isinstance(inputs, (str, bytes, bytearray, memoryview, Path, PageRecord)):
        return [inputs]
    if not isinstance(inputs, Iterable) or isinstance(inputs, type):
        raise ParameterError(
            f"The `{wanted.parameter}` parameter must be a string, a list, a Series, a DataFrame or a dict "
            f"of label to input, not {type(inputs).__name__}.",
            wanted.parameter,
        )
    return list(inputs)


def _page_urls(frame: pd.DataFrame, wanted: Wanted, column: str | None) -> list[Any]:
    """Return the URLs of saved pages; pages given only as HTML have none."""
    others = frame.drop(columns="html")
    if column is None and not len(others.columns):
        return [None] * len(frame)
    if column is None and list(others.columns).count("url") == 1:
        column = "url"
    return list(others[_input_column(others, wanted, column)].tolist())


def _input_column(frame: pd.DataFrame, wanted: Wanted, column: str | None) -> Any:
    names = list(frame.columns)
    if column is not None:
        if column not in names:
            hint = did_you_mean(column, map(str, names)) or f"; candidates are: {_candidates(names)}."
            raise ParameterError(
                f"The `column` parameter names no column of the DataFrame with `{column}`{hint}", "column"
            )
        if names.count(column) > 1:
            raise _repeated(column, names.count(column))
        return column
    if len(names) == 1:
        return names[0]
    named = [name for name in names if str(name).strip().lower() in wanted.names]
    fitting = _fitting(frame, names, wanted) if len(named) != 1 else named
    candidates = [name for name in fitting if name in named] or fitting
    if len(candidates) == 1:
        return candidates[0]
    repeated = next((name for name in candidates or named if names.count(name) > 1), None)
    if repeated is not None:
        raise _repeated(repeated, names.count(repeated))
    raise ParameterError.on(
        "column",
        "must name the column that holds the inputs; candidates are: "
        f"{_candidates(candidates or named or names)}",
    )


def _fitting(frame: pd.DataFrame, names: list[Any], wanted: Wanted) -> list[Any]:
    """Return the names of columns whose values look like inputs; duplicated names do not count."""
    uses = Counter(names)
    once = [(place, name) for place, name in enumerate(names) if uses[name] == 1]
    return [name for place, name in once if _fits(frame.iloc[:, place], wanted)]


def _repeated(name: Any, count: int) -> ParameterError:
    """Return the error about columns of one name, none of which can be meant."""
    return ParameterError.on(
        "column",
        f"must name a column that is there once; the DataFrame has {count} called `{name}`, of which all "
        "but one must be renamed",
    )


def _candidates(names: Iterable[Any]) -> str:
    few = list(dict.fromkeys(f"`{name}`" for name in names))
    if len(few) > MOST_CANDIDATES:
        few[MOST_CANDIDATES:] = [f"{len(few) - MOST_CANDIDATES} more"]
    return ", ".join(few) or "none, for the DataFrame has no columns"


def _fits(values: pd.Series, wanted: Wanted) -> bool:
    """Return whether a column's first values all look like inputs."""
    sample = values.dropna().head(100).tolist()
    return bool(sample) and all(isinstance(value, str) and wanted.fits(value) for value in sample)


def subject_of(value: Any, operation: Operation) -> Any:
    """Return what a backend works on: None for a missing value, `UNUSABLE` for one of another kind."""
    if isinstance(value, Particular):
        inner = subject_of(value.subject, operation)
        return inner if inner is None or inner is UNUSABLE else replace(value, subject=inner)
    if isinstance(value, (PageRecord, ArchivedPage, Path)):
        return UNUSABLE if operation.kind == "record" else value
    if isinstance(value, (bytearray, memoryview)):
        value = bytes(value)
    if isinstance(value, bytes):
        return value if operation.kind == "image" else UNUSABLE
    if isinstance(value, str):
        return _text_subject(value, operation)
    if operation.subject_parameter.digits:
        if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
            return str(int(value))
    return None if is_missing(value) else UNUSABLE


def _text_subject(value: str, operation: Operation) -> Any:
    if operation.kind == "record":
        return value
    stripped = value.strip()
    if not stripped:
        return None
    path = _existing_file(stripped, operation)
    return path if path is not None else stripped


def _existing_file(text: str, operation: Operation) -> Path | None:
    """Return the path that a string names, if it names a saved page or an image."""
    if "://" in text or len(text) > 4096 or "\0" in text:
        return None
    if operation.kind == "page" and not text.lower().endswith(_HTML_SUFFIXES):
        return None
    path = Path(text)
    if operation.kind == "image" and not re.match(r"(?i)[a-z][a-z0-9+.-]*:(?!\\)", text):
        return path  # an image is a file unless it is a URL: a missing one is a row that says so
    try:
        return path if path.is_file() else None
    except OSError:
        return None


def label(value: Any) -> str | None:
    """Return what the input column shows for an input, None for a missing one."""
    if isinstance(value, Particular):
        value = value.subject
    if isinstance(value, (PageRecord, ArchivedPage)):
        return value.url
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"<{len(value)} bytes>"
    if isinstance(value, str) and value[:5].lower() == "data:":
        return value if len(value) <= LABEL_LENGTH else f"{value[: LABEL_LENGTH - 1]}…"
    if isinstance(value, (str, Path)):
        return str(value)
    if is_missing(value):
        return None
    return str(value)[:LABEL_LENGTH] if pd.api.types.is_scalar(value) else f"<{type(value).__name__}>"


def _distinct(values: list[Any], index: pd.Index, operation: Operation, wanted: Wanted) -> Rows:
    if operation.kind == "record" and all(type(value) is str for value in values):
        return _distinct_texts(values, index)
    logins: dict[str, Access] = {}
    if operation.kind != "record":
        values, logins = without_logins(values)
    jobs: list[Job] = []
    known: dict[Any, int] = {}
    numbers = np.empty(len(values), dtype=np.int64)
    for row, value in enumerate(values):
        subject = subject_of(value, operation)
        number = known.setdefault(subject, len(jobs))
        if number == len(jobs):
            jobs.append(Job(number, subject))
        numbers[row] = number
    if UNUSABLE in known and known.keys() <= {UNUSABLE, None}:
        raise not_understood(values, wanted)
    labels = [label(value) for value in values]
    if operation.kind != "record":
        labels = [text if text is None else without_user(text) for text in labels]
    return Rows(index, labels, jobs, numbers, logins=logins)


def _distinct_texts(values: list[str], index: pd.Index) -> Rows:
    """Return the rows of inputs that are all text, which need no conversion."""
    places = {value: number for number, value in enumerate(dict.fromkeys(values))}
    numbers = np.fromiter((places[value] for value in values), dtype=np.int64, count=len(values))
    labels = [value if len(value) <= LABEL_LENGTH else label(value) for value in values]
    return Rows(index, labels, [Job(number, value) for value, number in places.items()], numbers)


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
        raise ParameterError.on("urls", "is required where no `texts` are given")
    if urls is not None and texts is not None:
        raise ParameterError.must_be("urls", "left out where `texts` are given")
    if language is None:
        return urls if texts is None else Texts(texts)
    if texts is None:
        raise ParameterError.must_be("language", "left out unless `texts` are given")
    from webanalytics.page.text.language import primary_subtag

    code = primary_subtag(language) if isinstance(language, str) else ""
    if not code:
        raise ParameterError.must_be("language", "a code of ISO 639-1, such as en")
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
    if not isinstance(value, str):
        return None
    line = one_line(value[: 4 * SHOWN])
    return line if len(line) <= SHOWN and len(value) <= 4 * SHOWN else f"{line[: SHOWN - 1]}…"


def about_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of pages as one of texts: ``text`` in place of ``url``, and nothing about a fetch."""
    fetch = [field.name for field in FETCH_COLUMNS if field.name in frame.columns]
    return frame.drop(columns=fetch).rename(columns={"url": COLUMN})
