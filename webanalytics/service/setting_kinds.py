"""What a setting of the service is, and the kinds there are: numbers, flags, lines of text, URLs, lists."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from webanalytics.errors import ParameterError
from webanalytics.service.addresses import read_networks

MAX_TEXT_LENGTH = 2000

# scheme://user:password@rest?query, where nothing is ambiguous
_PLAIN_URL = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*:/*)((?P<user>[^:@/?#]*)(?P<password>:[^@/?#]*)?@)?"
    r"(?P<rest>[^@?#]*)(?P<query>\?[^@#]*)?",
    re.IGNORECASE,
)


def mask(url: str) -> str:
    """Return a URL as it may be shown: no password, no query.

    Examples
    --------
    >>> mask("postgresql://shop:hunter2@db.example/credits")
    'postgresql://shop:***@db.example/credits'
    >>> mask("postgresql://shop:hunter@2@db.example/credits")
    'postgresql://***'
    """
    match = _PLAIN_URL.fullmatch(url)
    if match is None:
        return mask_all(url) if "@" in url or "://" in url else url
    user = match["user"]
    login = "" if user is None else f"{user}{':***' if match['password'] else ''}@"
    return f"{match['scheme']}{login}{match['rest']}{'?***' if match['query'] else ''}"


def mask_all(url: str) -> str:
    """Return nothing of a URL but its scheme: the path of a webhook is a password too.

    Examples
    --------
    >>> mask_all("https://hooks.example/T123/secret"), mask_all("")
    ('https://***', '')
    """
    scheme, separator, _ = url.partition("://")
    if not url:
        return ""
    return f"{scheme}://***" if separator and scheme.isalnum() else "***"


@dataclass(frozen=True)
class Setting:
    """One setting.

    Attributes
    ----------
    key : str
        Its name in a file; ``--key-with-hyphens`` and ``WEBANALYTICS_KEY`` elsewhere.
    default : object
        The value where none is given.
    meaning : str
        One sentence for the documentation.
    group : str
        Heading it is listed under.
    expects : str
        How the error sentence goes on after "must be".
    accepts : callable
        Tells whether a value is allowed.
    none : str
        What None stands for, where it is allowed.
    kind : type
        ``bool``, ``int``, ``float`` (seconds), ``str`` or ``tuple``.
    item : type
        Type of the items of a tuple.
    shown : callable
        Returns a text value as it may be shown: masked where it may hold a password.
    """

    key: str
    default: Any
    meaning: str
    group: str
    expects: str
    accepts: Callable[[Any], bool]
    none: str = ""
    kind: type = str
    item: type = str
    shown: Callable[[str], str] = str

    @property
    def sentence(self) -> str:
        """The sentence about a wrong value, without its full stop; it never holds the value."""
        return f"The `{self.key}` parameter must be {self.expects}"

    def check(self, value: Any) -> Any:
        """Return the value, or raise `ParameterError` naming the setting and what it takes."""
        if not self.accepts(value):
            raise ParameterError(f"{self.sentence}.", self.key)
        return float(value) if self.kind is float else value

    def show(self, value: Any) -> str:
        """Return a value as a person may read it: lists with commas, no password."""
        if value is None:
            return self.none
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, tuple):
            return ", ".join(map(str, value))
        if isinstance(value, float):
            return f"{value:g}"
        return self.shown(str(value))


def number(
    group: str, key: str, default: float | None, low: float, high: float, meaning: str, none: str = ""
) -> Setting:
    """Return a setting that is an integer, or a number of seconds where the default is a float."""
    whole = isinstance(default, int) or default is None

    def accepts(value: Any) -> bool:
        if value is None:
            return bool(none)
        right = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
        return bool(right and low <= value <= high)

    kind = "an integer" if whole else "a number of seconds"
    expects = f"{kind} from {low:.10g} to {high:.10g}" + (f", or left out for {none}" if none else "")
    return Setting(key, default, meaning, group, expects, accepts, none, kind=int if whole else float)


def flag(group: str, key: str, default: bool, meaning: str) -> Setting:
    """Return a setting that is true or false."""

    def accepts(value: Any) -> bool:
        return isinstance(value, bool)

    return Setting(key, default, meaning, group, "true or false", accepts, kind=bool)


def _is_line(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable() and len(value) <= MAX_TEXT_LENGTH


def text(
    group: str, key: str, default: str, meaning: str, pattern: str = ".*", expects: str = "a line of text"
) -> Setting:
    """Return a setting that is a line of text matching a pattern."""
    allowed = re.compile(pattern)

    def accepts(value: Any) -> bool:
        return _is_line(value) and allowed.fullmatch(value) is not None

    return Setting(key, default, meaning, group, expects, accepts)


def url(
    group: str,
    key: str,
    default: str,
    meaning: str,
    pattern: str,
    expects: str,
    shown: Callable[[str], str] = mask,
) -> Setting:
    """Return a setting that is a URL, shown without its password."""
    allowed = re.compile(pattern, re.IGNORECASE)

    def accepts(value: Any) -> bool:
        return _is_line(value) and allowed.fullmatch(value) is not None

    return Setting(key, default, meaning, group, expects, accepts, shown=shown)


def numbers(group: str, key: str, default: tuple[int, ...], low: int, high: int, meaning: str) -> Setting:
    """Return a setting that is a list of integers."""

    def accepts(value: Any) -> bool:
        return isinstance(value, tuple) and all(type(item) is int and low <= item <= high for item in value)

    expects = f"a list of integers from {low} to {high}"
    return Setting(key, default, meaning, group, expects, accepts, kind=tuple, item=int)


def _is_network(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(read_networks([value]))
    except ValueError:
        return False


def networks(group: str, key: str, default: tuple[str, ...], meaning: str) -> Setting:
    """Return a setting that is a list of IP networks."""

    def accepts(value: Any) -> bool:
        return isinstance(value, tuple) and all(map(_is_network, value))

    expects = "a list of IP addresses or networks such as 10.0.0.0/8"
    return Setting(key, default, meaning, group, expects, accepts, kind=tuple)
