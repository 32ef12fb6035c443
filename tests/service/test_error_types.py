"""The kinds of failures that the service names: its first words, which are part of its contract."""

from __future__ import annotations

import uuid

import pytest

from tests.service.live import Server
from webanalytics.core.messages import Message
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.runs.backends.hosted.wire import failure_of
from webanalytics.service.results import Result, error_type

CALLED = "The `url` parameter names a server that does not accept connections."


@pytest.mark.parametrize(
    ("key", "status", "said"),
    [
        *(("status", status, "http") for status in (401, 403, 404, 407, 429, 451, 500, 503, 999)),
        *((key, None, "refused") for key in ("refused", "interrupted", "proxy_failed", "proxy_unreachable")),
        ("proxy_auth", None, "http"),
        ("unknown_host", None, "dns"),
        ("timeout", None, "timeout"),
    ],
)
def test_a_kind_is_said_as_ever(key: str, status: int | None, said: str) -> None:
    message = Message(key, {"parameter": "url", "status": status})
    assert error_type(400, message) == said
    assert Result(400, None, message).error_fields == {"errorType": said, "errorKey": key}


@pytest.mark.parametrize(
    ("item", "sentence", "kind"),
    [
        ({"errorType": "refused", "errorKey": "refused"}, CALLED, "connection"),
        ({"errorType": "refused", "errorKey": "refused"}, "Nobody listens.", "connection"),
        ({"errorType": "refused"}, "Nobody listens.", "connection"),
        (
            {"errorType": "http", "errorKey": "status"},
            "The `url` parameter names a page that answered HTTP 403.",
            "refused",
        ),
        (
            {"errorType": "http", "errorKey": "status"},
            "The `url` parameter names a page that answered HTTP 404.",
            "http",
        ),
        ({}, "The `url` parameter names a page that answered HTTP 429.", "refused"),
    ],
)
def test_a_client_of_the_service_reads_them_as_its_own(
    item: dict[str, str], sentence: str, kind: str
) -> None:
    assert failure_of(400, item, sentence).error_type == kind


def test_challenges_are_answered_as_pages_and_refusals_as_ever(server: Server, pro: str) -> None:
    page = (
        b"<title>Just a moment...</title><script>window._cf_chl_opt={}</script>/cdn-cgi/challenge-platform/"
    )
    headers = {"Content-Type": "text/html", "cf-mitigated": "challenge"}
    pages = {"/challenge": Reply(200, headers, page), "/403": Reply(403, headers, page), "/429": Reply(429)}
    with SiteServer(pages) as site:
        found = server.post("/v1/metadataextractor", pro, url=f"{site.url}/challenge?{uuid.uuid4()}")
        assert (found.status, found.json["data"]["title"]) == (200, "Just a moment...")
        for status, answered in ((403, 400), (429, 503)):
            got = server.post("/v1/metadataextractor", pro, url=f"{site.url}/{status}")
            assert (got.status, got.headers["x-error-type"], got.headers["x-error-key"]) == (
                answered,
                "http",
                "status",
            )
            assert got.error == f"The `url` parameter names a page that answered HTTP {status}."
