"""Near duplicates among 50,000 texts of about 3 kB, and among 50,000 of one template, on one core."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tests.audits.near_texts import near_duplicates

TEXTS = 50_000
WORDS = 520
VOCABULARY = 30_000
COPIES = {"equal": (0.06, 0), "near": (0.08, 5), "loose": (0.06, 45)}
"""Shares of texts that are copies of the one before, and how many of their words are changed."""

COMMON = 60
"""Words at the end that a section of 100 pages has in common."""


def vocabulary(dice: np.random.Generator) -> list[str]:
    """Return words of 2 to 10 letters, all different."""
    letters = np.array(list("etaoinshrdlucmfwypvbgkqjxz"))
    found: dict[str, None] = {}
    while len(found) < VOCABULARY:
        length = int(dice.integers(2, 11))
        found["".join(letters[np.minimum(dice.exponential(7, length).astype(int), 25)])] = None
    return list(found)


def texts() -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each page: words by Zipf's law, some pages copies of the one before."""
    dice = np.random.default_rng(50_000)
    known = vocabulary(dice)
    chances = np.cumsum(1 / (np.arange(VOCABULARY) + 2.7))
    chances /= chances[-1]
    kinds = list(COPIES)
    limits = np.cumsum([share for share, _ in COPIES.values()])
    page = common = np.empty(0, int)
    for number in range(TEXTS):
        if number % 100 == 0:
            common = chances.searchsorted(dice.random(COMMON))
        at = int(limits.searchsorted(dice.random()))
        kind = kinds[at] if number % 100 and at < len(kinds) else "own"
        if kind == "own":
            page = np.concatenate([chances.searchsorted(dice.random(WORDS - COMMON)), common])
            yield kind, " ".join([known[word] for word in page])
            continue
        copy = page.copy()
        places = dice.choice(WORDS, COPIES[kind][1], replace=False)
        copy[places] = dice.integers(0, VOCABULARY, len(places))
        yield kind, " ".join([known[word] for word in copy])


def of_template() -> Iterator[str]:
    """Yield pages of one template, each with words of its own in places of its own: any two are about 85% alike."""
    dice = np.random.default_rng(7)
    template = [f"t{number}" for number in range(WORDS)]
    for number in range(TEXTS):
        page = list(template)
        for place in dice.choice(WORDS // 4, 7, replace=False).tolist():
            page[4 * place + 2] = f"own{number}n{place}"
        yield " ".join(page)


class Timed(NamedTuple):
    """What a search took, and what it found."""

    found: list[int | None]
    busy: float
    memory: float


def timed(pages: Sequence[str]) -> Timed:
    """Search, and return what it took: processor seconds, and megabytes beyond what was taken before."""
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    busy = time.process_time()
    found = near_duplicates(pages)
    busy = time.process_time() - busy
    return Timed(found, busy, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held) / 1024)


def report() -> str:
    """Return the figures."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        kinds, pages = zip(*texts(), strict=True)
        mixed = timed(pages)
        alike = timed(list(of_template()))
    finally:
        os.sched_setaffinity(0, before)
    lines = [
        f"Near duplicates of {TEXTS:,} texts of {sum(map(len, pages)) / TEXTS:,.0f} characters on one core:"
        f" {mixed.busy:.0f} s of computing (goal: under 300)",
        f"  memory beyond the texts {mixed.memory:.0f} MB",
    ]
    for kind in ("equal", "near", "loose"):
        rows = [row for row, name in enumerate(kinds) if name == kind]
        joined = sum(mixed.found[row] is not None for row in rows)
        lines.append(f"  copies, {kind}: {joined} of {len(rows)} in a cluster")
    lines.append(
        f"Of {TEXTS:,} pages of one template, about 85% alike: {alike.busy:.0f} s of computing (goal: under 60),"
        f" {alike.memory:.0f} MB more, {sum(row is not None for row in alike.found)} in a cluster"
    )
    return "\n".join(lines)
