"""The folder of a run that forgets its rows: finished ones go to parts, and a frame over them comes back.

`runs.run` uses it in place of the builder of frames in memory for a call with `store`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from webanalytics.core.outcomes import Job, JobResult, digest
from webanalytics.errors import WriteError, reason
from webanalytics.operations import KEYWORDS, Operation
from webanalytics.runs.frames.build import FrameBuilder
from webanalytics.runs.frames.inputs import Rows
from webanalytics.runs.frames.schema import make_series
from webanalytics.runs.storage.checkpoint import NOT_DONE
from webanalytics.runs.storage.lazy_columns import frame_over
from webanalytics.runs.storage.parts import FRAME_ROWS, PART_ROWS, Places, RowParts
from webanalytics.runs.storage.store import DamagedPartError, refusal

Lay = Callable[[pd.DataFrame], pd.DataFrame]
"""Makes the rows that are kept from those of a builder, each by itself."""


def keeps_rows(operations: tuple[Operation, ...]) -> bool:
    """Return whether a frame reads the rows of a call from its folder."""
    secret = any(setting.secret for operation in operations for setting in operation.settings)
    return operations[0].kind != "image" and operations != (KEYWORDS,) and not secret


class SavingBuilder(FrameBuilder):
    """Collects answers, writes finished rows to parts, and makes a frame over the parts."""

    def __init__(
        self, rows: Rows, operations: tuple[Operation, ...], folder: Path, lay: Lay, *, failed_again: bool
    ) -> None:
        super().__init__(rows, operations)
        self._lay = lay
        self._places: Places = np.full(len(rows.jobs), -1, dtype=np.int32)
        self._ready: list[int] = []
        self._tables: list[tuple[list[int], Any]] = []
        self._writing = threading.Lock()
        firsts = np.full(len(rows.jobs), -1, dtype=np.int64)
        firsts[rows.numbers[::-1]] = np.arange(len(rows.numbers))[::-1]
        self._first_rows = firsts
        try:
            self.parts = RowParts(folder, self._name)
            self._restore(failed_again)
        except DamagedPartError as error:
            raise error.about("store") from None
        except OSError as error:
            raise refusal("store", f"whose parts can be read: {reason(error)}") from None

    def _restore(self, failed_again: bool) -> None:
        """Find out which inputs are finished; of several rows of one, the last counts."""
        if not len(self.parts):
            return
        numbers = {digest(job.subject): job.number for job in self.rows.jobs}
        for key, place in self._finished(failed_again):
            number = numbers.get(key)
            if number is not None:
                self._places[number] = place

    def _finished(self, failed_again: bool) -> Iterator[tuple[str, int]]:
        """Yield the digest of each row's input and the row's place, below 0 for what is done again."""
        for place, (key, status, kind) in enumerate(self.parts.inputs()):
            again = kind in NOT_DONE or (failed_again and status != "ok")
            yield key or "", -1 if again else place

    def is_kept(self, number: int) -> bool:
        """Return whether the row of an input is in a part."""
        return bool(self._places[number] >= 0)

    def add(self, answer: JobResult) -> bool:
        """Keep an answer until its row is in a part, and return whether its input is now done."""
        done = super().add(answer)
        if done:
            self._ready.append(answer.number)
        return done

    def _answered(self) -> npt.NDArray[np.bool_]:
        answered = super()._answered()  # first, for another thread drops answers once they have their places
        return answered | (self._places[: len(answered)] >= 0)

    @property
    def due(self) -> bool:
        """Whether there are enough finished rows for the next table."""
        return len(self._ready) >= FRAME_ROWS

    def write(self, *, all_of_them: bool = False) -> list[int]:
        """Make tables of finished rows, write parts, and return the inputs whose answers are not needed."""
        with self._writing:
            written: list[int] = []
            while len(self._ready) >= FRAME_ROWS or (all_of_them and self._ready):
                numbers, self._ready = self._ready[:FRAME_ROWS], self._ready[FRAME_ROWS:]
                self._tables.append((numbers, self._table(numbers)))
                if len(self._tables) * FRAME_ROWS >= PART_ROWS:
                    written += self._write()
            if all_of_them and self._tables:
                written += self._write()
            return written

    def _table(self, numbers: list[int]) -> Any:
        answers = [answer for number in numbers if (answer := self._answers[number]) is not None]
        labels = [self.rows.labels[self._row_of(number)] for number in numbers]
        frame = self._lay(self._frame(answers, labels, pd.RangeIndex(len(numbers))))
        return self.parts.table(frame, [digest(self.rows.jobs[number].subject) for number in numbers])

    def _row_of(self, number: int) -> int:
        return int(self._first_rows[number])

    def _write(self) -> list[int]:
        written = [number for numbers, _ in self._tables for number in numbers]
        self._keep_tables(written, [table for _, table in self._tables])
        self._tables = []
        finished = []
        for number in written:
            answer, self._answers[number] = self._answers[number], None
            if answer is not None and not any(outcome.error_type in NOT_DONE for outcome in answer.outcomes):
                finished.append(number)
        return finished

    def _keep_tables(self, numbers: list[int], tables: list[Any]) -> None:
        start = len(self.parts)
        try:
            self.parts.write(tables)
        except OSError as error:
            raise WriteError.at("store", "a folder that can be written to", error) from None
        self._places[numbers] = np.arange(start, start + len(numbers), dtype=np.int32)

    def frame(self) -> pd.DataFrame:
        """Return a frame over the parts, of the inputs whose rows are in them, in input order."""
        places = self._places[self.rows.numbers]
        kept = np.flatnonzero(places >= 0)
        if not len(kept):
            return self._lay(super().frame())
        whole = len(kept) == len(places)
        index = self.rows.index if whole else self.rows.index[kept]
        labels = [self.rows.labels[row] for row in kept.tolist()]
        given = make_series(labels, "string", index).rename(self.operations[0].input_column)
        return frame_over(self.parts, places[kept], index, given, self.parts.lacking())


class GrowingBuilder(SavingBuilder):
    """The same for rows that become known one by one, in their order: those of a crawl."""

    def __init__(
        self, operations: tuple[Operation, ...], folder: Path, lay: Lay, *, failed_again: bool
    ) -> None:
        self._known: dict[str, int] = {}
        nothing = Rows(pd.RangeIndex(0), [], [], np.empty(0, np.int64))
        super().__init__(nothing, operations, folder, lay, failed_again=failed_again)

    def _restore(self, failed_again: bool) -> None:
        self._known = dict(self._finished(failed_again))

    def has(self, key: str) -> bool:
        """Return whether the row of an input is in a part, by the digest of the input."""
        return self._known.get(key, -1) >= 0

    def append(self, label: str, subject: str, answer: JobResult | None) -> int:
        """Add a row, whose answer is None where it is in a part, and return its number."""
        number = len(self.rows.jobs)
        self.rows.labels.append(label)
        self.rows.jobs.append(Job(number, subject))
        self._answers.append(None)
        if number == len(self._places):
            self._places = np.append(self._places, np.full(max(PART_ROWS, number), -1, dtype=np.int32))
        if answer is None:
            self._places[number] = self._known[digest(subject)]
        else:
            self.add(replace(answer, number=number))
        return number

    def _row_of(self, number: int) -> int:
        return number

    def frame(self) -> pd.DataFrame:
        """Return a frame over the parts, of the rows that are in them, in their order."""
        count = len(self.rows.jobs)
        self.rows = replace(self.rows, index=pd.RangeIndex(count), numbers=np.arange(count))
        return super().frame()
