"""The phone operation for many numbers at once: the same answers as for one, from arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webanalytics.errors import RowError
from webanalytics.records.phones import phone_list
from webanalytics.records.phones.phone import check_region, normalise

LONGEST: Final = 16
"""Characters of the longest number in E.164 format: a plus sign and fifteen digits."""

_CHUNK: Final = 32_768
_TEN = np.uint64(10)
_PLUS, _ZERO = ord("+"), ord("0")


class Lookup(NamedTuple):
    """Answers for many numbers, each array with one entry per input.

    Attributes
    ----------
    phone : ndarray of object
        E.164, or None where there is no number.
    digits : ndarray of uint64
        Its digits as an integer, 0 where there is no number.
    ok : ndarray of bool
        Whether there is a number.
    disposable : ndarray of bool
        Whether the number is known as disposable.
    first_seen : ndarray of object
        ``YYYY-MM-DD``, or None.
    error : ndarray of object
        The sentence of a row without a number, else None.
    as_given : bool
        Whether each input was in E.164 format already, so that `phone` is what was given.
    """

    phone: NDArray[np.object_]
    digits: NDArray[np.uint64]
    ok: NDArray[np.bool_]
    disposable: NDArray[np.bool_]
    first_seen: NDArray[np.object_]
    error: NDArray[np.object_]
    as_given: bool


def lookup_many(values: Sequence[Any] | NDArray[np.object_], region: str | None = None) -> Lookup:
    """Look up many phone numbers.

    Parameters
    ----------
    values : sequence, or ndarray of object, shape (n,)
        Numbers as for `webanalytics.records.phones.phone.analyse`; anything else gives an error for its row.
    region : str, optional
        Region of numbers in national format.

    Returns
    -------
    Lookup
        Arrays of length n.

    Raises
    ------
    ParameterError
        When the region is unknown.

    Notes
    -----
    Text in E.164 format is read by array arithmetic; only what has another format is read one by one (each
    distinct text once), by the function that reads single numbers.

    Examples
    --------
    >>> found = lookup_many(["+12085813945", "+12125550123", None])
    >>> found.disposable.tolist(), found.first_seen.tolist(), found.ok.tolist()
    ([True, False, False], ['2024-01-30', None, None], [True, True, False])
    """
    region = check_region(region)
    given = _object_array(values)
    size = len(given)
    numbers, ok = read_numbers(given)
    phone, error = given, np.full(size, None, dtype=object)
    others = np.flatnonzero(~ok)
    if len(others):
        phone = given.copy()
        _read_others(phone, numbers, ok, error, others, region)
    phones = phone_list.load()
    disposable, positions = phones.find(numbers)
    first_seen = np.full(size, None, dtype=object)
    first_seen[disposable] = phones.first_seen(positions[disposable])
    return Lookup(phone, numbers, ok, disposable, first_seen, error, as_given=not len(others))


def read_numbers(values: NDArray[np.object_]) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Return the digits of each input in E.164 format as a number, and which inputs are in that format.

    Examples
    --------
    >>> read_numbers(np.array(["+4712345678", "4712345678", 7], dtype=object))[0].tolist()
    [4712345678, 0, 0]
    """
    numbers = np.zeros(len(values), dtype=np.uint64)
    ok = np.zeros(len(values), dtype=bool)
    for start in range(0, len(values), _CHUNK):  # a chunk stays in the processor's cache
        part = slice(start, start + _CHUNK)
        numbers[part], ok[part] = _read_chunk(values[part])
    return numbers, ok


def _read_chunk(values: NDArray[np.object_]) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    texts = _ascii_texts(values)
    # The length is asked of the strings themselves: numpy cuts long ones and drops NULs at the end.
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    octets = np.array(texts, dtype=f"S{LONGEST}").view(np.uint8).reshape(len(texts), LONGEST)
    ok = (lengths >= 3) & (lengths <= LONGEST) & (octets[:, 0] == _PLUS) & (octets[:, 1] != _ZERO)
    numbers = np.zeros(len(texts), dtype=np.uint64)
    for column in range(1, LONGEST):
        digit = octets[:, column] - np.uint8(_ZERO)  # wraps around below "0", so one test is enough
        inside = lengths > column
        ok &= (digit <= 9) | ~inside
        numbers = np.where(inside, numbers * _TEN + digit, numbers)
    numbers[~ok] = 0
    return numbers, ok


def _ascii_texts(values: NDArray[np.object_]) -> list[str]:
    """Return the inputs with everything but ASCII text replaced by an empty string."""
    texts: list[Any] = values.tolist()
    if set(map(type, texts)) != {str}:
        texts = [text if isinstance(text, str) else "" for text in texts]
    if not "".join(texts).isascii():
        texts = [text if text.isascii() else "" for text in texts]
    return texts


def _read_others(
    phone: NDArray[np.object_],
    numbers: NDArray[np.uint64],
    ok: NDArray[np.bool_],
    error: NDArray[np.object_],
    rows: NDArray[np.intp],
    region: str | None,
) -> None:
    """Read the inputs of some rows one by one, and fill in the results."""
    known: dict[str, tuple[str | None, str | None]] = {}
    for row in rows.tolist():
        value = phone[row]
        if isinstance(value, str):
            found, sentence = known.get(value) or known.setdefault(value, _read_one(value, region))
        else:
            found, sentence = _read_one(value, region)
        phone[row], error[row] = found, sentence
        if found is not None:
            numbers[row], ok[row] = int(found[1:]), True


def _read_one(value: object, region: str | None) -> tuple[str | None, str | None]:
    try:
        return normalise(value, region), None
    except RowError as error:
        return None, error.sentence


def _object_array(values: Sequence[Any] | NDArray[np.object_]) -> NDArray[np.object_]:
    if isinstance(values, np.ndarray) and values.dtype == object:
        return values
    array = np.empty(len(values), dtype=object)
    for row, value in enumerate(values):  # numpy would make a matrix of a list of lists
        array[row] = value
    return array
