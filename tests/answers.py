"""Answers of functions as frames, whichever function gave them."""

from __future__ import annotations

import pandas as pd

import webanalytics as wa


def rows_of(made: wa.Audit | pd.DataFrame) -> pd.DataFrame:
    """Return the rows of an answer, those of an audit as they were read."""
    return made.raw if isinstance(made, wa.Audit) else made
