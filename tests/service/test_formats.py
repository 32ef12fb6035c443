"""Answers in the four formats, read back by the standard parsers of each."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from webanalytics.operations import OPERATIONS, Field
from webanalytics.service import answer_formats as formats
from webanalytics.service.answer_formats import MEDIA_TYPES, choose_format, plain, render
from webanalytics.service.results import Problem

ALL = ("json", "xml", "yaml", "csv")
NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"

# What YAML 1.1 takes for something else, what XML cannot hold, what CSV must quote, what folds
AWKWARD = (
    "",
    *(
        "no",
        "null",
        "~",
        "1e3",
        "0x1f",
        "012",
        "1:30",
        "=",
        "<<",
        "y",
        "2024-01-30",
        "- a",
        "a: b",
        "#",
        "%",
        "@x",
    ),
    *(
        "\x00",
        "\x01\x08\x0b\x1f\x7f",
        "\x85",
        "a\x85b",
        "\u2028\u2029",
        "\ufeff",
        "\ufffe\uffff",
        "\ud800",
        "a\udfffb",
    ),
    *(
        "a\r\nb",
        "\r",
        "\n",
        "\t",
        " leading",
        "trailing ",
        'quo"te',
        "com,ma",
        "]]>",
        "<b>&amp;</b>",
        "\U0001f600",
    ),
    *("+12085813945", "=1+1", "-5", "e\u0301", "\u202e", "x" * 3000, "two words\n\n  three"),
)
TEXTS = st.one_of(
    st.sampled_from(AWKWARD), st.text(st.characters(exclude_categories=())), st.text("ab\r\n\t\x85 :#-'\"")
)
KEYS = st.one_of(
    st.sampled_from(
        ("og:title", "theme-color", "item", "xmlns", "XML", "1st", "", "keywords", "naïve", "a b")
    ),
    TEXTS,
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=20,
)
ENVELOPES = st.dictionaries(KEYS, VALUES, max_size=5).map(
    lambda data: {"status": "ok", "error": None, "data": data}
)


def expected(value: Any, illegal: str = "[\ud800-\udfff]") -> Any:
    """What a reader gets: no half surrogates, no NaN; `illegal` are the characters that become U+FFFD."""
    if isinstance(value, str):
        return re.sub(illegal, "\ufffd", value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {re.sub(illegal, "\ufffd", key): expected(item, illegal) for key, item in value.items()}
    return [expected(item, illegal) for item in value] if isinstance(value, list) else value


# XML 1.0, section 2.2: Char ::= #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]
NOT_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def shown(value: Any) -> Any:
    """A scalar as XML and CSV show it."""
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def from_xml(element: ElementTree.Element) -> Any:
    """Read an element as the module's description says."""
    if element.get(NIL) == "true":
        return None
    if element.get("type") in ("array", "object"):
        assert len(element) == 0
        return [] if element.get("type") == "array" else {}
    children = list(element)
    if not children:
        return element.text or ""
    if all(child.tag == "item" and "key" not in child.attrib for child in children):
        return [from_xml(child) for child in children]
    return [
        (child.attrib["key"] if child.tag == "item" else child.tag, from_xml(child)) for child in children
    ]


def as_pairs(value: Any) -> Any:
    """What `from_xml` reads: an object's pairs in order, since two keys may become one."""
    if isinstance(value, dict) and value:
        return [(re.sub(NOT_XML, "\ufffd", key), as_pairs(item)) for key, item in value.items()]
    if isinstance(value, dict | list) or value is None:
        return [as_pairs(item) for item in value] if isinstance(value, list) else value
    return re.sub(NOT_XML, "\ufffd", shown(value))


def read_csv(body: bytes) -> list[tuple[str, ...]]:
    csv.field_size_limit(10_000_000)
    return [tuple(row) for row in csv.reader(io.StringIO(body.decode(), newline=""))]


def rows(path: str, key: str, value: Any) -> list[tuple[str, str]]:
    """The rows of one value: NUL, which C readers of CSV stop at, becomes U+FFFD."""
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [row for name, item in items for row in rows(f"{path}.{name}", str(name), item)]
    text = "" if value is None or value in ([], {}) else shown(value)
    if key == "text":
        text = " ".join(text.replace("\x00", "\ufffd").split())
    return [(path.replace("\x00", "\ufffd"), text.replace("\x00", "\ufffd"))]


@given(ENVELOPES)
def test_json_reads_back_what_went_in(envelope: dict[str, Any]) -> None:
    assert json.loads(render(envelope, "json")[0]) == expected(envelope)


@given(ENVELOPES)
def test_yaml_reads_back_what_went_in(envelope: dict[str, Any]) -> None:
    assert yaml.safe_load(render(envelope, "yaml")[0]) == expected(envelope)


@given(ENVELOPES)
def test_xml_reads_back_what_went_in(envelope: dict[str, Any]) -> None:
    root = ElementTree.fromstring(render(envelope, "xml")[0])
    assert root.tag == "response"
    assert from_xml(root) == as_pairs(expected(envelope))


@given(ENVELOPES)
def test_csv_reads_back_what_went_in(envelope: dict[str, Any]) -> None:
    wanted = [("key", "value"), ("status", "ok"), ("error", "")]
    for key, value in expected(envelope)["data"].items():
        wanted += rows(key, key, value)
    assert read_csv(render(envelope, "csv")[0]) == wanted


@pytest.mark.parametrize(
    "text", ["+12085813945", "-5", "=HYPERLINK(1)", "@x", "a\tb", 'say "hi", twice\r\nbye']
)
def test_csv_cells_are_exact(text: str) -> None:
    body, _ = render({"status": "ok", "error": None, "data": {"title": text, "number": -5}}, "csv")
    assert read_csv(body)[3:] == [("title", text), ("number", "-5")]


def test_white_space_of_the_text_field_is_collapsed_in_csv_alone() -> None:
    envelope = {"status": "ok", "error": None, "data": {"text": "one\n\n two\t\tthree ", "title": "a  b"}}
    assert read_csv(render(envelope, "csv")[0])[3:] == [("text", "one two three"), ("title", "a  b")]
    for name in ("json", "yaml"):
        assert yaml.safe_load(render(envelope, name)[0]) == envelope


def test_csv_names_nested_values_by_dots_and_places() -> None:
    data = {
        "parsed": {"port": 443},
        "headings": [{"level": "h1", "text": "A"}],
        "sizes": [1, 2],
        "none": [],
        "ok": True,
    }
    assert read_csv(render({"status": "ok", "error": None, "data": data}, "csv")[0]) == [
        ("key", "value"), ("status", "ok"), ("error", ""), ("parsed.port", "443"), ("headings.0.level", "h1"),
        ("headings.0.text", "A"), ("sizes.0", "1"), ("sizes.1", "2"), ("none", ""), ("ok", "true"),
    ]  # fmt: skip


HOSTILE_PAGE = {
    "status": "ok",
    "error": None,
    "data": {
        "title": "Quotes \"double\" and 'single', commas, semicolons;",
        "description": "line one\nline two\r\nline three\rend\u2028sep\x85nel",
        "og:title": "controls \x00\x01\x0b\x1b\x7f and <tags> & ]]> entities",
        "headings": [{"level": "h1", "text": "\U0001f600 \U0001f468\u200d\U0001f469\u200d\U0001f467 مرحبا"}],
        "keywords": {"emoji\U0001f600": 2, "comma,word": 1},
    },
}


def test_one_awkward_page_in_every_format() -> None:
    page = HOSTILE_PAGE["data"]
    assert isinstance(page, dict)
    assert json.loads(render(HOSTILE_PAGE, "json")[0]) == HOSTILE_PAGE
    assert yaml.safe_load(render(HOSTILE_PAGE, "yaml")[0]) == HOSTILE_PAGE
    data = ElementTree.fromstring(render(HOSTILE_PAGE, "xml")[0]).find("data")
    assert data is not None
    assert data.findtext("title") == page["title"]
    assert data.findtext("description") == page["description"]
    assert (
        data.findtext("item[@key='og:title']")
        == "controls \ufffd\ufffd\ufffd\ufffd\x7f and <tags> & ]]> entities"
    )
    assert data.findtext("headings/item/text") == page["headings"][0]["text"]
    assert data.findtext("keywords/item[@key='comma,word']") == "1"
    table = dict(read_csv(render(HOSTILE_PAGE, "csv")[0]))
    assert table["description"] == page["description"]
    assert table["og:title"] == page["og:title"].replace("\x00", "\ufffd")
    assert table["keywords.emoji\U0001f600"] == "2"


def test_xml_tells_null_and_the_empty_values_apart() -> None:
    data = {
        "null": None,
        "text": "",
        "array": [],
        "object": {},
        "yes": True,
        "title": {"item": 1},
        "one": [None],
    }
    root = ElementTree.fromstring(render({"status": "ok", "error": None, "data": data}, "xml")[0])
    assert dict(from_xml(root.find("data"))) == {
        "null": None, "text": "", "array": [], "object": {}, "yes": "true", "title": [("item", "1")], "one": [None]
    }  # fmt: skip


@pytest.mark.parametrize(
    "key", ["og:title", "theme-color", "xmlns", "XmlData", "item", "1st", "", "a b", "naïve", "-x"]
)
def test_keys_that_are_no_plain_names_are_items(key: str) -> None:
    root = ElementTree.fromstring(render({"data": {key: "v", "title": "t"}}, "xml")[0])
    children = root.findall("data/*")
    assert [(child.tag, child.get("key")) for child in children] == [("item", key), ("title", None)]


def test_entries_of_a_map_have_one_shape_whatever_the_word() -> None:
    keywords = next(iter(OPERATIONS["keywords"].fields[1:2])).name
    root = ElementTree.fromstring(render({"data": {keywords: {"lamp": 3, "c++": 2, "title": 1}}}, "xml")[0])
    assert [child.get("key") for child in root.findall(f"data/{keywords}/item")] == ["lamp", "c++", "title"]


@pytest.mark.parametrize("name", ALL)
def test_nothing_a_page_holds_makes_a_format_fail(name: str) -> None:
    deep: Any = "end"
    for _ in range(5000):
        deep = [deep]
    data = {
        "deep": deep,
        "huge": 10**5000,
        "big": 2**80,
        "nan": float("nan"),
        "half\ud800": "\udc00",
        5: ("a", b"x"),
    }
    body, content_type = render(MappingProxyType({"status": "ok", "error": None, "data": data}), name)
    assert content_type == f"{MEDIA_TYPES[name][0]}; charset=utf-8"
    body.decode("utf-8", "strict")
    if name in ("json", "yaml"):
        read = yaml.safe_load(body)["data"]
        assert (read["huge"], read["big"], read["nan"], read["half\ufffd"]) == (None, 2**80, None, "\ufffd")
    if name == "xml":
        ElementTree.fromstring(body)


def test_the_pure_yaml_dumper_is_as_good(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    monkeypatch.delattr(yaml, "CSafeDumper", raising=False)
    try:
        pure = importlib.reload(formats)
        envelope = {"data": dict(zip(AWKWARD, AWKWARD, strict=True))}
        assert yaml.safe_load(pure.render(envelope, "yaml")[0]) == expected(envelope)
    finally:
        monkeypatch.undo()
        importlib.reload(formats)


def test_repeated_objects_are_written_out() -> None:
    same = {"level": "h1"}
    assert b"&" not in render({"data": [same, same]}, "yaml")[0]


def test_plain_keeps_what_json_has() -> None:
    value = {"a": [1, 2.5, None, True, "x"], "b": {}}
    assert plain(value) == value


# RFC 9110, sections 12.4.2 and 12.5.1; the second line of each triple is what is offered
@pytest.mark.parametrize(
    ("accept", "offered", "chosen"),
    [
        (None, ALL, "json"),
        ("", ALL, "json"),
        ("*/*", ALL, "json"),
        ("application/json", ALL, "json"),
        ("application/xml", ALL, "xml"),
        ("text/xml", ALL, "xml"),
        ("application/yaml", ALL, "yaml"),
        ("application/x-yaml", ALL, "yaml"),
        ("text/yaml; charset=utf-8", ALL, "yaml"),
        ("TEXT/CSV", ALL, "csv"),
        ("text/csv", ("json", "xml", "yaml"), "json"),
        ("text/html", ALL, "json"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", ALL, "xml"),
        ("application/xml, */*", ALL, "xml"),
        ("application/yaml, application/xml", ALL, "yaml"),
        ("application/json;q=0.1, application/xml;q=0.2", ALL, "xml"),
        ("application/json;q=0, */*;q=0.5", ALL, "xml"),
        ("text/*", ALL, "xml"),
        ("text/*;q=0.5, text/csv;q=0.7, application/json;q=0.1", ALL, "csv"),
        ("application/xml;q=1.5, text/csv;q=0.3", ALL, "csv"),
        ("application/xml;q=nonsense", ALL, "json"),
        (";;;,,,q=1", ALL, "json"),
        ("application/xml ; Q=0.5 , text/csv ;q=0.4", ALL, "xml"),
    ],
)
def test_accept(accept: str | None, offered: tuple[str, ...], chosen: str) -> None:
    assert choose_format(accept, None, offered) == chosen


@pytest.mark.parametrize("name", ALL)
def test_the_query_wins(name: str) -> None:
    assert choose_format("application/xml", name, ALL) == name


@pytest.mark.parametrize("query", ["csv", "", "JSON", "html", "xml "])
def test_a_format_that_is_not_offered(query: str) -> None:
    with pytest.raises(Problem) as caught:
        choose_format(None, query, ("json", "xml", "yaml"))
    assert (caught.value.status, caught.value.sentence) == (
        400, "The `format` parameter must be one of: json, xml, yaml."
    )  # fmt: skip


@given(st.text())
def test_any_accept_header_gives_an_offered_format(accept: str) -> None:
    assert choose_format(accept, None, ("json", "yaml")) in ("json", "yaml")


def test_a_map_of_an_operation_added_at_run_time_is_a_map_in_xml(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"status": "ok", "error": None, "data": {"tallies": {"one": 1}}}
    assert b"<tallies><one>1</one></tallies>" in render(answer, "xml")[0]
    field = Field("tallies", dict[str, int], "How often.")
    monkeypatch.setitem(OPERATIONS, "ninth", replace(OPERATIONS["hmac"], name="ninth", fields=(field,)))
    assert b'<tallies><item key="one">1</item></tallies>' in render(answer, "xml")[0]
