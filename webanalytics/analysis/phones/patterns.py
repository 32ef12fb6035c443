"""The patterns of numbering plans, as an automaton that walks many numbers at once, digit by digit.

phonenumbers asks patterns about one number at a time. Here all patterns of a country code are one automaton
(of positions: V. M. Glushkov, "The abstract theory of automata", 1961), made deterministic where numbers
lead, so that a column of digits is one look-up in a table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webanalytics.errors import WebAnalyticsError

States = NDArray[np.int32]
Digits = NDArray[np.uint8]

_PIECE: Final = re.compile(r"\\d|\[[0-9-]+\]|[0-9]|\(\?:|[()|?]|\{([0-9]+)(?:,([0-9]+))?\}")
_ANY: Final = frozenset(range(10))


class UnreadablePatternError(WebAnalyticsError):
    """A pattern has a form that is not known here."""


class _Part(NamedTuple):
    """A part of a pattern: whether it may be empty, and with which positions it begins and ends."""

    empty: bool
    first: frozenset[int]
    last: frozenset[int]


_EMPTY: Final = _Part(True, frozenset(), frozenset())


class Automaton:
    r"""All patterns of a country code at once.

    Parameters
    ----------
    patterns : sequence of str
        Regular expressions of digits that a whole number matches or not.
    beginnings : sequence of str
        Those that one or more digits at the beginning of a number match or not.

    Raises
    ------
    UnreadablePatternError
        When a pattern consists of anything but digits, classes, groups, alternatives and numbers of times.

    Examples
    --------
    >>> automaton = Automaton(["20[1-9]", r"\d{3}"], ["9"])
    >>> digits = np.array([[2, 0, 5], [7, 0, 5], [9, 0, 5], [2, 0, 0]], np.uint8)
    >>> found = automaton.matched(digits, np.array([3, 3, 3, 2]))
    >>> [sorted(automaton.meanings[number]) for number in found.tolist()]
    [[0, 1], [1], [1, 2], []]
    """

    def __init__(self, patterns: Sequence[str], beginnings: Sequence[str] = ()) -> None:
        self._digits: list[frozenset[int]] = []
        self._follow: list[set[int]] = []
        self._ends: list[int] = []  # of each position, the pattern that it ends, or -1
        start: set[int] = set()
        for number, pattern in enumerate((*patterns, *beginnings)):
            part = _Reader(pattern, self).read()
            if number >= len(patterns):
                part = self._sequence(part._replace(empty=False), self._repeated(self.digit(_ANY)))
            start |= part.first
            for position in part.last:
                self._ends[position] = number
        self._known: dict[frozenset[int], int] = {}
        self._states: list[frozenset[int]] = []
        self._table = np.empty((0, 10), np.int32)
        self._meaning = np.empty(0, np.int32)
        self.meanings: list[frozenset[int]] = []
        """Sets of patterns, by the numbers that `matched` returns."""
        self._start = frozenset(start)
        self._add(frozenset((-1,)))

    def matched(self, digits: Digits, lengths: NDArray[np.integer]) -> States:
        """Return for each row of digits, as long as given, the number of the set of patterns it matches."""
        states = np.zeros(len(digits), np.int32)
        for column in range(int(lengths.max(initial=0))):
            longer = np.flatnonzero(lengths > column)
            states[longer] = self._next(states[longer], digits[longer, column])
        return np.asarray(self._meaning[states])

    def _next(self, states: States, digits: Digits) -> States:
        found = self._table[states, digits]
        unknown = np.flatnonzero(found < 0)
        if len(unknown):
            for pair in np.unique(states[unknown].astype(np.int64) * 10 + digits[unknown]).tolist():
                self._table[pair // 10, pair % 10] = self._walk(pair // 10, pair % 10)
            found[unknown] = self._table[states[unknown], digits[unknown]]
        return found

    def _walk(self, state: int, digit: int) -> int:
        positions: set[int] = set()
        for position in self._states[state]:
            positions |= self._start if position < 0 else self._follow[position]
        reached = frozenset(position for position in positions if digit in self._digits[position])
        known = self._known.get(reached)
        return self._add(reached) if known is None else known

    def _add(self, positions: frozenset[int]) -> int:
        number = self._known[positions] = len(self._states)
        self._states.append(positions)
        if number == len(self._table):
            more = max(64, number)
            self._table = np.concatenate([self._table, np.full((more, 10), -1, np.int32)])
            self._meaning = np.concatenate([self._meaning, np.zeros(more, np.int32)])
        meaning = frozenset(self._ends[position] for position in positions if position >= 0) - {-1}
        if meaning not in self.meanings:
            self.meanings.append(meaning)
        self._meaning[number] = self.meanings.index(meaning)
        return number

    def digit(self, digits: frozenset[int]) -> _Part:
        """Return a part that is one of some digits."""
        self._digits.append(digits)
        self._follow.append(set())
        self._ends.append(-1)
        position = frozenset((len(self._digits) - 1,))
        return _Part(False, position, position)

    def _sequence(self, one: _Part, other: _Part) -> _Part:
        for position in one.last:
            self._follow[position] |= other.first
        return _Part(
            one.empty and other.empty,
            one.first | other.first if one.empty else one.first,
            one.last | other.last if other.empty else other.last,
        )

    def _repeated(self, part: _Part) -> _Part:
        return self._sequence(part, part)._replace(empty=True)

    def sequence(self, parts: Sequence[_Part]) -> _Part:
        """Return a part that is some parts, one after the other."""
        found = _EMPTY
        for part in parts:
            found = self._sequence(found, part)
        return found


class _Reader:
    """Reads a pattern by recursive descent; what is repeated is read again for each time."""

    def __init__(self, pattern: str, automaton: Automaton) -> None:
        self._pattern = pattern
        self._pieces = list(_PIECE.finditer(pattern))
        self._automaton = automaton
        self._at = 0
        if "".join(piece[0] for piece in self._pieces) != pattern:
            raise UnreadablePatternError(f"The pattern {pattern!r} is not readable.")

    def read(self) -> _Part:
        part = self._alternatives()
        if self._at < len(self._pieces):
            raise UnreadablePatternError(f"The pattern {self._pattern!r} has too many brackets.")
        return part

    def _peek(self) -> str:
        return self._pieces[self._at][0] if self._at < len(self._pieces) else ""

    def _alternatives(self) -> _Part:
        parts = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            parts.append(self._sequence())
        return _Part(
            any(part.empty for part in parts),
            frozenset().union(*(part.first for part in parts)),
            frozenset().union(*(part.last for part in parts)),
        )

    def _sequence(self) -> _Part:
        parts = []
        while self._peek() not in ("", "|", ")"):
            parts += self._times()
        return self._automaton.sequence(parts)

    def _times(self) -> list[_Part]:
        """Return an atom as often as it must be there, and then as often as it may be."""
        start = self._at
        parts = [self._atom()]
        piece = self._pieces[self._at] if self._at < len(self._pieces) else None
        if piece is None or piece[0][0] not in "?{":
            return parts
        least, most = (0, 1) if piece[0] == "?" else (int(piece[1]), int(piece[2] or piece[1]))
        for _ in range(1, most):
            self._at = start
            parts.append(self._atom())
        self._at += 1
        return [*parts[:least], *(part._replace(empty=True) for part in parts[least:most])]

    def _atom(self) -> _Part:
        piece = self._peek()
        self._at += 1
        if piece in ("(", "(?:"):
            part = self._alternatives()
            if self._peek() != ")":
                raise UnreadablePatternError(f"The pattern {self._pattern!r} lacks a bracket.")
            self._at += 1
            return part
        if piece == "\\d":
            return self._automaton.digit(_ANY)
        if piece[:1] == "[":
            return self._automaton.digit(_class(piece[1:-1]))
        if piece.isdecimal():
            return self._automaton.digit(frozenset((int(piece),)))
        raise UnreadablePatternError(f"The pattern {self._pattern!r} is not readable at {piece!r}.")


def _class(inside: str) -> frozenset[int]:
    """Return the digits of a class such as ``02-57``."""
    found: set[int] = set()
    for first, last in re.findall(r"([0-9])(?:-([0-9]))?", inside):
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)
