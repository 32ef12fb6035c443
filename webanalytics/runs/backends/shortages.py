"""What this machine is short of for the moment, such as file descriptors: no fault of a page.

The local backend asks again, with fewer pages at once, and ends the run where nothing helps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from webanalytics.errors import BackendError
from webanalytics.fetching.limits import backoff

PATIENCE_SECONDS = 60.0
"""How long to go on without one page that is answered."""
SHORTEST, LONGEST = 0.1, 2.0
"""Seconds before a page is asked again, doubled from the one to the other."""
EVERY = 1.0
"""Seconds between two reductions: many pages report one shortage."""
MOST_TRIES = 20
"""How often a page may report a shortage while others are answered: then it is about that page."""
SPARE = 2 / 3
"""Share of the free file descriptors that connections may take."""


class ShortageError(Exception):
    """Something that this machine has too little of; ``instead`` is what else the failure could mean."""

    def __init__(self, what: str, instead: Exception | None = None) -> None:
        super().__init__(what)
        self.what, self.instead = what, instead


class Shortages:
    """The shortages of one run.

    Parameters
    ----------
    fewer : callable
        Halves what is done at once.
    note : callable
        Takes a few words that are shown next to the progress bar.
    """

    def __init__(self, fewer: Callable[[], object], note: Callable[[str], None]) -> None:
        self._fewer, self._note = fewer, note
        self._since: float | None = None
        self._reduced = 0.0
        self.answered = 0

    def passed(self) -> None:
        """Note that a page was answered."""
        self._since = None
        self.answered += 1

    async def wait(self, shortage: ShortageError, tries: int) -> None:
        """Do less at once, and wait before a page is asked again.

        Raises
        ------
        BackendError
            If no page was answered for long.
        """
        now = asyncio.get_running_loop().time()
        self._since = now if self._since is None else self._since
        if now - self._since > PATIENCE_SECONDS:
            raise BackendError(
                f"The `concurrency` parameter must be smaller: this machine has no {shortage.what} left "
                "for a single page."
                if shortage.what != NAMES
                else "The name server of this machine must answer: it does not, and no host can be looked up "
                "(a smaller `concurrency` helps where it is overloaded)."
            )
        if now - self._reduced >= EVERY:
            self._reduced = now
            self._fewer()
            self._note(f"waiting for {shortage.what}, and asking for less at once")
        await asyncio.sleep(backoff(tries, SHORTEST, LONGEST))


NAMES = "answer of a name server"


def affordable(concurrency: int) -> int:
    """Return how many connections the process has file descriptors for, at most as many as are wanted."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        used = sum(1 for _ in Path("/dev/fd").iterdir())
    except (ImportError, OSError, ValueError):  # not a POSIX system
        return concurrency
    return concurrency if limit < 0 else max(1, min(concurrency, int((limit - used) * SPARE)))
