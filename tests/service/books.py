"""The commands on accounts on a database in memory: no threads, no disk, no waiting."""

from __future__ import annotations

import sqlite3
from typing import Any

from tests.service.account_stores import PLANS, moment
from webanalytics.service.accounts.base import Key
from webanalytics.service.accounts.keys import Commands
from webanalytics.service.accounts.schema import for_sqlite, migrate

START = moment("2026-11-21T05:00")


class Books:
    """A database in memory and the commands of one process on it, by a clock that the test turns."""

    def __init__(self, **rules: Any) -> None:
        self.database = sqlite3.connect(":memory:", isolation_level=None)
        self.rules = Commands(PLANS, **rules)
        self.now = START
        self.said: list[str] = []
        self._drive(migrate("sqlite"))

    def _drive(self, steps: Any) -> Any:
        rows = None
        try:
            while True:
                statement, parameters = steps.send(rows)
                self.said.append(statement)
                rows = self.database.execute(for_sqlite(statement), parameters).fetchall()
        except StopIteration as stop:
            return stop.value

    def do(self, command: str, *arguments: Any) -> Any:
        """Run a command; what it said to the database is in `said`."""
        self.said = []
        return self._drive(getattr(self.rules, command)(self.now, *arguments))

    def rows(self, statement: str) -> list[Any]:
        return self.database.execute(statement).fetchall()

    def key(self, account: str | None = None, plan: str = "small") -> Key:
        return self.do("create_key", account, plan, None, (), None)[1]

    def spoke_of(self, table: str) -> int:
        """How many statements of the last command were about a table."""
        return sum(table in statement for statement in self.said)

    def frees(self) -> bool:
        """Whether the last command looked for overdue holds: costly, and not for nothing."""
        return any(statement.startswith("DELETE FROM reservations WHERE account") for statement in self.said)
