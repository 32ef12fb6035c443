"""The specification's rules of authentication and its three sentences of JSON 403, case by case."""

from __future__ import annotations

import time
import uuid

import pytest

from tests.service.live import Got, Server

HMAC = {"message": "m", "secret": "s"}

NO_KEYS = {
    "no header": None,
    "empty": "",
    "truncated": "6f1c2b4a-7d8e-4f90-a1b2",
    "placeholder": "YOUR_API_KEY",
    "braces": "{6f1c2b4a-7d8e-4f90-a1b2-c3d4e5f60718}",
    "without hyphens": "6f1c2b4a7d8e4f90a1b2c3d4e5f60718",
    "other digits": "6f1c2b4a-7d8e-4f90-a1b2-c3d4e5f6071g",
}


def ask(server: Server, key: str | None, path: str = "/v1/hmac", **headers: str) -> Got:
    return server.call("POST", path, key=key, headers=headers, **HMAC)


def is_application_answer(got: Got) -> bool:
    return (
        got.headers["Access-Control-Allow-Origin"] == "*"
        and got.headers["Content-Type"].startswith("application/json")
        and bool(got.headers["x-edge-request-id"])
        and bool(got.headers["x-cloud-trace-context"])
        and "Access-Control-Expose-Headers" not in got.headers
    )


@pytest.mark.parametrize("case", NO_KEYS)
def test_rule_2_no_key_is_stopped_at_the_edge_with_html(server: Server, case: str) -> None:
    got = ask(server, NO_KEYS[case])
    assert got.status == 403
    assert got.headers["Content-Type"].startswith("text/html")
    assert got.body.lstrip().lower().startswith(b"<!doctype html")
    assert not [name for name in got.headers if name.lower().startswith("access-control")]
    assert got.headers["x-edge-request-id"]
    assert "x-cloud-trace-context" not in got.headers


def test_rule_1_the_header_is_needed_for_every_operation(server: Server) -> None:
    for path in ("metadataextractor", "hmac", "websitetotext", "danevalidator", "websitereadability"):
        assert ask(server, None, f"/v1/{path}").status == 403
    for path in ("webpconverter", "keywordextractor", "hmac/batch", "graphql", "nothing"):
        assert ask(server, None, f"/v1/{path}").status == 403
    assert server.call("GET", "/v1/disposablephone?phone=%2B12085813945").status == 403


def test_the_header_name_and_the_key_are_case_insensitive(server: Server, pro: str) -> None:
    for name, key in (("x-api-key", pro), ("X-API-KEY", pro.upper())):
        assert ask(server, None, **{name: key}).status == 200


def test_rule_3_unknown_key(server: Server) -> None:
    got = ask(server, str(uuid.uuid4()))
    assert (got.status, got.error) == (401, "unauthorized")
    assert is_application_answer(got)
    assert "x-api-remaining-credits" not in got.headers


def test_rule_3_expired_key(server: Server) -> None:
    key = server.key(expires=time.time() + 1.0)
    assert ask(server, key).status == 200
    time.sleep(1.1)
    got = ask(server, key)
    assert (got.status, got.error) == (401, "unauthorized")


def test_rule_4_operation_not_allowed(server: Server) -> None:
    key = server.key(operations=["phone", "text"])
    for path in ("/v1/hmac", "/v1/hmac/batch"):
        got = ask(server, key, path)
        assert (got.status, got.error) == (403, "Access to `hmac` is blocked for this API key")
        assert is_application_answer(got)
    assert server.call("GET", "/v1/disposablephone", key=key, phone="+12085813945").status == 200
    query = '{ disposablephone(input: {phone: "+12085813945"}) { isDisposable } }'
    assert server.call("POST", "/v1/graphql", key=key, query=query).json["data"]["disposablephone"][
        "isDisposable"
    ]


def test_rule_4_address_not_allowed(server: Server) -> None:
    got = ask(server, server.key(networks=["192.0.2.0/24", "2001:db8::/32"]))
    assert (got.status, got.error) == (403, "IP address not allowed for this API key")
    assert is_application_answer(got)
    assert ask(server, server.key(networks=["192.0.2.0/24", "127.0.0.0/8"])).status == 200


def test_an_allow_list_does_not_believe_the_caller(server: Server) -> None:
    key = server.key(networks=["192.0.2.0/24"])
    for name in ("X-Forwarded-For", "X-Real-IP", "Forwarded", "True-Client-IP"):
        value = "for=192.0.2.7" if name == "Forwarded" else "192.0.2.7"
        assert ask(server, key, **{name: value}).status == 403


def test_401_is_the_only_status_of_a_key_that_is_not_accepted(server: Server) -> None:
    unknown = str(uuid.uuid4())
    for method, path in (("POST", "/v1/hmac"), ("GET", "/v1/disposablephone"), ("POST", "/v1/graphql")):
        assert server.call(method, path, key=unknown).status == 401
    assert server.call("POST", "/v1/hmac", key=unknown, body=b"not json").status == 401
    assert server.call("POST", "/v1/hmac/batch", key=unknown).status == 401
