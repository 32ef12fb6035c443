"""The documentation page: complete, self-contained, and inert whatever the document holds."""

from __future__ import annotations

import base64
import copy
import hashlib
import re
from html.parser import HTMLParser

import pytest
from lxml import html

from webanalytics.operations import OPERATIONS, Field, Operation, Parameter
from webanalytics.service.reference.docs import CONTENT_SECURITY_POLICY, docs_page
from webanalytics.service.reference.openapi import document
from webanalytics.service.settings import ServiceSettings

DOCUMENT = document(ServiceSettings(), base_url="https://api.example")
PAGE = docs_page(DOCUMENT)
TREE = html.document_fromstring(PAGE.decode())
VOID = {"meta", "br", "hr", "img", "link", "input"}


class Balance(HTMLParser):
    """Checks that every element is closed where it was opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_has_no_active_content() -> None:
    balance = Balance()
    balance.feed(PAGE.decode())
    assert balance.open == []
    assert not balance.seen & {"script", "iframe", "object", "embed", "form", "img", "link", "svg", "base"}
    assert not re.search(rb"\son[a-z]+=|\sstyle=|javascript:|@import|url\(", PAGE)


def test_nothing_is_loaded_from_elsewhere() -> None:
    targets = [value for element in TREE.iter() for name, value in element.items() if name in ("href", "src")]
    assert targets
    assert all(target.startswith(("#", "/v1/")) for target in targets)


def test_every_link_within_the_page_has_a_target() -> None:
    names = {element.get("id") for element in TREE.iter() if element.get("id")}
    links = {element.get("href")[1:] for element in TREE.iter("a") if element.get("href").startswith("#")}
    assert links <= names
    assert {f"operation-{name}" for name in OPERATIONS} <= links
    assert TREE.find(".//nav").get("aria-label") == "Contents"


def test_the_security_policy_allows_the_style_and_nothing_else() -> None:
    style = TREE.find(".//style").text
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in CONTENT_SECURITY_POLICY
    assert CONTENT_SECURITY_POLICY.startswith("default-src 'none';")
    assert "unsafe" not in CONTENT_SECURITY_POLICY


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_shows_its_parameters_fields_price_and_call(name: str) -> None:
    operation = OPERATIONS[name]
    (section,) = TREE.xpath("//section[@id=$name]", name=f"operation-{name}")
    text = section.text_content()
    codes = {code.text for code in section.iter("code")}
    assert {item.name for item in operation.parameters if not item.local} <= codes
    assert {field.name for field in operation.fields if not field.extra} <= codes
    assert f"{operation.credits} credit" in text
    assert "curl" in text
    assert f"https://api.example/v1/{operation.path}" in text
    premium = {row.find(".//code").text for row in section.iter("tr") if row.xpath(".//span[@class='badge']")}
    declared = {field.name for field in operation.fields if field.premium}
    assert premium == declared | {item.name for item in operation.parameters if item.premium}


PLAN_ROWS = [
    ["free", "1,000", "500", "no", "60", "10 MB"],
    ["starter", "25,000", "–", "yes", "not limited", "25 MB"],
    ["pro", "250,000", "–", "yes", "not limited", "50 MB"],
    ["mega", "2,500,000", "–", "yes", "not limited", "100 MB"],
]


def test_the_plans_and_the_errors_are_shown() -> None:
    rows = [[cell.text_content() for cell in row] for row in TREE.xpath("//section[@id='limits']//tbody/tr")]
    assert rows[:4] == PLAN_ROWS
    statuses = [row[0].text_content() for row in TREE.xpath("//section[@id='errors']//tbody/tr")]
    assert statuses == ["400", "401", "403", "404", "409", "422", "429", "500", "503"]


def test_hostile_words_in_the_document_stay_words() -> None:
    evil = "<script>alert(1)</script>\"'`<b onmouseover=x>` \ud800"
    hostile = copy.deepcopy(DOCUMENT)
    hostile["info"]["title"] = hostile["info"]["summary"] = evil
    hostile["servers"][0]["url"] = "https://" + evil
    operation = hostile["paths"]["/v1/hmac"]["post"]
    operation["summary"] = evil
    operation["requestBody"]["content"]["application/json"]["example"] = {"message": evil}
    schema = hostile["components"]["schemas"]["HmacData"]
    schema["properties"][evil] = {"type": evil, "description": evil}
    hostile["x-plans"][0]["name"] = hostile["x-limits"][0]["value"] = evil
    page = docs_page(hostile)
    assert b"<script" not in page
    assert b"<b " not in page
    balance = Balance()
    balance.feed(page.decode())
    assert balance.open == []


def test_a_shell_reads_the_example_call_back() -> None:
    import json
    import shlex

    from webanalytics.service.reference.docs import curl

    described = copy.deepcopy(DOCUMENT["paths"]["/v1/hmac"]["post"])
    message = 'it\'s $(rm) `x` "quoted"\nnew line'
    described["requestBody"]["content"]["application/json"]["example"] = {"message": message}
    words = shlex.split(curl(DOCUMENT, "/v1/hmac", "POST", described).replace("\\\n", " "))
    assert json.loads(words[-1]) == {"message": message}


def test_an_operation_without_an_example_is_shown_from_its_declaration() -> None:
    ninth = Operation(
        name="ninth", path="ninth", method="POST", summary="Count `x` & y.", kind="record", subject="value",
        input_column="value", parameters=(Parameter("value", str, "What to look at."),),
        fields=(Field("counts", dict[str, int] | None, "How many."),), credits=1,
    )  # fmt: skip
    tree = html.document_fromstring(
        docs_page(document(ServiceSettings(), [*OPERATIONS.values(), ninth])).decode()
    )
    (section,) = tree.xpath("//section[@id='operation-ninth']")
    words = " ".join(section.text_content().split())
    assert "1 credit · JSON, XML, YAML, CSV" in words
    assert "Count x & y." in words
    assert [cell.text_content() for cell in section.xpath("(.//table)[2]//td")] == [
        "counts",
        "map of integers or null",
        "How many.",
    ]
    assert "No example." in words
