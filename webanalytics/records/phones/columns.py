"""Phone look-up on this machine: columns slice by slice, without a job per row.

Progress is shown slice by slice, and an interrupt leaves the finished ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from webanalytics.core.outcomes import UNUSABLE, Job, JobResult, Particular
from webanalytics.core.strings import did_you_mean
from webanalytics.errors import ParameterError, RowError
from webanalytics.operations import PHONE
from webanalytics.records.phones import phone_list
from webanalytics.records.phones.phone import E164, check_region, is_region, normalise, number_details
from webanalytics.runs.boundary import Run, current_run
from webanalytics.runs.frames.inputs import Inputs, Wanted, label, not_understood, read_values, subject_of
from webanalytics.runs.frames.schema import STATUS, as_frame, is_missing, make_series
from webanalytics.runs.partial import Partial
from webanalytics.runs.run import in_thread

SLICE = 50_000
"""Numbers that are looked up at once."""


def read_numbers(numbers: Inputs, column: str | None = None) -> pd.Series:
    """Return the numbers of a call, or refuse values of which none is of a kind that is understood."""
    values = read_values(numbers, PHONE, "numbers", column)
    _check_kinds(values)
    return values


def phones_frame(
    values: pd.Series,
    region: str | None = None,
    regions: NDArray[np.object_] | None = None,
    *,
    details: bool = False,
) -> pd.DataFrame:
    """Look up a column of phone numbers, all of one region or each of its own.

    The frame has the index of the input, and ``phone``, ``isDisposable``, ``firstSeen``, ``ok`` and
    ``error``; with details also ``country``, ``carrier``, ``line_type`` and ``valid``.

    >>> phones_frame(pd.Series(["+12085813945", "n/a"]))[["isDisposable", "firstSeen", "ok"]].values.tolist()
    [[True, '2024-01-30', True], [<NA>, nan, False]]
    """
    own = [check_region(region)] * len(values) if regions is None else regions.tolist()
    read = list(_numbers(values.tolist(), own, by_row=regions is not None))
    ok = np.array([error is None for _, error in read], dtype=bool)
    digits = np.array([int(number[1:]) for number, error in read if error is None], dtype=np.uint64)
    phones = phone_list.load()
    listed, positions = phones.find(digits)
    disposable = np.zeros(len(read), dtype=bool)
    disposable[ok] = listed
    first_seen = np.full(len(read), None, dtype=object)
    first_seen[disposable] = phones.first_seen(positions[listed])
    columns: dict[str, Any] = {
        "phone": make_series([number for number, _ in read], "string", values.index),
        "isDisposable": pd.arrays.BooleanArray(disposable, ~ok),
        "firstSeen": make_series(first_seen, "string", values.index),
        "ok": ok,
        "error": make_series([error for _, error in read], "string", values.index),
    }
    if details:
        columns |= _details(digits, ok, values.index)
    return pd.DataFrame(columns, index=values.index)


def _numbers(values: list[Any], regions: list[Any], *, by_row: bool) -> Iterator[tuple[Any, str | None]]:
    """Yield each number in E.164 format, or None and the sentence of the row; equal texts are read once.

    A region of a row's own is asked for only where the number has no international format.
    """
    known: dict[tuple[str, Any], tuple[str | None, str | None]] = {}
    for value, region in zip(values, regions, strict=True):
        if not isinstance(value, str):
            yield _read(value, region, by_row=by_row)
        elif E164.fullmatch(value):
            yield value, None
        else:
            key = (value, region)
            if key not in known:
                known[key] = _read(value, region, by_row=by_row)
            yield known[key]


def _read(value: Any, region: Any, *, by_row: bool) -> tuple[str | None, str | None]:
    try:
        return normalise(value, None if by_row else region), None
    except RowError as error:
        if not by_row or region is None:
            return None, error.sentence
    try:
        return normalise(value, check_region(region)), None
    except RowError as error:
        return None, error.sentence
    except ParameterError as error:
        return None, str(error)


def _details(digits: NDArray[np.uint64], ok: NDArray[np.bool_], index: pd.Index) -> dict[str, Any]:
    """Return the columns of details; rows without a number have none."""
    from webanalytics.records.phones.phone import many_details  # its library takes time to load

    columns: dict[str, Any] = {}
    for name, known in many_details(digits)._asdict().items():
        cells = np.full(len(ok), None, dtype=object)
        cells[ok] = known
        columns[name] = make_series(cells, "boolean" if name == "valid" else "string", index)
    return columns


def lookup_frame(
    values: pd.Series,
    region: str | None = None,
    regions: NDArray[np.object_] | None = None,
    *,
    details: bool = False,
) -> pd.DataFrame:
    """Return the frame of `webanalytics.phones`, for numbers of one region or each of its own."""
    found = phones_frame(values, region, regions, details=details)
    good = found["ok"].to_numpy()
    index = values.index
    answers = [field.name for field in PHONE.fields if details or not field.extra]
    kinds = np.full(len(values), "invalid", dtype=object)
    kinds[good] = None
    columns = {
        PHONE.input_column: _shown(values),
        STATUS.name: make_series(np.where(good, "ok", "error"), "string", index),
        **{name: found[name] for name in answers},
        "error": _errors(values, found["error"]),
        "error_type": make_series(kinds, "string", index),
    }
    return as_frame(columns, index, PHONE.name)


def _check_kinds(values: pd.Series) -> None:
    """Raise `ParameterError` for values of which none is of a kind that is understood."""
    subjects = (subject_of(value, PHONE) for value in values.tolist() if not is_missing(value))
    first = next(subjects, None)
    if first is UNUSABLE and all(subject is UNUSABLE for subject in subjects):
        raise not_understood(values.tolist(), Wanted.of(PHONE, "numbers"))


def own_regions(table: Any, column: str | None, region: str) -> tuple[pd.Series, NDArray[np.object_]] | None:
    """Return numbers and the region of each, where ``region`` names a column; None where it is a region.

    A name that is both, such as ``cc``, is that of the column where regions are in it.
    """
    names = list(table.columns) if isinstance(table, pd.DataFrame) else []
    named = names.count(region) == 1
    if is_region(region) and not (named and any(is_region(str(one).strip()) for one in table[region])):
        return None
    if not named:
        hint = did_you_mean(region, map(str, names)) or "."
        raise ParameterError(
            "The `region` parameter must be a two-letter ISO 3166 country code, such as US, GB or SE, or a "
            f"column of the DataFrame{hint}",
            "region",
        )
    values = read_values(table.drop(columns=region) if column != region else table, PHONE, "numbers", column)
    regions = np.empty(len(table), dtype=object)
    regions[:] = [
        value.strip() or None if isinstance(value, str) else None if is_missing(value) else str(value)
        for value in table[region].tolist()
    ]
    return values, regions


def with_regions(values: pd.Series, regions: NDArray[np.object_]) -> pd.Series:
    """Return numbers with the region of each that needs one."""
    own = np.empty(len(values), dtype=object)
    for row, (value, region) in enumerate(zip(values.tolist(), regions.tolist(), strict=True)):
        needed = region is not None and not (isinstance(value, str) and E164.fullmatch(value.strip()))
        own[row] = Particular(value, (("region", region),)) if needed else value
    return pd.Series(own, index=values.index, dtype=object)


DETAIL_COLUMNS = frozenset(field.name for field in PHONE.fields if field.extra)
"""Columns of a look-up with details, which come from numbering plans on this machine."""


def in_e164(job: Job, region: str | None) -> Job:
    """Return a job with its number in E.164 format, or refuse it here: there is no need to send it."""
    if job.subject is UNUSABLE:
        return job
    if isinstance(job.subject, Particular):
        own = dict(job.subject.settings)["region"]
        try:
            own = check_region(own)
        except ParameterError:
            raise RowError(
                "must_be", parameter="region", what="a two-letter ISO 3166 country code, such as US, GB or SE"
            ) from None
        return replace(job, subject=normalise(job.subject.subject, own))
    return replace(job, subject=normalise(job.subject, region))


def with_details(answer: JobResult, _builder: object) -> JobResult:
    """Return an answer completed with the details of its number, which a service does not send."""
    (outcome,) = answer.outcomes
    if outcome.data is None or outcome.data.keys() >= DETAIL_COLUMNS:
        return answer
    data = {**outcome.data, **number_details(str(outcome.data["phone"]))}
    return replace(answer, outcomes=(replace(outcome, data=data),))


def _errors(values: pd.Series, errors: pd.Series) -> pd.Series:
    """Return the errors; an input of another type is invalid, not missing."""
    if values.dtype != object or not errors.notna().any():
        return errors
    wrong = [subject_of(value, PHONE) is UNUSABLE for value in values.tolist()]
    return errors.mask(
        errors.notna() & np.array(wrong, dtype=bool), PHONE.parameter(PHONE.subject).sentence()
    )


def _shown(values: pd.Series) -> pd.Series:
    """Return the inputs as text."""
    texts = values.tolist()
    if pd.api.types.infer_dtype(values, skipna=False) != "string":
        texts = [label(value) for value in texts]
    return make_series(texts, "string", values.index)


async def look_up(
    values: pd.Series,
    region: str | None,
    regions: NDArray[Any] | None,
    *,
    details: bool,
    progress: bool | None,
) -> pd.DataFrame:
    """Return the frame of phone numbers; the event loop is free meanwhile."""
    parts: list[pd.DataFrame] = []

    def slice_at(start: int) -> pd.DataFrame:
        rows = slice(start, start + SLICE)
        own = None if regions is None else regions[rows]
        return lookup_frame(values.iloc[rows], region, own, details=details)

    def joined() -> pd.DataFrame:
        found = parts or [slice_at(len(values))]
        frame = found[0] if len(found) == 1 else pd.concat(found)
        frame.attrs = dict(found[0].attrs)
        return frame

    run = current_run.get() or Run()
    partial = Partial(joined, lambda: sum(map(len, parts)))
    run.start(len(values), partial, PHONE.name, progress)
    with run.ending(partial, lambda: len(values)):
        for start in range(0, len(values), SLICE):
            parts.append(await in_thread(len(values), slice_at, start))
            run.step(len(parts[-1]))
        return await in_thread(len(values), joined)
