"""The tables of the made-up site against what another crawler found there: every difference has a reason."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.crawl_site_pages import table
from tests.peers.record import FILE

LAB = "/lab/"
FOLLOWS_NOFOLLOW = {
    f"{LAB}links/{name}"
    for name in ("nofollow-only", "ugc-only", "sponsored-only", "behind-meta", "behind-header")
}
"""It follows links whatever their rel, the robots meta element and the header say."""
OTHER_PORTS = {"(a port that is closed)"}
"""Its allowed domains know no ports."""
KINDS_NOT_FOLLOWED = {"canonical", "hreflang", "next", "frame", "form", "sitemap"}
"""It follows anchors and areas alone."""
NOT_TEXT = {f"{LAB}elements/catalogue.pdf"}
"""It writes no row for it."""
REFRESHED = {f"{LAB}elements/refresh"}
"""To it a meta refresh is a redirect."""


@pytest.fixture(scope="module")
def peer() -> dict[str, list[Any]]:
    return {row[0]: row for row in json.loads(FILE.read_text("utf-8"))["pages"]}


@pytest.fixture(scope="module")
def ours() -> dict[str, dict[str, str]]:
    return {row["path"]: row for row in table("pages")}


def test_what_only_the_peer_has(peer: Any, ours: Any) -> None:
    assert peer.keys() - ours.keys() == FOLLOWS_NOFOLLOW | OTHER_PORTS


def test_what_only_the_table_has(peer: Any, ours: Any) -> None:
    redirects = {path for path, row in ours.items() if row["status"].startswith("3")}
    unseen_kinds = {path for path, row in ours.items() if row["via"] in KINDS_NOT_FOLLOWED}
    assert ours.keys() - peer.keys() == redirects | unseen_kinds | NOT_TEXT | REFRESHED
    # The redirects are known from the rows of the pages behind them, but for those that lead nowhere.
    known = {path for row in peer.values() for path in row[3]}
    lost = redirects - known
    assert lost == {f"{LAB}redirects/{name}" for name in ("loop-a", "loop-b", "away")}


def test_statuses_are_equal(peer: Any, ours: Any) -> None:
    common = peer.keys() & ours.keys()
    assert len(common) == 180
    assert {path: str(peer[path][1]) for path in common} == {path: ours[path]["status"] for path in common}


def test_depths_are_equal(peer: Any, ours: Any) -> None:
    common = peer.keys() & ours.keys()
    other = {path for path in common if str(peer[path][2]) != ours[path]["depth"]}
    assert other == {"/privacy", f"{LAB}elements/refreshed"}
    assert (peer["/privacy"][2], ours["/privacy"]["depth"]) == (
        1,
        "2",
    )  # linked with nofollow from everywhere
