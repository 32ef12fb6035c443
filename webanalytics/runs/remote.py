"""Runs whose rows are kept at an address of fsspec, where workers of a cluster write them themselves.

`runs.run` uses both classes in place of those of a folder on this machine. Nothing of a page comes back from
a worker: where its row is, is all that is known here, and the parts are all that a later run has to know.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from webanalytics.backends.base import Keep, RunSpec
from webanalytics.errors import WriteError, reason
from webanalytics.frames.inputs import Rows
from webanalytics.frames.parts import PART, PART_ROWS, RowParts, joined, order_of
from webanalytics.frames.remote_parts import JoinParts, KeepRows, Source, write_part
from webanalytics.frames.remote_store import place_of, store_at
from webanalytics.frames.store import DamagedPartError, Folder, is_address, refusal
from webanalytics.operations import Operation
from webanalytics.outcomes import Job, JobResult, digest
from webanalytics.runs import claims
from webanalytics.runs.checkpoints import NOT_DONE, RunFolder, about_save_to, open_checkpoint
from webanalytics.runs.checkpoints.run_folder import MANIFEST
from webanalytics.runs.saving import Lay, SavingBuilder

JOIN_ROWS = PART_ROWS
"""Rows from which on small parts are joined."""


class RemoteRun(RunFolder):
    """What a run at an address keeps besides its rows: the call that made it, and its robots.txt.

    Answers are not kept: what has no row in a part is done again.

    Raises
    ------
    ParameterError
        For an address that cannot be used, and one of another call.
    """

    journal = None

    def __init__(self, address: str, spec: RunSpec, family: str, extra: Mapping[str, Any]) -> None:
        self._held: claims.Claim | None = None
        store = store_at(place_of(address, "save_to", "keeping rows"), MANIFEST, PART)
        super().__init__(store, spec, family, {**extra, "save_to": True})

    def _claim(self) -> None:
        """Write a claim, which other runs see."""
        self._held = claims.Claim(self._store)
        self._held.take()

    def before_rows(self) -> None:
        """Also raise `WriteError` if another run has the address now."""
        if self._held is not None:
            self._held.check(anew=True)
        super().before_rows()

    def restore(
        self,
        jobs: Sequence[Job],
        is_kept: Callable[[int], bool] = lambda _: False,
        *,
        failed_again: bool,  # noqa: ARG002 - the builder knows
    ) -> tuple[list[JobResult], list[Job]]:
        """Return no answers, and the jobs that have no row."""
        return [], [job for job in jobs if not is_kept(job.number)]

    def restore_all(self, *, failed_again: bool) -> dict[str, dict[int, JobResult]]:  # noqa: ARG002
        """Return no answers."""
        return {}

    def take(self, answers: Sequence[JobResult], jobs: Any) -> None:
        """Keep nothing: rows are."""

    async def write(self, *, at_once: bool) -> None:  # noqa: ARG002 - nothing waits
        """Write nothing; raise `WriteError` if another run was seen to have the address now."""
        if self._held is not None:
            self._held.check(anew=False)

    def forget(self, inputs: Iterable[str]) -> None:
        """Forget nothing."""

    async def aclose(self) -> None:
        """Write the robots.txt that were read."""
        try:
            await asyncio.to_thread(self.before_rows)
        finally:
            self.close()

    def close(self) -> None:
        """Remove the claim."""
        if self._held is not None:
            self._held.release()


def open_run(options: Mapping[str, Any], spec: RunSpec, family: str, extra: Mapping[str, Any]) -> RunFolder:
    """Open the folder of `checkpoint`, or that or the address of `save_to`; see `RunFolder` for errors."""
    place = options["save_to"]
    if not is_address(place):
        return open_checkpoint(options, spec, family, extra)
    with about_save_to():
        return RemoteRun(place, spec, family, extra)


class RemoteBuilder(SavingBuilder):
    """Knows where the rows of a run are that workers write, has them joined, and makes a frame over them.

    It is the `Keeper` of a backend. Results that come whole, as those of this machine do, it writes itself.

    Parameters
    ----------
    rows, operations, lay, failed_again
        As for `SavingBuilder`.
    place : Path or str
        The folder.
    """

    def __init__(
        self, rows: Rows, operations: tuple[Operation, ...], place: Folder, lay: Lay, *, failed_again: bool
    ) -> None:
        self._sign = secrets.token_hex(4)  # two runs at once never write a part of one name
        self._store = store_at(place, "", PART)
        self._place = place
        self._names: dict[str, int] = {}
        self._owners = np.full(len(rows.jobs), -1, dtype=np.int32)
        self._rows_in = np.zeros(len(rows.jobs), dtype=np.int32)
        self._small: dict[str, list[int]] = {}
        self._digests: dict[str, str] = {}
        self._needless: list[str] = []
        self._first, self._is_reached = "", False
        super().__init__(rows, operations, place, lay, failed_again=failed_again)
        self._numbers = itertools.count(1 + max((order_of(name)[0] for name in self.parts.names), default=0))

    def _restore(self, failed_again: bool) -> None:
        """Find out which inputs are finished, and which parts have no row that counts or can be joined."""
        if not len(self.parts):
            return
        numbers = {digest(job.subject): job.number for job in self.rows.jobs}
        last: dict[str | None, int] = {}
        for place, (key, status, kind) in enumerate(self.parts.inputs()):
            last[key] = place
            number = numbers.get(key or "")
            if number is not None:
                again = kind in NOT_DONE or (failed_again and status != "ok")
                self._places[number] = -1 if again else place
        starts, names = self.parts.starts, self.parts.names
        found = np.flatnonzero(self._places >= 0)
        owners = np.searchsorted(starts, self._places[found], side="right") - 1
        for number, owner in zip(found.tolist(), owners.tolist(), strict=True):
            self._note(number, names[owner], int(self._places[number] - starts[owner]))
        places = np.fromiter(last.values(), np.int64, len(last))
        counting = Counter((np.searchsorted(starts, places, side="right") - 1).tolist())
        self._needless = [name for owner, name in enumerate(names) if not counting[owner]]
        sizes = np.diff(np.append(starts, len(self.parts)))
        for owner, name in enumerate(names):
            mine = found[owners == owner]
            # a part with rows of other inputs, or of some to be done again, stays as it is
            if sizes[owner] < JOIN_ROWS and len(mine) == counting[owner] > 0:
                self._small[name] = sorted(mine.tolist(), key=self._rows_in.__getitem__)

    # ---------------------------------------------------------------- for the backend: see `Keeper`

    def keep(self, jobs: Sequence[Job]) -> Keep:
        """Return what a worker shall do with the results of jobs."""
        names = tuple(operation.name for operation in self.operations)
        inputs = {}
        for job in jobs:
            label = self.rows.labels[int(self._first_rows[job.number])]
            inputs[job.number] = digest(self.rows.jobs[job.number].subject), label
        return KeepRows(self._place, names, self._lay, f"{self._stem()}.parquet", inputs)

    def join(self, *, last: bool) -> Keep | None:
        """Return the joining of small parts, if there are enough of them or the run ends."""
        count = sum(map(len, self._small.values()))
        if count < JOIN_ROWS and not (last and len(self._small) > 1):
            return None
        sources = []
        count = 0
        for name in list(itertools.islice(self._small, JOIN_ROWS)):
            own = self._small.pop(name)
            sources.append(Source(name, self._digests.pop(name, None), self._rows_in[own].tolist(), own))
            count += len(own)
            if count >= JOIN_ROWS:
                break
        return JoinParts(self._place, self._stem(), sources)

    def joined(self, work: Keep, results: Sequence[JobResult] | None) -> None:
        """Note where the rows of joined parts are now; without results they are where they were."""
        if results is None or not isinstance(work, JoinParts):
            return
        for result in results:
            if result.kept is not None:
                self._note(result.number, result.kept.part, result.kept.row)
        self._needless += [source.name for source in work.sources]

    def _stem(self) -> str:
        return f"rows-{next(self._numbers):06}-{self._sign}"

    # ---------------------------------------------------------------- rows as they are finished

    def add(self, answer: JobResult) -> bool:
        """Note where a row is, or keep an answer until its row is in a part."""
        if answer.kept is None:
            return super().add(answer)
        self._note(answer.number, answer.kept.part, answer.kept.row)
        self._small.setdefault(answer.kept.part, []).append(answer.number)
        self._digests[answer.kept.part] = answer.kept.sha256
        self._first = self._first or answer.kept.part
        return True

    def _note(self, number: int, part: str, row: int) -> None:
        self._owners[number] = self._names.setdefault(part, len(self._names))
        self._rows_in[number] = self._places[number] = row

    @property
    def due(self) -> bool:
        """Whether there is something to write or to remove."""
        return super().due or bool(self._needless) or bool(self._first and not self._is_reached)

    def write(self, *, all_of_them: bool = False) -> list[int]:
        """Write what came whole, and remove parts of which no row counts any more."""
        self._reach()
        finished = super().write(all_of_them=all_of_them)
        needless, self._needless = self._needless, []
        if all_of_them and self.done == len(self.rows.jobs):
            needless += self._unknown()
        self._store.remove(*needless)
        return finished

    def _reach(self) -> None:
        """Raise `WriteError` if what the first worker wrote is not found here."""
        if self._is_reached or not self._first:
            return
        if self._first not in self._store.names():
            raise WriteError(
                "The `save_to` parameter must be an address of one place for this machine and all workers: "
                "what a worker wrote there is not found here.",
                "save_to",
            )
        self._is_reached = True

    def _unknown(self) -> list[str]:
        """Return the parts of workers that were killed before they could tell; their rows were done again."""
        used = set(self._used())
        mine = (name for name in self._store.parts() if f"-{self._sign}" in name)
        return [name for name in mine if name not in used]

    def _used(self) -> Iterator[str]:
        """Yield the names of the parts with rows that count."""
        names = list(self._names)
        for owner in np.unique(self._owners[self._owners >= 0]).tolist():
            yield names[owner]

    def _keep_tables(self, numbers: list[int], tables: list[Any]) -> None:
        left = iter(numbers)
        stem = self._stem()
        for count, table in enumerate(joined(tables)):
            name = f"{stem}{count:02x}.parquet"
            write_part(self._place, name, table)
            for row in range(table.num_rows):
                self._note(next(left), name, row)

    # ---------------------------------------------------------------- the frame

    def frame(self) -> Any:
        """Return a frame over the parts, of the inputs whose rows are in them, in input order."""
        names = sorted(self._used(), key=order_of)
        try:
            self.parts = RowParts(self._place, self._name, names)
        except DamagedPartError as error:
            raise error.about("save_to") from None
        except OSError as error:
            raise refusal("save_to", f"whose parts can be read: {reason(error)}") from None
        starts = np.zeros(len(self._names) + 1, dtype=np.int64)
        for name, start in zip(names, self.parts.starts.tolist(), strict=True):
            starts[self._names[name]] = start
        self._places = np.where(self._owners < 0, -1, starts[self._owners] + self._rows_in).astype(np.int32)
        return super().frame()
