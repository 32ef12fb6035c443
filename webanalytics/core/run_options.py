"""`Setting`, the record that options and the service's settings share, and the options of a run.

These stand in `options.toml`, as the service's do in `settings.toml`.

An option is set for a session, a block or one call; `resolve` is where a call begins.

Examples
--------
>>> import webanalytics as wa
>>> wa.options.concurrency
32
>>> with wa.option_context(concurrency=4, delay=1.0):
...     wa.options.delay
1.0
>>> wa.options.delay
0.0
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Unpack

from webanalytics._version import USER_AGENT
from webanalytics.core import plugins
from webanalytics.core.access_by_host import AccessByHost
from webanalytics.core.bot_key import BotKey
from webanalytics.core.option_types import RunOptions
from webanalytics.core.proxy import Proxy
from webanalytics.core.strings import did_you_mean
from webanalytics.errors import ParameterError

WEB_ADDRESS = re.compile(r"https?://[^\s\"'<>]{1,500}")
"""What may become a link: it can end no attribute and no element."""


@dataclass(frozen=True)
class Setting:
    """One option of a run, or one setting of the service: what it is for, and which values it takes."""

    key: str
    default: Any
    meaning: str
    expects: str  # the end of the error about a wrong value, after "must be"
    accepts: Callable[[Any], bool]
    none: str = ""  # what None means, if it is allowed
    group: str = ""  # heading that the command line lists it under
    kind: type = str  # ``bool``, ``int``, ``float`` (seconds), ``str`` or ``tuple``
    item: type = str  # the type of a tuple's items
    # returns a text as it may be shown: masked where it may hold a password
    shown: Callable[[str], str] = str
    # of an option of a run: kinds of functions that it does something for, of `FUNCTIONS`
    serves: frozenset[str] = frozenset()
    hint: str = ""  # its type for editors and type checkers, where `kind` and `none` do not say it

    @property
    def annotation(self) -> str:
        """Its type for editors and type checkers."""
        return self.hint or self.kind.__name__ + (" | None" if self.none else "")

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
        """Return a value in readable form: lists with commas, no password."""
        if value is None:
            return self.none
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, tuple):
            return ", ".join(map(str, value))
        if isinstance(value, float):
            return f"{value:g}"
        return self.shown(str(value))


class _BackendOption(Setting):
    """The option that takes an object, or its name; its error names the missing member."""

    def check(self, value: Any) -> Any:
        if value is None:
            return None
        found = plugins.backend(value) if isinstance(value, str) else value
        parts = import_module("webanalytics.runs.backends.base").PARTS  # which stands above the options
        missing = next((part for part in parts if not hasattr(found, part)), None)
        if missing is None:
            return found
        raise ParameterError.must_be(self.key, f"{self.expects}: `{missing}` is missing")


class _AccessOption(Setting):
    """The option whose value is read once, so that nothing shows it afterwards."""

    def check(self, value: Any) -> Any:
        return Proxy.of(value) if self.key == "proxy" else AccessByHost.of(value)


def integer(
    key: str, default: int | None, low: int, high: int, meaning: str, none: str = "", absent: str = "None"
) -> Setting:
    """Return a setting that is an integer; ``absent`` is how its sentence calls a missing value."""

    def accepts(value: Any) -> bool:
        if value is None:
            return bool(none)
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

    expects = f"an integer from {low} to {high}" + (f", or {absent} for {none}" if none else "")
    return Setting(key, default, meaning, expects, accepts, none, kind=int)


def seconds(key: str, default: float, low: float, high: float, meaning: str) -> Setting:
    """Return a setting that is a number of seconds."""

    def accepts(value: Any) -> bool:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high

    expects = f"a number of seconds from {low:.10g} to {high:.10g}"
    return Setting(key, default, meaning, expects, accepts, kind=float)


def flag(
    key: str, default: bool | None, meaning: str, none: str = "", words: str = "True or False"
) -> Setting:
    """Return a setting that is true or false."""

    def accepts(value: Any) -> bool:
        return isinstance(value, bool) or (value is None and bool(none))

    expects = words + (f", or None for {none}" if none else "")
    return Setting(key, default, meaning, expects, accepts, none, kind=bool)


def _is_header_value(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 500 and value.isprintable() and value.isascii()


def _are_ports(value: Any) -> bool:
    listed = isinstance(value, (list, tuple, set, frozenset, range)) and bool(value)
    return listed and all(type(port) is int and 1 <= port <= 65535 for port in value)


def _is_place(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike)) and bool(os.fspath(value))


def _is_warc(value: Any) -> bool:
    name = os.fspath(value) if _is_place(value) else None
    return isinstance(name, str) and "\0" not in name and name.lower().endswith((".warc.gz", ".warc"))


def _is_address(value: Any) -> bool:
    return isinstance(value, str) and WEB_ADDRESS.fullmatch(value) is not None


FUNCTIONS: dict[str, tuple[str, ...]] = {
    "page": (
        *("audit", "check_redirects", "crawl", "keywords", "metadata", "readability", "redirect_map", "text"),
    ),
    "image": ("convert",),
    "record": ("dane", "hmac", "phones"),
    "site": ("llms_txt", "sitemap"),
    "host": ("certificates", "live_tlsa"),
}
"""The functions of each kind: over pages, images and records, those that read files of sites or ask hosts."""


def _tested(
    key: str,
    meaning: str,
    expects: str,
    accepts: Callable[[Any], bool],
    default: Any = None,
    none: str = "",
    hint: str = "",
    made: type[Setting] = Setting,
) -> Setting:
    """Return a setting of values that pass a test, and of None where that is its default."""
    optional = default is None
    return made(
        key,
        default,
        meaning,
        expects,
        lambda value: (optional and value is None) or accepts(value),
        none,
        hint=hint,
    )


def _choice(key: str, default: str, meaning: str, choices: list[str]) -> Setting:
    return Setting(key, default, meaning, f"one of: {', '.join(choices)}", lambda value: value in choices)


def _ports(key: str, **known: Any) -> Setting:
    return replace(_tested(key, accepts=_are_ports, **known), kind=tuple, item=int)


_KINDS: Mapping[str, Callable[..., Setting]] = {
    **{made.__name__: made for made in (integer, seconds, flag)},
    "choice": _choice,
    "header": partial(_tested, accepts=_is_header_value),
    "ports": _ports,
    "access": partial(_tested, expects="", accepts=bool, made=_AccessOption),
    "bot_key": partial(_tested, accepts=lambda value: isinstance(value, BotKey)),
    "backend": partial(_tested, accepts=bool, made=_BackendOption),
    "folder": partial(_tested, accepts=_is_place),
    "warc": partial(_tested, accepts=_is_warc),
    "address": partial(_tested, accepts=_is_address),
}
_READ: Mapping[str, Mapping[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("options.toml").read_text("utf-8")
)


def _record(kinds: str, key: str, kind: str, **known: Any) -> Setting:
    known.setdefault("default", USER_AGENT if key == "user_agent" else None)
    return replace(_KINDS[kind](key, **known), serves=frozenset(FUNCTIONS).intersection(kinds.split()))


RECORDS: dict[str, Setting] = {
    key: _record(kinds, key, **known) for kinds, options in _READ.items() for key, known in options.items()
}
"""All options by key, each with the kinds of functions that it does something for."""


def _from_environment() -> dict[str, Any]:
    """Return the options set by environment: WEBANALYTICS_PROGRESS=0 or 1."""
    flag = os.environ.get("WEBANALYTICS_PROGRESS", "").strip().lower()
    known = {"0": False, "false": False, "1": True, "true": True}
    return {"progress": known[flag]} if flag in known else {}


_session: dict[str, Any] = {key: record.default for key, record in RECORDS.items()} | _from_environment()
_block: ContextVar[Mapping[str, Any]] = ContextVar("webanalytics_options", default={})  # noqa: B039


def check_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given options if every key is known and every value allowed; a named backend is made."""
    checked = dict(given)
    for key, value in given.items():
        if key not in RECORDS:
            hint = did_you_mean(key, RECORDS) or f"; the options are: {', '.join(sorted(RECORDS))}."
            raise ParameterError(f"The `{key}` parameter does not exist{hint}", key)
        found = RECORDS[key].check(value)
        if key in ("access", "backend", "proxy"):
            checked[key] = found
    return checked


def options_for(kind: str) -> dict[str, Setting]:
    """Return the options that do something for a kind of functions."""
    return {key: item for key, item in RECORDS.items() if kind in item.serves}


def check_served(function: str, kind: str, key: str) -> None:
    """Raise `ParameterError` for an option that does nothing for a function, naming those it is for."""
    if kind in RECORDS[key].serves:
        return
    takers = sorted(name for kind in RECORDS[key].serves for name in FUNCTIONS[kind])
    takers = takers or [f"`webanalytics.options.{key}`, which is set for a session"]
    raise ParameterError.must_be(key, f"left out of `{function}`; it is for {', '.join(takers)}")


def resolve(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options for one call: its own, else the block's, else the session's."""
    return {**_session, **_block.get(), **check_options(given)}


@contextmanager
def option_context(**changes: Unpack[RunOptions]) -> Iterator[None]:
    """Set options for the calls inside a ``with`` block.

    Parameters
    ----------
    **changes
        Options by key.

    Raises
    ------
    ParameterError
        For an unknown option or a value it does not take.
    """
    token = _block.set({**_block.get(), **check_options(changes)})
    try:
        yield
    finally:
        _block.reset(token)


class Options:
    """The session's options as attributes; setting one checks it."""

    def __getattr__(self, key: str) -> Any:
        if key not in RECORDS:
            hint = did_you_mean(key, RECORDS) or f"; the options are: {', '.join(sorted(RECORDS))}"
            raise AttributeError(f"no option {key!r}{hint}")
        return resolve({})[key]

    def __setattr__(self, key: str, value: Any) -> None:
        _session.update(check_options({key: value}))

    def __dir__(self) -> list[str]:
        return sorted(RECORDS)

    def __repr__(self) -> str:
        values = resolve({})
        width = max(map(len, RECORDS))
        return "\n".join(
            f"{key:<{width}}  {values[key]!r:<12}  {item.meaning}" for key, item in RECORDS.items()
        )


options = Options()
"""The options of the session."""


def use(backend: Any) -> None:
    """Set where the work of all further calls is done.

    Parameters
    ----------
    backend : Hosted, Dask, str or None
        A hosted API, a cluster, the name of an installed package's backend, or None for this machine.

    Examples
    --------
    >>> use(None)
    >>> options.backend is None
    True
    """
    options.backend = backend
