"""Own extraction from a page in a worker: bounded in time, and whatever happens no other column is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from webanalytics.core.messages import Message
from webanalytics.core.outcomes import PackedOutcomes
from webanalytics.page.declarations.extract import EXTRACT
from webanalytics.runs.workers.pool import WorkerDiedError, WorkerPool

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
