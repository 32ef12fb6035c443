"""Outcomes as rows of Parquet parts, and back; what is read is not trusted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, get_args

from webanalytics.core.messages import MESSAGES
from webanalytics.core.operations.types import DEEPEST, holder, is_deep
from webanalytics.core.outcomes import Fetched, Outcome, Source
from webanalytics.errors import ERROR_TYPES
from webanalytics.operations import Operation
from webanalytics.runs.frames.arrow import Unreadable
from webanalytics.runs.storage.store import NAMED_DIGITS, Store

PART = re.compile(rf"part-(\d{{6,}})-([0-9a-f]{{{NAMED_DIGITS}}})\.parquet")
"""Name of a part: its number, and the start of its SHA-256."""
ROWS_AT_ONCE = 256
"""Rows of a part that are in memory together while it is read."""


def row_of(key: str, operation: str, outcome: Outcome, fetched: Fetched | None) -> dict[str, Any]:
    """Return an outcome as a row of a part."""
    blob_field = blob = None
    data: dict[str, Any] | None = None
    if outcome.data is not None:
        data = dict(outcome.data)
        for name, value in outcome.data.items():
            if isinstance(value, bytes):
                blob_field, blob, data[name] = name, value, None
    return {
        "key": key,
        "operation": operation,
        "status": outcome.status,
        "error": outcome.error,
        "error_type": outcome.error_type,
        "error_key": outcome.key,
        "data": None if data is None else json.dumps(data),
        "blob_field": blob_field,
        "blob": blob,
        "fetched": None if fetched is None else json.dumps(asdict(fetched)),
    }


def schema() -> Any:
    """Return the schema of parts."""
    import pyarrow as pa

    texts = (
        *("key", "operation", "status", "error", "error_type", "error_key"),
        *("data", "blob_field", "fetched"),
    )
    return pa.schema([*((name, pa.large_string()) for name in texts), ("blob", pa.large_binary())])


def table(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as an Arrow table."""
    import pyarrow as pa

    wanted = schema()
    columns = {field.name: [_plain(row[field.name]) for row in rows] for field in wanted}
    return pa.table(columns, schema=wanted)


def _plain(value: Any) -> Any:
    """Return a text without lone surrogates, which no file can store."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "replace").decode()
    return value


def number_of(name: str) -> int:
    """Return the number of a part."""
    return int(name.removesuffix(".parquet").split("-")[1])


def rows_of(store: Store, name: str, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of a part, or some columns of them; a part that is changed is `Unreadable`.

    A few of them are in memory at once.
    """
    for batch in store.batches(name, ROWS_AT_ONCE, schema(), columns):
        yield from batch.to_pylist()


def outcome_of(operation: Operation, row: Mapping[str, Any]) -> Outcome:
    """Return the outcome that a row keeps.

    Raises
    ------
    Unreadable
        For a row of another form, or values that the operation's columns cannot hold.
    """
    text, error, blob_field = row["data"], row["error"], row["blob_field"]
    failed = text is None or error is not None
    if failed and (error is None or row["error_type"] not in ERROR_TYPES):
        raise Unreadable
    key = row["error_key"] if row["error_key"] in MESSAGES else None
    if text is None:
        return Outcome(None, error, row["error_type"], key)
    data = _loaded(text)
    if blob_field is not None:
        if blob_field not in data or row["blob"] is None:
            raise Unreadable
        data[blob_field] = row["blob"]
    if not _holds(operation, data):
        raise Unreadable
    return Outcome(data, error, row["error_type"], key) if failed else Outcome(data)


def can_be_kept(operation: Operation, outcome: Outcome) -> bool:
    """Return whether what a part keeps of an outcome could be read again."""
    return outcome.data is None or (_holds(operation, outcome.data) and not is_deep(outcome.data))


def _holds(operation: Operation, data: Mapping[str, Any]) -> bool:
    return operation.is_told(data) and all(field.holds(field.read(data)) for field in operation.fields)


def _loaded(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or (text.count("[") + text.count("{") > DEEPEST and is_deep(data)):
        raise Unreadable
    return data


def fetched_of(text: str | None) -> Fetched | None:
    """Return how a page was fetched, from its JSON; raises `Unreadable` for another form."""
    if text is None:
        return None
    known = _loaded(text)
    if known.keys() != _FETCHED.keys() or known["source"] not in get_args(Source):
        raise Unreadable
    ways = {name: known[name] for name in ("redirects", "redirect_kinds")}
    if not all(holder(annotation)(known[name]) for name, annotation in _FETCHED.items()):
        raise Unreadable
    return Fetched(**{**known, **{name: None if way is None else tuple(way) for name, way in ways.items()}})


_FETCHED: Mapping[str, Any] = {
    "final_url": str,
    "redirects": list[str],
    "http_status": int,
    "elapsed": float,
    "bytes": int,
    "content_type": str,
    "x_robots_tag": str,
    "redirect_kinds": list[str],
    "headers": str,
    "fetched_at": str,
    "source": str,
}
