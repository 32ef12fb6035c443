"""Phone look-up without details: whole columns at once, without a job per row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from webanalytics.analysis.phones.phone import normalise, number_details
from webanalytics.frames.inputs import Inputs, label, read_values, subject_of
from webanalytics.frames.phones import phones_frame
from webanalytics.frames.schema import STATUS, as_frame, make_series
from webanalytics.operations import PHONE
from webanalytics.outcomes import UNUSABLE, Job, JobResult


def lookup_frame(numbers: Inputs, column: str | None = None, region: str | None = None) -> pd.DataFrame:
    """Return the frame of `webanalytics.phones` with the specification's three fields alone.

    Returns
    -------
    pandas.DataFrame
        ``input``, ``status``, ``phone``, ``isDisposable``, ``firstSeen``, ``error``, ``error_type``.
    """
    values = read_values(numbers, PHONE, "numbers", column)
    found = phones_frame(values, region)
    good = found["ok"].to_numpy()
    index = values.index
    kinds = np.full(len(values), "invalid", dtype=object)
    kinds[good] = None
    columns = {
        PHONE.input_column: _shown(values),
        STATUS.name: make_series(np.where(good, "ok", "error"), "string", index),
        "phone": found["phone"],
        "isDisposable": found["isDisposable"],
        "firstSeen": found["firstSeen"],
        "error": _errors(values, found["error"]),
        "error_type": make_series(kinds, "string", index),
    }
    return as_frame(columns, index, PHONE.name)


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
