"""Every option of a run: its key, default and meaning; set for a session, a block or one call.

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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from webanalytics._version import __version__
from webanalytics.errors import ParameterError

USER_AGENT = f"webanalytics/{__version__} (+https://pypi.org/project/webanalytics/)"


@dataclass(frozen=True)
class Option:
    """One option: what it is for, its default, and which values it takes."""

    key: str
    default: Any
    meaning: str
    expects: str
    accepts: Callable[[Any], bool]

    def check(self, value: Any) -> Any:
        """Return the value, or raise `ParameterError` naming the option and what it takes."""
        if not self.accepts(value):
            raise ParameterError(f"The `{self.key}` parameter must be {self.expects}.", self.key)
        return value


def _integer(key: str, default: int | None, low: int, high: int, meaning: str, none: str = "") -> Option:
    def accepts(value: Any) -> bool:
        if value is None:
            return bool(none)
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

    expects = f"an integer from {low} to {high}" + (f", or None for {none}" if none else "")
    return Option(key, default, meaning, expects, accepts)


def _seconds(key: str, default: float, high: float, meaning: str, low: float = 0.0) -> Option:
    def accepts(value: Any) -> bool:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high

    return Option(key, default, meaning, f"a number of seconds from {low:g} to {high:g}", accepts)


def _flag(key: str, default: bool | None, meaning: str, none: str = "") -> Option:
    def accepts(value: Any) -> bool:
        return isinstance(value, bool) or (value is None and bool(none))

    return Option(key, default, meaning, "True or False" + (f", or None for {none}" if none else ""), accepts)


def _header_value(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 500 and value.isprintable() and value.isascii()


RECORDS: dict[str, Option] = {
    option.key: option
    for option in (
        _integer("concurrency", 32, 1, 1000, "Fetches under way at once."),
        _integer("per_host", 8, 1, 100, "Fetches under way at once from one host."),
        _seconds("delay", 0.0, 3600, "Seconds between two fetches from one host."),
        _seconds("connect_timeout", 10.0, 600, "Seconds for the name look-up and the connection.", low=0.001),
        _seconds("timeout", 30.0, 3600, "Seconds for a whole fetch, redirects and body included.", low=0.001),
        _seconds("parse_timeout", 15.0, 3600, "Seconds for the analysis of one page or image.", low=0.1),
        _integer("max_bytes", 10_000_000, 1, 1_000_000_000, "Largest body after decompression, in bytes."),
        _integer("max_redirects", 10, 0, 100, "Redirects followed for one page."),
        _integer("retries", 2, 0, 20, "Further tries after 429, 500, 503 and broken connections."),
        _flag("robots", True, "Respect robots.txt and its crawl-delay."),
        Option(
            "user_agent",
            USER_AGENT,
            "How the package introduces itself.",
            "a line of printable ASCII characters",
            _header_value,
        ),
        _flag("allow_private", False, "Fetch from private, loopback and other special addresses too."),
        _integer("workers", None, 1, 256, "Worker processes for analysis.", none="one per processor"),
        _integer("worker_memory", 2048, 256, 1_000_000, "Memory limit of a worker process in MiB (Linux)."),
        _flag("progress", None, "Show a progress bar.", none="only in notebooks and terminals"),
        Option(
            "backend",
            None,
            "Where the work is done: None for this machine, or a `Hosted` API.",
            "a backend such as `webanalytics.Hosted(base_url)`, or None for this machine",
            lambda value: value is None or (hasattr(value, "run") and hasattr(value, "name")),
        ),
        _integer("budget", None, 0, 10**12, "Most credits that one call may spend.", none="no limit"),
        Option(
            "checkpoint",
            None,
            "Folder that keeps finished rows, so that the same call again does only what is missing.",
            "a folder, or None for none",
            lambda value: value is None or (isinstance(value, (str, os.PathLike)) and bool(os.fspath(value))),
        ),
        Option(
            "retry",
            "missing",
            "What a call with a checkpoint does again: rows that are missing, or also those that failed.",
            "one of: missing, failed",
            lambda value: value in ("missing", "failed"),
        ),
    )
}
"""All options by key."""


class RunOptions(TypedDict, total=False):
    """The options as keyword arguments of every function; left out means the session's value."""

    concurrency: int
    per_host: int
    delay: float
    connect_timeout: float
    timeout: float
    parse_timeout: float
    max_bytes: int
    max_redirects: int
    retries: int
    robots: bool
    user_agent: str
    allow_private: bool
    workers: int | None
    worker_memory: int
    progress: bool | None
    backend: Any
    budget: int | None
    checkpoint: str | os.PathLike[str] | None
    retry: str


def _from_environment() -> dict[str, Any]:
    """Return the options set by environment: WEBANALYTICS_PROGRESS=0 or 1."""
    flag = os.environ.get("WEBANALYTICS_PROGRESS", "").strip().lower()
    known = {"0": False, "false": False, "1": True, "true": True}
    return {"progress": known[flag]} if flag in known else {}


_session: dict[str, Any] = {key: record.default for key, record in RECORDS.items()} | _from_environment()
_block: ContextVar[Mapping[str, Any]] = ContextVar("webanalytics_options", default={})  # noqa: B039


def check_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given options if every key is known and every value allowed."""
    for key, value in given.items():
        if key not in RECORDS:
            raise ParameterError(
                f"The `{key}` parameter does not exist; the options are: {', '.join(sorted(RECORDS))}.", key
            )
        RECORDS[key].check(value)
    return dict(given)


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
            raise AttributeError(f"no option {key!r}; the options are: {', '.join(sorted(RECORDS))}")
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
    backend : Hosted or None
        A hosted API, or None for this machine.

    Raises
    ------
    ParameterError
        For something that is no backend.

    Examples
    --------
    >>> use(None)
    >>> options.backend is None
    True
    """
    options.backend = backend
