"""Fixtures of the service's tests: one real server, and an origin with pages for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.service.live import Server
from webanalytics.fetching.testing import SampleSite, sample_site


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running service that may fetch from loopback; each test makes its own keys."""
    with Server(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture(scope="session")
def pro(server: Server) -> str:
    """A key on a plan with Premium fields."""
    return server.key(plan="pro")


@pytest.fixture(scope="module")
def site() -> Iterator[SampleSite]:
    """The sample site on loopback."""
    with sample_site() as running:
        yield running
