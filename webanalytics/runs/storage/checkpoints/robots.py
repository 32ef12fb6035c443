"""The robots.txt that a run has read, in a file beside its parts: hosts that are done are not asked again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from webanalytics.fetching.robots import MOST_CHARACTERS, RobotsCopy, RobotsKept, kept_here
from webanalytics.fetching.robots_rules import LARGEST
from webanalytics.runs.storage.store import Store

FILE = "robots.jsonl"
_ESCAPED = 6
"""Most bytes that a character takes in JSON."""
LONGEST_LINE = _ESCAPED * LARGEST + 10_000
MOST_BYTES = _ESCAPED * MOST_CHARACTERS


class RobotsLog:
    """Copies are read back when the folder is opened, and new ones are appended.

    Parameters
    ----------
    store : Store
        The folder of the checkpoint.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: RobotsKept | None = kept_here()
        self._written: dict[str, RobotsCopy] = {}
        for origin, copy in self._lines():
            self._written[origin] = copy
        if self._kept is not None:
            for origin, copy in self._written.items():
                self._kept.add(origin, copy)

    def _lines(self) -> Iterator[tuple[str, RobotsCopy]]:
        """Yield what the file has; lines that are cut off or changed are left out."""
        for line in self._store.lines(FILE, LONGEST_LINE, MOST_BYTES):
            with suppress(ValueError, KeyError, TypeError, RecursionError):
                values: Any = json.loads(line)
                if isinstance(values["origin"], str):
                    yield values["origin"], RobotsCopy.of(values)

    def write(self) -> None:
        """Append the copies that are new."""
        copies = {} if self._kept is None else dict(self._kept.copies)
        new = {origin: copy for origin, copy in copies.items() if self._written.get(origin) != copy}
        if not new:
            return
        lines = [json.dumps({"origin": origin, **copy.as_dict()}) + "\n" for origin, copy in new.items()]
        with self._store.appended(FILE) as file:
            file.write(("\n" + "".join(lines)).encode())  # the last line of a killed run may have no end
        self._written |= new
