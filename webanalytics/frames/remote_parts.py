"""What workers of a cluster do with parts: results become rows where they are made, small parts larger ones.

Both are values that travel to a worker, are called there, and send back where the rows are. `runs.remote`
makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from webanalytics.errors import WriteError
from webanalytics.frames.arrow import declared
from webanalytics.frames.bounded import batches_within
from webanalytics.frames.build import FrameBuilder
from webanalytics.frames.inputs import Rows
from webanalytics.frames.parts import FRAME_ROWS, PART, READ_AT_ONCE, joined, table_of_rows
from webanalytics.frames.remote_store import store_at
from webanalytics.frames.store import Folder
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
        write_part(self.place, self.name, table)
        return [
            JobResult(result.number, (), kept=KeptRow(self.name, row)) for row, result in enumerate(results)
        ]


@dataclass(frozen=True, repr=False)
class JoinParts:
    """Writes rows of several parts as one, or as a few where their columns are of different types.

    Attributes
    ----------
    place : Path or str
        The folder.
    name : str
        How the names of the parts begin.
    sources : sequence
        Of each part its name, and the places and job numbers of the rows that count.
    """

    place: Folder
    name: str
    sources: Sequence[tuple[str, Sequence[int], Sequence[int]]]

    def __call__(self, results: Sequence[JobResult]) -> Sequence[JobResult]:  # noqa: ARG002 - there are none
        """Write the rows of the parts, and return where they are."""
        numbers = (number for _, _, own in self.sources for number in own)
        made: list[JobResult] = []
        with ThreadPoolExecutor(READ_AT_ONCE) as threads:
            tables = list(threads.map(self._rows, self.sources))
        for count, table in enumerate(joined(tables)):
            name = f"{self.name}{count:02x}.parquet"
            write_part(self.place, name, table)
            kept = [KeptRow(name, row) for row in range(table.num_rows)]
            made += [JobResult(next(numbers), (), kept=row) for row in kept]
        return made

    def _rows(self, source: tuple[str, Sequence[int], Sequence[int]]) -> Any:
        import pyarrow as pa

        name, rows, _ = source
        with store_at(self.place, "", PART).opened_part(name) as (file, room):
            table = pa.Table.from_batches(batches_within(file, FRAME_ROWS, room))
        return table if len(rows) == table.num_rows else table.take(pa.array(rows))


def write_part(place: Folder, name: str, table: Any) -> None:
    """Write a part; raises `WriteError` where that fails."""
    try:
        store_at(place, "", PART).write_part(name, table)
    except OSError as error:
        raise WriteError.at("save_to", "an address that every worker can write to", error) from None
