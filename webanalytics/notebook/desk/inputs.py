"""Pasted text or an uploaded file -> the URLs that the desk audits."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from webanalytics.errors import ParameterError
from webanalytics.operations import METADATA
from webanalytics.runs.frames.input_files import MOST_COLUMNS, read_csv
from webanalytics.runs.frames.inputs import read_values

MOST_URLS = 100_000
_URL = re.compile(r"(?a:https?)://\S", re.I)
_SEPARATORS = (",", ";", "\t")


@dataclass(frozen=True)
class Urls:
    """URLs found, absolute http and https ones, in order and each once, and how many entries were none."""

    found: list[str]
    left_out: int


def urls_in(values: Iterable[object]) -> Urls:
    """Return the URLs among values; a path of a file on this machine is not one.

    Examples
    --------
    >>> urls_in([" https://a.example/ ", "", "notes.html", "https://a.example/"])
    Urls(found=['https://a.example/'], left_out=1)
    """
    texts = [value.strip() for value in values if isinstance(value, str) and value.strip()]
    good = [text for text in texts if _URL.match(text)]
    found = list(dict.fromkeys(good))
    if len(found) > MOST_URLS:
        raise ParameterError(f"The `urls` parameter must hold at most {MOST_URLS:,} URLs.", "urls")
    return Urls(found, len(texts) - len(good))


def urls_in_text(text: str) -> Urls:
    """Return the URLs of a text, one per line; a comma or semicolon after one is ignored."""
    return urls_in(line.strip().strip(",;\"'<>") for line in text.splitlines())


def read_upload(name: str, content: bytes) -> pd.DataFrame:
    """Return an uploaded table: CSV with any usual separator, or a text file with one URL per line.

    Raises
    ------
    ParameterError
        For any other file, or a table of more than 1,000 columns.
    """
    if b"\0" in content[:1000]:
        raise ParameterError("The `upload` parameter must be a CSV or text file.", "upload")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:  # what Excel writes as CSV in western Europe
        text = content.decode("cp1252", "replace")
    if name.lower().endswith(".txt"):
        return pd.DataFrame({"url": text.splitlines()}, dtype=object)
    first = next((line for line in text.splitlines() if line.strip()), "")
    separator = max(_SEPARATORS, key=first.count)
    if _columns(first, separator) > MOST_COLUMNS:  # a row this wide takes long to read
        raise ParameterError(f"The `upload` parameter must have at most {MOST_COLUMNS:,} columns.", "upload")
    try:
        return read_csv(io.StringIO(text), separator)
    except (ValueError, pd.errors.ParserError):
        raise ParameterError("The `upload` parameter must be a well-formed CSV file.", "upload") from None


def _columns(line: str, separator: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=separator), []))
    except csv.Error:  # a cell longer than the reader's limit
        return 0


def urls_in_table(table: pd.DataFrame, column: str | None = None) -> Urls:
    """Return the URLs of a table; their column is detected unless it is ambiguous.

    Raises
    ------
    ParameterError
        If the column is ambiguous; the message names the candidates.
    """
    return urls_in(read_values(table, METADATA, "urls", column).tolist())
