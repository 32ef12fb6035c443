"""Details of many phone numbers at once: those that no pattern of their plan tells apart have the same ones.

What phonenumbers says of a number follows from which patterns of the numbering plans of its country code it
matches, how long it is, and the longest known beginning of a carrier. So it is asked about one number
of each such class. Where a plan cannot be read as an automaton, or a national prefix may have to be
dropped, it is asked about each number.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webanalytics.analysis.phones.patterns import Automaton, UnreadablePatternError
from webanalytics.analysis.phones.phone import number_details

Numbers = NDArray[np.uint64]
Places = NDArray[np.int64]

LONGEST: Final = 15
"""Digits of the longest number."""

_POWERS: Final = np.array([10**power for power in range(LONGEST + 1)], np.uint64)
_TEN: Final = np.uint64(10)
_HEAD: Final = 3  # digits of the longest country code
_BITS: Final = 20  # of the number of a carrier's beginning
_CHUNK: Final = 100_000
_KINDS: Final = (
    "general_desc",
    "premium_rate",
    "toll_free",
    "shared_cost",
    "voip",
    "personal_number",
    "pager",
    "uan",
    "voicemail",
    "fixed_line",
    "mobile",
)


class Details(NamedTuple):
    """Details of many numbers, an array with one entry per number each."""

    country: NDArray[np.object_]
    carrier: NDArray[np.object_]
    line_type: NDArray[np.object_]
    valid: NDArray[np.bool_]


def many_details(numbers: Numbers) -> Details:
    """Return the details of numbers in E.164 format, given as integers without the plus sign.

    Examples
    --------
    >>> found = many_details(np.array([442079460958, 12125550123, 999], np.uint64))
    >>> found.country.tolist(), found.line_type.tolist(), found.valid.tolist()
    (['GB', 'US', None], ['fixed_line', 'fixed_line_or_mobile', 'unknown'], [True, True, False])
    """
    places: dict[int, int] = {}
    answers: dict[tuple[Any, ...], int] = {}
    found = np.empty(len(numbers), np.int64)
    for start in range(0, len(numbers), _CHUNK):
        part = numbers[start : start + _CHUNK]
        classes, firsts, inverse = np.unique(_classes(part), return_index=True, return_inverse=True)
        for name, number in zip(classes.tolist(), part[firsts].tolist(), strict=True):
            if name not in places:
                answer = tuple(number_details(f"+{number}").values())
                places[name] = answers.setdefault(answer, len(answers))
        found[start : start + _CHUNK] = np.array([places[name] for name in classes.tolist()])[inverse]
    columns = np.empty((4, len(answers)), object)
    columns[:] = [*zip(*answers, strict=True)] or [()] * 4
    country, carrier, line_type, valid = columns[:, found]
    return Details(country, carrier, line_type, valid.astype(bool))


def _classes(numbers: Numbers) -> Places:
    """Return the class of each number; the class of a number of its own is negative."""
    lengths = _POWERS.searchsorted(numbers, side="right")
    code_lengths = np.zeros(len(numbers), np.int64)
    long = np.flatnonzero(lengths >= _HEAD)
    heads = numbers[long] // _POWERS[lengths[long] - _HEAD]
    code_lengths[long] = _code_lengths()[heads.astype(np.int64)]
    codes = np.where(code_lengths, numbers // _POWERS[lengths - code_lengths], 0).astype(np.int64)
    found = np.zeros(len(numbers), np.int64)
    for code in np.unique(codes).tolist():
        rows = np.flatnonzero(codes == code)
        own = lengths[rows] - code_lengths[rows]
        found[rows] = _meanings(code, numbers[rows] % _POWERS[own], own) if code else 0
    carriers = _longest_beginnings(numbers, lengths)
    classes = ((found * 2**_BITS + carriers) * 16 + lengths) * 1000 + codes
    alone = (found < 0) | (lengths < _HEAD)
    return np.where(alone, -numbers.astype(np.int64), classes)


def _meanings(code: int, numbers: Numbers, lengths: Places) -> Places:
    """Return the number of the set of patterns that each national number matches, -1 where unknown."""
    plan = _plan(code)
    if plan is None:
        return np.full(len(numbers), -1)
    digits = np.empty((len(numbers), int(lengths.max())), np.uint8)
    for column in range(digits.shape[1]):
        digits[:, column] = numbers // _POWERS[np.maximum(lengths - column - 1, 0)] % _TEN
    found = plan.automaton.matched(digits, lengths).astype(np.int64)
    prefixed = np.array([plan.prefix in meaning for meaning in plan.automaton.meanings], bool)
    return np.where(prefixed[found] | (numbers == 0), -1, found)


class _Plan(NamedTuple):
    automaton: Automaton
    prefix: int
    """The number of the pattern of national prefixes, -1 where there is none."""


@cache
def _plan(code: int) -> _Plan | None:
    """Return the automaton of all numbering plans with a country code, None where one cannot be read."""
    import phonenumbers

    patterns: dict[str, None] = {}
    beginnings: dict[str, None] = {}
    regions = phonenumbers.COUNTRY_CODE_TO_REGION_CODE[code]
    plans = [phonenumbers.PhoneMetadata.metadata_for_region_or_calling_code(code, name) for name in regions]
    for plan in filter(None, plans):
        kinds = [getattr(plan, kind) for kind in _KINDS]
        patterns |= {
            kind.national_number_pattern: None
            for kind in kinds
            if kind is not None and kind.national_number_pattern
        }
        if plan.leading_digits:
            beginnings[plan.leading_digits] = None
    prefix = (plans[0].national_prefix_for_parsing or "") if plans[0] is not None else ""
    prefix = prefix.replace("$", "")  # then too many numbers are asked about, none too few
    try:
        automaton = Automaton([*patterns], [*beginnings, *([prefix] if prefix else [])])
    except UnreadablePatternError:
        return None
    return _Plan(automaton, len(patterns) + len(beginnings) if prefix else -1)


@cache
def _code_lengths() -> NDArray[np.int64]:
    """Return for the first three digits of a number how many of them are its country code, 0 for none."""
    import phonenumbers

    found = np.zeros(10**_HEAD, np.int64)
    for code in phonenumbers.COUNTRY_CODE_TO_REGION_CODE:
        step = 10 ** (_HEAD - len(str(code)))
        found[code * step : (code + 1) * step] = len(str(code))
    return found


@cache
def _beginnings() -> list[tuple[int, Numbers]]:
    """Return the beginnings of numbers of known carriers in order, by their lengths."""
    from phonenumbers.carrierdata import CARRIER_DATA

    lengths: dict[int, list[int]] = {}
    for beginning in CARRIER_DATA:
        lengths.setdefault(len(beginning), []).append(int(beginning))
    return [(length, np.array(sorted(lengths[length]), np.uint64)) for length in sorted(lengths)]


def _longest_beginnings(numbers: Numbers, lengths: Places) -> Places:
    """Return a number for the longest known beginning of each number, 0 for none."""
    found = np.zeros(len(numbers), np.int64)
    before = 1
    for length, known in _beginnings():
        rows = np.flatnonzero(lengths >= length)
        heads = numbers[rows] // _POWERS[lengths[rows] - length]
        places = np.minimum(known.searchsorted(heads), len(known) - 1)
        same = known[places] == heads
        found[rows[same]] = before + places[same]
        before += len(known)
    return found
