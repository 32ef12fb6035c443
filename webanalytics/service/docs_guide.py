"""The prose of the documentation page: what holds for all operations."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from webanalytics.service.docs_markup import Markup, block, code, element, joined, prose, table
from webanalytics.service.envelope import failure
from webanalytics.service.formats import MEDIA_TYPES, render
from webanalytics.service.openapi_parts import ERRORS, FORBIDDEN_SENTENCES

KEY = "YOUR_API_KEY"
LOCAL = "http://127.0.0.1:8080"
"""What examples call where no public address is configured."""

Document = Mapping[str, Any]


def base_url(document: Document) -> str:
    """Return the address that examples start with."""
    address: str = document["servers"][0]["url"].rstrip("/")
    return address or LOCAL


def _paragraphs(*texts: str) -> Markup:
    return joined(element("p", prose(text)) for text in texts)


def start() -> Markup:
    """Say how to call, and what every answer looks like."""
    return joined(
        (
            _paragraphs(
                "Every operation has its own path under `/v1/`. POST operations take their parameters as "
                "a JSON object, the GET operation in the query. Parameters that an operation does not "
                "know are ignored. Cross-origin calls are accepted from anywhere.",
                "Every answer is the same envelope: `status` is `ok` or `error`, `error` is null or one "
                "sentence that names the parameter to change, `data` holds the operation's fields or is "
                "null. Only successes cost credits.",
            ),
            block(json.dumps(failure("The `url` parameter is required."), indent=2)),
            _paragraphs(
                "Fields marked Premium are absent, not empty, on plans without them; Premium parameters "
                "are accepted there and have no effect.",
                "A POST with an `Idempotency-Key` header can be repeated safely: the same key with the "
                "same parameters gets the saved answer and is charged once.",
            ),
        )
    )


def authentication() -> Markup:
    """Say how to send a key, and what happens without one."""
    return joined(
        (
            _paragraphs(
                "Send your API key, a UUID, in the `x-api-key` header of every request. A request without "
                "a key, or with a value that is no UUID, gets an HTML page with status 403. A key that is "
                "not recognised or has expired gets status 401 with the error `unauthorized`.",
                "A key can be limited to certain operations and to certain addresses. Status 403 with a "
                "JSON body says which:",
            ),
            element("ul", joined(element("li", prose(text)) for text in FORBIDDEN_SENTENCES)),
        )
    )


def batch(document: Document) -> Markup:
    """Say how to send many inputs at once."""
    path, described = next(
        (path, methods["post"])
        for path, methods in document["paths"].items()
        if "batch" in methods.get("post", {}).get("tags", ())
    )
    body = described["requestBody"]["content"]["application/json"]
    most = body["schema"]["properties"]["inputs"]["maxItems"]
    return joined(
        (
            _paragraphs(
                f"Every operation, the GET one too, also takes up to {most} inputs in one POST to its path "
                "followed by `/batch`. The results come in the order of the inputs, each an envelope with "
                "the `statusCode` that a single call would have had. The answer has status 200 even where "
                "items failed; each success costs the operation's credits."
            ),
            block(_post(document, path, body.get("example", {"inputs": []}))),
        )
    )


def graphql(document: Document) -> Markup:
    """Say how to send a query."""
    described = document["paths"]["/v1/graphql"]["post"]
    example = described["requestBody"]["content"]["application/json"]["example"]
    return joined(
        (
            _paragraphs(
                "Alpha: a query calls operations by the last part of their path, with an `input` object of "
                "their parameters and a selection of their fields. " + described["description"],
                "An operation that fails is null, with an entry in `errors` that has the sentence, the "
                "`path` and, in `extensions`, the `statusCode` of a single call; the answer has status 200.",
            ),
            block(_post(document, "/v1/graphql", example)),
        )
    )


def _post(document: Document, path: str, body: Any) -> str:
    text = json.dumps(body, ensure_ascii=False)
    return (
        f"curl -X POST {shlex.quote(base_url(document) + path)} \\\n"
        f"  -H {shlex.quote(f'x-api-key: {KEY}')} \\\n"
        f"  -H 'Content-Type: application/json' \\\n  -d {shlex.quote(text)}"
    )


def formats(document: Document) -> Markup:
    """Say how to ask for a format, and show one answer in each."""
    rows = [(code(name), code(", ".join(types))) for name, types in MEDIA_TYPES.items()]
    parts = [
        _paragraphs(
            "Answers are JSON unless the `Accept` header or the `format` parameter of the query asks for "
            "something else; the parameter wins. Each operation says which formats it offers."
        ),
        table(("format", "Accept"), rows, labelled=(1,)),
        _paragraphs(
            "XML: the root is `response`. A key that is no plain name, such as `og:title`, and every entry "
            "of a map stands as `item` with a `key` attribute; the entries of an array are `item` without "
            'one. Null is `xsi:nil="true"`, an empty array `type="array"`, an empty object '
            '`type="object"`. Characters that XML cannot hold become U+FFFD.',
            "CSV: a table of `key` and `value`. Nested keys and places in arrays, from 0, are joined by "
            "dots; null is an empty cell; white space in `text` is collapsed. Values are not altered, so "
            "import the column as text when you open it in a spreadsheet: a cell may start with `=` or `+`.",
        ),
    ]
    example = _shortest_example(document)
    if example is not None:
        for name in MEDIA_TYPES:
            parts += [element("h4", name.upper()), block(render(example, name)[0].decode())]
    return joined(parts)


def _shortest_example(document: Document) -> Any:
    """Return the shortest example answer of the operations."""
    answers = [
        described["responses"]["200"]["content"]["application/json"].get("example")
        for methods in document["paths"].values()
        for described in methods.values()
        if "operations" in described["tags"]
    ]
    return min((answer for answer in answers if answer), key=lambda answer: len(str(answer)), default=None)


def errors() -> Markup:
    """Say what each status means."""
    rows = [(code(status), prose(meaning), retry) for status, (meaning, retry) in ERRORS.items()]
    return joined(
        (
            table(("Status", "Meaning", "Try again?"), rows, labelled=(2,)),
            _paragraphs(
                "Every answer has an `x-edge-request-id` header, errors also `X-Request-ID`: quote them when "
                "you ask for help. Where requests a minute are limited, `X-RateLimit-Limit`, "
                "`X-RateLimit-Remaining` and `X-RateLimit-Reset` tell how many are left."
            ),
        )
    )


def limits(document: Document) -> Markup:
    """Show the plans and what is limited."""
    heads = ("Plan", "Credits a month", "Bonus once", "Premium", "Requests a minute", "Upload")
    rows = [
        (
            plan["name"],
            f"{plan['monthlyCredits']:,}",
            f"{plan['bonusCredits']:,}" if plan["bonusCredits"] else "–",
            "yes" if plan["premium"] else "no",
            f"{plan['requestsPerMinute']:,}" if plan["requestsPerMinute"] else "not limited",
            f"{plan['uploadBytes'] / 1e6:,g} MB",
        )
        for plan in document["x-plans"]
    ]
    others = [(limit["name"], limit["value"]) for limit in document["x-limits"]]
    return joined(
        (
            table(heads, rows, numbers=(1, 2, 4, 5), labelled=range(1, len(heads))),
            _paragraphs(
                "Credits are given for a calendar month, UTC. What is left of them is not carried over."
            ),
            table(("Limit", "Value"), others),
        )
    )
