"""Content that backends read instead of fetching, files and data: URLs; and what users extract from pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from multidict import CIMultiDict

from webanalytics.core.messages import Message
from webanalytics.core.outcomes import Fetched, PackedOutcomes, PageRecord
from webanalytics.errors import RowError
from webanalytics.fetching import FetchError
from webanalytics.fetching.data_urls import data_url_content
from webanalytics.fetching.response import LOOKED_AT, Problem, header_lines, refusal
from webanalytics.page.declarations.unserved import EXTRACT
from webanalytics.runs.workers.pool import WorkerDiedError, WorkerPool


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


def recorded_content(
    record: PageRecord, parameter: str, limit: int, *, refusals: bool = False
) -> tuple[str | bytes, tuple[str, str, str], Fetched]:
    """Return the content of a page fetched earlier, the other arguments of `Page`, and how it was fetched."""
    body, how = record.body, record.fetched
    plain = isinstance(body, bytes) or body.isascii()
    size = len(body) if plain else len(body.encode("utf-8", "replace"))  # type: ignore[union-attr]
    check_size(size, parameter, limit)
    final, redirects = how.final_url or record.url, how.redirects or ()
    status = how.http_status
    failed = None if status is None or 200 <= status < 300 else Problem("status", status=status)
    if refusals:
        start = body[:LOOKED_AT]
        content = start if isinstance(start, bytes) else start.encode("utf-8", "replace")
        headers = CIMultiDict(header_lines(how.headers or ""))
        failed = refusal(status or 200, headers, content, redirects, final) or failed
    if failed is not None:
        raise FetchError(
            failed.key,
            {"parameter": parameter, "redirected": bool(redirects), **failed.details},
            http_status=status,
            final_url=final,
            redirects=redirects,
            bytes=size,
            content=body or None,
        )
    return body, (record.url, final, how.content_type or ""), replace(how, final_url=final, bytes=size)


def embedded_content(url: str, parameter: str) -> bytes:
    """Return the content of a data: URL, or raise `RowError` if it is malformed."""
    try:
        return data_url_content(url)
    except ValueError:
        raise RowError("bad_data_url", parameter=parameter) from None


EXTRACT_SECONDS = 5.0
"""Seconds that all selectors together may take on a page; after that, each has as many of its own."""


async def extracted(
    pool: WorkerPool, page: tuple[Any, ...], settings: Mapping[str, Any]
) -> Mapping[str, Any] | Message:
    """Return the answer of `EXTRACT` about a page; a selector that takes too long is named in it."""
    entries: list[list[Any]] = settings["entries"]
    seconds = EXTRACT_SECONDS
    whole = await _asked(pool, page, entries, seconds)
    if whole is not None:
        return whole
    from webanalytics.page.extraction import too_long  # its parsers are for workers

    found: dict[str, Any] = {}
    notes: list[str] = []
    for entry in entries:  # one of them does not end: the others are asked without it
        alone = await _asked(pool, page, [entry], seconds) if len(entries) > 1 else None
        if alone is None:
            notes.append(too_long(str(entry[0]), seconds))
        elif not isinstance(alone, Message):
            found |= alone["extracted"]
            notes += [alone["extract_note"]] if alone["extract_note"] else []
    return {"extracted": found, "extract_note": "; ".join(notes)}


async def _asked(
    pool: WorkerPool, page: tuple[Any, ...], entries: Sequence[Any], seconds: float
) -> Mapping[str, Any] | Message | None:
    """Return a worker's answer about some selectors, None if it took too long or the worker died of it."""
    paths = {EXTRACT.name: EXTRACT.analysis}
    arguments = (paths, {EXTRACT.name: {"entries": list(entries)}}, page)
    try:
        packed = await pool.run("page", (EXTRACT.analysis,), arguments, seconds)
    except (TimeoutError, WorkerDiedError):
        return None
    return PackedOutcomes(packed).unpack()[0]
