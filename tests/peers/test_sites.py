"""Crawls of two real sites against an own walk of them: equal for every address."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa
from tests.peers.walk import SITES, served, walk

SUITE = {"gnuplot-doc": (600, 0), "sqlite3-doc": (700, 400)}
"""At least so many pages and missing addresses."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SUITE)
def test_a_crawl_is_equal_to_an_own_walk(name: str) -> None:
    start = Path(SITES[name])
    if not start.exists():
        pytest.skip(f"the Debian package {name} is not installed")
    with served(start) as url:
        truth = walk(url)
        audit = wa.crawl(url, allow_private=True, progress=False, timeout=120, parse_timeout=120)
    pages = audit.pages.set_index("url")
    assert set(pages.index) == truth.seen.keys()
    statuses = {address: seen.status for address, seen in truth.seen.items()}
    read = [address for address, status in statuses.items() if status == 200]
    assert len(read) >= SUITE[name][0]
    assert len(statuses) - len(read) >= SUITE[name][1]
    columns = {
        "http_status": statuses,
        "crawl_depth": truth.depth,
        "inlinks": truth.inlinks,
        "inlinks_all": truth.inlinks_all,
    }
    for column, expected in columns.items():
        assert pages[column].to_dict() == expected, column
    assert pages.loc[read, "title"].to_dict() == {address: truth.seen[address].title for address in read}
    assert pages.loc[read, "outlinks"].to_dict() == {address: truth.outlinks[address] for address in read}
    ranks = pages["pagerank"].dropna().astype(float)
    pd.testing.assert_series_equal(
        ranks.sort_index(), pd.Series(truth.pagerank).sort_index(), check_names=False, rtol=0, atol=1e-8
    )
    skipped = audit.skipped
    assert set(skipped.loc[skipped["reason"] == "external", "url"]) == truth.external
