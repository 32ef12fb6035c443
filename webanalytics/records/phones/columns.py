"""Phone look-up on this machine: whole columns at once, without a job per row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from webanalytics.core.outcomes import UNUSABLE, Job, JobResult, Particular
from webanalytics.core.strings import did_you_mean
from webanalytics.errors import ParameterError, RowError
from webanalytics.operations import PHONE
from webanalytics.records.phones.arrays import phones_frame
from webanalytics.records.phones.phone import E164, check_region, is_region, normalise, number_details
from webanalytics.runs.frames.foreign import as_pandas
from webanalytics.runs.frames.inputs import (
    Inputs,
    Wanted,
    is_missing,
    label,
    not_understood,
    read_values,
    subject_of,
)
from webanalytics.runs.frames.schema import STATUS, as_frame, make_series


def read_numbers(numbers: Inputs, column: str | None = None) -> pd.Series:
    """Return the numbers of a call.

    Raises
    ------
    ParameterError
        For values of which none is of a kind that is understood.
    """
    values = read_values(numbers, PHONE, "numbers", column)
    _check_kinds(values)
    return values


def lookup_frame(
    values: pd.Series,
    region: str | None = None,
    regions: NDArray[np.object_] | None = None,
    *,
    details: bool = False,
) -> pd.DataFrame:
    """Return the frame of `webanalytics.phones`, with the specification's three fields alone or with details.

    The numbers are all of one region, or each of its own.

    Returns
    -------
    pandas.DataFrame
        ``input``, ``status``, ``phone``, ``isDisposable``, ``firstSeen``, the details, ``error``,
        ``error_type``.
    """
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


def own_regions(
    numbers: Inputs, column: str | None, region: str
) -> tuple[pd.Series, NDArray[np.object_]] | None:
    """Return numbers and the region of each, where ``region`` names a column; None where it is a region.

    Raises
    ------
    ParameterError
        For what is neither.
    """
    if is_region(region):
        return None
    table = as_pandas(numbers, "numbers")
    names = list(table.columns) if isinstance(table, pd.DataFrame) else []
    if names.count(region) != 1:
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
    """Return a job with its number in E.164 format, as a service expects it.

    Raises
    ------
    RowError
        For anything but a number, with this machine's error: there is no need to send it.
    """
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
    if pd.api.types.infer_dtype(values, skipna=False) == "string":
        return make_series(values.array, "string", values.index)
    texts = [label(value) for value in values.tolist()]
    return make_series(texts, "string", values.index)
