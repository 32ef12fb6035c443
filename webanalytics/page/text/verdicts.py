"""What trafilatura's XPath expressions say of an element, from its tag and attributes alone.

trafilatura asks every element of a page by a dozen of expressions, most of whose time goes to regular
expressions that Python evaluates for libxml2. Here the expressions are read once: each of their conditions on
an attribute is looked at once for each distinct value, and each combination of a tag and answers is decided
once. What cannot be read is refused, so that an expression of another version is never misunderstood.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

MOST_VALUES = 20_000
"""Values of an attribute that are remembered."""

DESCENDANT = "h1"
"""The descendant that a condition may ask for."""

_TOKEN = re.compile(
    r"""\s*('[^']*'|"[^"]*"|\.?//|@?[A-Za-z][\w.-]*(?:::?[A-Za-z][\w-]*)?|\d+|[()\[\]|,=*])"""
)
_ANCHOR = re.compile(r"\\A|\^")
_FIRST = re.compile(r"(\\[^A-Za-z0-9]|[^\\.^$*+?{}\[\]|()])(?![?*+{])")
_LEADING_GROUP = re.compile(r"\(\?:([^()]*)\)(?![?*+{])")
_LEADING_LETTERS = re.compile(r"\[([A-Za-z]+)\](?![?*+{])")
_EXACT = re.compile(r"\\A\(\?:(.*)\)\\Z(?:\(\?#[^)]*\))?")
_ESCAPED = re.compile(r"\\(.)")
_SPAN = re.compile(r"\s|\\[sSWDbB]|(?<!\\)\.|\[\^")
# By tag, answers about the attributes, and whether there is a descendant of that name.
_Test = Callable[[str, int, bool], bool]


class UnknownExpressionError(ValueError):
    """An expression that is not understood."""


class Condition(NamedTuple):
    """What holds where any of its parts does."""

    answers: int = 0
    """Answers about attributes."""
    tags: frozenset[str] = frozenset()
    others: tuple[_Test, ...] = ()

    def holds(self, tag: str, answers: int, descendant: bool) -> bool:
        """Return whether it holds for an element."""
        return bool(
            answers & self.answers
            or tag in self.tags
            or (self.others and any(test(tag, answers, descendant) for test in self.others))
        )


class Rule(NamedTuple):
    """One path of an expression: the elements of a tag, or all, that meet all of its conditions."""

    tag: str | None
    conditions: list[Condition]

    def holds(self, tag: str, answers: int, descendant: bool) -> bool:
        """Return whether it holds for an element."""
        if self.tag is not None and self.tag != tag:
            return False
        return all(condition.holds(tag, answers, descendant) for condition in self.conditions)


class Verdicts:
    """Expressions read once, and what they say of elements.

    Parameters
    ----------
    expressions : mapping of int to list of etree.XPath
        A bit for each list of expressions: it is set for the elements that any of them finds.
    marks : pairs of str
        Attributes and patterns that are looked for beside them.

    Attributes
    ----------
    marks : list of int
        The bit of each mark among those answers.

    Examples
    --------
    >>> from lxml import etree
    >>> found = Verdicts({1: [etree.XPath(".//*[self::div or self::p][contains(@class, 'menu')]")]})
    >>> found.of("div", {"id": "x", "class": "main-menu"}), found.of("span", {"class": "menu"})
    (1, 0)
    """

    def __init__(
        self, expressions: Mapping[int, Iterable[Any]], marks: Iterable[tuple[str, str]] = ()
    ) -> None:
        self._patterns: dict[str, dict[str, int]] = {}
        self._unions: dict[tuple[str, ...], dict[str, int]] = {}
        self._bits = 0
        self._rules = {
            bit: [rule for path in paths for rule in _Reader(path.path, self).rules()]
            for bit, paths in expressions.items()
        }
        self.marks = [self.bit_of(*mark) for mark in marks]
        self._values = {name: _Values(patterns) for name, patterns in self._patterns.items()}
        # Answers that count in the first of two attributes alone, as in re:test(@id|@class, ...).
        self._first_only = 0
        for masks in self._unions.values():
            for mask in masks.values():
                self._first_only |= mask
        self._known: dict[tuple[str, int], tuple[int, int]] = {}

    def of(self, tag: str, attributes: Mapping[str, str], descendant: bool = False) -> int:
        """Return the bits of an element."""
        return self.decided(tag, self.answers(attributes))[descendant]

    def answers(self, attributes: Mapping[str, str]) -> int:
        """Return the answers about the attributes of an element."""
        answers, values = 0, self._values
        for name, value in attributes.items():
            if name in values:
                answers |= values[name][value]
        return self._resolved(answers, attributes) if answers & self._first_only else answers

    def decided(self, tag: str, answers: int) -> tuple[int, int]:
        """Return the bits for a tag and answers about attributes, without and with the descendant."""
        key = (tag, answers)
        found = self._known.get(key)
        if found is None:
            found = (self._decide(tag, answers, False), self._decide(tag, answers, True))
            if len(self._known) < MOST_VALUES:
                self._known[key] = found
        return found

    def _decide(self, tag: str, answers: int, descendant: bool) -> int:
        bits = 0
        for bit, rules in self._rules.items():
            if any(rule.holds(tag, answers, descendant) for rule in rules):
                bits |= bit
        return bits

    def _resolved(self, answers: int, attributes: Mapping[str, str]) -> int:
        """Return the answers without those of attributes that are not the first one asked for."""
        for masks in self._unions.values():
            present = [name for name in attributes if name in masks]
            for name in present[1:]:
                answers &= ~masks[name]
        return answers

    def bit_of(self, attribute: str, pattern: str, union: tuple[str, ...] = ()) -> int:
        """Return the bit of a condition on an attribute."""
        patterns = self._patterns.setdefault(attribute, {})
        name = pattern if not union else f"{pattern}(?#{'|'.join(union)})"
        if name not in patterns:
            patterns[name] = 1 << self._bits
            self._bits += 1
        if union:
            masks = self._unions.setdefault(union, dict.fromkeys(union, 0))
            masks[attribute] |= patterns[name]
        return patterns[name]


class _Values(dict[str, int]):
    """Which conditions the values of one attribute meet; equal values are looked at once.

    A class attribute is looked at name by name, because other values share its names. Each name is taken with
    the spaces around it, which conditions may ask for; those that could span two names see the whole value.
    """

    def __init__(self, patterns: Mapping[str, int]) -> None:
        super().__init__()
        of_names = {pattern: bit for pattern, bit in patterns.items() if not _may_span(pattern)}
        self._names = _Parts(of_names)
        self._whole = _Parts({key: bit for key, bit in patterns.items() if key not in of_names})

    def __missing__(self, value: str) -> int:
        whole, names = self._whole, self._names
        bits = whole[value] if whole.says_anything else 0
        if " " in value:
            first, *middle, last = value.split(" ")
            bits |= names[first + " "] | names[" " + last]
            for name in middle:
                bits |= names[f" {name} "]
        else:
            bits |= names[value]
        if len(self) < MOST_VALUES:
            self[value] = bits
        return bits


class _Parts(dict[str, int]):
    """Which conditions a value, or one of its names, meets."""

    def __init__(self, patterns: Mapping[str, int]) -> None:
        super().__init__()
        self.says_anything = bool(patterns)
        self._equal: dict[str, int] = {}
        self._conditions: list[tuple[int, Any]] = []
        for pattern, bit in patterns.items():
            if exact := _EXACT.fullmatch(pattern):
                text = _ESCAPED.sub(r"\1", exact[1])
                self._equal[text] = self._equal.get(text, 0) | bit
            else:
                self._conditions += [(bit, test) for test in _any_of([pattern]) if test is not None]
        self._begins, self._contains = (
            test or _never
            for test in _any_of([pattern for pattern in patterns if not _EXACT.fullmatch(pattern)])
        )

    def __missing__(self, value: str) -> int:
        bits = self._equal.get(value, 0)
        if self._contains(value) or self._begins(value):
            for bit, test in self._conditions:
                if test(value):
                    bits |= bit
        if len(self) < MOST_VALUES:
            self[value] = bits
        return bits


def _may_span(pattern: str) -> bool:
    """Return whether what a pattern finds may reach from one name into another."""
    return any(_SPAN.search(part.removeprefix("^").strip(" ")) for part in _alternatives(pattern))


def _any_of(patterns: Iterable[str]) -> tuple[Any, Any]:
    """Return what tells whether any pattern holds, by the beginning of a text and by all of it.

    Alternatives of one first letter are put together, because the engine tries them one by one.
    """
    begins: list[str] = []
    contains: list[str] = []
    by_letter: dict[str, list[str]] = {}
    for pattern in patterns:
        folded = pattern.startswith("(?i)")
        for part in _alternatives(pattern.removeprefix("(?i)")):
            if anchor := _ANCHOR.match(part):
                begins.append(part[anchor.end() :])
            elif first := _FIRST.match(part):
                rest = part[first.end() :]
                letters = {first[1].lower(), first[1].upper()} if folded else {first[1]}
                for letter in letters:
                    by_letter.setdefault(letter, []).append(f"(?i:{rest})" if folded else rest)
            else:
                contains.append(f"(?i:{part})" if folded else part)
    grouped = [f"{letter}(?:{'|'.join(dict.fromkeys(rest))})" for letter, rest in by_letter.items()]
    grouped += dict.fromkeys(contains)
    return (
        re.compile("|".join(dict.fromkeys(begins))).match if begins else None,
        re.compile("|".join(grouped)).search if grouped else None,
    )


def _never(_: str) -> None:
    """Hold for no value."""


def _alternatives(pattern: str) -> Iterator[str]:
    """Yield the alternatives of a pattern, and of the group or the set of letters that one begins with."""
    depth = start = place = 0
    while place <= len(pattern):
        letter = pattern[place : place + 1]
        if not letter or (letter == "|" and not depth):
            yield from _written_out(pattern[start:place])
            start = place + 1
        elif letter == "\\":
            place += 1
        else:
            depth += (letter in "([") - (letter in ")]")
        place += 1


def _written_out(part: str) -> Iterator[str]:
    if group := _LEADING_GROUP.match(part):
        for inner in group[1].split("|"):
            yield from _written_out(inner + part[group.end() :])
    elif letters := _LEADING_LETTERS.match(part):
        yield from (letter + part[letters.end() :] for letter in letters[1])
    else:
        yield part


class _Reader:
    """Reads an expression into rules; what it does not know raises UnknownExpressionError."""

    def __init__(self, source: str, verdicts: Verdicts) -> None:
        self._source = source
        self._verdicts = verdicts
        self._tokens: list[str] = []
        place, source = 0, source.rstrip()
        while place < len(source):
            found = _TOKEN.match(source, place)
            if found is None:
                raise self._unknown()
            self._tokens.append(found[1])
            place = found.end()
        self._tokens.reverse()

    def _unknown(self) -> UnknownExpressionError:
        return UnknownExpressionError(f"not understood: {self._source[:200]}")

    def _take(self, *expected: str) -> str:
        token = self._tokens.pop() if self._tokens else ""
        if expected and token not in expected:
            raise self._unknown()
        return token

    def _next_is(self, *tokens: str) -> bool:
        return bool(self._tokens) and self._tokens[-1] in tokens

    def rules(self) -> list[Rule]:
        """Return the paths of the expression."""
        found = [self._path()]
        while self._next_is("|"):
            self._take()
            found.append(self._path())
        if self._tokens:
            raise self._unknown()
        return found

    def _path(self) -> Rule:
        grouped = self._next_is("(")
        if grouped:
            self._take()
        self._take(".//")
        tag = self._take()
        conditions: list[Condition] = []
        while self._next_is("["):
            if condition := self._predicate():
                conditions.append(condition)
        if grouped:
            self._take(")")
            if self._predicate() is not None:
                raise self._unknown()
        return Rule(None if tag == "*" else tag, conditions)

    def _predicate(self) -> Condition | None:
        """Return a condition, None for ``[1]``: of what is found, the first is taken."""
        self._take("[")
        if self._next_is("1"):
            self._take()
            condition = None
        else:
            condition = self._either()
        self._take("]")
        return condition

    def _either(self) -> Condition:
        found = self._one()
        while self._next_is("or"):
            self._take()
            more = self._one()
            found = Condition(
                found.answers | more.answers, found.tags | more.tags, found.others + more.others
            )
        return found

    def _one(self) -> Condition:
        first = self._take()
        if first == "not":
            self._take("(")
            inner = self._either()
            self._take(")")
            return Condition(others=(lambda *known: not inner.holds(*known),))
        if first.startswith("self::"):
            return Condition(tags=frozenset((first[6:],)))
        if first == ".//":
            self._take(DESCENDANT)
            return Condition(others=(lambda _tag, _answers, descendant: descendant,))
        if first.startswith("@"):
            if not self._next_is("="):
                return self._on(first[1:], pattern="")
            self._take()
            return self._on(first[1:], pattern=rf"\A(?:{re.escape(self._literal())})\Z")
        return self._function(first)

    def _function(self, name: str) -> Condition:
        self._take("(")
        attributes, letters = self._attributes()
        self._take(",")
        text = self._literal()
        flags = ""
        if self._next_is(","):
            self._take()
            flags = self._literal()
        self._take(")")
        if name == "re:test" and flags in ("", "i") and not letters:
            pattern = f"(?i){text}" if flags else text
        elif name == "contains" and not flags:
            pattern = "".join(letters.get(letter, re.escape(letter)) for letter in text)
        elif name == "starts-with" and not flags and not letters:
            pattern = rf"\A(?:{re.escape(text)})"
        else:
            raise self._unknown()
        if not pattern or re.search(pattern, ""):
            raise self._unknown()  # an element without the attribute would meet it
        return self._on(*attributes, pattern=pattern)

    def _attributes(self) -> tuple[list[str], dict[str, str]]:
        """Return the attributes of a function, and for ``translate`` what a letter stands for."""
        if self._next_is("translate"):
            self._take()
            self._take("(")
            names, _ = self._attributes()
            self._take(",")
            source = self._literal()
            self._take(",")
            target = self._literal()
            self._take(")")
            if len(source) != len(target) or set(source) & set(target):
                raise self._unknown()
            stands = {new: f"[{re.escape(new + old)}]" for old, new in zip(source, target, strict=True)}
            return names, {**stands, **dict.fromkeys(source, "(?!)")}
        names = [self._attribute()]
        while self._next_is("|"):
            self._take()
            names.append(self._attribute())
        return names, {}

    def _attribute(self) -> str:
        token = self._take()
        if not token.startswith("@"):
            raise self._unknown()
        return token[1:]

    def _literal(self) -> str:
        token = self._take()
        if token[:1] not in ("'", '"'):
            raise self._unknown()
        return token[1:-1]

    def _on(self, *attributes: str, pattern: str) -> Condition:
        union = attributes if len(attributes) > 1 else ()
        mask = 0
        for name in attributes:
            mask |= self._verdicts.bit_of(name, pattern, union)
        return Condition(mask)
