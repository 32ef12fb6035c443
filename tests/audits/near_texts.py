"""Near duplicates among texts, for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Iterable

from webanalytics.audits.content.duplicates import MINIMUM_WORDS, THRESHOLD, NearDuplicates
from webanalytics.audits.content.words import read_texts


def near_duplicates(
    texts: Iterable[str | None], threshold: float = THRESHOLD, minimum_words: int = MINIMUM_WORDS
) -> list[int | None]:
    """Return the cluster of near duplicates of each text: the position of its first one, None for none."""
    found = NearDuplicates(threshold, minimum_words)
    for text in texts:
        found.add(read_texts([(text, frozenset(), None)])[0].hashes if text else None)
    return found.clusters()
