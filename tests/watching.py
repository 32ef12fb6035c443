"""Looking at something again and again while a block runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def looking(look: Callable[[], object], every: float) -> Iterator[None]:
    """Call a function every so many seconds, in a thread of its own."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(every):
            look()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
