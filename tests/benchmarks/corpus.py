"""The saved pages, and textstat without a network, for benchmarks."""

from __future__ import annotations

import gzip
import os
import sys
import tempfile
import zipfile
from pathlib import Path


def corpus_pages() -> dict[str, bytes]:
    """Return the saved pages, name to bytes."""
    folder = os.environ.get("WEBANALYTICS_CORPUS")
    if not folder:
        sys.exit("WEBANALYTICS_CORPUS must name the folder of the saved pages")
    with zipfile.ZipFile(Path(folder) / "pages.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def folder_pages(folder: str) -> dict[str, bytes]:
    """Return the saved pages of any folder, name to bytes; packed ones unpacked."""
    pages = {path.name: path.read_bytes() for path in sorted(Path(folder).glob("*.htm*"))}
    pages |= {name: gzip.decompress(page) for name, page in pages.items() if name.endswith(".gz")}
    return pages or sys.exit(f"{folder} has no .html files")


def offline_textstat() -> None:
    """Give textstat the pronouncing dictionary in NLTK's format, so that it asks no network."""
    import nltk

    from webanalytics.page.readability.syllables import pronouncing_dictionary

    folder = Path(tempfile.mkdtemp())
    target = folder / "corpora" / "cmudict"
    target.mkdir(parents=True)
    for made in (folder, folder / "corpora", target):
        made.chmod(0o700)  # NLTK refuses folders that others may write to
    words = pronouncing_dictionary().items()
    lines = (f"{word.upper()} 1 {' '.join(['AH0'] * count or ['M'])}\n" for word, count in words)
    (target / "cmudict").write_text("".join(lines), "utf-8")
    (target / "cmudict").chmod(0o600)
    nltk.data.path = [str(folder)]
