"""Merge a newer list of disposable phone numbers into the user's own."""

from __future__ import annotations

from pathlib import Path

from webanalytics.core.run_options import resolve
from webanalytics.errors import ParameterError, RowError
from webanalytics.fetching import Fetcher
from webanalytics.records.phones.phone_list import UpdateReport, update
from webanalytics.runs.backends.local import fetch_settings
from webanalytics.runs.boundary import Run, run_plain


def update_from(source: str, *, allow_private: bool = False) -> str:
    """Read a list from a file or URL, merge it, and return one sentence about what changed.

    Raises `ParameterError` for a source that cannot be read, or that is not such a list.
    """
    report: UpdateReport = update(content_of(source, allow_private))
    return (
        f"{report.added} numbers added, {report.earlier} seen earlier than known, {report.skipped} skipped; "
        f"{report.total} in all"
    )


def content_of(source: str, allow_private: bool) -> bytes:
    """Return the content of a file or of an address."""
    if "://" not in source:
        try:
            return Path(source).read_bytes()
        except OSError as error:
            raise ParameterError(
                f"The `update` parameter must be a file that can be read: {error.strerror}.", "update"
            ) from None

    async def fetch() -> bytes:
        settings = fetch_settings(resolve({"allow_private": allow_private}))
        async with Fetcher(settings) as fetcher:
            return (await fetcher.fetch(source, parameter="update", accept="any")).content

    try:
        return run_plain(fetch, Run())
    except RowError as error:
        raise ParameterError(error.sentence, "update") from None
