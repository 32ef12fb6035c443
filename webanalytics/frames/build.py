"""Answers -> a DataFrame with one row per input."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from webanalytics.backends.base import Answer, Fetched
from webanalytics.frames.inputs import Rows
from webanalytics.frames.schema import (
    ERROR_COLUMNS,
    FETCH_COLUMNS,
    STATUS,
    as_frame,
    audit_fields,
    make_series,
    operation_fields,
)
from webanalytics.operations import Field, Operation

_NOTHING = Fetched()


class FrameBuilder:
    """Collects answers as they come and makes the frame of those that have come.

    Parameters
    ----------
    rows : Rows
        The inputs.
    operations : tuple of Operation
        One operation, or those of an audit.
    fields : iterable of str, optional
        Names of the fields wanted, where not all are.
    """

    def __init__(
        self, rows: Rows, operations: tuple[Operation, ...], fields: Iterable[str] | None = None
    ) -> None:
        self.rows = rows
        self.operations = operations
        names = None if fields is None else tuple(fields)
        audit = len(operations) > 1
        self._fields = (
            audit_fields() if audit else tuple((0, f) for f in operation_fields(operations[0], names))
        )
        self._name = "audit" if audit else operations[0].name
        self._answers: list[Answer | None] = [None] * len(rows.jobs)

    def add(self, answer: Answer) -> None:
        """Keep an answer."""
        self._answers[answer.number] = answer

    def __getitem__(self, number: int) -> Answer | None:
        return self._answers[number]

    @property
    def done(self) -> int:
        """How many inputs have their answer."""
        return sum(answer is not None for answer in self._answers)

    def frame(self) -> pd.DataFrame:
        """Return one row for each input that has its answer, in input order."""
        kept = [row for row, number in enumerate(self.rows.numbers) if self._answers[number] is not None]
        answers = [self._answers[self.rows.numbers[row]] for row in kept]
        complete = len(kept) == len(self.rows.labels)
        index = self.rows.index if complete else self.rows.index[np.asarray(kept, dtype=np.int64)]
        labels = [self.rows.labels[row] for row in kept]
        return self._frame([answer for answer in answers if answer is not None], labels, index)

    def _frame(self, answers: list[Answer], labels: list[str | None], index: pd.Index) -> pd.DataFrame:
        columns = {self.operations[0].input_column: make_series(labels, "string", index)}
        statuses = [self._status(answer) for answer in answers]
        columns[STATUS.name] = make_series([status for status, _, _ in statuses], STATUS.dtype, index)
        fetch = FETCH_COLUMNS if self.operations[0].kind == "page" else ()
        known = {field.name for field in fetch}
        for position, field in self._fields:
            name = field.audit_name if len(self.operations) > 1 else field.column_name
            if name not in known:
                columns[name] = make_series(_values(answers, position, field), field.dtype, index)
        for place, field in enumerate(ERROR_COLUMNS, start=1):
            columns[field.name] = make_series([status[place] for status in statuses], field.dtype, index)
        for field in fetch:
            values = [_fetch_value(answer, field.name) for answer in answers]
            columns[field.name] = make_series(values, field.dtype, index)
        return as_frame(columns, index, self._name)

    @staticmethod
    def _status(answer: Answer) -> tuple[str, str | None, str | None]:
        for outcome in answer.outcomes:
            if outcome.error is not None:
                return outcome.status, outcome.error, outcome.error_type
        return "ok", None, None


def _values(answers: list[Answer], position: int, field: Field) -> list[Any]:
    return [
        None if (data := answer.outcomes[position].data) is None else field.read(data) for answer in answers
    ]


def _fetch_value(answer: Answer, name: str) -> Any:
    value = getattr(answer.fetched or _NOTHING, name)
    return list(value) if isinstance(value, tuple) else value
