"""The phone operation for one number: whether it is disposable, and what its numbering plan says about it.

Of many numbers, phonenumbers is asked once about all that it cannot tell apart: those with the same country
code, length and leading digits, as many as the patterns of their numbering plans look at, and the same
longest beginning among those of carriers. Where a national prefix may have to be dropped, and where a plan
has a pattern of another form, each number is asked about by itself.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webanalytics.errors import ParameterError, RowError
from webanalytics.records.phones import phone_list

if TYPE_CHECKING:
    from phonenumbers import PhoneNumber

E164: Final = re.compile(r"\+[1-9][0-9]{1,14}")
"""Plus sign, country code, subscriber number: at most fifteen digits (ITU-T E.164)."""

_FLOAT: Final = re.compile(r"^\s*(\+?[0-9]{6,15})\.0\s*$")
"""A number that a spreadsheet took for a fraction."""


def analyse(phone: str, details: bool = True, region: str | None = None) -> dict[str, Any]:
    """Return whether a phone number is known as disposable, and what kind of number it is.

    The number is in E.164 format (``+12085813945``), also with spaces and punctuation; with a region (ISO
    3166) in national format, too. ``firstSeen`` is None when it is not known; with details there are also
    ``country`` (ISO 3166), ``carrier`` (in English, where known), ``line_type`` and ``valid``.

    Notes
    -----
    Text that already has the form of E.164 is accepted unchanged, even if its numbering plan has no such
    number: then ``valid`` is false. So details never decide whether a number is accepted. Any other text
    is read by phonenumbers, which also knows national prefixes.

    Examples
    --------
    >>> analyse("+1 208-581-3945", details=False)
    {'phone': '+12085813945', 'isDisposable': True, 'firstSeen': '2024-01-30'}
    >>> analyse("020 7946 0958", region="GB")["phone"]
    '+442079460958'
    """
    region = check_region(region)
    number = normalise(phone, region)
    answer = {"phone": number, **_lookup(number)}
    return answer | number_details(number) if details else answer


def check_region(region: object) -> str | None:
    """Return a region code in upper case, or raise `ParameterError`."""
    if region is None:
        return None
    if isinstance(region, str) and is_region(region):
        return region.upper()
    raise ParameterError.must_be("region", "a two-letter ISO 3166 country code, such as US, GB or SE")


def is_region(region: object) -> bool:
    """Return whether a text is a region code.

    >>> is_region("se"), is_region("Sweden")
    (True, False)
    """
    import phonenumbers

    return isinstance(region, str) and region.upper() in phonenumbers.SUPPORTED_REGIONS


def normalise(phone: object, region: str | None = None, limit: int = 250) -> str:
    """Return a number in E.164 format; one in national format is read as a number of `region`.

    An integer stands for its digits; without a number in it the row fails.
    """
    if isinstance(phone, int | np.integer) and not isinstance(phone, bool):
        # Digits beyond any number would only cost time to write out.
        phone = str(phone) if abs(int(phone)) < 10**30 else "0"
    elif isinstance(phone, float) and phone.is_integer() and abs(phone) < 10**15:
        phone = str(int(phone))
    if not isinstance(phone, str):
        raise RowError("required", parameter="phone")
    if E164.fullmatch(phone):
        return phone
    phone = _FLOAT.sub(r"\1", phone) if len(phone) <= limit else phone
    number = _read(phone, region) if len(phone) <= limit else None
    if number is None:
        national = region is None and any(map(str.isdigit, phone)) and "+" not in phone
        if national:
            raise RowError("national_phone", parameter="phone", needs="region")
        raise RowError("must_be", parameter="phone", what="a valid phone number in E.164 format")
    return number


def _read(text: str, region: str | None) -> str | None:
    """Return E.164 for a number in any other format."""
    import phonenumbers

    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None
    written = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return written if E164.fullmatch(written) else None


def _lookup(number: str) -> dict[str, Any]:
    phones = phone_list.load()
    known, position = phones.find(np.array([int(number[1:])], dtype=np.uint64))
    first_seen = phones.first_seen(position)[0] if known[0] else None
    return {"isDisposable": bool(known[0]), "firstSeen": first_seen}


def number_details(number: str) -> dict[str, Any]:
    """Return country, carrier, line type and validity of a number in E.164 format."""
    import phonenumbers
    from phonenumbers import carrier

    try:
        parsed = phonenumbers.parse(number, None)
    except phonenumbers.NumberParseException:
        return {"country": None, "carrier": None, "line_type": "unknown", "valid": False}
    kind = phonenumbers.PhoneNumberType.to_string(phonenumbers.number_type(parsed))
    written = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)
    return {
        "country": _country(parsed),
        "carrier": carrier.name_for_number(parsed, "en") or None,
        "line_type": kind.lower(),
        # a number that is right only once a stray national prefix is dropped is not right as given
        "valid": phonenumbers.is_valid_number(parsed) and written == number,
    }


def _country(number: PhoneNumber) -> str | None:
    """Return the country of a number; of a number outside its plan, the only one with its country code."""
    import phonenumbers

    code: str | None = phonenumbers.region_code_for_number(number)
    if code is None:
        shared = phonenumbers.region_codes_for_country_code(number.country_code or 0)
        code = shared[0] if len(shared) == 1 else None
    # "001" stands for codes without a country, such as +800 and satellite networks
    return None if code == "001" else code


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
    plan = _plan_of_head(number[:3])
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
    """What the details of the numbers with a country code depend on."""

    size: int  # digits of the country code
    prefix: re.Pattern[str] | None  # national prefixes
    # By the length and the first digits of national numbers, what these may match, depending on further
    # digits. Filled as numbers come.
    undecided: dict[tuple[int, str], Sequences]
    carriers: frozenset[str]  # beginnings of numbers, with the country code, whose carriers are known
    longest_carrier: int  # digits of the longest of them


@cache
def _plan_of_head(head: str) -> _Plan | None:
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
    r"""Return what a regular expression of digits matches; `ValueError` for one of anything but digits.

    >>> sequences("1(?:2|[3-5]6)?")
    [('1',), ('1', '2'), ('1', '345', '6')]
    """
    pieces = _PIECE.findall(pattern)
    if "".join(pieces) != pattern or pattern.count("(") != pattern.count(")"):
        raise ValueError(pattern)
    return _sequences(iter(pieces))


def _sequences(pieces: Iterator[str]) -> Sequences:
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
            last = _sequences(pieces) if piece[0] == "(" else [(_digits(piece),)]
    return found + _joined(before, last)


def _joined(*parts: Sequences) -> Sequences:
    return [tuple(itertools.chain(*chosen)) for chosen in itertools.product(*parts)]


def _digits(piece: str) -> str:
    """Return the digits that a piece of a pattern stands for."""
    if piece == r"\d":
        return _ANY
    return _RANGE.sub(lambda found: _ANY[int(found[1]) : int(found[2]) + 1], piece.strip("[]"))
