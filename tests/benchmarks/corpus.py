"""The saved pages, and textstat without a network, for benchmarks."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path


def corpus_pages() -> dict[str, bytes]:
    """Return the saved pages, name to bytes."""
    folder = os.environ.get("WEBANALYTICS_CORPUS")
    if not folder:
        sys.exit("WEBANALYTICS_CORPUS must name the folder of the saved pages")
    with zipfile.ZipFile(Path(folder) / "pages.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}
