"""Files of which any span can be asked for: those elsewhere, and those that are examined as they are read."""

from __future__ import annotations

import io
import os
from abc import abstractmethod
from typing import Any


class Spans(io.RawIOBase):
    """A file for reading, made of its spans.

    Parameters
    ----------
    size : int
        Its bytes.
    """

    def __init__(self, size: int) -> None:
        self._size, self._position = size, 0

    @abstractmethod
    def span(self, start: int, end: int) -> bytes | memoryview:
        """Return the bytes from one place to another, or fewer of them, at least one."""

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place, and return it."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = max(0, start + offset)
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, and return how many bytes."""
        end = min(self._size, self._position + len(buffer))
        if end <= self._position:
            return 0
        content = self.span(self._position, end)
        buffer[: len(content)] = content
        self._position += len(content)
        return len(content)
