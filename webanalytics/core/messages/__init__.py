"""Failures by key: below every other package, so that an error carries its key from where it is raised.

A `Message` is a key and the values to fill in; the sentence of the table is made where it is shown. A failure
has up to two: that of the service, which names the parameter of a request, and that of a row, for who reads a
frame; none holds an address or a path. They stand in `sentences.toml`, each with its error type. Behaviour
depends on keys and error types, never on words.
"""

from __future__ import annotations

import re
import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, get_args

ErrorType = Literal[
    "dns",
    "connection",
    "tls",
    "timeout",
    "robots",
    "http",
    "refused",
    "too_large",
    "not_html",
    "blocked",
    "invalid",
    "parse",
    "service",
    "credits",
    "unfinished",
]
"""What went wrong with one input; the values of the ``error_type`` column."""

ERROR_TYPES: Final[tuple[str, ...]] = get_args(ErrorType)

REFUSALS: Final = frozenset((401, 403, 407, 429, 451, 999))
"""Statuses that say more of who asks than of what is asked for; 999 is LinkedIn's for whom it takes for a
program."""

Table = Mapping[str, tuple[ErrorType | None, str]]
"""Key to error type and sentence; a request refused for reasons unrelated to an input has no error type."""

TOLD: dict[str, str] = {}
"""What a row says of a failure, by its key; of a key that is not here it says the sentence of the service."""


def table(rows: Mapping[str, tuple[Any, ...]], names: str = "{names}") -> Table:
    """Return sentences by key, of the service; the third text is what a row says in its place, in `TOLD`."""
    found = {}
    for key, (kind, text, *told) in rows.items():
        if thing := _THING.fullmatch(text):
            noun = "{page}" if thing[1] == "page" else thing[1]
            text, told = f"{names} {text}", [f"The {noun} {thing[2]}"]
        TOLD.update((key, row) for row in told)
        of_parameter = " " in text and (text[0].islower() or text[0] == "{")
        found[key] = (kind, f"The `{{parameter}}` parameter {text}" if of_parameter else text)
    return MappingProxyType(found)


_THING = re.compile(r"an? (\w+) that (.*)")


class Advice(NamedTuple):
    """An option that changes a failure, and what it does."""

    option: str
    change: str

    @property
    def effect(self) -> str:
        """Both as the end of a sentence."""
        return f"`{self.option}` {self.change}"


def _of(group: str, names: str = "{names}") -> Table:
    return table({key: (kind or None, *texts) for key, (kind, *texts) in _READ[group].items()}, names)


_READ: Final = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text("utf-8"))

MEANINGS: Final[Mapping[ErrorType, str]] = MappingProxyType(_READ["meanings"])
"""What each error type says, for the documentation."""
ADVICE: Final = MappingProxyType({key: Advice(*texts) for key, texts in _READ["advice"].items()})
"""The option that changes a failure, by its key."""
FETCHING: Final[Table] = _of("fetching")
"""Failures of a fetch."""
CONTENT: Final[Table] = _of("content", names="names")
"""Inputs that cannot be read or analysed."""
HOSTED: Final[Table] = _of("hosted")
"""Errors of hosted rows that do not come from an answer of the API."""
SERVICE: Final[Table] = _of("service", names="names")
"""Errors of a service alone: about the key, the request, the answer, and itself."""
PARAMETERS: Final[Table] = _of("parameters")
"""A parameter that is missing or wrong."""
MESSAGES: Final[Table] = MappingProxyType({**FETCHING, **CONTENT, **HOSTED, **SERVICE, **PARAMETERS})
"""All of them."""


@dataclass(frozen=True, slots=True)
class Message:
    """A failure by its key and the values that its sentence shows."""

    key: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def error_type(self) -> ErrorType | None:
        """The kind of failure; None for a request refused for reasons unrelated to an input."""
        return error_type_of(self.key, self.values.get("status"))

    def __str__(self) -> str:
        return sentence(self.key, **self.values)


def error_type_of(key: str, status: object = None) -> ErrorType | None:
    """Return the kind of a failure by its key; that of an HTTP error depends on the status."""
    return "refused" if key == "status" and str(status) in map(str, REFUSALS) else MESSAGES[key][0]


def sentence(key: str, /, *, redirected: bool = False, **values: object) -> str:
    """Return one sentence of the table, filled in."""
    return MESSAGES[key][1].format(names="redirects to" if redirected else "names", **values)


def required(parameter: str) -> Message:
    """Return the message about a missing parameter."""
    return Message("required", {"parameter": parameter})


def one_of(parameter: str, choices: Any) -> Message:
    """Return the message about a value outside a closed set of choices."""
    return Message("one_of", {"parameter": parameter, "choices": ", ".join(map(str, choices))})


def must_be(parameter: str, what: str) -> Message:
    """Return the message about a wrong value; `what` ends the sentence."""
    if MESSAGES["invalid_url"][1].endswith(f" must be {what}."):
        return Message("invalid_url", {"parameter": parameter})
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
    known = {"parameter": r"[\w.-]+", "names": "names|redirects to", "page": "page|image|sitemap"}
    pieces = []
    for text, name, form, _ in string.Formatter().parse(template):
        pieces.append(re.escape(text))
        if name is not None:
            pieces.append(f"(?P<{name}>{known.get(name) or (r'[0-9.,e+-]+' if form else '.+?')})")
    return "".join(pieces)


_ADVICE = r"(?:; `[a-z_]+=[^`]*` [a-z, ]+)?\."


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    served = [
        (key, _pattern(template))
        for key, (_, template) in MESSAGES.items()
        if key not in PARAMETERS  # of these the status says enough, and any sentence may look like them
    ]
    rows = [
        (key, _pattern(form).removesuffix("\\.") + _ADVICE)  # which one depends on status or reason
        for key, template in TOLD.items()
        for form in dict.fromkeys((template, _behind_redirect(key)))
    ]
    return tuple((key, re.compile(pattern)) for key, pattern in (*served, *rows))


@cache
def _served(key: str) -> re.Pattern[str]:
    return re.compile(_pattern(MESSAGES[key][1]))


_SUBJECT = "The `{parameter}` parameter {names}"
_ON_THE_WAY = frozenset(("redirects", "redirect_loop"))
"""Failures of the redirects themselves, which lie behind the first of them as a matter of course."""


def _behind_redirect(key: str) -> str:
    """Return what a row says of a failure behind a redirect: the service's sentence about the page itself."""
    template = MESSAGES[key][1]
    if key in _ON_THE_WAY or not template.startswith(_SUBJECT):
        return TOLD[key]
    return "The {page} redirects to" + template.removeprefix(_SUBJECT)


def advised(key: str, text: str) -> str:
    """Return a row's sentence with the option that changes the failure, if there is one.

    >>> advised("robots", "The site forbids it.")
    'The site forbids it; `robots=False` fetches it all the same.'
    """
    advice = advice_on(key, text)
    return text if advice is None else f"{text.removesuffix('.')}; {advice.effect}."


_STATUS = re.compile(r" answered HTTP (\d{3})\b| in a row \((?:HTTP )?([^)]*)")


def advice_on(key: str | None, text: str) -> Advice | None:
    """Return the option that changes a failure, if there is one; a sentence says of which status or reason.

    >>> advice_on("status", "The page answered HTTP 401.").option
    'access='
    """
    found = _STATUS.search(text)
    exact = ADVICE.get(f"{key} {found[1] or found[2]}") if found else None
    return exact or ADVICE.get(key or "")


_PAGES = {"image": "image", "sitemap": "sitemap"}


@lru_cache(maxsize=10_000)
def row_sentence(key: str | None, text: str, page: str = "") -> str:
    """Return what the row of a failure says, in the words for who reads a frame."""
    if key is None or key not in TOLD or len(text) > LONGEST:
        return text
    found = _served(key).fullmatch(text)
    if found is None:
        return text
    values = found.groupdict()
    redirected = values.pop("names", None) == "redirects to"
    values["page"] = page or _PAGES.get(values.pop("parameter", ""), "page")
    template = _FORMS.sub("}", _behind_redirect(key)) if redirected else TOLD[key]
    return advised(key, template.format(**values))


_FORMS = re.compile(r":[,g]\}")
"""Formats of numbers, which are text already where a sentence is read."""


def recognise(text: str) -> Recognised | None:
    """Return the key, error type and values of a sentence of the table, or None for another text.

    For sentences without a key: those of a foreign server, and those of frames that were read from a file.
    """
    if len(text) > LONGEST:
        return None
    for key, pattern in _patterns():
        if found := pattern.fullmatch(text):
            values = found.groupdict()
            return Recognised(key, error_type_of(key, values.get("status")), values)
    return None


# What would not show, or would change how its surroundings show: control characters, line and paragraph
# separators, embeddings, overrides and isolates of the writing direction, lone surrogates, noncharacters.
UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)


def visible(text: str) -> str:
    """Return text in which invisible characters are named.

    >>> print(visible("photo\u202egpj.exe"))
    photo⟨U+202E⟩gpj.exe
    """
    return UNSEEN.sub(_named, text)


def for_terminal(text: str) -> str:
    r"""Return text that writes nothing but itself on a terminal: every control character is named."""
    if text.isprintable():
        return text
    return visible(text.replace("\r\n", "\n")).replace("\r", "⟨U+000D⟩")


def _named(found: re.Match[str]) -> str:
    return f"⟨U+{ord(found[0]):04X}⟩"
