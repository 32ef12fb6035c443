"""Files of search data -> columns of the pages of an audit, and what is of none of them."""

from __future__ import annotations

import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd

from webanalytics.audits.graph.site_links import Addresses, normal, origin
from webanalytics.audits.rules.url import lower_case, without_scheme, without_slash, without_tracking
from webanalytics.audits.work.search_columns import counted_up, is_header, standard, typed
from webanalytics.errors import MissingExtraError, ParameterError
from webanalytics.runs.frames.foreign import as_pandas
from webanalytics.runs.frames.input_files import (
    SUFFIXES,
    bounded_zip,
    decoded,
    in_bounds,
    most_inflated,
    read_csv,
    read_frame,
    sheets,
)
from webanalytics.urls import is_web, lacks_scheme

CUT = 1_000
"""Rows with which an export from the pages of Search Console ends."""
PAGE_VIEW, FIRST_ROWS, QUERIES = "page view", f"page view, first {CUT:,} rows", "queries"
"""Where the numbers of pages are from: only the first says which pages have none."""
_ORDER: tuple[Callable[[str], str], ...] = (str, without_slash, without_scheme, lower_case)
_HEAD_LINES = 200
_TEXTS = (".csv", ".tsv", ".txt")


class SearchData(NamedTuple):
    """What was found for the pages: columns, the file's rows without a page, and queries by page."""

    columns: pd.DataFrame
    unmatched: pd.DataFrame
    tables: dict[str, pd.DataFrame]


def search_data(pages: pd.DataFrame, known: Addresses, good: list[bool], source: Any) -> SearchData:
    """Return the search data of pages as they were read; raises as `Audit.with_search_data` does."""
    found = [table for table in map(standard, _tables(source)) if table is not None]
    of_pages = [table for table in found if "query" not in table]
    of_queries = [table for table in found if "query" in table]
    if not found or len(of_pages) > 1 or len(of_queries) > 1:
        raise ParameterError.must_be(
            "source",
            "one export with a column of addresses and one of clicks, impressions, sessions or views, of one "
            "period and not of two beside each other",
        )
    places = Places(known, good)
    tables = {}
    columns, left = pd.DataFrame(index=pd.RangeIndex(len(pages))), pd.DataFrame()
    if of_queries:
        table, rows = of_queries[0], places.rows(of_queries[0]["url"])
        tables["search_queries"] = typed(
            table[rows >= 0].assign(url=pages["url"].to_numpy(object)[rows[rows >= 0]])
        )
        left = table[rows < 0]
    if of_pages or "clicks" not in pages:
        table = (of_pages or of_queries)[0]
        rows = places.rows(table["url"])
        columns, left = counted_up(table, rows, len(pages)), table[rows < 0]
        tables["search_unmatched"] = typed(left)
        if "clicks" in columns:
            view = FIRST_ROWS if len(table) == CUT else PAGE_VIEW
            columns["clicks_from"] = view if of_pages else QUERIES
    if clashing := [name for name in columns.columns if name in pages]:
        listed = ", ".join(f"`{name}`" for name in clashing)
        raise ParameterError.on(
            "source",
            f"must not bring the columns {listed}, which the pages have already; a page view comes before "
            "queries",
        )
    return SearchData(columns.set_axis(pages.index), typed(left), tables)


class Places:
    """The rows of pages by their addresses, and by looser forms of these."""

    def __init__(self, known: Addresses, good: list[bool]) -> None:
        ends = list(zip(known.requested, known.final, good, strict=True))
        read = [final for asked, final, is_good in ends if is_good and origin(asked) == origin(final)]
        tops = sorted(set(filter(None, map(origin, read or known.final))))
        self._top = tops[-1] if len({top.partition("://")[2] for top in tops}) == 1 else ""
        self._rows: list[dict[str, int]] = [{} for _ in _ORDER]
        targets = [known.find(url) for asked, final, _ in ends for url in {asked: 0, final: 0} if url]
        for target in sorted(filter(None, targets), key=lambda target: target.redirected):
            form = target.url
            for change, rows in zip(_ORDER, self._rows, strict=True):
                form = change(form)
                rows.setdefault(form, target.row)
        self._paths = {form.partition("?")[0] for form in self._rows[-1]}

    def rows(self, urls: pd.Series[Any]) -> Any:
        """Return the row of each address, -1 for none."""
        codes, names = pd.factorize(urls)
        return np.array([*map(self._row, names.tolist()), -1], dtype=np.intp)[codes]

    def _row(self, name: object) -> int:
        text = str(name).strip()
        if (row := self._rows[0].get(text)) is not None:
            return row
        if text.startswith("/"):
            text = self._top + text
        text = text.removeprefix("sc-domain:")
        url = normal(text if is_web(text) or not lacks_scheme(text) else f"https://{text}")
        if url is None:
            return -1
        for form in (url, without_tracking(url)) if "?" in url else (url,):
            if (loosest := _loosest(form)) not in self._rows[-1]:
                if loosest.partition("?")[0] not in self._paths:
                    return -1
                continue
            for change, rows in zip(_ORDER, self._rows, strict=True):
                form = change(form)
                if form in rows:
                    return rows[form]
        return -1


def _loosest(url: str) -> str:
    """Return a normal address as all of `_ORDER` one after the other make it, in a tenth of their time."""
    head, mark, query = url.partition("?")
    return f"https://{head.partition('://')[2].rstrip('/').lower()}{mark}{query}"


def _tables(source: Any) -> Iterator[pd.DataFrame]:
    """Yield the tables of a source; raises `ParameterError` for what has none that can be read."""
    if not isinstance(source, (str, os.PathLike)):
        frame = as_pandas(source, "source")
        if not isinstance(frame, pd.DataFrame):
            raise ParameterError.must_be("source", "a file or a DataFrame")
        yield frame
        return
    path = Path(source)
    try:
        yield from _of_file(path, path.suffix.lower())
    except ParameterError as error:
        raise error.of("source") from None
    except MissingExtraError:
        raise
    except ImportError:
        raise MissingExtraError("excel", "openpyxl", "reading .xlsx files") from None
    except OSError as error:
        raise ParameterError.must_be("source", f"a file that can be read: {error.strerror}") from None
    except (ValueError, EOFError, RuntimeError, KeyError, zlib.error, zipfile.BadZipFile):
        raise ParameterError.must_be("source", "a well-formed file") from None


def _of_file(path: Path, suffix: str) -> Iterator[pd.DataFrame]:
    most = most_inflated(path)
    if suffix == ".xlsx":
        yield from sheets(path)
    elif suffix == ".zip":
        with bounded_zip(path) as archive:
            for name in archive.namelist():
                if name.lower().endswith(_TEXTS):
                    with archive.open(name) as file:
                        yield from _of_text(_content(file, most))
    elif suffix == ".gz":
        with gzip.open(path) as packed:
            yield from _of_text(_content(packed, most))
    elif suffix in _TEXTS:
        with path.open("rb") as file:
            yield from _of_text(_content(file, most))
    elif suffix in SUFFIXES:
        yield read_frame(path)
    else:
        known = ", ".join((*SUFFIXES, ".gz", ".zip"))
        raise ParameterError.must_be("source", f"a file with one of the suffixes: {known}")


def _content(file: IO[bytes] | gzip.GzipFile, most: int) -> str:
    data = file.read(most + 1)
    in_bounds(len(data), most)
    return decoded(data, spreadsheet=True)


def _of_text(text: str) -> Iterator[pd.DataFrame]:
    """Yield the first table of pages of a text, which comments may stand before and behind."""
    start = 0
    for _ in range(_HEAD_LINES):
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)].strip("\r")
        for separator in ",;\t":
            cells = [cell.strip('"') for cell in line.split(separator)]
            if not line.startswith("#") and is_header(cells):
                stop = text.find("\n#", start) if text.startswith("#") else -1
                yield read_csv(io.StringIO(text[start : stop if stop >= 0 else len(text)]), separator)
                return
        if end < 0:
            return
        start = end + 1
