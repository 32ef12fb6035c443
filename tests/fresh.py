"""Code in an interpreter of its own: what is loaded there, and what it prints."""

from __future__ import annotations

import subprocess
import sys


def printed(code: str) -> str:
    """Return what code prints in a new interpreter; it must not fail."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
