"""The rows of a crawl as their turn comes: in memory, or in the folder of `store`.

`crawls.run` hands each settled page over; the frame is made here. Rows in a folder have the links of their
pages beside them.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from webanalytics.core.outcomes import Fetched, Job, JobResult, Outcome, Outcomes, digest
from webanalytics.crawls.admission import Admission
from webanalytics.crawls.candidates import Candidate
from webanalytics.crawls.page_answers import whole
from webanalytics.errors import ParameterError, WriteError, reason
from webanalytics.operations import FACTS, Operation
from webanalytics.runs.frames.arrow import Unreadable
from webanalytics.runs.frames.build import FrameBuilder
from webanalytics.runs.frames.inputs import Rows
from webanalytics.runs.storage.checkpoint import (
    NOT_DONE,
    ROWS_AT_ONCE,
    Checkpoint,
    fetched_of,
    number_of,
    outcome_of,
    row_of,
    rows_of,
    schema,
    table,
)
from webanalytics.runs.storage.parts import FRAME_ROWS
from webanalytics.runs.storage.row_folder import GrowingBuilder, Lay
from webanalytics.runs.storage.store import NAMED_DIGITS, DamagedPartError, Store, refusal

NO_ROWS = frozenset(("robots", "not_html"))
"""Failures of pages that have no row, unless they are starts."""

Kept = dict[str, dict[int, JobResult]]
"""Answers of a checkpoint by the digest of their input and the place of their operation."""


@dataclass(frozen=True)
class Laying:
    """How rows are made: of the answers of which operations, and what is done to frames of them."""

    operations: tuple[Operation, ...]
    lay: Lay
    admission: Admission

    def row_of(self, page: Candidate, answer: JobResult) -> JobResult:
        """Return the answer that is a page's row: its `links` are those that the crawl keeps."""
        if not self.admission.left_out[page.url]:
            return answer
        place = self.operations.index(FACTS)
        data = answer.outcomes[place].data or {}
        known, normal = self.admission.links, self.admission.scope.normal
        kept = tuple(link for link in data.get("links", ()) if normal(link) in known)
        return replace(answer, outcomes=_KeptLinks(answer.outcomes, place, kept))


class _KeptLinks(Outcomes):
    """The outcomes of a page without the links that the crawl has counted alone."""

    __slots__ = ("_kept", "_outcomes", "_place")

    def __init__(self, outcomes: Sequence[Outcome], place: int, kept: tuple[str, ...]) -> None:
        self._outcomes, self._place, self._kept = outcomes, place, kept

    def made(self) -> list[Outcome]:
        """Return all of them."""
        found = list(self._outcomes)
        facts = found[self._place]
        if facts.data is not None:
            found[self._place] = replace(facts, data={**facts.data, "links": list(self._kept)})
        return found


class RowsInMemory:
    """Rows whose answers are held until the frame is made; some may come from a checkpoint."""

    def __init__(self, laying: Laying, kept: Kept) -> None:
        self._laying, self._kept = laying, kept
        self._urls: list[str] = []
        self._answers: list[JobResult] = []

    def restored(self, job: Job) -> JobResult | None:
        """Return the answer that an earlier run has left, None for a job that is to be done."""
        parts = self._kept.pop(digest(job.subject), None)
        return whole(job.number, parts, len(self._laying.operations) + 1)

    def take(self, page: Candidate, answer: JobResult, is_row: bool) -> None:
        """Take a page whose turn has come."""
        if is_row:
            self._urls.append(page.url)
            self._answers.append(replace(self._laying.row_of(page, answer), apart=None))

    async def write(self, store: Checkpoint, *, all_of_them: bool = False) -> None:
        """Write nothing: the answers are in the checkpoint."""

    def frame(self) -> pd.DataFrame:
        """Return the frame of the rows that were taken."""
        jobs = [Job(number, url) for number, url in enumerate(self._urls)]
        numbers = np.arange(len(jobs), dtype=np.int64)
        rows = Rows(pd.RangeIndex(len(jobs)), list(self._urls), jobs, numbers)
        builder = FrameBuilder(rows, self._laying.operations)
        for number, answer in enumerate(self._answers):
            builder.add(replace(answer, number=number))
        return self._laying.lay(builder.frame())


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
            name = self._store.write_part(f"found-{self._next:06}", table(rows))
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


class _Turn(NamedTuple):
    """A page whose turn has come; its answer is None where an earlier run has kept what is needed."""

    url: str
    subject: str
    answer: JobResult | None
    is_row: bool

    def settled(self) -> Settled | None:
        """Return what a crawl that goes on must know of the page; None if it was not answered."""
        answer = self.answer
        if answer is None:
            return None
        found = answer.outcomes[0] if answer.apart is None else answer.apart[0]
        if found.error_type in NOT_DONE:
            return None
        if answer.apart is None:  # of another operation: it has failed
            found = replace(found, data=None)
        return Settled(digest(self.subject), found, answer.fetched)


class RowsInFolder:
    """Rows that go to the parts of a folder, and what a crawl that goes on must know of their pages."""

    def __init__(
        self, laying: Laying, kept: Kept, folder: Path, links: Operation, *, failed_again: bool
    ) -> None:
        self._laying, self._log = laying, RowsInMemory(laying, kept)
        self._builder = GrowingBuilder(laying.operations, folder, laying.lay, failed_again=failed_again)
        self._settled = SettledPages(folder, links)
        without = frozenset() if failed_again else NO_ROWS
        self._settled.restore(lambda key, failure: failure in without or self._builder.has(key))
        self._of_parts: set[int] = set()
        self._turns: deque[_Turn] = deque()
        self._unwritten: dict[int, _Turn] = {}
        self._without_row: list[_Turn] = []
        self._written: set[str] = set()
        self._writing = threading.Lock()

    def restored(self, job: Job) -> JobResult | None:
        """Return the answer that an earlier run has left, None for a job that is to be done."""
        answer = self._log.restored(job)
        if answer is None:
            answer = self._settled.result(job.number, digest(job.subject))
            if answer is not None:
                self._of_parts.add(job.number)
        return answer

    def take(self, page: Candidate, answer: JobResult, is_row: bool) -> None:
        """Take a page whose turn has come."""
        known = answer.number in self._of_parts
        if is_row or not known:
            row = None if known else self._laying.row_of(page, answer)
            self._turns.append(_Turn(page.url, page.subject, row, is_row))

    async def write(self, store: Checkpoint, *, all_of_them: bool = False) -> None:
        """Write what is due; answers in the log that this makes needless go."""
        if all_of_them or len(self._turns) >= FRAME_ROWS:
            await store.write(at_once=True)  # a process may be killed between rows and what belongs to them
            await asyncio.to_thread(self._write, store, all_of_them)
            written, self._written = self._written, set()
            store.forget(written)

    def _write(self, store: Checkpoint, all_of_them: bool) -> None:
        with self._writing:  # one after the other, also where the first was not waited for
            store.before_rows()
            while self._turns:
                turn = self._turns.popleft()
                if turn.is_row:
                    number = self._builder.append(turn.url, turn.subject, turn.answer)
                    if turn.answer is not None:
                        self._unwritten[number] = turn
                else:
                    self._without_row.append(turn)
                if self._builder.due:
                    self._keep(self._builder.write())
            self._keep(self._builder.write(all_of_them=all_of_them), all_of_them=all_of_them)

    def _keep(self, numbers: Sequence[int], *, all_of_them: bool = False) -> None:
        """Keep what must be known of pages whose rows are in parts, and of those that have none."""
        if not numbers and not all_of_them and len(self._without_row) < FRAME_ROWS:
            return
        turns = [turn for number in numbers if (turn := self._unwritten.pop(number, None)) is not None]
        turns, self._without_row = [*turns, *self._without_row], []
        written: list[str] = []

        def pages() -> Iterator[Settled]:  # one at a time: links as objects take ten times their room
            for turn in turns:
                if (page := turn.settled()) is not None:
                    written.append(page.key)
                    yield page

        self._settled.write(pages())
        self._written.update(written)

    def frame(self) -> pd.DataFrame:
        """Return a frame over the parts, of the rows that are in them."""
        with self._writing:
            return self._builder.frame()
