"""Outcomes, and the pages of crawls, as rows of Parquet parts, and back."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from webanalytics.core.outcomes import Fetched, JobResult, Outcome, Outcomes
from webanalytics.errors import ParameterError, WriteError, reason
from webanalytics.operations import Operation
from webanalytics.runs.frames.arrow import Unreadable
from webanalytics.runs.storage.store import NAMED_DIGITS, DamagedPartError, Store, named, refusal

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
    """Yield the rows of a part, or some columns of them; a part that is changed is `Unreadable`."""
    for batch in store.batches(name, ROWS_AT_ONCE, schema(), columns):
        yield from batch.to_pylist()


def outcome_of(row: Mapping[str, Any]) -> Outcome:
    """Return the outcome that a row keeps."""
    data: Any = None if row["data"] is None else json.loads(row["data"])
    if row["blob_field"] is not None:
        data[row["blob_field"]] = row["blob"]
    return Outcome(data, row["error"], row["error_type"], row["error_key"])


def fetched_of(text: str | None) -> Fetched | None:
    """Return how a page was fetched, from its JSON."""
    if text is None:
        return None
    known: dict[str, Any] = json.loads(text)
    ways = {name: tuple(value) for name, value in known.items() if isinstance(value, list)}
    return Fetched(**{**known, **ways})


_PART = re.compile(rf"found-\d{{6,}}-[0-9a-f]{{{NAMED_DIGITS}}}\.parquet")
PART_CHARACTERS = 8_000_000
"""About how many characters of JSON are a part."""
MOST_OPEN = 2
"""Parts that are in memory, undecoded."""


class Settled(NamedTuple):
    """A page: the digest of its input, what was read of its links, and how it was fetched."""

    key: str
    found: Outcome
    fetched: Fetched | None


class SettledPages:
    """The pages of a folder, by the digest of their input."""

    def __init__(self, folder: Path, operation: Operation) -> None:
        self._store = Store(folder, "", _PART)
        self._operation = operation
        self._places: dict[str, tuple[int, int]] = {}
        self._open: OrderedDict[int, list[Any]] = OrderedDict()
        self._read: tuple[tuple[int, int], Settled] | None = None
        self._names = {number_of(name): name for name in self._store.parts()}
        self._next = 1 + max(self._names, default=0)

    def restore(self, wanted: Callable[[str, str | None], bool]) -> None:
        """Find out which pages are there; of several of one input, the last counts."""
        for number, name in sorted(self._names.items()):
            try:
                for row, known in enumerate(rows_of(self._store, name, ["key", "error_type"])):
                    if known["key"] is not None and wanted(known["key"], known["error_type"]):
                        self._places[known["key"]] = number, row
            except (Unreadable, OSError) as error:
                raise self._unreadable(name, error) from None

    def result(self, number: int, key: str) -> JobResult | None:
        """Return the answer about a page, which reads its links when asked for; None for an unknown one."""
        place = self._places.pop(key, None)
        if place is None:
            return None
        outcomes = _LinkOutcome(self, place)
        return JobResult(number, outcomes, self.page(place).fetched, apart=outcomes)

    def page(self, place: tuple[int, int]) -> Settled:
        """Return the page at a place: a part and a row of it."""
        if self._read is None or self._read[0] != place:
            try:
                self._read = place, self._page(*place)
            except (Unreadable, OSError) as error:
                raise self._unreadable(self._names[place[0]], error) from None
        return self._read[1]

    def _page(self, number: int, row: int) -> Settled:
        batches = self._open.get(number)
        if batches is None:
            name = self._names[number]
            batches = self._open[number] = list(self._store.batches(name, ROWS_AT_ONCE, schema()))
            while len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
        for batch in batches:
            if row < len(batch):
                (known,) = batch.slice(row, 1).to_pylist()
                return Settled(known["key"], outcome_of(known), fetched_of(known["fetched"]))
            row -= len(batch)
        raise Unreadable

    def write(self, pages: Iterable[Settled]) -> None:
        """Write pages as further parts."""
        rows: list[dict[str, Any]] = []
        size = 0
        for page in pages:
            rows.append(row_of(page.key, self._operation.name, page.found, page.fetched))
            size += len(rows[-1]["data"] or "") + len(rows[-1]["fetched"] or "")
            if size > PART_CHARACTERS:
                self._write(rows)
                rows, size = [], 0
        if rows:
            self._write(rows)

    def _write(self, rows: Sequence[dict[str, Any]]) -> None:
        try:
            name = self._store.write_part(named(self._next, "found"), table(rows))
        except OSError as error:
            raise WriteError.at("store", "a folder that can be written to", error) from None
        self._names[self._next] = name
        self._next += 1

    def _unreadable(self, name: str, error: Exception) -> ParameterError:
        if isinstance(error, OSError):
            return refusal("store", f"whose parts can be read: {reason(error)}")
        return DamagedPartError(self._store.path, name, "store")


class _LinkOutcome(Outcomes):
    """The outcome about the links of a page, read from its part at each access."""

    __slots__ = ("_pages", "_place")

    def __init__(self, pages: SettledPages, place: tuple[int, int]) -> None:
        self._pages, self._place = pages, place

    def __len__(self) -> int:
        return 1

    def made(self) -> list[Outcome]:
        """Return it."""
        return [self._pages.page(self._place).found]
