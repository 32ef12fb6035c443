"""Answers -> a DataFrame with one row per input."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from webanalytics.backends.base import Answer, Fetched, Outcome
from webanalytics.frames.inputs import Rows
from webanalytics.frames.schema import (
    ERROR_COLUMNS,
    FETCH_COLUMNS,
    STATUS,
    as_frame,
    audit_fields,
    make_series,
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
    """

    def __init__(self, rows: Rows, operations: tuple[Operation, ...]) -> None:
        self.rows = rows
        self.operations = operations
        audit = len(operations) > 1
        self._fields = audit_fields() if audit else tuple((0, field) for field in operations[0].columns)
        self._name = "audit" if audit else operations[0].name
        self._answers: list[Answer | None] = [None] * len(rows.jobs)

    def add(self, answer: Answer) -> None:
        """Keep an answer."""
        self._answers[answer.number] = answer

    def frame(self) -> pd.DataFrame:
        """Return one row for each input that has its answer, in input order."""
        kept = [row for row, number in enumerate(self.rows.numbers) if self._answers[number] is not None]
        answers = [self._answers[self.rows.numbers[row]] for row in kept]
        complete = len(kept) == len(self.rows.labels)
        index = self.rows.index if complete else self.rows.index[np.asarray(kept, dtype=np.int64)]
        labels = [self.rows.labels[row] for row in kept]
        return self._frame([answer for answer in answers if answer is not None], labels, index)

    def _frame(self, answers: list[Answer], labels: list[str | None], index: pd.Index) -> pd.DataFrame:
        """Lay the answers out in columns, one answer at a time, for each is unpacked only once."""
        fetch = FETCH_COLUMNS if self.operations[0].kind == "page" else ()
        known = {field.name for field in fetch}
        fields = [(position, field) for position, field in self._fields if self._heading(field) not in known]
        heads = [
            STATUS,
            *(replace(field, column=self._heading(field)) for _, field in fields),
            *ERROR_COLUMNS,
            *fetch,
        ]
        cells: list[list[Any]] = [[] for _ in heads]
        shared = SharedStrings()
        for answer in answers:
            outcomes = list(answer.outcomes)
            status, *error = _status(outcomes)
            values = (shared.compact(_read(outcomes[position], field)) for position, field in fields)
            fetched = (_fetch_value(answer, field.name) for field in fetch)
            for column, value in zip(cells, (status, *values, *error, *fetched), strict=True):
                column.append(value)
        columns = {self.operations[0].input_column: make_series(labels, "string", index)}
        for head, column in zip(heads, cells, strict=True):
            columns[head.column_name] = make_series(column, head.dtype, index)
            column.clear()  # what is in the frame need not be here too
        return as_frame(columns, index, self._name)

    def _heading(self, field: Field) -> str:
        return field.audit_name if len(self.operations) > 1 else field.column_name


class SharedStrings:
    """Lets equal short strings be one object: menus, icons and keys are the same all over a site."""

    def __init__(self, longest: int = 200, most: int = 200_000) -> None:
        self._known: dict[str, str] = {}
        self._longest = longest
        self._most = most

    def compact(self, value: Any) -> Any:
        """Return an equal value of the same types; lists and dicts are new ones of just the size they need.

        Examples
        --------
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


def _status(outcomes: list[Outcome]) -> tuple[str, str | None, str | None]:
    for outcome in outcomes:
        if outcome.error is not None:
            return outcome.status, outcome.error, outcome.error_type
    return "ok", None, None


def _read(outcome: Outcome, field: Field) -> Any:
    return None if outcome.data is None else field.read(outcome.data)


def _fetch_value(answer: Answer, name: str) -> Any:
    value = getattr(answer.fetched or _NOTHING, name)
    return list(value) if isinstance(value, tuple) else value
