"""Keys in memory, so that a warm key costs no look at the database."""

from __future__ import annotations

from collections.abc import Awaitable

from webanalytics.service.accounts.base import Key

MOST_KEYS = 10_000
"""Most keys in memory; unknown ones are never kept."""


class KeyCache:
    """The keys found since the last change of any key.

    Whoever changes keys clears the cache before saying so; a look-up that was under way during a
    change is not kept, for it may have seen the state before.

    Parameters
    ----------
    most : int
        Most keys kept; the oldest give way.
    """

    def __init__(self, most: int = MOST_KEYS) -> None:
        self._most = most
        self._keys: dict[bytes, Key] = {}
        self._changes = 0

    def get(self, digest: bytes) -> Key | None:
        """Return a key that is in memory."""
        return self._keys.get(digest)

    async def fill(self, digest: bytes, looking_up: Awaitable[Key | None]) -> Key | None:
        """Await a look-up, keep what it finds and return it."""
        changes = self._changes
        key = await looking_up
        if key is not None and changes == self._changes:
            if len(self._keys) >= self._most:
                del self._keys[next(iter(self._keys))]
            self._keys[digest] = key
        return key

    def clear(self) -> None:
        """Forget all keys."""
        self._keys.clear()
        self._changes += 1
