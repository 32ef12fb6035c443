"""What needs no key, where something behind it fails."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from aiohttp.test_utils import make_mocked_request

from webanalytics.service.metrics import Metrics
from webanalytics.service.public_routes import PublicPages
from webanalytics.service.results import Problem, Record
from webanalytics.service.settings import ServiceSettings

REQUEST_ID = "22bce1bb-4929-4c08-a13f-6061b2c16adc"


class Images:
    """A store of images that does not answer."""

    async def open(self, name: str) -> Any:
        raise Problem(503, "The store of images does not answer.", retry_after=5.0)


class Accounts:
    """Accounts that can be reached or not."""

    def __init__(self, reached: bool) -> None:
        self._reached = reached

    async def ready(self) -> bool:
        return self._reached


def get(path: str, *, reached: bool = True, draining: bool = False) -> Any:
    async def main() -> Any:
        pages = PublicPages(ServiceSettings(), Accounts(reached), Images(), Metrics())  # type: ignore[arg-type]
        pages.draining = draining
        return await pages.respond(make_mocked_request("GET", path), Record(REQUEST_ID, 0.0))

    return asyncio.run(main())


def test_a_store_of_images_that_does_not_answer_is_a_503() -> None:
    answer = get("/v1/downloads/1795331318-22bce1bb49294c08a13f6061b2c16adc.webp")
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert json.loads(answer.body) == {
        "status": "error",
        "error": "The store of images does not answer.",
        "data": None,
    }
    assert answer.headers["X-Request-ID"] == REQUEST_ID


@pytest.mark.parametrize(
    ("reached", "draining", "status"), [(True, False, 200), (False, False, 503), (True, True, 503)]
)
def test_readyz_says_whether_new_requests_are_wanted(reached: bool, draining: bool, status: int) -> None:
    assert get("/readyz", reached=reached, draining=draining).status == status
    assert get("/healthz", reached=reached, draining=draining).status == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_no_page_in_a_browser_reads_what_is_for_whoever_runs_the_service(path: str) -> None:
    answer = get(path)
    assert answer.status == 200
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert get("/v1/openapi.json").headers["Access-Control-Allow-Origin"] == "*"
