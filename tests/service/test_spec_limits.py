"""The specification's table of limits, batches, GraphQL, formats and idempotency, over HTTP."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
import yaml
from lxml import etree

from tests.service.live import Server
from tests.service.pages import AWKWARD_PAGE, RICH_PAGE
from webanalytics.fetching.testing import SiteServer

HMAC = {"message": "m", "secret": "s"}
PHONE = "+12085813945"


@pytest.fixture(scope="module")
def origin() -> Iterator[SiteServer]:
    with SiteServer({"/": RICH_PAGE, "/awkward": AWKWARD_PAGE}) as site:
        yield site


def left(server: Server, key: str) -> int:
    got = server.call("GET", "/v1/disposablephone", key=key, phone="wrong")
    return int(got.headers["x-api-remaining-credits"])


def test_free_plan_allowance_and_bonus(server: Server) -> None:
    assert left(server, server.key(plan="free")) == 1_500


@pytest.mark.parametrize(("plan", "credits"), [("starter", 25_000), ("pro", 250_000), ("mega", 2_500_000)])
def test_monthly_credits_of_paid_plans(server: Server, plan: str, credits: int) -> None:  # noqa: A002
    assert left(server, server.key(plan=plan)) == credits


def test_paid_plans_are_not_throttled(server: Server) -> None:
    key = server.key(plan="starter")
    answers = [server.post("/v1/hmac", key, **HMAC) for _ in range(70)]
    assert {got.status for got in answers} == {200}
    assert "X-RateLimit-Limit" not in answers[-1].headers


def test_batch_size(server: Server, pro: str) -> None:
    sentence = "The `inputs` parameter must be a list of 1 to 200 objects."
    assert server.post("/v1/hmac/batch", pro, inputs=[HMAC] * 200).data["succeeded"] == 200
    for wrong in ([HMAC] * 201, [], {}, "x"):
        got = server.post("/v1/hmac/batch", pro, inputs=wrong)
        assert (got.status, got.error) == (400, sentence)
    got = server.post("/v1/hmac/batch", pro)
    assert (got.status, got.error) == (400, "The `inputs` parameter is required.")


def test_batch_results_are_envelopes_in_input_order(server: Server, origin: SiteServer) -> None:
    key = server.key()
    inputs = [
        {"url": f"{origin.url}/"},
        {"url": "nonsense"},
        {},
        {"url": f"{origin.url}/nothing"},
        {"url": f"{origin.url}/"},
    ]
    got = server.post("/v1/websitetotext/batch", key, inputs=inputs)
    results = got.data["results"]
    assert [item["statusCode"] for item in results] == [200, 400, 400, 400, 200]
    assert (got.data["succeeded"], got.data["failed"]) == (2, 3)
    assert (
        results[0]["data"]
        == results[4]["data"]
        == server.post("/v1/websitetotext", key, url=f"{origin.url}/").data
    )
    assert results[2]["error"] == "The `url` parameter is required."
    assert left(server, key) == 250_000 - 30


def test_batch_of_the_get_operation(server: Server, pro: str) -> None:
    got = server.post("/v1/disposablephone/batch", pro, inputs=[{"phone": PHONE}, {"phone": "1"}])
    assert [item["statusCode"] for item in got.data["results"]] == [200, 400]


def test_a_batch_counts_as_one_request_of_the_minute(server: Server) -> None:
    key = server.key(plan="free")
    got = server.post("/v1/disposablephone/batch", key, inputs=[{"phone": PHONE}] * 100)
    assert got.headers["X-RateLimit-Remaining"] == "59"


def test_graphql_costs_the_operations_credits(server: Server, origin: SiteServer) -> None:
    key = server.key()
    query = """query ($url: String!) {
        page: websitetotext(input: {url: $url}) { title language date { published } }
        one: disposablephone(input: {phone: "+12085813945"}) { phone isDisposable firstSeen }
        two: disposablephone(input: {phone: "nonsense"}) { phone }
    }"""
    got = server.post("/v1/graphql", key, query=query, variables={"url": f"{origin.url}/"})
    assert got.json["data"] == {
        "page": {
            "title": "Brass lanterns for lighthouses",
            "language": "en",
            "date": {"published": "2026-03-04"},
        },
        "one": {"phone": PHONE, "isDisposable": True, "firstSeen": "2024-01-30"},
        "two": None,
    }
    assert [error["path"] for error in got.json["errors"]] == [["two"]]
    assert left(server, key) == 250_000 - 11


def test_graphql_does_not_offer_keywords(server: Server, pro: str) -> None:
    got = server.post(
        "/v1/graphql", pro, query='{ keywordextractor(input: {url: "http://a.example/"}) { url } }'
    )
    assert got.status == 400
    assert "`query`" in got.error


def test_formats_of_an_awkward_page_read_back_by_standard_parsers(
    server: Server, pro: str, origin: SiteServer
) -> None:
    answers = {
        kind: server.call(
            "POST",
            f"/v1/websitetotext?format={kind}",
            key=pro,
            body=json.dumps({"url": f"{origin.url}/awkward"}).encode(),
        )
        for kind in ("json", "xml", "yaml", "csv")
    }
    expected = json.loads(answers["json"].body)
    assert "\U0001f680" in expected["data"]["text"]
    assert yaml.safe_load(answers["yaml"].body) == expected
    tree = etree.fromstring(answers["xml"].body)
    assert tree.tag == "response"
    legal = str.maketrans(dict.fromkeys((*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF), "\ufffd"))
    assert tree.findtext("data/text") == expected["data"]["text"].translate(legal)
    assert tree.find("error").get("{http://www.w3.org/2001/XMLSchema-instance}nil") == "true"
    rows = dict(csv.reader(io.StringIO(answers["csv"].body.decode("utf-8"), newline="")))
    assert rows["status"] == "ok"
    assert " ".join(rows["text"].split()) == " ".join(expected["data"]["text"].split())
    assert "\n" not in rows["text"]
    assert "\t" not in rows["text"]


def test_control_characters_survive_each_format(server: Server, pro: str, origin: SiteServer) -> None:
    raw = AWKWARD_PAGE.decode()
    assert {"\x01", "\x02", "\x0b", "\x1f"} <= set(raw)
    read: dict[str, str] = {}
    for kind in ("json", "xml", "yaml", "csv"):
        body = json.dumps({"url": f"{origin.url}/awkward"}).encode()
        got = server.call("POST", f"/v1/metadataextractor?format={kind}", key=pro, body=body).body
        if kind == "json":
            read[kind] = json.loads(got)["data"]["responseBody"]
        elif kind == "yaml":
            read[kind] = yaml.safe_load(got)["data"]["responseBody"]
        elif kind == "csv":
            read[kind] = dict(csv.reader(io.StringIO(got.decode(), newline="")))["responseBody"]
        else:
            read[kind] = etree.fromstring(got).findtext("data/responseBody") or ""
    assert read["json"] == read["yaml"] == read["csv"] == raw
    # XML 1.0 has no way to write them (its section 2.2)
    assert read["xml"] == "".join(
        "\ufffd" if ord(letter) < 32 and letter not in "\t\n\r" else letter for letter in raw
    )


def test_accept_chooses_the_format_and_the_query_wins(server: Server, pro: str) -> None:
    def kind(path: str, accept: str) -> str:
        got = server.call("GET", path, key=pro, headers={"Accept": accept})
        return got.headers["Content-Type"].partition(";")[0]

    path = f"/v1/disposablephone?phone=%2B{PHONE[1:]}"
    assert kind(path, "application/xml") == "application/xml"
    assert kind(path, "application/yaml") == "application/yaml"
    assert kind(path, "*/*") == "application/json"
    assert kind(path + "&format=csv", "application/xml") == "text/csv"
    # RFC 9110 section 5.3: a list on two lines is one list; names differ in case, so that both are sent
    lines = {"accept": "text/html", "Accept": "application/xml"}
    assert (
        server.call("GET", path, key=pro, headers=lines).headers["Content-Type"].startswith("application/xml")
    )
    got = server.call("GET", path + "&format=pdf", key=pro)
    assert got.status == 400
    assert "`format`" in got.error


def test_pages_are_kept_for_a_key_and_fetched_anew_on_demand(server: Server) -> None:
    key = server.key()
    with SiteServer({"/": RICH_PAGE}) as site:

        def fetched() -> int:
            return sum(request.target == "/" for request in site.requests)

        for path in ("websitetotext", "websitereadability", "metadataextractor", "keywordextractor"):
            assert server.post(f"/v1/{path}", key, url=f"{site.url}/").status == 200
        assert fetched() == 1
        server.call(
            "POST",
            "/v1/websitetotext",
            key=key,
            headers={"cache-control": "max-age=0", "Cache-Control": "no-cache"},
            body=json.dumps({"url": f"{site.url}/"}).encode(),
        )
        assert fetched() == 2
        assert server.post("/v1/websitetotext", server.key(), url=f"{site.url}/").status == 200
        assert fetched() == 3  # another customer's pages are not shared


@pytest.mark.parametrize(
    ("path", "values", "price"),
    [
        ("/v1/hmac", HMAC, 2),
        ("/v1/websitetotext", {"url": "{origin}/"}, 10),
        ("/v1/hmac/batch", {"inputs": [HMAC, HMAC, {}]}, 4),
        ("/v1/graphql", {"query": '{ disposablephone(input: {phone: "+12085813945"}) { phone } }'}, 1),
    ],
)
def test_idempotency_key_charges_once(
    server: Server, origin: SiteServer, path: str, values: dict, price: int
) -> None:
    key = server.key()
    body = json.dumps(values).replace("{origin}", origin.url).encode()
    headers = {"Idempotency-Key": "one"}
    answers = [server.call("POST", path, key=key, body=body, headers=headers) for _ in range(3)]
    assert {got.status for got in answers} == {200}
    assert answers[0].json == answers[1].json == answers[2].json
    assert {got.headers["x-api-remaining-credits"] for got in answers} == {str(250_000 - price)}
    other = json.dumps(
        json.loads(body)
        | {
            "message": "other",
            "inputs": [HMAC],
            "url": "http://127.0.0.1:9/x",
            "query": "{ __typename a: __typename }",
        }
    ).encode()
    got = server.call("POST", path, key=key, body=other, headers=headers)
    if path != "/v1/graphql":
        assert got.status == 422
        assert "`Idempotency-Key`" in got.error
    assert left(server, key) == 250_000 - price


@pytest.mark.parametrize(("path", "values"), [("/v1/hmac", HMAC), ("/v1/hmac/batch", {"inputs": [HMAC, {}]})])
def test_idempotency_key_is_of_the_account_whichever_of_its_keys_sends_it(
    server: Server, path: str, values: dict
) -> None:
    old = server.key()
    body, headers = json.dumps(values).encode(), {"Idempotency-Key": "one"}
    first = server.call("POST", path, key=old, body=body, headers=headers)
    command = [sys.executable, "-m", "webanalytics", "keys", "rotate", old[:8], "--database", server.database]
    new = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    again = server.call("POST", path, key=new, body=body, headers=headers)
    assert (again.status, again.json) == (200, first.json)
    assert again.headers["idempotency-replayed"] == "true"
    assert left(server, new) == 249_998
    other = server.call("POST", path, key=server.key(), body=body, headers=headers)
    assert (other.status, "idempotency-replayed" in other.headers) == (200, False)


def test_idempotency_key_of_a_failed_call_is_free_again(server: Server) -> None:
    key = server.key()
    with SiteServer({"/": [b"", RICH_PAGE]}, not_found=b"") as site:
        pass
    headers = {"Idempotency-Key": "again"}
    body = json.dumps({"url": f"{site.url}/"}).encode()
    assert server.call("POST", "/v1/websitetotext", key=key, body=body, headers=headers).status == 503
    assert server.call("POST", "/v1/websitetotext", key=key, body=body, headers=headers).status == 503
    assert left(server, key) == 250_000
