"""Failures by key: below every other package, so that an error carries its key from where it is raised.

A `Message` is a key and the values to fill in; the sentence of the table is made where it is shown.
Behaviour depends on keys and error types, never on words.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, NamedTuple

from webanalytics.messages.table import ERROR_TYPES, FETCHING, MESSAGES, PARAMETERS, ErrorType

__all__ = [
    "ERROR_TYPES",
    "FETCHING",
    "MESSAGES",
    "ErrorType",
    "Message",
    "Recognised",
    "must_be",
    "one_of",
    "recognise",
    "required",
    "sentence",
]


@dataclass(frozen=True, slots=True)
class Message:
    """A failure by its key and the values that its sentence shows.

    Examples
    --------
    >>> message = Message("status", {"parameter": "url", "status": 404})
    >>> message.error_type, str(message)
    ('http', 'The `url` parameter names a page that answered HTTP 404.')
    """

    key: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def error_type(self) -> ErrorType | None:
        """The kind of failure; None for a request refused for reasons unrelated to an input."""
        return MESSAGES[self.key][0]

    def __str__(self) -> str:
        return sentence(self.key, **self.values)


def sentence(key: str, /, *, redirected: bool = False, **values: object) -> str:
    """Return one sentence of the table, filled in.

    Parameters
    ----------
    key : str
        Which sentence.
    redirected : bool
        Whether the fault lies behind a redirect.
    **values : object
        What the sentence shows: the name of the parameter that the user would change, figures and words.

    Examples
    --------
    >>> sentence("status", parameter="url", status=404)
    'The `url` parameter names a page that answered HTTP 404.'
    >>> sentence("unknown_host", parameter="image", redirected=True)
    'The `image` parameter redirects to a host that does not exist.'
    """
    return MESSAGES[key][1].format(names="redirects to" if redirected else "names", **values)


def required(parameter: str) -> Message:
    """Return the message about a missing parameter."""
    return Message("required", {"parameter": parameter})


def one_of(parameter: str, choices: Any) -> Message:
    """Return the message about a value outside a closed set of choices."""
    return Message("one_of", {"parameter": parameter, "choices": ", ".join(map(str, choices))})


def must_be(parameter: str, what: str) -> Message:
    """Return the message about a wrong value; `what` ends the sentence."""
    return Message("must_be", {"parameter": parameter, "what": what})


class Recognised(NamedTuple):
    """A sentence traced back to the table."""

    key: str
    error_type: ErrorType | None
    values: dict[str, str]


LONGEST: Final = 4_000
"""Characters of a sentence beyond which it is not looked up: none of the table is as long."""


def _pattern(template: str) -> str:
    """Return the regular expression of the sentences that a template makes."""
    known = {"parameter": r"[\w.-]+", "names": "names|redirects to"}
    pieces = []
    for text, name, form, _ in string.Formatter().parse(template):
        pieces.append(re.escape(text))
        if name is not None:
            pieces.append(f"(?P<{name}>{known.get(name) or (r'[0-9.,e+-]+' if form else '.+?')})")
    return "".join(pieces)


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (key, re.compile(_pattern(template)))
        for key, (_, template) in MESSAGES.items()
        if key not in PARAMETERS  # of these the status says enough, and any sentence may look like them
    )


def recognise(text: str) -> Recognised | None:
    """Return the key, error type and values of a sentence of the table, or None for another text.

    For sentences without a key: those of a foreign server, and those of frames that were read from a file.

    Examples
    --------
    >>> recognise("The `url` parameter names a host that does not exist.").key
    'unknown_host'
    >>> recognise("It does not work.") is None
    True
    """
    if len(text) > LONGEST:
        return None
    for key, pattern in _patterns():
        if found := pattern.fullmatch(text):
            return Recognised(key, MESSAGES[key][0], found.groupdict())
    return None
