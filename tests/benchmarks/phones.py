"""Seconds for a million phone numbers on one core: the specification's fields alone, and with details."""

from __future__ import annotations

import os
import time
from statistics import median

import numpy as np
import pandas as pd

import webanalytics as wa

NUMBERS = 1_000_000
CODES = (1, 7, 33, 34, 39, 44, 46, 49, 55, 81)


def report(rounds: int = 3) -> str:
    """Return the table: one Series in, the finished frame out."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        numbers = pd.Series([f"+1208{number:07d}" for number in range(NUMBERS)])
        dice = np.random.default_rng(1)
        mixed = pd.Series(
            [
                f"+{code}{rest}"
                for code, rest in zip(
                    dice.choice(CODES, NUMBERS), dice.integers(10**8, 10**9, NUMBERS), strict=True
                )
            ]
        )
        lines = [
            f"{NUMBERS:,} phone numbers on one core, seconds of computing, median of {rounds}",
            f"  without details              {_seconds(numbers, rounds, details=False):5.2f} (goal: under 2)",
            f"  with details                 {_seconds(numbers, rounds, details=True):5.2f} (goal: under 20)",
            f"  with details, ten countries  {_seconds(mixed, rounds, details=True):5.2f}",
        ]
    finally:
        os.sched_setaffinity(0, before)
    return "\n".join(lines)


def _seconds(numbers: pd.Series, rounds: int, *, details: bool) -> float:
    wa.phones(numbers.head(1000), details=details)
    took = []
    for _ in range(rounds):
        start = time.process_time()
        frame = wa.phones(numbers, details=details)
        took.append(time.process_time() - start)
    assert len(frame) == NUMBERS
    assert (frame["status"] == "ok").all()
    return median(took)
