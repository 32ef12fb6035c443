"""Details of many phone numbers at once: phonenumbers is asked once about all that it cannot tell apart.

Those have the same country code, length and leading digits, as many as the patterns of their numbering
plans look at, and the same longest beginning among those of carriers. Where a national prefix may have to
be dropped, and where a plan has a pattern of another form, each number is asked about by itself.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webanalytics.records.phones.phone import number_details

Sequences = list[tuple[str, ...]]
"""For each text that a pattern may match, which digits may stand in each place."""

_MOST: Final = 200_000  # answers in memory, of a few hundred bytes each
_LONGEST: Final = 15  # digits of a number
_ANY: Final = "0123456789"
_PIECE: Final = re.compile(r"\\d|\[[0-9-]+\]|[0-9]|\(\?:|[()|?]|\{[0-9]+(?:,[0-9]+)?\}")
_RANGE: Final = re.compile("([0-9])-([0-9])")
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


def many_details(numbers: NDArray[np.uint64]) -> Details:
    """Return the details of numbers in E.164 format, given as integers without the plus sign.

    Examples
    --------
    >>> found = many_details(np.array([442079460958, 12125550123, 999], np.uint64))
    >>> found.country.tolist(), found.line_type.tolist(), found.valid.tolist()
    (['GB', 'US', None], ['fixed_line', 'fixed_line_or_mobile', 'unknown'], [True, True, False])
    """
    found = [_details(number) for number in map(str, numbers.tolist())]
    columns = np.empty((4, len(found)), object)
    columns[:] = [*zip(*found, strict=True)] or [()] * 4
    country, carrier, line_type, valid = columns
    return Details(country, carrier, line_type, valid.astype(bool))


_answers: dict[tuple[Any, ...], tuple[Any, ...]] = {}


def _details(number: str) -> tuple[Any, ...]:
    key = _key(number)
    answer = _answers.get(key)
    if answer is None:
        answer = tuple(number_details(f"+{number}").values())
        if len(_answers) >= _MOST:
            _answers.clear()
        _answers[key] = answer
    return answer


def _key(number: str) -> tuple[Any, ...]:
    """Return what the details of a number depend on."""
    plan = _plan(number[:3])
    if plan is None:
        return (number,)
    national = number[plan.size :]
    if plan.prefix is not None and plan.prefix.match(national):
        return (number,)
    longest = plan.longest_carrier
    while longest and number[:longest] not in plan.carriers:
        longest -= 1
    return (number[: plan.size + _depth(plan, national)], len(national), number[:longest])


def _depth(plan: _Plan, national: str) -> int:
    """Return after how many digits all patterns for numbers of this length have been decided."""
    size, depth = len(national), 0
    left = plan.undecided.get((size, ""))
    while left:
        depth += 1
        known = plan.undecided.get((size, national[:depth]))
        if known is None:
            digit = national[depth - 1]
            known = [one for one in left if len(one) > depth and digit in one[depth - 1]]
            plan.undecided[size, national[:depth]] = known
        left = known
    return depth


class _Plan(NamedTuple):
    """What the details of the numbers with a country code depend on.

    Attributes
    ----------
    size : int
        Digits of the country code.
    prefix : Pattern or None
        National prefixes.
    undecided : dict
        By the length and the first digits of national numbers, what these may match, depending on further
        digits. Filled as numbers come.
    carriers : frozenset of str
        Beginnings of numbers, with the country code, whose carriers are known.
    longest_carrier : int
        Digits of the longest of them.
    """

    size: int
    prefix: re.Pattern[str] | None
    undecided: dict[tuple[int, str], Sequences]
    carriers: frozenset[str]
    longest_carrier: int


@cache
def _plan(head: str) -> _Plan | None:
    """Return the plan of numbers that begin with three digits, or None where there is none to be read."""
    import phonenumbers

    codes = (head[:size] for size in range(1, len(head) + 1))
    code = next((code for code in codes if int(code) in phonenumbers.COUNTRY_CODE_TO_REGION_CODE), None)
    return None if code is None else _plan_of(int(code))


@cache
def _plan_of(code: int) -> _Plan | None:
    import phonenumbers
    from phonenumbers.carrierdata import CARRIER_DATA

    regions = phonenumbers.COUNTRY_CODE_TO_REGION_CODE[code]
    found = [phonenumbers.PhoneMetadata.metadata_for_region_or_calling_code(code, name) for name in regions]
    plans = [plan for plan in found if plan is not None]
    undecided: dict[tuple[int, str], Sequences] = {}
    try:
        for plan in plans:
            for kind in _KINDS:
                for one in sequences(getattr(getattr(plan, kind), "national_number_pattern", None) or ""):
                    undecided.setdefault((len(one), ""), []).append(_looked_at(one))
            for one in sequences(plan.leading_digits or ""):  # one of longer numbers too
                for size in range(len(one), _LONGEST):
                    undecided.setdefault((size, ""), []).append(_looked_at(one))
        undecided = {key: [*filter(None, dict.fromkeys(found))] for key, found in undecided.items()}
    except ValueError:
        return None
    prefix = plans[0].national_prefix_for_parsing if plans else None
    carriers = frozenset(beginning for beginning in CARRIER_DATA if beginning.startswith(str(code)))
    longest = max(map(len, carriers), default=0)
    return _Plan(len(str(code)), re.compile(prefix) if prefix else None, undecided, carriers, longest)


def _looked_at(places: tuple[str, ...]) -> tuple[str, ...]:
    """Return the places up to the last one where not every digit may stand."""
    while places and places[-1] == _ANY:
        places = places[:-1]
    return places


def sequences(pattern: str) -> Sequences:
    r"""Return what a regular expression of digits matches.

    Raises
    ------
    ValueError
        When it consists of anything but digits, classes, groups, alternatives and numbers of times.

    Examples
    --------
    >>> sequences("1(?:2|[3-5]6)?")
    [('1',), ('1', '2'), ('1', '345', '6')]
    """
    pieces = _PIECE.findall(pattern)
    if "".join(pieces) != pattern or pattern.count("(") != pattern.count(")"):
        raise ValueError(pattern)
    return _read(iter(pieces))


def _read(pieces: Iterator[str]) -> Sequences:
    """Return what a pattern matches up to the end of its group."""
    found: Sequences = []
    before: Sequences = [()]
    last: Sequences = [()]
    for piece in pieces:
        if piece == ")":
            break
        if piece == "|":
            found += _joined(before, last)
            before, last = [()], [()]
        elif piece[0] in "?{":
            low, _, high = ("0,1" if piece == "?" else piece[1:-1]).partition(",")
            times = range(int(low), int(high or low) + 1)
            last = [each for count in times for each in _joined(*[last] * count)]
        else:
            before = _joined(before, last)
            last = _read(pieces) if piece[0] == "(" else [(_digits(piece),)]
    return found + _joined(before, last)


def _joined(*parts: Sequences) -> Sequences:
    return [tuple(itertools.chain(*chosen)) for chosen in itertools.product(*parts)]


def _digits(piece: str) -> str:
    """Return the digits that a piece of a pattern stands for."""
    if piece == r"\d":
        return _ANY
    return _RANGE.sub(lambda found: _ANY[int(found[1]) : int(found[2]) + 1], piece.strip("[]"))
