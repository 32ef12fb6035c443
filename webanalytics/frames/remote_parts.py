"""What workers of a cluster do with parts: results become rows where they are made, small parts larger ones.

Both are values that travel to a worker, are called there, and send back where the rows are. `runs.remote`
makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from webanalytics.errors import WriteError
from webanalytics.frames.arrow import Unreadable, declared
from webanalytics.frames.bounded import batches_within
from webanalytics.frames.build import FrameBuilder
from webanalytics.frames.inputs import Rows
from webanalytics.frames.parts import FRAME_ROWS, PART, READ_AT_ONCE, joined, table_of_rows
from webanalytics.frames.remote_store import store_at
from webanalytics.frames.store import DamagedPartError, Folder
from webanalytics.operations import DECLARED
from webanalytics.outcomes import Job, JobResult, KeptRow


@dataclass(frozen=True, repr=False)
class KeepRows:
    """Writes the results of a chunk as a part.

    Attributes
    ----------
    place : Path or str
        The folder.
    operations : tuple of str
        Names of the operations of the run.
    lay : callable
        Makes the rows that are kept.
    name : str
        Name of the part.
    inputs : Mapping
        By number of a job, the digest of its input and what the input column shows.
    """

    place: Folder
    operations: tuple[str, ...]
    lay: Callable[[pd.DataFrame], pd.DataFrame]
    name: str
    inputs: Mapping[int, tuple[str, str | None]]

    def __call__(self, results: Sequence[JobResult]) -> Sequence[JobResult]:
        """Write the rows of results, and return where they are."""
        if not results:
            return ()
        keys, labels = zip(*(self.inputs[result.number] for result in results), strict=True)
        every = range(len(results))
        rows = Rows(pd.RangeIndex(len(results)), list(labels), [Job(n, None) for n in every], np.array(every))
        builder = FrameBuilder(rows, tuple(DECLARED[name] for name in self.operations))
        for number, result in enumerate(results):
            builder.add(replace(result, number=number))
        named = "audit" if len(self.operations) > 1 else self.operations[0]
        table = table_of_rows(self.lay(builder.frame()), keys, declared(named))
        sha256 = write_part(self.place, self.name, table)
        return [
            JobResult(result.number, (), kept=KeptRow(self.name, row, sha256))
            for row, result in enumerate(results)
        ]


class Source(NamedTuple):
    """A part that is to be joined: the places of the rows that count, and the numbers of their jobs.

    Its digest is known where this run has written it. Of such a part it is enough that it is that one; of
    others the size is bounded as of any file.
    """

    name: str
    sha256: str | None
    rows: Sequence[int]
    numbers: Sequence[int]


@dataclass(frozen=True, repr=False)
class JoinParts:
    """Writes rows of several parts as one, or as a few where their columns are of different types.

    Attributes
    ----------
    place : Path or str
        The folder.
    name : str
        How the names of the parts begin.
    sources : sequence of Source
        The parts.
    """

    place: Folder
    name: str
    sources: Sequence[Source]

    def __call__(self, results: Sequence[JobResult]) -> Sequence[JobResult]:  # noqa: ARG002 - there are none
        """Write the rows of the parts, and return where they are."""
        numbers = (number for source in self.sources for number in source.numbers)
        made: list[JobResult] = []
        with ThreadPoolExecutor(READ_AT_ONCE) as threads:
            tables = list(threads.map(self._rows, self.sources))
        for count, table in enumerate(joined(tables)):
            name = f"{self.name}{count:02x}.parquet"
            sha256 = write_part(self.place, name, table)
            kept = [KeptRow(name, row, sha256) for row in range(table.num_rows)]
            made += [JobResult(next(numbers), (), kept=row) for row in kept]
        return made

    def _rows(self, source: Source) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as parquet

        try:
            with store_at(self.place, "", PART).opened_part(source.name, source.sha256) as (file, room):
                if source.sha256 is not None:
                    table = parquet.ParquetFile(file).read()
                else:
                    table = pa.Table.from_batches(batches_within(file, FRAME_ROWS, room))
        except Unreadable:
            raise DamagedPartError(self.place, source.name, "save_to") from None
        return table if len(source.rows) == table.num_rows else table.take(pa.array(source.rows))


def write_part(place: Folder, name: str, table: Any) -> str:
    """Write a part and return its SHA-256; raises `WriteError` where that fails."""
    try:
        return store_at(place, "", PART).write_part(name, table)[1]
    except OSError as error:
        raise WriteError.at("save_to", "an address that every worker can write to", error) from None
