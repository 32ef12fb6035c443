"""What other installed packages bring by entry points: operations, rules and backends.

Nothing of a package is imported before something of its group is listed, or named that is not this package's.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, MutableMapping
from functools import cache
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint  # which is slow to import

from webanalytics.errors import ParameterError

T = TypeVar("T")

log = logging.getLogger("webanalytics")

OPERATIONS, RULES, BACKENDS = (f"webanalytics.{kind}" for kind in ("operations", "rules", "backends"))
"""The groups of entry points."""


class Plugins:
    """What is installed of a group, taken in once, when it is first asked for.

    `take` adds one by the name of its entry point; a `ValueError` is the sentence for one that it refuses.
    One that fails is a warning, and the others are taken; where `skip` says so, it is not even imported.
    """

    def __init__(
        self, group: str, take: Callable[[str, Any], None], skip: Callable[[str], bool] = lambda _: False
    ) -> None:
        self._group, self._take, self._skip = group, take, skip
        self._lock, self._begun, self._done = RLock(), False, False

    def load(self) -> None:
        """Take in what is installed; at once if that is done, or if this is asked while it is being done."""
        if self._done:
            return
        with self._lock:
            if self._begun:
                return
            self._begun = True
            try:
                for name, entry in installed(self._group).items():
                    try:
                        if not self._skip(name):
                            self._take(name, entry.load())
                    except (Exception, SystemExit) as error:
                        named = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
                        leave_out(entry, f"{named}{error}")
            finally:
                self._done = True


class Register(MutableMapping[str, T]):
    """What there is of a kind by name; that of other packages is loaded when it is first looked for."""

    def __init__(self, plugins: Plugins) -> None:
        self._plugins = plugins
        self.own: dict[str, T] = {}
        """What is there already."""

    def __getitem__(self, name: str) -> T:
        if not isinstance(name, str):
            raise KeyError(name)
        if name not in self.own:
            self._plugins.load()
        return self.own[name]

    def __setitem__(self, name: str, item: T) -> None:
        self.own[name] = item

    def __delitem__(self, name: str) -> None:
        del self.own[name]

    def __iter__(self) -> Iterator[str]:
        self._plugins.load()
        return iter(self.own)

    def __len__(self) -> int:
        self._plugins.load()
        return len(self.own)


def installed(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name; of several packages with one name, the first has it."""
    from importlib.metadata import entry_points

    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=group), key=lambda item: (item.name, _package(item))):
        known = found.setdefault(entry.name, entry)
        if known is not entry:
            leave_out(entry, f"{_package(known)} has one of this name.")
    return found


def leave_out(entry: EntryPoint, why: str) -> None:
    """Warn that something is left out, and why."""
    log.debug("%s is left out", entry, exc_info=True)
    kind = entry.group.rpartition(".")[2].removesuffix("s")
    text = f"The {kind} {entry.name!r} of the package {_package(entry)} is left out: {why}"
    warnings.warn(text, RuntimeWarning, stacklevel=2)


@cache
def backend(name: str) -> Any:
    """Return the backend that an installed package has under a name, made when it is first named."""
    found = installed(BACKENDS)
    if name not in found:
        known = ", ".join(found) or "there is none"
        raise ParameterError.must_be("backend", f"a backend, or the name of an installed one: {known}")
    try:
        return found[name].load()()
    except (Exception, SystemExit) as error:
        why = f"{name!r} of {_package(found[name])} cannot be made: {type(error).__name__}: {error}"
        raise ParameterError(
            f"The `backend` parameter must be a backend that works: {why}", "backend"
        ) from error


def _package(entry: EntryPoint) -> str:
    return "" if entry.dist is None else entry.dist.name
