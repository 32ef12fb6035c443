"""The folder that a run keeps its finished outcomes in."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from webanalytics._version import __version__
from webanalytics.backends.base import Answer, Job, Outcome, PackedOutcomes, Task, digest
from webanalytics.checkpoints.files import text_of, write_whole, wrong
from webanalytics.checkpoints.manifest import compare, described
from webanalytics.checkpoints.parts import (
    UnreadableError,
    can_be_kept,
    fetched_of,
    outcome_of,
    row_of,
    rows_of,
    table,
)
from webanalytics.errors import MissingExtraError

log = logging.getLogger("webanalytics")

FORMAT = 1
MANIFEST = "run.json"
NOT_DONE = frozenset(("service", "credits", "unfinished"))
"""Error types of rows that were not answered: they are missing, not failed."""

WRITE_SECONDS = 1.0
"""How long free answers may wait for the next part."""
WRITE_ANSWERS = 500
"""How many free answers may wait for the next part."""
LOCK_SECONDS = 2.0
"""How long a run that was interrupted a moment ago may take to let go of the folder."""

_PART = re.compile(r"part-(\d{6,})\.parquet")


class Checkpoint:
    """A folder of finished outcomes; made, or opened where the same call left one.

    Parameters
    ----------
    folder : str or path
        An empty or missing folder, or one that the same call has made.
    task : Task
        What is asked.
    backend : str
        Name of the backend.
    extra : Mapping
        What else must be the same, such as the folder that images are written to.

    Raises
    ------
    ParameterError
        For a folder of another call, one that is in use, or one that cannot be written to.
    MissingExtraError
        Where pyarrow is not installed.

    Attributes
    ----------
    identity : str
        The same for all calls that use the folder.
    left_out : set of str
        Premium fields that restored answers lack.

    Notes
    -----
    A folder may come from a stranger: what is read is checked, nothing of it is run, and nothing is
    written through a link that lies in it.
    """

    def __init__(self, folder: str | os.PathLike[str], task: Task, backend: str, extra: Mapping[str, Any]):
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise MissingExtraError("parquet", "pyarrow", "keeping checkpoints") from None
        if "\0" in os.fsdecode(folder):
            raise wrong("with a valid path")
        self._folder = Path(os.fsdecode(folder))
        self._operations = task.operations
        self._lock: IO[bytes] | None = None
        self._waiting: list[tuple[str, Answer]] = []
        self._writing: asyncio.Task[None] | None = None
        self._written = time.monotonic()
        self.left_out: set[str] = set()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._refuse_foreign()
            self._take_lock()
            self.identity = self._identify(task, backend, extra)
            self._parts = self._found_parts()
            self._next = 1 + max((int(path.stem.partition("-")[2]) for path in self._parts), default=0)
        except OSError as error:
            self.close()
            raise wrong(f"that can be written to: {error.strerror}") from None
        except BaseException:
            self.close()
            raise

    def _take_lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # Windows: two runs on one checkpoint are not told apart there
            return
        links = getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(self._folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | links, 0o666)
        self._lock = os.fdopen(handle, "wb", buffering=0)
        end = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > end:
                    raise wrong("that no other run is using") from None
                time.sleep(0.05)
            except OSError:  # a network's file system may have no locks
                log.info("the checkpoint's folder cannot be locked")
                return

    def _refuse_foreign(self) -> None:
        """Refuse a folder with other files before anything is written to it."""
        if not (self._folder / MANIFEST).exists() and any(
            not item.name.startswith(".") for item in self._folder.iterdir()
        ):
            raise wrong("that is empty, or that the same call has made")

    def _identify(self, task: Task, backend: str, extra: Mapping[str, Any]) -> str:
        """Return the identity in the manifest, which is written first where there is none."""
        path = self._folder / MANIFEST
        if not path.exists():
            salt = os.urandom(16).hex()
            made = {"format": FORMAT, "identity": uuid.uuid4().hex, "package": __version__, "salt": salt}
            text = json.dumps(made | {"call": described(task, backend, extra, salt)}, indent=1)
            write_whole(path, text.encode())
            return str(made["identity"])
        try:
            kept = json.loads(text_of(path))
            known, salt, identity = kept["call"], kept["salt"], kept["identity"]
            good = kept["format"] == FORMAT and bytes.fromhex(salt) and isinstance(known, dict)
        except (ValueError, KeyError, TypeError, RecursionError):
            good = False
        if not good or not isinstance(identity, str):
            raise wrong(f"whose {MANIFEST} can be read, and was written by this version of webanalytics")
        compare(known, json.loads(json.dumps(described(task, backend, extra, salt))))
        return identity

    def _found_parts(self) -> list[Path]:
        for leftover in self._folder.glob(".part-*.tmp"):
            leftover.unlink(missing_ok=True)
        named = ((_PART.fullmatch(path.name), path) for path in self._folder.iterdir())
        return [path for _, path in sorted((int(found[1]), path) for found, path in named if found)]

    def restore(self, jobs: Sequence[Job], *, failed_again: bool) -> tuple[list[Answer], list[Job]]:
        """Return the answers that are kept, and the jobs that are still to be done.

        Parameters
        ----------
        jobs : sequence of Job
            All jobs of the run.
        failed_again : bool
            Whether inputs that failed count as missing.
        """
        keys = {digest(job.subject): job.number for job in jobs}
        places = {operation.name: place for place, operation in enumerate(self._operations)}
        self.left_out.clear()
        kept: dict[tuple[int, int], Answer | None] = {}
        for path in self._parts:
            try:
                for row in rows_of(path):
                    number, place = keys.get(row["key"]), places.get(row["operation"])
                    if number is not None and place is not None:
                        again = failed_again and row["data"] is None
                        kept[number, place] = None if again else self._restored(number, place, row)
            except UnreadableError:
                raise wrong(
                    f"whose parts can be read, and {path.name} cannot; without it its rows are done again"
                ) from None
        answers = [answer for answer in kept.values() if answer is not None]
        done: dict[int, set[int]] = {}
        for answer in answers:
            done.setdefault(answer.number, set()).add(answer.position or 0)
        left = []
        for job in jobs:
            wanted = tuple(place for place in places.values() if place not in done.get(job.number, ()))
            if wanted:
                left.append(job if len(wanted) == len(places) else replace(job, wanted=wanted))
        return answers, left

    def _restored(self, number: int, place: int, row: Mapping[str, Any]) -> Answer:
        operation = self._operations[place]
        outcome = outcome_of(operation, row)
        outcomes: Sequence[Outcome] = (outcome,)
        if outcome.data is not None:
            absent = {field.name for field in operation.fields if field.premium} - outcome.data.keys()
            self.left_out |= absent
            if operation.kind == "page":
                outcomes = PackedOutcomes(PackedOutcomes.pack([(outcome.data, None, None)]))
        return Answer(number, outcomes, fetched_of(row["fetched"]), place)

    def take(self, answers: Sequence[Answer], jobs: Sequence[Job]) -> None:
        """Take answers, to be in a part at the next writing, or when the checkpoint is closed."""
        self._waiting.extend((digest(jobs[answer.number].subject), answer) for answer in answers)

    async def write(self, *, at_once: bool) -> None:
        """Write what has been taken: before this returns, or soon where it need not be at once."""
        due = time.monotonic() - self._written >= WRITE_SECONDS or len(self._waiting) >= WRITE_ANSWERS
        if self._waiting and (at_once or due):
            waiting, self._waiting = self._waiting, []
            self._writing = asyncio.create_task(asyncio.to_thread(self._write, waiting))
            await asyncio.shield(self._writing)

    def _lines(self, key: str, answer: Answer) -> Iterator[dict[str, Any]]:
        for place, outcome in enumerate(answer.outcomes):
            if outcome.error_type not in NOT_DONE:
                operation = self._operations[place if answer.position is None else answer.position]
                if not can_be_kept(operation, outcome):  # one such row would make the folder unreadable
                    log.warning(
                        "an answer of %s is not kept in the checkpoint: it is malformed", operation.name
                    )
                    continue
                yield row_of(key, operation.name, outcome, answer.fetched if place == 0 else None)

    def _write(self, waiting: Sequence[tuple[str, Answer]]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as parquet

        self._written = time.monotonic()
        rows = [line for key, answer in waiting for line in self._lines(key, answer)]
        if not rows:
            return
        buffer = pa.BufferOutputStream()
        parquet.write_table(table(rows), buffer)
        path = self._folder / f"part-{self._next:06}.parquet"
        write_whole(path, buffer.getvalue())
        self._next += 1

    async def aclose(self) -> None:
        """Let a part be finished that is being written, and close."""
        if self._writing is not None:
            await asyncio.wait([self._writing])
            if not self._writing.cancelled() and (error := self._writing.exception()) is not None:
                log.warning("finished rows could not be written to the checkpoint: %s", error)
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """Write what waits, and let others use the folder."""
        try:
            if self._waiting:
                waiting, self._waiting = self._waiting, []
                self._write(waiting)
        finally:
            if self._lock is not None:
                self._lock.close()
                self._lock = None
