"""Content that backends read instead of fetching: files and data: URLs."""

from __future__ import annotations

from pathlib import Path

from webanalytics.errors import RowError
from webanalytics.fetching.data_urls import data_url_content


def check_size(size: int, parameter: str, limit: int) -> None:
    """Raise `RowError` for content above the limit."""
    if size > limit:
        raise RowError("content_too_large", parameter=parameter, limit=limit)


def file_content(path: Path, parameter: str, limit: int) -> bytes:
    """Return the content of a file, or raise `RowError` if it cannot be read or is too large."""
    try:
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise RowError("unreadable_file", parameter=parameter, reason=error.strerror) from None
    check_size(len(content), parameter, limit)
    return content


def embedded_content(url: str, parameter: str) -> bytes:
    """Return the content of a data: URL, or raise `RowError` if it is malformed."""
    try:
        return data_url_content(url)
    except ValueError:
        raise RowError("bad_data_url", parameter=parameter) from None
