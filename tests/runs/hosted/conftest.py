"""Fixtures of the client's tests: a real service, a proxy that injects faults, and short pauses."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import webanalytics as wa
from tests.runs.hosted.proxy import Proxy
from tests.service.live import Server
from webanalytics.fetching.testing import SampleSite, sample_site
from webanalytics.runs.backends.hosted import answers
from webanalytics.runs.backends.hosted import backend as client
from webanalytics.runs.backends.hosted import http as exchange

OPTIONS = ("--allow-private", "--parse-timeout", "15", "--image-timeout", "15", "--log-level", "warning")
"""What makes the service fetch as a local call does: from loopback too, and with the same deadlines."""

PAUSE = 0.05


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running service that works under the same limits as a local call; each test makes its own keys."""
    with Server(tmp_path_factory.mktemp("hosted"), OPTIONS) as running:
        yield running


@pytest.fixture(scope="session")
def site() -> Iterator[SampleSite]:
    """The sample site on loopback."""
    with sample_site() as running:
        yield running


@pytest.fixture(scope="session")
def pro(server: Server) -> str:
    """A key on a plan with Premium fields."""
    return server.key(plan="pro")


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    """A proxy before the service."""
    with Proxy(server.base) as running:
        yield running


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the pauses between two tries short."""
    monkeypatch.setattr(exchange, "PAUSE_SECONDS", PAUSE)
    monkeypatch.setattr(exchange, "LONGEST_PAUSE", 0.4)
    monkeypatch.setattr(answers, "PAUSE_SECONDS", PAUSE)


@pytest.fixture
def hosted(proxy: Proxy, pro: str, quick: None) -> Callable[..., wa.Hosted]:
    """Make backends that speak to the service through the proxy, with little patience."""

    def make(key: str = pro, **arguments: object) -> wa.Hosted:
        return wa.Hosted(proxy.base, key, **({"patience": 10, "concurrency": 2} | arguments))

    return make


@pytest.fixture(autouse=True)
def _as_new(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let no key of the environment or of a prompt in, and leave no backend in use."""
    monkeypatch.delenv(client.KEY_VARIABLE, raising=False)
    monkeypatch.setattr(client, "_prompted", {})
    yield
    wa.use(None)
