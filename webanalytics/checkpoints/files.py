"""Files of a checkpoint: written whole or not at all, and read only where they are what they seem."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from webanalytics.errors import ParameterError


def wrong(what: str) -> ParameterError:
    """Return the error about a folder that cannot be this call's checkpoint."""
    return ParameterError(f"The `checkpoint` parameter must be a folder {what}.", "checkpoint")


def text_of(path: Path) -> str:
    """Return the text of a file, and of nothing that only looks like one."""
    if path.is_symlink() or not path.is_file():
        raise ValueError
    return path.read_text("utf-8")


def write_whole(path: Path, content: Any) -> None:
    """Write a file so that after a crash it is whole or not there."""
    temporary = path.with_name(f".{path.stem}-{os.getpid()}.tmp")
    temporary.unlink(missing_ok=True)
    with temporary.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    with suppress(OSError):  # not every system can flush a folder
        handle = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
