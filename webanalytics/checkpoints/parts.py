"""Outcomes as rows of Parquet parts, and back; what is read may come from a stranger."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from webanalytics.backends.base import Fetched, Outcome
from webanalytics.errors import ERROR_TYPES
from webanalytics.operations import Operation
from webanalytics.operations.holding import DEEPEST, is_deep

ROWS_AT_ONCE = 256
"""Rows of a part that are in memory together while it is read."""


class UnreadableError(Exception):
    """A part is not one that this package writes."""


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
        "data": None if data is None else json.dumps(data),
        "blob_field": blob_field,
        "blob": blob,
        "fetched": None if fetched is None else json.dumps(asdict(fetched)),
    }


def _schema() -> Any:
    import pyarrow as pa

    texts = ("key", "operation", "status", "error", "error_type", "data", "blob_field", "fetched")
    return pa.schema([*((name, pa.large_string()) for name in texts), ("blob", pa.large_binary())])


def table(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as an Arrow table."""
    import pyarrow as pa

    schema = _schema()
    columns = {field.name: [_plain(row[field.name]) for row in rows] for field in schema}
    return pa.table(columns, schema=schema)


def _plain(value: Any) -> Any:
    """Return a text without lone surrogates, which no file can store."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "replace").decode()
    return value


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a part, a few of them in memory at once."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    if path.is_symlink() or not path.is_file():
        raise UnreadableError
    try:
        with parquet.ParquetFile(path) as file:
            if not file.schema_arrow.equals(_schema()):
                raise UnreadableError
            for batch in file.iter_batches(ROWS_AT_ONCE):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError, ValueError):
        raise UnreadableError from None


def outcome_of(operation: Operation, row: Mapping[str, Any]) -> Outcome:
    """Return the outcome that a row keeps.

    Raises
    ------
    UnreadableError
        For a row of another form, or values that the operation's columns cannot hold.
    """
    text, error, blob_field = row["data"], row["error"], row["blob_field"]
    if text is None:
        if error is None or row["error_type"] not in ERROR_TYPES:
            raise UnreadableError
        return Outcome(None, error, row["error_type"])
    data = _loaded(text)
    if blob_field is not None:
        if blob_field not in data or row["blob"] is None:
            raise UnreadableError
        data[blob_field] = row["blob"]
    if not _holds(operation, data):
        raise UnreadableError
    return Outcome(data)


def can_be_kept(operation: Operation, outcome: Outcome) -> bool:
    """Tell whether what a part keeps of an outcome would be read again."""
    return outcome.data is None or (_holds(operation, outcome.data) and not is_deep(outcome.data))


def _holds(operation: Operation, data: Mapping[str, Any]) -> bool:
    return operation.is_told(data) and all(field.holds(field.read(data)) for field in operation.fields)


def _loaded(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or (text.count("[") + text.count("{") > DEEPEST and is_deep(data)):
        raise UnreadableError
    return data


def fetched_of(text: str | None) -> Fetched | None:
    """Return how a page was had, from its JSON; raises `UnreadableError` for another form."""
    if text is None:
        return None
    known = _loaded(text)
    kinds = {
        "final_url": str,
        "http_status": int,
        "elapsed": float,
        "bytes": int,
        "content_type": str,
        "x_robots_tag": str,
    }
    redirects = known.get("redirects")
    if known.keys() != {*kinds, "redirects"} or not isinstance(redirects, list | None):
        raise UnreadableError
    fits = all(known[name] is None or type(known[name]) is kind for name, kind in kinds.items())
    if (
        not fits
        or not all(isinstance(item, str) for item in redirects or ())
        or (known["bytes"] or 0) >= 2**63
    ):
        raise UnreadableError
    return Fetched(**{**known, "redirects": None if redirects is None else tuple(redirects)})
