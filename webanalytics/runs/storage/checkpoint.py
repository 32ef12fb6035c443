"""Finished outcomes in a folder: `runs.run` keeps them there, and resumes an interrupted run from them.

A checkpoint holds ``run.json``, which says what call made it, and ``part-000001-DIGEST.parquet`` and so on,
each written whole or not at all. A part has one row for each outcome; the inputs themselves are not in it,
only their SHA-256. ``sent.jsonl`` has the requests to a hosted API, ``robots.jsonl`` the robots.txt that were
read: see `journal`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Any

from webanalytics._version import __version__
from webanalytics.core.operations.secret import Secret
from webanalytics.core.outcomes import Fetched, Job, JobResult, Outcome, PackedOutcomes, digest
from webanalytics.errors import ParameterError, WriteError, reason, shortage_of
from webanalytics.files import claim
from webanalytics.runs.backends.base import RunSpec, Task
from webanalytics.runs.frames.arrow import Unreadable
from webanalytics.runs.storage import journal
from webanalytics.runs.storage.store import ANYBODYS, NAMED_DIGITS, Store, folder_path, refusal

PART = re.compile(rf"part-(\d{{6,}})-([0-9a-f]{{{NAMED_DIGITS}}})\.parquet")
"""Name of a part: its number, and the start of its SHA-256."""
ROWS_AT_ONCE = 256
"""Rows of a part that are in memory together while it is read."""


def row_of(key: str, operation: str, outcome: Outcome, fetched: Fetched | None) -> dict[str, Any]:
    """Return an outcome as a row of a part."""
    blob_field = blob = None
    data: dict[str, Any] | None = None
    if outcome.data is not None:
        data = dict(outcome.data)
        for name, value in outcome.data.items():
            if isinstance(value, bytes):
                blob_field, blob, data[name] = name, value, None
    return {
        "key": key,
        "operation": operation,
        "status": outcome.status,
        "error": outcome.error,
        "error_type": outcome.error_type,
        "error_key": outcome.key,
        "data": None if data is None else json.dumps(data),
        "blob_field": blob_field,
        "blob": blob,
        "fetched": None if fetched is None else json.dumps(asdict(fetched)),
    }


def schema() -> Any:
    """Return the schema of parts."""
    import pyarrow as pa

    texts = (
        *("key", "operation", "status", "error", "error_type", "error_key"),
        *("data", "blob_field", "fetched"),
    )
    return pa.schema([*((name, pa.large_string()) for name in texts), ("blob", pa.large_binary())])


def table(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as an Arrow table."""
    import pyarrow as pa

    wanted = schema()
    columns = {field.name: [_plain(row[field.name]) for row in rows] for field in wanted}
    return pa.table(columns, schema=wanted)


def _plain(value: Any) -> Any:
    """Return a text without lone surrogates, which no file can store."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "replace").decode()
    return value


def number_of(name: str) -> int:
    """Return the number of a part."""
    return int(name.removesuffix(".parquet").split("-")[1])


def rows_of(store: Store, name: str, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of a part, or some columns of them; a part that is changed is `Unreadable`."""
    for batch in store.batches(name, ROWS_AT_ONCE, schema(), columns):
        yield from batch.to_pylist()


def outcome_of(row: Mapping[str, Any]) -> Outcome:
    """Return the outcome that a row keeps."""
    data: Any = None if row["data"] is None else json.loads(row["data"])
    if row["blob_field"] is not None:
        data[row["blob_field"]] = row["blob"]
    return Outcome(data, row["error"], row["error_type"], row["error_key"])


def fetched_of(text: str | None) -> Fetched | None:
    """Return how a page was fetched, from its JSON."""
    if text is None:
        return None
    known: dict[str, Any] = json.loads(text)
    ways = {name: tuple(value) for name, value in known.items() if isinstance(value, list)}
    return Fetched(**{**known, **ways})


_SCRYPT = {"n": 2**14, "r": 8, "p": 1}


def wrong(what: str) -> ParameterError:
    """Return the error about a folder that cannot be this call's checkpoint."""
    return refusal("store", what)


def _fingerprint(secret: Secret, salt: str) -> str:
    """Return what distinguishes a secret from others, and is slow to guess it from (RFC 7914)."""
    made = hashlib.scrypt(secret.reveal(), salt=bytes.fromhex(salt), **_SCRYPT)
    return str(made.hex())


def _value(value: Any, salt: str) -> Any:
    return {"scrypt": _fingerprint(value, salt)} if isinstance(value, Secret) else value


def described(spec: RunSpec, family: str, extra: Mapping[str, Any], salt: str) -> dict[str, Any]:
    """Return a call in JSON values; a secret is in it only as its fingerprint."""
    rendered = {key: value for key, value in spec.options.items() if key == "render" and value != "off"}
    return {
        "operation": "audit" if len(spec.operations) > 1 else spec.operations[0],
        "backend": family,
        "parameters": {
            operation: {name: _value(value, salt) for name, value in spec.settings.get(operation, {}).items()}
            for operation in spec.operations
        },
        "extra": {**extra, **rendered},
    }


def compare(known: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Raise `ParameterError` if a checkpoint was made by another call, naming what differs."""
    for what in ("operation", "backend"):
        if known.get(what) != asked[what]:
            raise wrong(f"of this same call: it was made with the {what} {str(known.get(what))[:200]!r}, "
                         f"and this call has {asked[what]!r}")  # fmt: skip
    for part in ("parameters", "extra"):
        if known.get(part) != asked[part]:
            raise wrong(f"of this same call: {', '.join(_differing(known.get(part), asked[part]))} had "
                         "another value")  # fmt: skip


def _differing(known: Any, asked: Mapping[str, Any]) -> list[str]:
    """Return the names of the parameters that differ, never their values: one may be secret."""
    if not isinstance(known, Mapping):
        return ["every parameter"]
    names = []
    for name, value in asked.items():
        inner = isinstance(value, Mapping) and "scrypt" not in value
        if known.get(name) != value:
            names.extend(_differing(known.get(name), value) if inner else [f"`{name}`"])
    return names or ["a parameter"]


log = logging.getLogger("webanalytics")

FORMAT = 5
MANIFEST = "run.json"
NOT_DONE = frozenset(("service", "credits", "unfinished"))
"""Error types of rows that were not answered: they are missing, not failed."""

WRITE_SECONDS = 1.0
"""How long free answers may wait for the next part."""
WRITE_ANSWERS = 500
"""How many free answers may wait for the next part."""
TRIES, TRY_AGAIN_SECONDS = 20, 0.25
"""How often a part is written while the process has no file descriptor for it, and the pause between."""
LOCK_SECONDS = 2.0
"""How long a run that was interrupted a moment ago may take to let go of the folder."""


class Checkpoint:
    """A folder of finished outcomes; made, or opened where the same call left one."""

    journal: journal.Journal  # the requests to a hosted API

    def __init__(
        self,
        folder: str | os.PathLike[str],  # an empty or missing folder, or one that the same call has made
        spec: RunSpec,  # the specification of the run
        family: str,  # family of the backend: its answers are as good as those of another one of the family
        extra: Mapping[str, Any],  # what else must match, such as the folder that images are written to
        *,
        forgets: bool = False,  # whether answers are removed with `forget` when they are kept elsewhere
    ) -> None:
        self._lock: IO[bytes] | None = None
        self._waiting: list[tuple[str, JobResult]] = []
        self._writing: asyncio.Task[None] | None = None
        self._written = time.monotonic()
        self._keys_of: dict[str, set[str]] | None = {} if forgets else None
        self._store = Store(folder_path(folder, "store", "keeping rows"), MANIFEST, PART)
        self._operations = Task(spec).operations
        self.premium_missing: set[str] = set()
        try:
            self._store.make()
            if self._store.foreign(parts_alone=False):
                raise wrong("that is empty, or that the same call has made")
            if self._store.is_of_another():
                raise wrong(f"of your own: another user has made this one, which {ANYBODYS}=1 allows")
            self._claim()
            self.identity = self._identify(spec, family, extra)
            self._begin()
            self._robots = journal.RobotsLog(self._store)
        except (OSError, Unreadable) as error:
            self.close()
            logs = f"{journal.FILE} or {journal.ROBOTS_FILE} is no file"
            raise wrong(
                f"that can be written to: {reason(error) if isinstance(error, OSError) else logs}"
            ) from None
        except BaseException:
            self.close()
            raise

    @property
    def path(self) -> Path:
        """The folder."""
        return self._store.path

    def _identify(self, spec: RunSpec, family: str, extra: Mapping[str, Any]) -> str:
        """Return the identity in the manifest; a missing manifest is written first."""
        try:
            kept = self._store.read_manifest()
        except FileNotFoundError:
            salt = os.urandom(16).hex()
            made = {"format": FORMAT, "identity": uuid.uuid4().hex, "package": __version__, "salt": salt}
            self._store.write_manifest(made | {"call": described(spec, family, extra, salt)})
            return str(made["identity"])
        except (Unreadable, OSError, ValueError, RecursionError):
            kept = None
        try:
            known, salt, identity = kept["call"], kept["salt"], kept["identity"]
            good = kept["format"] == FORMAT and bytes.fromhex(salt) and isinstance(known, dict)
        except (ValueError, KeyError, TypeError):
            good = False
        if not good or not isinstance(identity, str):
            raise wrong(f"whose {MANIFEST} can be read, and was written by this version of webanalytics")
        compare(known, json.loads(json.dumps(described(spec, family, extra, salt))))
        return identity

    def before_rows(self) -> None:
        """Write what the run has read of robots.txt: rows of its hosts are written or removed next."""
        try:
            self._robots.write()
        except OSError as error:
            raise WriteError.at("store", "a folder that can be written to", error) from None

    def _begin(self) -> None:
        self._store.sweep(("part",))
        self._parts = sorted(self._store.parts(), key=number_of)
        self._next = 1 + max(map(number_of, self._parts), default=0)
        self.journal = journal.Journal(self._store, lambda: self._next)

    def _claim(self) -> None:
        links = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        handle = os.open(self._store.path / ".lock", os.O_RDWR | os.O_CREAT | links, 0o666)
        self._lock = os.fdopen(handle, "wb", buffering=0)
        if not claim(self._lock, LOCK_SECONDS):
            raise wrong("that no other run is using")

    def restore(
        self, jobs: Sequence[Job], is_kept: Callable[[int], bool] = lambda _: False, *, failed_again: bool
    ) -> tuple[list[JobResult], list[Job]]:
        """Return the answers that are kept, and the jobs that are still to be done."""
        keys = {digest(job.subject): job.number for job in jobs if not is_kept(job.number)}
        self.premium_missing.clear()
        kept: dict[tuple[int, int], JobResult | None] = {}
        for key, place, answer in self._answers(failed_again=failed_again):
            number = keys.get(key)
            if number is not None:
                kept[number, place] = None if answer is None else replace(answer, number=number)
        names = {operation.name: place for place, operation in enumerate(self._operations)}
        for number, operation in self.journal.begin(jobs, keys):
            if operation in names:
                kept[number, names[operation]] = None
        answers = [answer for answer in kept.values() if answer is not None]
        done: dict[int, set[int]] = {}
        for answer in answers:
            done.setdefault(answer.number, set()).add(answer.position or 0)
        self.forget(digest(job.subject) for job in jobs if is_kept(job.number))
        left = []
        for job in jobs:
            if is_kept(job.number):
                continue
            places = range(len(self._operations))
            wanted = tuple(place for place in places if place not in done.get(job.number, ()))
            if wanted:
                left.append(job if len(wanted) == len(places) else replace(job, wanted=wanted))
        return answers, left

    def restore_all(self, *, failed_again: bool) -> dict[str, dict[int, JobResult]]:
        """Return all answers that are kept, by the digest of their input and the place of their operation."""
        self.premium_missing.clear()
        kept: dict[str, dict[int, JobResult]] = {}
        for key, place, answer in self._answers(failed_again=failed_again):
            if answer is None:
                kept.get(key, {}).pop(place, None)
            else:
                kept.setdefault(key, {})[place] = answer
        return kept

    def _answers(self, *, failed_again: bool) -> Iterator[tuple[str, int, JobResult | None]]:
        """Yield each answer with the digest of its input and its operation's place; None to ask again."""
        places = {operation.name: place for place, operation in enumerate(self._operations)}
        for name in self._parts:
            try:
                for row in rows_of(self._store, name):
                    self.journal.saw(row, number_of(name))
                    self._note(name, row["key"])
                    place = places.get(row["operation"])
                    if place is not None and row["key"] is not None:
                        again = failed_again and row["error"] is not None
                        yield row["key"], place, None if again else self._restored(-1, place, row)
            except (Unreadable, OSError):
                raise wrong(
                    f"whose parts can be read, and {name} cannot; without it its rows are done again"
                ) from None

    def _restored(self, number: int, place: int, row: Mapping[str, Any]) -> JobResult:
        operation = self._operations[place]
        outcome = outcome_of(row)
        outcomes: Sequence[Outcome] = (outcome,)
        if outcome.error is None and outcome.data is not None:
            absent = {field.name for field in operation.fields if field.premium} - outcome.data.keys()
            self.premium_missing |= absent
            if operation.kind == "page":
                outcomes = PackedOutcomes(PackedOutcomes.pack([outcome.data]))
        return JobResult(number, outcomes, fetched_of(row["fetched"]), place)

    def take(self, answers: Sequence[JobResult], jobs: Sequence[Job] | Mapping[int, Job]) -> None:
        """Take answers, which are written with the next part or when the checkpoint is closed."""
        self._waiting.extend((digest(jobs[answer.number].subject), answer) for answer in answers)

    def _note(self, part: str, key: str | None) -> None:
        if self._keys_of is not None and key is not None:
            self._keys_of.setdefault(part, set()).add(key)

    def forget(self, inputs: Iterable[str]) -> None:
        """Forget the answers of inputs that are kept elsewhere; parts with no others are removed."""
        keys = set(inputs)
        if self._keys_of is None or not keys:
            return
        self._waiting = [item for item in self._waiting if item[0] not in keys]
        for part, known in list(self._keys_of.items()):
            known -= keys
            if not known:
                del self._keys_of[part]
                self._store.remove(part)

    async def write(self, *, at_once: bool) -> None:
        """Write what has been taken: before this returns, or soon if that is enough."""
        due = time.monotonic() - self._written >= WRITE_SECONDS or len(self._waiting) >= WRITE_ANSWERS
        if self._waiting and (at_once or due):
            waiting, self._waiting = self._waiting, []
            self._writing = asyncio.create_task(asyncio.to_thread(self._write, waiting))
            await asyncio.shield(self._writing)

    def _lines(self, key: str, answer: JobResult) -> Iterator[dict[str, Any]]:
        for place, outcome in enumerate((*answer.outcomes, *(answer.apart or ()))):
            if outcome.error_type not in NOT_DONE:
                operation = self._operations[place if answer.position is None else answer.position]
                yield row_of(key, operation.name, outcome, answer.fetched if place == 0 else None)

    def _write(self, waiting: Sequence[tuple[str, JobResult]]) -> None:
        self._written = time.monotonic()
        rows = [line for key, answer in waiting for line in self._lines(key, answer)]
        if not rows:
            return
        for tries in range(TRIES, 0, -1):
            try:
                self._robots.write()  # first: what has its rows in a part is not asked again
                name = self._store.write_part(f"part-{self._next:06}", table(rows))
                break
            except OSError as error:
                if not shortage_of(error) or tries == 1:  # of file descriptors there may soon be more
                    self._waiting[:0] = waiting  # once more when the folder is closed
                    raise WriteError.at("store", "a folder that can be written to", error) from None
                time.sleep(TRY_AGAIN_SECONDS)
        if self._keys_of is not None:
            self._keys_of[name] = {row["key"] for row in rows}
        self._next += 1

    async def aclose(self) -> None:
        """Let a part be finished that is being written, and close."""
        if self._writing is not None:
            await asyncio.wait([self._writing])
            error = None if self._writing.cancelled() else self._writing.exception()
            if error is not None and not isinstance(error, WriteError):  # that is raised once more below
                log.warning("finished rows could not be written to the checkpoint: %s", error)
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """Write what is pending, and release the folder."""
        try:
            if self._waiting:
                waiting, self._waiting = self._waiting, []
                self._write(waiting)
        finally:
            if hasattr(self, "journal"):  # not where the folder was refused
                self.journal.close()
            if self._lock is not None:
                self._lock.close()
                self._lock = None
