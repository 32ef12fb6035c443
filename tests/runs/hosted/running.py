"""What tests of runs share: accounts with their ledger, calls of every function, and equal frames."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PIL import Image

import webanalytics as wa
from tests.answers import rows_of
from tests.served import served
from tests.service.live import Server
from webanalytics.core.outcomes import Job, JobResult
from webanalytics.fetching.testing import Reply
from webanalytics.runs.backends.base import Task
from webanalytics.runs.backends.hosted import Hosted
from webanalytics.runs.backends.local import LocalBackend
from webanalytics.runs.storage.lazy_columns import held

VOLATILE = ("elapsed", "fetched_at", "id", "expires", "downloadURL")
"""Columns that differ from run to run."""

PRICES = {
    "metadata": 2, "text": 10, "readability": 10, "keywords": 10, "audit": 32,
    "hmac": 2, "dane": 2, "phones": 1, "convert": 5,
}  # fmt: skip
"""Credits of a row, as the service's documentation has them."""


@dataclass(frozen=True)
class Account:
    """An account of a service, seen through its database."""

    database: str
    key: str
    number: int

    @classmethod
    def new(cls, server: Server, balance: int | None = None, plan: str = "pro") -> Account:
        """Open an account, with so many credits where the number is given."""
        key = server.key(plan=plan)
        made = cls(server.database, key, 0)
        ((number,),) = made._ask("SELECT account FROM keys ORDER BY id DESC LIMIT 1")
        account = cls(server.database, key, number)
        if balance is not None:
            account._ask(f"UPDATE accounts SET balance = {balance}, bonus = 0 WHERE id = {number}")
        return account

    @property
    def charged(self) -> int:
        """Credits that the ledger says were charged."""
        query = (
            f"SELECT coalesce(-sum(delta), 0) FROM ledger WHERE account = {self.number} AND kind = 'charge'"
        )
        return int(self._ask(query)[0][0])

    @property
    def held(self) -> int:
        """Credits that are held for calls under way."""
        return int(self._ask(f"SELECT held FROM accounts WHERE id = {self.number}")[0][0])

    @property
    def left(self) -> int:
        return int(self._ask(f"SELECT balance - held FROM accounts WHERE id = {self.number}")[0][0])

    def _ask(self, statement: str) -> list[Any]:
        path = self.database.removeprefix("sqlite:///")
        with closing(sqlite3.connect(path, timeout=20)) as database, database:
            return database.execute(statement).fetchall()


def page(name: str) -> bytes:
    words = f"The keeper of lantern {name} walks up the stairs and writes a letter to her sister. " * 6
    return f"<html lang=en><title>Page {name}</title><h1>{name}</h1><p>{words}</p>".encode()


PAGES: Mapping[str, bytes | Reply] = {
    **{f"/p{number}": page(str(number)) for number in range(12)},
    "/gone": Reply(410, {}, b"<p>gone"),
}


def picture(number: int) -> bytes:
    file = io.BytesIO()
    Image.linear_gradient("L").resize((20 + number, 12)).save(file, "png")
    return file.getvalue()


def record(number: int) -> str:
    return f"_{number}._tcp.example.org. 3600 IN TLSA 3 1 1 {number:064x}"


@dataclass(frozen=True)
class Call:
    """A function, and as many good inputs for it as are wanted, and one that fails."""

    name: str
    make: Callable[[str, int], Any]
    bad: Callable[[str], Any]
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name

    def inputs(self, site: str, count: int) -> list[Any]:
        """Good inputs, and the bad one in the second place."""
        good = [self.make(site, number) for number in range(count - 1)]
        return [good[0], self.bad(site), *good[1:]]

    def __call__(self, inputs: Any, **more: Any) -> pd.DataFrame:
        function = getattr(wa, self.name)
        given = {**self.arguments, "progress": False, "allow_private": True} | more
        return rows_of(function(inputs, **served(function, given)))


CALLS = [
    *(
        Call(name, lambda site, number: f"{site}/p{number}", lambda site: f"{site}/gone")
        for name in ("metadata", "text", "readability", "keywords", "audit")
    ),
    Call("hmac", lambda _, number: f"message {number}", lambda _: "\ud800", {"secret": "the hush-hush key"}),
    Call("dane", lambda _, number: record(number + 1), lambda _: "no record"),
    Call("phones", lambda _, number: f"+1208581{3945 + number}", lambda _: "+1"),
    Call("convert", lambda _, number: picture(number), lambda _: b"no image", {"output_format": "webp"}),
]
HMAC = next(call for call in CALLS if call.name == "hmac")


def same(got: wa.Audit | pd.DataFrame, expected: wa.Audit | pd.DataFrame) -> None:
    """Assert that two frames are equal but for what differs from run to run."""
    got, expected = rows_of(got), rows_of(expected)
    drop = [name for name in VOLATILE if name in expected.columns]
    equal(got.drop(columns=drop), expected.drop(columns=drop))


def equal(got: pd.DataFrame, expected: pd.DataFrame, **options: Any) -> None:
    """Assert that two frames are equal, whether their columns are in memory or in a folder."""
    pd.testing.assert_frame_equal(pd.DataFrame(held(got)), pd.DataFrame(held(expected)), **options)


@dataclass
class Watch:
    """What backends were asked, and a way to end their runs."""

    jobs: list[Job] = field(default_factory=list)
    groups: int = 0
    per_job: int = 1
    after: Callable[[int], None] = lambda groups: None

    @property
    def work(self) -> int:
        """Answers that are asked for; an audit's job may want four."""
        return sum(self.per_job if job.wanted is None else len(job.wanted) for job in self.jobs)

    @property
    def subjects(self) -> list[Any]:
        return [job.subject for job in self.jobs]

    def begin(self) -> None:
        """Forget what has been seen."""
        self.jobs, self.groups, self.after = [], 0, lambda groups: None


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    """See every job that a backend is given."""
    seen = Watch()
    for kind in (LocalBackend, Hosted):
        real = kind.run

        async def run(
            self: Any, task: Task, jobs: Sequence[Job], real: Any = real
        ) -> AsyncGenerator[Sequence[JobResult], None]:
            seen.jobs.extend(jobs)
            seen.per_job = len(task.operations)
            async with aclosing(real(self, task, jobs)) as groups:
                async for group in groups:
                    yield group
                    seen.groups += 1
                    seen.after(seen.groups)

        monkeypatch.setattr(kind, "run", run)
    yield seen


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*.parquet"))
