"""What each sub-command does, for a help that loads none of them."""

from __future__ import annotations

import tomllib
from pathlib import Path

FILE = Path(__file__).with_suffix(".toml")
SUMMARIES: dict[str, str] = tomllib.loads(FILE.read_text("utf-8"))
