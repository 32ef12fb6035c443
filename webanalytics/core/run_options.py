"""`Setting`, the record that options and the service's settings share, and every option of a run.

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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Unpack

from webanalytics._version import USER_AGENT
from webanalytics.core import plugins
from webanalytics.core.access_by_host import AccessByHost
from webanalytics.core.bot_key import BotKey
from webanalytics.core.option_types import RunOptions
from webanalytics.core.proxy import EXPECTS, Proxy
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
        raise ParameterError(
            f"The `{self.key}` parameter must be {self.expects}: `{missing}` is missing.", self.key
        )


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


def _header_value(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 500 and value.isprintable() and value.isascii()


def _ports(value: Any) -> bool:
    if value is None:
        return True
    listed = isinstance(value, (list, tuple, set, frozenset, range)) and bool(value)
    return listed and all(type(port) is int and 1 <= port <= 65535 for port in value)


def _is_place(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike)) and bool(os.fspath(value))


def _is_warc(name: Any) -> bool:
    return isinstance(name, str) and "\0" not in name and name.lower().endswith((".warc.gz", ".warc"))


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

_ANY = frozenset(FUNCTIONS)
_FETCHED = _ANY - {"record", "host"}
_RUN = _ANY - {"site", "host"}
_ANALYSED = _RUN - {"record"}
_PAGES = frozenset({"page"})


def _serving(kinds: frozenset[str], *settings: Setting) -> tuple[Setting, ...]:
    return tuple(replace(setting, serves=kinds) for setting in settings)


_any_options = _serving(
    _ANY,
    integer("concurrency", 32, 1, 1000, "Fetches under way at once."),
    integer("retries", 2, 0, 20, "Further tries after 429, 500, 503 and broken connections."),
)
_dialled_options = _serving(
    _ANY - {"record"},
    seconds("delay", 0.0, 0.0, 3600, "Seconds between two fetches from one host."),
    seconds("connect_timeout", 10.0, 0.001, 600, "Seconds for the name look-up and the connection."),
    flag("allow_private", False, "Fetch from private, loopback and other special addresses too."),
)
_fetched_options = _serving(
    _FETCHED,
    integer("per_host", 8, 1, 100, "Fetches under way at once from one host."),
    seconds("timeout", 30.0, 0.001, 3600, "Seconds for a whole fetch, redirects and body included."),
    integer("max_redirects", 10, 0, 100, "Redirects followed for one page."),
    flag("robots", True, "Respect robots.txt and its crawl-delay."),
    Setting(
        "user_agent",
        USER_AGENT,
        'How the package introduces itself; "phone" or "desktop" for a browser of that kind.',
        "a line of printable ASCII characters",
        _header_value,
    ),
    Setting(
        "accept_language",
        None,
        'Languages that pages are asked for in, such as "de-CH, de;q=0.9".',
        "a line of printable ASCII characters, or None for none",
        lambda value: value is None or _header_value(value),
        "none",
    ),
    Setting(
        "ports",
        None,
        "The only ports of addresses and redirects that are connected to.",
        "a list of integers from 1 to 65535, or None for all ports",
        _ports,
        "all ports",
        kind=tuple,
        item=int,
        hint="Collection[int] | None",
    ),
    _AccessOption(
        "access",
        None,
        "What opens hosts: passwords, tokens, headers and cookies, each sent to its own host only.",
        "a mapping of hosts to `webanalytics.Access`, or None",
        bool,
        hint="Mapping[str, Access] | None",
    ),
    Setting(
        "bot_key",
        None,
        "Key that signs each request, so that sites can tell who asks (Web Bot Auth).",
        "a `webanalytics.BotKey`, or None",
        lambda value: value is None or isinstance(value, BotKey),
        hint="BotKey | None",
    ),
    _AccessOption(
        "proxy",
        None,
        'Proxy that dials in the place of this machine: its address, or "env" for those of the environment.',
        EXPECTS,
        bool,
        hint="str | None",
    ),
)
_analysed_options = _serving(
    _ANALYSED,
    integer("max_download", 10_000_000, 1, 1_000_000_000, "Largest body after decompression, in bytes."),
    seconds("parse_timeout", 15.0, 0.1, 3600, "Seconds for the analysis of one page or image."),
    integer("workers", None, 1, 256, "Worker processes for analysis.", none="one per processor"),
    integer("worker_memory", 2048, 256, 1_000_000, "Memory limit of a worker process in MiB (Linux)."),
)
_run_options = _serving(
    _RUN,
    flag("progress", None, "Show a progress bar.", none="only in notebooks and terminals"),
    _BackendOption(
        "backend",
        None,
        "Where the work is done: None for this machine, a `Hosted` API, a `Dask` cluster, or the name of a "
        "backend that an installed package has.",
        "a backend such as `webanalytics.Hosted(base_url)`, the name of one, or None for this machine",
        bool,
        hint="Any",
    ),
    integer("budget", None, 0, 10**12, "Most credits that one call may spend.", none="no limit"),
    Setting(
        "store",
        None,
        "Folder that finished rows are kept in, while a run goes on and after: the same call again does only "
        "what is missing.",
        "a folder, or None for none",
        lambda value: value is None or _is_place(value),
        hint="str | os.PathLike[str] | None",
    ),
    Setting(
        "redo",
        "missing",
        "What a call with a store does again: rows that are missing, or also those that failed.",
        "one of: missing, failed",
        lambda value: value in ("missing", "failed"),
    ),
)
_pages_options = _serving(
    _PAGES,
    Setting(
        "archive",
        None,
        "Web archive to whose end the pages are written as they are received: .warc.gz or .warc.",
        "the name of a file that ends in .warc.gz or .warc, or None for none",
        lambda value: value is None or (_is_place(value) and _is_warc(os.fspath(value))),
        hint="str | os.PathLike[str] | None",
    ),
    Setting(
        "render",
        "off",
        "Pages that a browser renders before they are analysed: none, those that look empty without scripts "
        '("auto"), or all.',
        "one of: off, auto, all",
        lambda value: value in ("off", "auto", "all"),
    ),
)
_session_options = (
    Setting(
        "docs_url",
        None,
        "Address of the built documentation, which reports, workbooks and the explorer link rules to.",
        "an address that begins with http:// or https://, or None for no links",
        lambda value: value is None or (isinstance(value, str) and bool(WEB_ADDRESS.fullmatch(value))),
        "no links",
    ),
    Setting(
        "theme",
        "auto",
        "Colours of charts, explorer and audits in a notebook: those of the notebook, or always these.",
        "one of: auto, light, dark",
        lambda value: value in ("auto", "light", "dark"),
    ),
)
"""What is about things that are shown or written after a call: set for a session or a block."""

RECORDS: dict[str, Setting] = {
    option.key: option
    for option in (
        *_any_options,
        *_dialled_options,
        *_fetched_options,
        *_analysed_options,
        *_run_options,
        *_pages_options,
        *_session_options,
    )
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
