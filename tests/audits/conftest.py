"""What tests of audits share."""

from __future__ import annotations

import pytest

from webanalytics.audits.content import duplicates


@pytest.fixture
def comparisons(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the exact comparisons of texts that are made."""
    counted = [0]
    compare = duplicates.jaccard

    def counting(first: duplicates.Shingles, second: duplicates.Shingles) -> float:
        counted[0] += 1
        return compare(first, second)

    monkeypatch.setattr(duplicates, "jaccard", counting)
    return counted
