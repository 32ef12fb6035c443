"""What a worker imports while a first call does the rest; its file is by `webanalytics.generate`."""

from __future__ import annotations

import json
from pathlib import Path

_WRITTEN = json.loads(Path(__file__).with_suffix(".json").read_bytes())

DECLARED: tuple[str, ...] = tuple(_WRITTEN["declared"])
"""The functions that follow from their declarations alone."""

ANALYSES: dict[str, tuple[str, ...]] = {name: tuple(these) for name, these in _WRITTEN["analyses"].items()}
"""By function, the analyses of pages and images."""
