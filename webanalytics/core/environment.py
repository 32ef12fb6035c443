"""Whether a notebook runs this process: for progress bars, and before prompting for a key."""

from __future__ import annotations

import sys
from typing import Any


def kernel() -> Any:
    """Return the notebook kernel that runs this process, None outside of notebooks; imports nothing."""
    shell = sys.modules.get("IPython")
    ipython = shell.get_ipython() if shell is not None else None
    return getattr(ipython, "kernel", None)


def somebody_can_answer() -> bool:
    """Return whether a question would be seen: at a terminal, or in a notebook that is not just executed."""
    running = kernel()
    if running is not None:
        return bool(getattr(running, "_allow_stdin", True))  # False where nbclient executes the notebook
    return sys.stdin is not None and sys.stdin.isatty()
