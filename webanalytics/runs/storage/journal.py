"""Requests as they are written down before they are sent, so that a resumed run repeats them exactly.

A hosted API charges for a request when it has answered, and repeats its answer for nothing under the same
Idempotency-Key. A run that is killed in between does not know the answer; what it needs to get it again are
the key and the inputs of the request.

The robots.txt that a run has read are in a file beside it, so that hosts which are done are not asked again.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from asyncio import to_thread
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from webanalytics.core.outcomes import Job, digest
from webanalytics.errors import WriteError
from webanalytics.fetching.robots import MOST_CHARACTERS, RobotsCopy, RobotsKept, kept_here
from webanalytics.fetching.robots_rules import LARGEST
from webanalytics.runs.backends.base import Sent
from webanalytics.runs.storage.store import Store

FILE = "sent.jsonl"
KEPT_SECONDS = 23 * 3600.0
"""How long a request may be repeated: APIs keep answers for 24 hours."""
LONGEST_LINE = 10_000_000
MOST_BYTES = 1_000_000_000
SHORT = 32
"""Digits of an input's digest in the journal."""

_KEY = re.compile(r"[0-9a-f]{64}")


@dataclass(slots=True)
class Entry:
    """A request of an earlier run."""

    sent: Sent
    inputs: list[str]
    part: int
    at: float
    answered: bool = False


class Journal:
    """The journal of a checkpoint; made for one run."""

    def __init__(self, store: Store, next_part: Callable[[], int]) -> None:
        # The second returns the number of the next part: an answer is in that one or in a later one.
        self._store, self._next_part = store, next_part
        self._entries: dict[str, Entry] = {}
        self._last: dict[tuple[str, str], Entry] = {}
        self._pending: list[Sent] = []
        self._jobs: Sequence[Job] = ()
        self._file: IO[bytes] | None = None
        self._writing = threading.Lock()
        self._sent: set[str] = set()
        for line in store.lines(FILE, LONGEST_LINE, MOST_BYTES):
            self._read(line)

    def _read(self, line: bytes) -> None:
        """Take a line of an earlier run; one that is not whole was never followed by a request."""
        try:
            known = json.loads(line)
            if "answered" in known:
                if (entry := self._entries.get(known["answered"])) is not None:
                    entry.answered = True
                return
            entry = _entry(known)
        except (ValueError, KeyError, TypeError, RecursionError):
            return
        self._entries[entry.sent.key] = entry
        for name in entry.inputs:
            self._last[name, entry.sent.operation] = entry

    def saw(self, row: Mapping[str, Any], part: int) -> None:
        """Note that a part has a row: if it is the last request's, that request was answered."""
        entry = self._last.get((row["key"][:SHORT], row["operation"]))
        if entry is not None and part >= entry.part:
            entry.answered = True

    def begin(self, jobs: Sequence[Job], open_jobs: Mapping[str, int]) -> Iterator[tuple[int, str]]:
        """Find the requests to repeat, and yield the number and operation of each input of those."""
        self._jobs = jobs
        now = time.time()
        waiting = [
            entry
            for entry in self._entries.values()
            if not entry.answered
            and self._is_last(entry)
            and now - KEPT_SECONDS < entry.at < now + KEPT_SECONDS
        ]
        if not waiting:
            return
        numbers = {key[:SHORT]: number for key, number in open_jobs.items()}
        for entry in waiting:
            found = [numbers.get(name) for name in entry.inputs]
            if None in found:  # other inputs than then: it cannot be repeated
                continue
            self._pending.append(entry.sent.of(tuple(number for number in found if number is not None)))
            for number in self._pending[-1].numbers:
                yield number, entry.sent.operation

    def _is_last(self, entry: Entry) -> bool:
        """Return whether none of its inputs was sent again: who divides a request has seen its answer."""
        return all(self._last[name, entry.sent.operation] is entry for name in entry.inputs)

    def pending(self) -> Sequence[Sent]:
        """Return the requests of earlier runs whose answers are not known."""
        return self._pending

    def is_used(self, key: str) -> bool:
        """Return whether an earlier run has sent a request under a key."""
        return key in self._entries

    async def sending(self, sent: Sent) -> None:
        """Write down a request; when this returns, it may be sent."""
        inputs = [digest(self._jobs[number].subject)[:SHORT] for number in sent.numbers]
        line = {
            "key": sent.key,
            "operation": sent.operation,
            "salt": sent.salt,
            "alone": sent.alone,
            "part": self._next_part(),
            "at": round(time.time(), 3),
            "inputs": inputs,
        }
        self._sent.add(sent.key)
        await to_thread(self._write, line, durable=True)

    def answered(self, key: str) -> None:
        """Note that what a request gave is in the checkpoint."""
        if key in self._sent or key in self._entries:
            self._write({"answered": key}, durable=False)

    def _write(self, line: Mapping[str, Any], *, durable: bool) -> None:
        with self._writing:
            try:
                if self._file is None:
                    self._file = self._store.appended(FILE)
                    self._file.write(b"\n")  # the last line of a run that was killed may have no end
                self._file.write(json.dumps(line).encode() + b"\n")
                self._file.flush()
                if durable:
                    os.fsync(self._file.fileno())
            except OSError as error:
                raise WriteError.at("store", "a folder that can be written to", error) from None

    def close(self) -> None:
        """Close the file."""
        with self._writing:
            if self._file is not None:
                file, self._file = self._file, None
                file.close()


def _entry(known: Mapping[str, Any]) -> Entry:
    """Return the entry of a line, checked; raises for anything else."""
    sent = Sent(known["key"], known["operation"], (), tuple(known["salt"]), known["alone"])
    entry = Entry(sent, known["inputs"], known["part"], known["at"])
    good = (
        isinstance(sent.key, str)
        and _KEY.fullmatch(sent.key)
        and isinstance(sent.operation, str)
        and all(type(item) is int for item in (*sent.salt, entry.part))
        and isinstance(sent.alone, bool)
        and isinstance(entry.at, (int, float))
        and isinstance(entry.inputs, list)
        and all(isinstance(name, str) for name in entry.inputs)
        and entry.inputs
    )
    if not good:
        raise ValueError
    return entry


ROBOTS_FILE = "robots.jsonl"
_ESCAPED = 6
"""Most bytes that a character takes in JSON."""
_LONGEST_ROBOTS = _ESCAPED * LARGEST + 10_000
_MOST_ROBOTS = _ESCAPED * MOST_CHARACTERS


class RobotsLog:
    """Copies are read back when the folder is opened, and new ones are appended."""

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
        for line in self._store.lines(ROBOTS_FILE, _LONGEST_ROBOTS, _MOST_ROBOTS):
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
        with self._store.appended(ROBOTS_FILE) as file:
            file.write(("\n" + "".join(lines)).encode())  # the last line of a killed run may have no end
        self._written |= new
