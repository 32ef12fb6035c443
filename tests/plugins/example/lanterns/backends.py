"""Backends: one that has all of the protocol, and one that has `run` alone."""

from __future__ import annotations

from typing import Any

from webanalytics.runs.backends.local import LocalBackend

here = LocalBackend()


class Lighthouse:
    """Answers on this machine, whole lists alone."""

    name, family, priced, durable = "lighthouse", "local", False, False
    serves, price, check = here.serves, here.price, here.check
    waves: list[int] = []

    def run(self, task: Any, jobs: Any) -> Any:
        self.waves.append(len(jobs))
        return here.run(task, jobs)


class Broken:
    """Cannot be made."""

    def __init__(self) -> None:
        raise OSError("no oil")
