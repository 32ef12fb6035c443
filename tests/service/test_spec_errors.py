"""The specification's error table and its nine rules, line by line, over HTTP."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator

import pytest

from tests.service.live import Got, Server
from tests.service.pages import RICH_PAGE
from webanalytics.fetching.testing import Reply, SiteServer

HMAC = {"message": "m", "secret": "s"}
URL_PATHS = ["metadataextractor", "websitetotext", "websitereadability", "keywordextractor"]
BAD_URL = "The `url` parameter must be a valid URL in http or https format."


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    pages = {
        "/": RICH_PAGE,
        "/500": Reply(500),
        "/503": Reply(503),
        "/429": Reply(429),
        "/404": Reply(404),
        "/pdf": Reply(headers={"Content-Type": "application/pdf"}, body=b"%PDF-1.7"),
        "/large": Reply(headers={"Content-Type": "text/html"}, body=b"x" * 10_000_001),
    }
    with SiteServer(pages) as site:
        yield site.url


def is_failure(got: Got, status: int) -> str:
    """Check the failure envelope and its headers, and return its sentence."""
    assert got.status == status, got.body[:300]
    assert set(got.json) - {"code"} == {"status", "error", "data"}
    assert got.headers["X-Request-ID"]
    assert got.headers["x-edge-request-id"]
    assert got.headers["x-cloud-trace-context"]
    assert got.headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Expose-Headers" not in got.headers
    return got.error


def test_status_200_success(server: Server, pro: str) -> None:
    got = server.post("/v1/hmac", pro, **HMAC)
    assert (got.status, got.json["status"], got.json["error"]) == (200, "ok", None)
    assert "X-Request-ID" not in got.headers


@pytest.mark.parametrize("path", URL_PATHS)
@pytest.mark.parametrize(
    "value", ["example.com", "ftp://example.com/", "", "http://", "javascript:alert(1)", "not a url"]
)
def test_status_400_wrong_url(server: Server, pro: str, path: str, value: str) -> None:
    assert is_failure(server.post(f"/v1/{path}", pro, url=value), 400) == BAD_URL


@pytest.mark.parametrize("value", [5, None, ["http://example.com"], {"a": 1}, True])
def test_status_400_wrong_type(server: Server, pro: str, value: object) -> None:
    sentence = is_failure(server.post("/v1/websitetotext", pro, url=value), 400)
    assert sentence == ("The `url` parameter is required." if value is None else BAD_URL)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"x"',
        b"{",
        b"{'a': 1}",
        b"\xff\xfe",
        b'{"a": NaN}',
        b'{"message": "\\ud800"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
)
def test_status_400_body_is_no_json_object(server: Server, pro: str, body: bytes) -> None:
    got = server.call("POST", "/v1/hmac", key=pro, body=body, headers={"Content-Type": "application/json"})
    assert is_failure(got, 400) == "The request body must be a JSON object."


def test_status_400_one_sentence_about_the_first_wrong_parameter(server: Server, pro: str) -> None:
    got = server.post("/v1/webpconverter", pro, quality=0, outputFormat="bmp", maxWidth=-1)
    assert is_failure(got, 400) == "The `image` parameter is required."
    got = server.post("/v1/webpconverter", pro, image="AAAA", quality=0, outputFormat="bmp", maxWidth=-1)
    assert is_failure(got, 400) == "The `outputFormat` parameter must be one of: png, jpg, webp, gif, tiff."


def test_status_400_upload_over_the_plans_size(server: Server) -> None:
    key = server.key(plan="free")
    for size in (10_000_001, 14_000_000):  # too large once decoded; refused while it is read
        content = base64.b64encode(b"\0" * size).decode()
        got = server.post("/v1/webpconverter", key, image=content, outputFormat="png")
        assert "`image`" in is_failure(got, 400)
        assert "10,000,000 bytes" in got.error


@pytest.mark.parametrize("path", ["/404", "/pdf", "/large"])
def test_status_400_page_cannot_be_had_at_all(server: Server, pro: str, origin: str, path: str) -> None:
    assert "`url`" in is_failure(server.post("/v1/websitetotext", pro, url=origin + path), 400)


def test_status_400_no_such_host_and_wrong_port(server: Server, pro: str) -> None:
    assert "`url`" in is_failure(server.post("/v1/websitetotext", pro, url="http://nothing.invalid/"), 400)


def test_status_401_key_not_recognised(server: Server) -> None:
    assert is_failure(server.post("/v1/hmac", str(uuid.uuid4()), **HMAC), 401) == "unauthorized"


def test_status_403_valid_key_without_permission(server: Server) -> None:
    is_failure(server.post("/v1/hmac", server.key(operations=["phone"]), **HMAC), 403)


@pytest.mark.parametrize(
    "path", ["/v1/nothing", "/v1/", "/v2/hmac", "/v1/hmac/", "/v1/hmac/batch/", "/v1/HMAC", "/", "/v1/whois"]
)
def test_status_404_no_such_endpoint(server: Server, pro: str, path: str) -> None:
    is_failure(server.post(path, pro, **HMAC), 404)


def test_status_429_out_of_credits_and_rule_3(server: Server) -> None:
    key = server.key(plan="free")
    body = {"inputs": [HMAC] * 200}
    for _ in range(3):
        assert server.post("/v1/hmac/batch", key, **body).data["succeeded"] == 200
    got = server.post("/v1/hmac/batch", key, **body)  # 300 of 1,500 credits are left: 150 of these
    assert (got.data["succeeded"], got.data["failed"]) == (150, 50)
    assert [item["statusCode"] for item in got.data["results"]] == [200] * 150 + [429] * 50
    got = server.post("/v1/hmac", key, **HMAC)
    is_failure(got, 429)
    assert got.headers["x-api-remaining-credits"] == "0"
    assert "retry-after" not in got.headers
    assert is_failure(server.post("/v1/hmac/batch", key, **body), 429)


def test_status_429_says_zero_where_the_rest_does_not_cover_the_call(server: Server, origin: str) -> None:
    key = server.key(plan="free")
    for left in (200, 200, 200, 149):  # 1,498 of 1,500 credits
        server.post("/v1/hmac/batch", key, inputs=[HMAC] * left)
    got = server.post("/v1/websitetotext", key, url=f"{origin}/")
    assert "2 are left" in is_failure(got, 429)
    assert got.headers["x-api-remaining-credits"] == "0"
    assert server.post("/v1/hmac", key, **HMAC).status == 200


def test_status_429_rate_limited_and_its_headers(server: Server) -> None:
    key = server.key(plan="free")
    answers = [server.call("GET", "/v1/disposablephone", key=key, phone="+12085813945") for _ in range(61)]
    assert [got.status for got in answers] == [200] * 60 + [429]
    assert [got.headers["X-RateLimit-Remaining"] for got in answers[:3]] == ["59", "58", "57"]
    got = answers[-1]
    is_failure(got, 429)
    assert got.headers["X-RateLimit-Limit"] == "60"
    assert got.headers["X-RateLimit-Remaining"] == "0"
    assert got.headers["X-RateLimit-Reset"].isdecimal()
    assert 1 <= int(got.headers["retry-after"]) <= 61
    assert int(got.headers["x-api-remaining-credits"]) == 1_440


@pytest.mark.parametrize("path", ["/500", "/503", "/429"])
def test_status_503_upstream_unavailable(server: Server, pro: str, origin: str, path: str) -> None:
    assert "`url`" in is_failure(server.post("/v1/websitetotext", pro, url=origin + path), 503)


def test_status_503_upstream_refuses(server: Server, pro: str) -> None:
    is_failure(server.post("/v1/websitetotext", pro, url="http://127.0.0.1:9/"), 503)


def test_rule_2_revoked_key(server: Server) -> None:
    key = server.key()
    assert server.post("/v1/hmac", key, **HMAC).status == 200
    command = [sys.executable, "-m", "webanalytics", "keys", "revoke", key[:8], "--database", server.database]
    subprocess.run(command, check=True, capture_output=True)
    assert is_failure(server.post("/v1/hmac", key, **HMAC), 403) == "API key has been revoked."


def test_rule_2_rotated_key_after_its_grace(server: Server) -> None:
    key = server.key()
    command = [sys.executable, "-m", "webanalytics", "keys", "rotate", key[:8], "--database", server.database]
    done = subprocess.run([*command, "--keep", "0s"], check=True, capture_output=True, text=True)
    new = done.stdout.strip()
    assert is_failure(server.post("/v1/hmac", key, **HMAC), 403) == "API key has been revoked."
    got = server.post("/v1/hmac", new, **HMAC)
    assert (got.status, got.headers["x-api-remaining-credits"]) == (200, "249998")


def test_rule_5_undeclared_parameter(server: Server, pro: str) -> None:
    assert server.post("/v1/hmac", pro, **HMAC, colour="red").status == 200


def test_rule_6_batch_and_graphql_are_200_with_failed_items(server: Server, pro: str) -> None:
    got = server.post("/v1/hmac/batch", pro, inputs=[HMAC, {"message": "m"}, "x"])
    assert [item["statusCode"] for item in got.data["results"]] == [200, 400, 400]
    query = '{ disposablephone(input: {phone: "x"}) { isDisposable } }'
    got = server.post("/v1/graphql", pro, query=query)
    assert (got.status, got.json["data"]) == (200, {"disposablephone": None})
    assert got.json["errors"][0]["extensions"]["statusCode"] == 400


def test_rule_7_failures_cost_nothing(server: Server, origin: str) -> None:
    key = server.key(plan="pro")
    for path, values in (
        ("/v1/hmac", {}),
        ("/v1/hmac", {"message": "m", "secret": ""}),
        ("/v1/websitetotext", {"url": f"{origin}/404"}),
        ("/v1/websitetotext", {"url": f"{origin}/503"}),
        ("/v1/danevalidator", {"record": "no record"}),
        ("/v1/webpconverter", {"image": "AAAA", "outputFormat": "png"}),
        ("/v1/hmac/batch", {"inputs": [{}]}),
        ("/v1/graphql", {"query": "{"}),
    ):
        got = server.post(path, key, **values)
        assert got.headers["x-api-remaining-credits"] == "250000", path
    assert (
        server.call("GET", "/v1/disposablephone", key=key, phone="x").headers["x-api-remaining-credits"]
        == "250000"
    )


def test_rule_8_request_identifiers(server: Server, pro: str) -> None:
    seen = {server.post("/v1/hmac", pro, **HMAC).headers["x-edge-request-id"] for _ in range(3)}
    assert len(seen) == 3
    own = {"X-Request-ID": "order-7"}
    got = server.call("POST", "/v1/hmac", key=pro, headers=own)
    assert got.headers["X-Request-ID"] == "order-7"
    got = server.call("POST", "/v1/hmac", key=pro, headers={"X-Request-ID": "x" * 500})
    assert re.fullmatch(r"[0-9a-f-]{36}", got.headers["X-Request-ID"])


def test_rule_8_cross_origin_calls(server: Server, pro: str) -> None:
    got = server.call(
        "OPTIONS",
        "/v1/hmac",
        headers={"Origin": "https://a.example", "Access-Control-Request-Method": "POST"},
    )
    assert got.status in (200, 204)
    assert got.headers["Access-Control-Allow-Origin"] == "*"
    assert "x-api-key" in got.headers["Access-Control-Allow-Headers"].lower()
    assert "POST" in got.headers["Access-Control-Allow-Methods"]
    got = server.post("/v1/hmac", pro, **HMAC)
    assert "Access-Control-Expose-Headers" not in got.headers
    assert "Access-Control-Allow-Credentials" not in got.headers
