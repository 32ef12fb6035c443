"""Results of jobs -> a DataFrame with one row per input, at any time of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from webanalytics.core.messages import Message, row_sentence
from webanalytics.core.outcomes import Fact, Fetched, JobResult, Outcome
from webanalytics.operations import Field, Operation
from webanalytics.runs.frames.inputs import Rows
from webanalytics.runs.frames.schema import (
    STATUS,
    answer_fields,
    as_frame,
    error_fields,
    fetch_fields,
    frame_fields,
    make_series,
)

PAGES_AT_ONCE = 250
"""Rows with texts that are unpacked at once: all texts would be in memory twice."""
_NOTHING = Fetched()


class FrameBuilder:
    """Collects answers as they arrive and makes a frame of them at any time."""

    def __init__(self, rows: Rows, operations: tuple[Operation, ...]) -> None:
        self.rows = rows
        self.operations = operations
        self._fields = answer_fields(operations)
        self._fetch = fetch_fields(operations)
        self._name = "audit" if len(operations) > 1 else operations[0].name
        self._answers: list[JobResult | None] = [None] * len(rows.jobs)
        self._parts: dict[int, dict[int, JobResult]] = {}

    def add(self, answer: JobResult) -> bool:
        """Keep an answer, and return whether its input is now done."""
        number = answer.number
        if answer.position is None:
            self._parts.pop(number, None)
            self._answers[number] = answer
            return True
        parts = self._parts.setdefault(number, {})
        parts[answer.position] = answer
        self._answers[number] = _joined(number, parts, len(self.operations))
        if len(parts) < len(self.operations):
            return False
        del self._parts[number]
        return True

    def is_kept(self, number: int) -> bool:  # noqa: ARG002 - a builder over a folder keeps rows
        """Return whether the row of an input is kept elsewhere, and needs no answer."""
        return False

    @property
    def done(self) -> int:
        """How many distinct inputs have all their outcomes."""
        return int(self._answered().sum()) - len(self._parts)

    @property
    def rows_done(self) -> int:
        """How many inputs, equal ones too, a frame made now would have."""
        return int(self._answered()[self.rows.numbers].sum())

    def _answered(self) -> npt.NDArray[np.bool_]:
        return np.array([answer is not None for answer in self._answers], dtype=np.bool_)

    def frame(self) -> pd.DataFrame:
        """Return one row for each input that has its answer, in input order.

        In an interrupted audit, a row may have the columns of some operations only; its error says so.
        """
        found = [self._answers[number] for number in self.rows.numbers.tolist()]
        answers = [answer for answer in found if answer is not None]
        if len(answers) == len(found):
            return self._frame(answers, self.rows.labels, self.rows.index)
        kept = [row for row, answer in enumerate(found) if answer is not None]
        index = self.rows.index[np.asarray(kept, dtype=np.int64)]
        return self._frame(answers, [self.rows.labels[row] for row in kept], index)

    def _frame(self, answers: list[JobResult], labels: list[str | None], index: pd.Index) -> pd.DataFrame:
        columns = {self.operations[0].input_column: make_series(labels, "string", index)}
        for head, pieces in self._pieces(answers):
            column = pieces[0] if len(pieces) == 1 else pd.concat(pieces, ignore_index=True)
            columns[head.column_name] = column.set_axis(index)
        order = [field.column_name for field in frame_fields(self.operations)]
        frame = as_frame({name: columns[name] for name in order}, index, self._name)
        lacking = _lacking(answers) if self._name == "audit" else []
        if lacking:
            frame.attrs["webanalytics"]["lacking"] = lacking
        if self.rows.archive is not None:
            frame.attrs["webanalytics"]["archive"] = dict(self.rows.archive)
        return frame

    def _pieces(self, answers: list[JobResult]) -> Iterable[tuple[Field, list[pd.Series]]]:
        """Return the columns in pieces, so that only some of the rows are unpacked at once."""
        fields = [field for _, field in self._fields]
        errors = error_fields(self.operations)
        heads = [STATUS, *fields, *errors, *self._fetch]
        pieces: list[list[pd.Series]] = [[] for _ in heads]
        shared = SharedStrings()
        records = self.operations[0].kind == "record"
        at_once = max(len(answers), 1) if records else PAGES_AT_ONCE
        for start in range(0, max(len(answers), 1), at_once):
            some = answers[start : start + at_once]
            if records:
                cells = _record_cells(some, fields)
            else:
                cells = _cells(some, self._fields, self._fetch, len(errors), shared)
            for head, column, made in zip(heads, cells, pieces, strict=True):
                made.append(make_series(column, head.dtype, pd.RangeIndex(len(some))))
                column.clear()  # not needed again once it is in the frame
        return zip(heads, pieces, strict=True)


def _lacking(answers: list[JobResult]) -> list[str]:
    """Return the facts that no page record has: rules that need one are not tried."""
    known = [answer.fetched.facts for answer in answers if answer.fetched is not None]
    return sorted(set(get_args(Fact)).difference(*known)) if known else []


class JoinedOutcomes(Sequence[Outcome]):
    """The outcomes of one input that arrived one by one; each is unpacked on access."""

    __slots__ = ("_parts",)

    def __init__(self, parts: tuple[Sequence[Outcome] | None, ...]) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, index: Any) -> Any:
        part = self._parts[index]
        return UNFINISHED if part is None else part[0]


UNFINISHED = Outcome.failed(Message("unfinished"))


def fetched_of(parts: Mapping[int, JobResult]) -> Fetched | None:
    """Return how a page was fetched, of what its parts say."""
    known = [part.fetched for part in parts.values() if part.fetched is not None]
    return next((item for item in known if item.final_url is not None), known[0] if known else None)


def _joined(number: int, parts: dict[int, JobResult], count: int) -> JobResult:
    outcomes = tuple(parts[place].outcomes if place in parts else None for place in range(count))
    whole = outcomes[0] if count == 1 and outcomes[0] is not None else JoinedOutcomes(outcomes)
    return JobResult(number, whole, fetched_of(parts))


def _record_cells(answers: list[JobResult], fields: list[Field]) -> list[list[Any]]:
    """Return the columns of answers with one small outcome each, column by column."""
    outcomes = [answer.outcomes[0] for answer in answers]
    found = [outcome.data for outcome in outcomes]
    return [
        ["ok" if outcome.error is None else "error" for outcome in outcomes],
        *([None if data is None else field.read(data) for data in found] for field in fields),
        [_said(outcome) for outcome in outcomes],
        [outcome.error_type for outcome in outcomes],
    ]


def _cells(
    answers: list[JobResult],
    fields: Sequence[tuple[int, Field]],
    fetch: tuple[Field, ...],
    errors: int,
    shared: SharedStrings,
) -> list[list[Any]]:
    """Return the columns of answers, read one answer at a time so that each is unpacked only once."""
    cells: list[list[Any]] = [[] for _ in range(len(fields) + len(fetch) + 1 + errors)]
    for answer in answers:
        outcomes = list(answer.outcomes)
        status, *error = _status(outcomes)
        values = (shared.compact(_read(outcomes, position, field)) for position, field in fields)
        fetched = (shared.compact(_fetch_value(answer, field.name)) for field in fetch)
        for column, value in zip(cells, (status, *values, *error[:errors], *fetched), strict=True):
            column.append(value)
    return cells


class SharedStrings:
    """Shares one object among equal short strings: menus, icons and keys repeat all over a site."""

    def __init__(self, longest: int = 200, most: int = 200_000) -> None:
        self._known: dict[str, str] = {}
        self._longest = longest
        self._most = most

    def compact(self, value: Any) -> Any:
        """Return an equal value of the same types; lists and dicts are new ones of just the size they need.

        >>> SharedStrings().compact([{"src": "a"}, {"src": "a"}])
        [{'src': 'a'}, {'src': 'a'}]
        """
        if isinstance(value, str):
            return self._share(value)
        if isinstance(value, list):
            return [self.compact(item) for item in value]
        if isinstance(value, dict):
            return {self._share(key): self.compact(item) for key, item in value.items()}
        return value

    def _share(self, text: str) -> str:
        if len(text) > self._longest:
            return text
        if len(self._known) >= self._most:
            self._known.clear()
        return self._known.setdefault(text, text)


def _status(outcomes: list[Outcome]) -> tuple[str, str | None, str | None, str | None]:
    for outcome in outcomes:
        if outcome.error is not None:
            return outcome.status, _said(outcome), outcome.error_type, outcome.key
    return "ok", None, None, None


def _said(outcome: Outcome) -> str | None:
    return None if outcome.error is None else row_sentence(outcome.key, outcome.error)


def _read(outcomes: list[Outcome], position: int, field: Field) -> Any:
    data = outcomes[position].data if position < len(outcomes) else None
    return None if data is None else field.read(data)


def _fetch_value(answer: JobResult, name: str) -> Any:
    value = getattr(answer.fetched or _NOTHING, name)
    return list(value) if isinstance(value, tuple) else value
