"""GraphQL: what a query calls and costs, what it answers, and that no query costs much work."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from graphql import build_client_schema, get_introspection_query, print_schema
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import Steps
from webanalytics.operations import OPERATIONS, Field, Operation, Parameter
from webanalytics.service.calls import STATUS_FIELD
from webanalytics.service.graphql_endpoint import GraphQLEndpoint, Prepared, build_schema
from webanalytics.service.results import Problem, Result
from webanalytics.service.settings import ServiceSettings

ENDPOINT = GraphQLEndpoint(ServiceSettings())
MOST_STEPS = 1_500_000
"""Function calls that any query may cost, from its text to its answer."""

TEXT_DATA = {
    "date": {"published": "2026-01-20", "modified": None},
    "description": "d",
    "title": "A title",
    "title_alt": "t",
    "text": "Text",
    "language": "en",
    "publisher": None,
    "url": "http://a.example/",
}
PHONE_DATA = {"phone": "+12085813945", "isDisposable": True, "firstSeen": "2024-01-30"}
CALL = 'websitetotext(input: {url: "http://a.example/"})'


class Calls:
    """Stands for the operations, and remembers what was called."""

    def __init__(self) -> None:
        self.made: list[tuple[str, dict[str, Any]]] = []
        self.at_once = self.most_at_once = 0

    async def __call__(self, operation: Operation, parameters: dict[str, Any]) -> Result:
        self.made.append((operation.name, parameters))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        if operation.parameters[0].name not in parameters:
            return Result(400, None, f"The `{operation.parameters[0].name}` parameter is required.")
        if "busy" in str(parameters):
            raise Problem(503, "The `url` parameter names a page that cannot be had for now.")
        return Result(200, TEXT_DATA if operation.name == "text" else PHONE_DATA)


def prepare(
    query: Any, variables: Any = None, name: Any = None, endpoint: GraphQLEndpoint = ENDPOINT
) -> Prepared:
    return endpoint.parse(query, variables, name)


def ask(
    query: str,
    variables: Mapping[str, Any] | None = None,
    name: str | None = None,
    calls: Calls | None = None,
) -> dict[str, Any]:
    return asyncio.run(ENDPOINT.execute(prepare(query, variables, name), calls or Calls(), premium=True))


def sentence(query: Any, variables: Any = None, name: Any = None) -> str:
    with pytest.raises(Problem) as caught:
        prepare(query, variables, name)
    assert caught.value.status == 400
    assert "\n" not in caught.value.sentence
    assert len(caught.value.sentence) < 320
    return caught.value.sentence


def test_two_operations_in_one_query() -> None:
    query = """query ($page: String, $phone: String) {
        websitetotext(input: {url: $page}) { title date { published } __typename }
        number: disposablephone(input: {phone: $phone}) { isDisposable firstSeen }
    }"""
    calls = Calls()
    assert ask(query, {"page": "http://a.example/", "phone": "+12085813945"}, calls=calls) == {
        "data": {
            "websitetotext": {
                "title": "A title",
                "date": {"published": "2026-01-20"},
                "__typename": "TextData",
            },
            "number": {"isDisposable": True, "firstSeen": "2024-01-30"},
        }
    }
    assert calls.made == [("text", {"url": "http://a.example/"}), ("phone", {"phone": "+12085813945"})]
    assert calls.most_at_once == 2


def test_a_failed_item_is_null_beside_the_others() -> None:
    query = f'{{ good: {CALL} {{ title }} bad: websitetotext(input: {{url: "busy"}}) {{ title }} }}'
    answer = ask(query)
    assert answer["data"] == {"good": {"title": "A title"}, "bad": None}
    (error,) = answer["errors"]
    assert error["message"] == "The `url` parameter names a page that cannot be had for now."
    assert error["path"] == ["bad"]
    assert error["extensions"] == {STATUS_FIELD: 503, "errorType": "service"}


@pytest.mark.parametrize("given", ["websitetotext", "websitetotext(input: {})", "websitetotext(input: null)"])
def test_a_missing_parameter_has_the_sentence_of_a_single_call(given: str) -> None:
    answer = ask(f"{{ {given} {{ title }} }}")
    assert answer["data"] == {"websitetotext": None}
    assert answer["errors"][0]["message"] == "The `url` parameter is required."
    assert answer["errors"][0]["extensions"] == {STATUS_FIELD: 400, "errorType": "invalid"}


def charged(query: str, variables: Any = None, name: Any = None) -> list[str]:
    return [operation.name for operation, _ in prepare(query, variables, name).calls.values()]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        (f"{{ {CALL} {{ title }} }}", ["text"]),
        (f"{{ a: {CALL} {{ title }} b: {CALL} {{ title }} }}", ["text", "text"]),
        (f"{{ a: {CALL} @skip(if: true) {{ title }} b: {CALL} @include(if: false) {{ title }} }}", []),
        ("{ __typename __schema { types { name } } }", []),
        (f"query A {{ {CALL} {{ url }} }} query B {{ disposablephone {{ phone }} }}", ["phone"]),
    ],
)
def test_what_a_query_is_charged_for(query: str, names: list[str]) -> None:
    name = "B" if "query B" in query else None
    assert charged(query, None, name) == names
    calls = Calls()
    ask(query, None, name, calls)
    assert [operation for operation, _ in calls.made] == names


@pytest.mark.parametrize("skip", [True, False])
def test_a_skipped_field_costs_nothing(skip: bool) -> None:
    query = (
        f"query ($s: Boolean!) {{ a: {CALL} @skip(if: $s) {{ url }} b: {CALL} @include(if: $s) {{ url }} }}"
    )
    prepared = prepare(query, {"s": skip})
    assert list(prepared.calls) == (["b"] if skip else ["a"])
    assert list(ask(query, {"s": skip})["data"]) == list(prepared.calls)


@pytest.mark.parametrize(
    ("query", "variables", "name", "start"),
    [
        (None, None, None, "The `query` parameter is required."),
        (5, None, None, "The `query` parameter must be a string."),
        ("{__typename}", [], None, "The `variables` parameter must be an object."),
        ("{__typename}", None, 5, "The `operationName` parameter must be a string."),
        ("", None, None, "The `query` parameter must be valid GraphQL: Syntax Error"),
        ("{", None, None, "The `query` parameter must be valid GraphQL: Syntax Error"),
        ("{ nothing }", None, None, "The `query` parameter must be valid GraphQL: Cannot query field 'nothing'"),
        (f"{{ {CALL} }}", None, None, "The `query` parameter must be valid GraphQL: Field 'websitetotext'"),
        ("mutation { a }", None, None, "The `query` parameter must be a query: no mutation and no subscription."),
        ("subscription { a }", None, None, "The `query` parameter must be a query: no mutation"),
        ("fragment F on Query { __typename }", None, None, "The `query` parameter must"),
        ("type A { a: Int }", None, None, "The `query` parameter must be a query"),
        ("query A {__typename} query B {__typename}", None, None, "The `operationName` parameter is required"),
        ("query A {__typename} query B {__typename}", None, "C", "The `operationName` parameter must be the name"),
        ("query ($u: String!) { websitetotext(input: {url: $u}) {url} }", {}, None, "The `variables` parameter must fit"),
        ("query ($u: String) { websitetotext(input: {url: $u}) {url} }", {"u": 5}, None, "The `variables` parameter must"),
        ("query ($s: Boolean = true) { __typename @skip(if: $s) }", {"s": None}, None, "The `variables` parameter must"),
        ('{ websitetotext(input: {url: "a"}) {url} websitetotext(input: {url: "b"}) {url} }', None, None,
         "The `query` parameter must ask once for `websitetotext`, or under other names for other operations."),
        ("{ websitetotext { a: title b: title } }", None, None, "The `query` parameter must ask once for `title`"),
        ("{ websitetotext { a: title a: text } }", None, None, "The `query` parameter must be valid GraphQL: Fields 'a' conflict"),
        ("{ a: __schema { types { name } } b: __schema { types { name } } }", None, None, "The `query` parameter must ask once for `__schema`"),
        ("{ websitetotext { ...F } }", None, None, "The `query` parameter must be valid GraphQL: Unknown fragment 'F'"),
        ("{ websitetotext { ...F url } } fragment F on TextData { url }", None, None, "The `query` parameter must ask once for `url`"),
        ("{ ...A } fragment A on Query { ...A }", None, None, "The `query` parameter must hold fragments in each other at most 16 deep."),
        ("{ websitetotext(input: {ngrams: 2}) { url } }", None, None, "The `query` parameter must be valid GraphQL"),
        ("{ hmac { hmac } }", None, None, "The `query` parameter must be valid GraphQL: Cannot query field 'hmac'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_query(query: Any, variables: Any, name: Any, start: str) -> None:
    assert sentence(query, variables, name).startswith(start)


def aliases(count: int, selection: str = "url") -> str:
    return "{" + " ".join(f"a{number}:{CALL}{{{selection}}}" for number in range(count)) + "}"


def test_the_number_of_operations_is_bounded() -> None:
    assert len(prepare(aliases(200, "url text date{published}")).calls) == 200
    assert sentence(aliases(201)) == "The `query` parameter must hold at most 200 operations."
    few = GraphQLEndpoint(ServiceSettings({"graphql_operations": 2}))
    with pytest.raises(Problem, match="at most 2 operations"):
        prepare(aliases(3), endpoint=few)


def nested(levels: int) -> str:
    return "{ __schema { types " + "{ ofType " * (levels - 3) + "{ name }" + " }" * (levels - 3) + " } }"


def test_the_depth_is_bounded() -> None:
    prepare(nested(16))
    assert sentence(nested(17)) == "The `query` parameter must be nested at most 16 levels deep."


def fan(kind: str, last: str, start: str) -> str:
    return (
        start
        + "".join(f"fragment F{place} on {kind} {{ ...F{place + 1} ...F{place + 1} }}" for place in range(21))
        + f"fragment F21 on {kind} {{ {last} }}"
    )


SCHEMA_QUERY = get_introspection_query()
"""The standard question about the schema, which clients ask first."""


DEEP_LIST: list[Any] = []
for _ in range(800):
    DEEP_LIST = [DEEP_LIST]

HOSTILE: dict[str, tuple[str, Any]] = {
    "5,000 aliases": (aliases(5000), None),
    "900 aliases": (aliases(900), None),
    "depth 10,000": ("{ websitetotext " + "{ a " * 10_000 + "}" * 10_001, None),
    "depth of inline fragments": ("{" + "... on Query {" * 100 + "__typename" + "}" * 101, None),
    "fan of 2^21": (fan("TextData", "url", f"{{ {CALL} {{ ...F0 }} }}"), None),
    "fan of 2^21 at the root": (fan("Query", f"{CALL} {{ url }}", "{ ...F0 }"), None),
    "cycle": ("{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }", None),
    "cycle without use": ("{ __typename } fragment A on Query { ...A }", None),
    "the same field 11,000 times": (f"{{ {CALL} {{ {'url ' * 11_000} }} }}", None),
    "the same field 3,900 times": (f"{{ {CALL} {{ {'url ' * 3900} }} }}", None),
    "the same operation 600 times": ("{" + f"{CALL} {{ url }}" * 600 + "}", None),
    "flood of __typename": ("{" + "__typename " * 11_000 + "}", None),
    "flood of __typename aliases": ("{" + " ".join(f"a{n}: __typename" for n in range(3900)) + "}", None),
    "fragment of a thousand aliases": (
        aliases(200, "...F") + "fragment F on TextData {" + " ".join(f"t{n}: text" for n in range(1000)) + "}", None
    ),
    "flood of __type": ("{" + " ".join(f'a{n}: __type(name: "Query") {{ name }}' for n in range(900)) + "}", None),
    "200 questions about the schema": (
        "{" + " ".join(f"a{n}: __schema {{ types {{ fields {{ type {{ fields {{ name }} }} }} }} }}" for n in range(200)) + "}", None
    ),
    "a long question about the schema": (SCHEMA_QUERY, None),
    "a deep question about the schema": ("{ __schema { types { " + "fields { type { " * 5 + "name" + " } }" * 5 + "} } }", None),
    "unknown fields": ("{ websitetotext {" + " ".join(f"ur{n}l" for n in range(3900)) + "} }", None),
    "unknown fragments": ("{" + " ".join(f"...F{n}" for n in range(3900)) + "}", None),
    "many definitions": ("".join(f"query A{n} {{ __typename }}" for n in range(2000)), None),
    "many variables": ("query(" + " ".join(f"$v{n}: String" for n in range(2900)) + ") { __typename }", None),
    "many directives": ("{ __typename " + "@skip(if: false) " * 1900 + "}", None),
    "many arguments": ("{ websitetotext(" + "input: {} " * 2900 + ") { url } }", None),
    "many input fields": ("{ websitetotext(input: {" + 'url: "x" ' * 3900 + "}) { url } }", None),
    "deep list": ("{ websitetotext(input: {url: " + "[" * 5000 + "]" * 5000 + "}) { url } }", None),
    "huge string": ('{ websitetotext(input: {url: "' + "x" * 240_000 + '"}) { url } }', None),
    "huge text": ("{ __typename }" + " " * 50_000_000, None),
    "huge name": ("{" + "x" * 240_000 + "}", None),
    "comments": ("#\n" * 120_000 + "{ __typename }", None),
    "block string": ('{ websitetotext(input: {url: """' + "\n x" * 80_000 + '"""}) { url } }', None),
    "deep variable": ("query ($u: String) { websitetotext(input: {url: $u}) { url } }", {"u": DEEP_LIST}),
    "long list of variables": ("query ($u: String) { websitetotext(input: {url: $u}) { url } }", {"u": ["x"] * 500_000}),
}  # fmt: skip


ANSWERED = {"a long question about the schema", "huge string", "block string"}


def attempt(endpoint: GraphQLEndpoint, query: str, variables: Any = None) -> Problem | None:
    """Execute a query as far as it goes, and return what stopped it."""
    try:
        prepared = endpoint.parse(query, variables, None)
    except Problem as problem:
        return problem
    assert "data" in asyncio.run(endpoint.execute(prepared, Calls(), premium=False))
    return None


@pytest.mark.parametrize("name", HOSTILE)
def test_no_query_costs_much(name: str) -> None:
    query, variables = HOSTILE[name]
    endpoint = GraphQLEndpoint(ServiceSettings())
    with Steps() as steps:
        problem = attempt(endpoint, query, variables)
    assert steps.count < MOST_STEPS
    assert (problem is None) == (name in ANSWERED), "what is too large is refused before anything is called"
    if problem is not None:
        assert problem.status == 400
        assert "`query`" in problem.sentence or "`variables`" in problem.sentence
        assert "\n" not in problem.sentence
        assert len(problem.sentence) < 320


def test_the_schema_can_be_asked_for_and_costs_nothing() -> None:
    prepared = prepare(SCHEMA_QUERY)
    assert prepared.calls == {}
    answer = asyncio.run(ENDPOINT.execute(prepared, Calls(), premium=False))
    assert "errors" not in answer
    assert print_schema(build_client_schema(answer["data"])) == print_schema(ENDPOINT.schema)


def test_the_root_fields_are_the_operations_that_graphql_offers() -> None:
    query = ENDPOINT.schema.query_type
    assert query is not None
    assert list(query.fields) == ["websitetotext", "disposablephone"]
    offered = {field.name for field in OPERATIONS["text"].fields if not field.extra}
    assert set(ENDPOINT.schema.type_map["TextData"].fields) == offered
    assert list(ENDPOINT.schema.type_map["PhoneInput"].fields) == ["phone"]  # the others are local


NINTH = Operation(
    name="ninth", path="ninth", method="POST", summary="A new one.", kind="record", subject="value",
    input_column="value",
    parameters=(Parameter("value", str, "What."), Parameter("maxWidth", int | None, "How.", default=None, low=1, high=9)),
    fields=(
        Field("og:title", str, "Not a GraphQL name."),
        Field("counts", dict[str, int], "A map."),
        Field("gold", int, "Premium.", premium=True),
        Field("hidden", int, "Local.", extra=True),
    ),
    credits=3, graphql=True,
)  # fmt: skip


@pytest.mark.parametrize("premium", [True, False])
def test_premium_fields_are_null_without_the_plan(premium: bool) -> None:
    endpoint = GraphQLEndpoint(ServiceSettings(), [NINTH])

    async def run(operation: Operation, parameters: dict[str, Any]) -> Result:
        assert parameters == {"value": "x", "maxWidth": 3}
        return Result(200, {"og:title": "T", "counts": {"a b": 1}, "gold": 7, "hidden": 8})

    prepared = endpoint.parse(
        '{ ninth(input: {value: "x", maxWidth: 3}) { og_title counts gold } }', None, None
    )
    answer = asyncio.run(endpoint.execute(prepared, run, premium=premium))
    assert answer == {
        "data": {"ninth": {"og_title": "T", "counts": {"a b": 1}, "gold": 7 if premium else None}}
    }
    with pytest.raises(Problem, match="hidden"):
        endpoint.parse("{ ninth { hidden } }", None, None)


def test_every_operation_could_be_offered() -> None:
    schema = build_schema(OPERATIONS.values())
    assert schema.query_type is not None
    assert len(schema.query_type.fields) == len(OPERATIONS)


def test_a_prepared_query_shows_no_parameters() -> None:
    prepared = prepare(
        "query ($u: String) { websitetotext(input: {url: $u}) { url } }", {"u": "http://a.example/"}
    )
    assert "variables" not in repr(prepared)


@settings(max_examples=70)
@given(st.text(st.sampled_from('{}()":$@!.# \n_awebsitetotext012url'), max_size=60))
def test_any_text_is_a_query_or_a_sentence(text: str) -> None:
    problem = attempt(ENDPOINT, text)
    assert problem is None or problem.status == 400
