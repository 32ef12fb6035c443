"""The declarations against the published contract, row by row."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from tests.fresh import printed
from webanalytics.core.operations.model import REQUIRED
from webanalytics.core.operations.types import strict
from webanalytics.errors import ParameterError
from webanalytics.operations import AUDIT, OPERATIONS

# The contract's tables, written out by hand: service path, method, credits ("?" where decided here).
OPERATION_ROWS = [
    ("metadata", "POST", "metadataextractor", 2),
    ("hmac", "POST", "hmac", 2),
    ("text", "POST", "websitetotext", 10),
    ("dane", "POST", "danevalidator", 2),
    ("readability", "POST", "websitereadability", 10),
    ("convert", "POST", "webpconverter", 5),
    ("keywords", "POST", "keywordextractor", 10),
    ("phone", "GET", "disposablephone", 1),
]

OG = "url locale locale:alternate title type description determiner site_name image image:secure_url image:type"
OG_NAMES = [f"og:{name}" for name in (OG + " image:width image:height").split()]
CARD = "title description image image:alt card site site:id url account_id creator creator:id player player:width"
CARD_NAMES = [f"card:{name}" for name in (CARD + " player:height player:stream").split()] + [
    f"card:app:{part}:{platform}"
    for part in ("name", "id", "url")
    for platform in ("handset", "tablet", "store")
]

# name, dtype of the column, Premium
FIELD_ROWS: dict[str, list[tuple[str, str, bool]]] = {
    "metadata": [
        ("requestUrl", "string", False),
        ("url", "string", False),
        ("canonical", "string", True),
        ("lang", "string", False),
        ("charset", "string", False),
        ("title", "string", False),
        ("image", "string", True),
        ("favicons", "object", True),
        ("author", "string", False),
        ("description", "string", False),
        ("keywords", "string", False),
        ("source", "string", True),
        ("price", "string", True),
        ("priceCurrency", "string", True),
        ("availability", "string", True),
        ("robots", "string", False),
        ("jsonld", "object", True),
        ("viewport", "string", False),
        ("theme-color", "string", True),
        ("application-name", "string", False),
        ("headings", "object", True),
        ("imgTags", "object", True),
        ("responseBody", "string", True),
        *((name, "string", True) for name in OG_NAMES),
        ("og:image:alt", "string", False),
        *((name, "string", True) for name in CARD_NAMES),
    ],
    "hmac": [("hmac", "string", False), ("algorithm", "string", False), ("encoding", "string", False)],
    "text": [
        ("date", "object", False),
        ("description", "string", False),
        ("title", "string", False),
        ("title_alt", "string", False),
        ("text", "string", False),
        ("language", "string", False),
        ("publisher", "object", False),
        ("url", "string", False),
    ],
    "dane": [
        ("raw_record", "string", False),
        ("parsed", "object", False),
        ("interpretation", "object", True),
        ("validation", "object", False),
    ],
    "readability": [
        ("fleschReadingEase", "float", False),
        ("fleschReadingEaseText", "string", False),
        ("fleschKincaidGrade", "float", False),
        ("gunningFog", "float", True),
        ("colemanLiauIndex", "float", True),
        ("smogIndex", "float", True),
        ("automatedReadabilityIndex", "float", True),
        ("daleChallReadabilityScore", "float", True),
        ("daleChallReadabilityScoreText", "string", True),
        ("wordCount", "integer", False),
        ("sentenceCount", "integer", False),
        ("readingTimeMinutes", "float", False),
        ("averageGradeLevel", "float", True),
        ("targetAudience", "string", True),
        ("url", "string", False),
    ],
    "convert": [
        ("id", "string", True),
        ("inputFormat", "string", False),
        ("outputFormat", "string", False),
        ("inputSize", "integer", True),
        ("outputSize", "integer", True),
        ("mimeType", "string", False),
        ("expires", "integer", False),
        ("downloadURL", "string", False),
    ],
    "keywords": [("url", "string", False), ("keywords", "object", False)],
    "phone": [("phone", "string", False), ("isDisposable", "boolean", False), ("firstSeen", "string", False)],
}

# operation, parameter, required, default, choices or (low, high), Premium
PARAMETER_ROWS = [
    ("metadata", "url", True, None, None, False),
    ("hmac", "message", True, None, None, False),
    ("hmac", "secret", True, None, None, False),
    ("hmac", "algorithm", False, "sha256", ("sha256", "sha384", "sha512", "sha1", "md5"), False),
    ("hmac", "encoding", False, "hex", ("hex", "base64"), False),
    ("text", "url", True, None, None, False),
    ("dane", "record", True, None, None, False),
    ("readability", "url", True, None, None, False),
    ("convert", "image", True, None, None, False),
    ("convert", "outputFormat", True, None, ("png", "jpg", "webp", "gif", "tiff"), False),
    ("convert", "quality", False, 90, (1, 100), False),
    ("convert", "maxWidth", False, None, (1, 10000), True),
    ("convert", "maxHeight", False, None, (1, 10000), True),
    ("keywords", "url", True, None, None, False),
    (
        "keywords",
        "text",
        False,
        None,
        None,
        False,
    ),  # decided here: in place of url, as published clients send it
    ("phone", "phone", True, None, None, False),
]


@pytest.mark.parametrize("row", OPERATION_ROWS, ids=lambda row: row[0])
def test_operation_row(row: tuple[str, str, str, int]) -> None:
    name, method, path, price = row
    operation = OPERATIONS[name]
    assert (operation.method, operation.path, operation.credits) == (method, path, price)


def test_the_eight_operations_of_the_contract_are_there() -> None:
    assert {row[0] for row in OPERATION_ROWS} <= set(OPERATIONS)


@pytest.mark.parametrize(
    ("operation", "row"),
    [(name, row) for name, rows in FIELD_ROWS.items() for row in rows],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_field_row(operation: str, row: tuple[str, str, bool]) -> None:
    name, dtype, premium = row
    (field,) = [field for field in OPERATIONS[operation].fields if field.name == name and not field.extra]
    assert (field.dtype, field.premium) == (dtype, premium)
    assert field.meaning.endswith(".")


@pytest.mark.parametrize("name", FIELD_ROWS)
def test_no_field_beyond_the_contract_is_undeclared_as_extra(name: str) -> None:
    declared = [field.name for field in OPERATIONS[name].fields if not field.extra]
    assert declared == [row[0] for row in FIELD_ROWS[name]]


@pytest.mark.parametrize("row", PARAMETER_ROWS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_parameter_row(row: tuple[str, str, bool, object, tuple[object, ...] | None, bool]) -> None:
    operation, name, required, default, allowed, premium = row
    parameter = OPERATIONS[operation].parameter(name)
    assert parameter.required is required
    assert required or parameter.default == default
    assert parameter.premium is premium
    if allowed and isinstance(allowed[0], int):
        assert (parameter.low, parameter.high) == allowed
    else:
        assert parameter.choices == (allowed or ())


def test_only_local_parameters_are_added() -> None:
    known = {(row[0], row[1]) for row in PARAMETER_ROWS}
    added = {(o.name, p.name) for o in map(OPERATIONS.get, FIELD_ROWS) for p in o.parameters if not p.local}
    assert added == known


@pytest.mark.parametrize(
    ("operation", "given", "sentence"),
    [
        ("hmac", {}, "The `secret` parameter is required."),
        (
            "hmac",
            {"secret": "k", "algorithm": "sha3"},
            "The `algorithm` parameter must be one of: sha256, sha384, sha512, sha1, md5.",
        ),
        ("hmac", {"secret": "k", "encoding": "hax"}, "The `encoding` parameter must be one of: hex, base64."),
        (
            "convert",
            {"output_format": "png", "quality": 0},
            "The `quality` parameter must be an integer from 1 to 100.",
        ),
        (
            "convert",
            {"output_format": "png", "quality": 101},
            "The `quality` parameter must be an integer from 1 to 100.",
        ),
        (
            "convert",
            {"output_format": "png", "max_width": 0},
            "The `max_width` parameter must be an integer from 1 to 10000.",
        ),
        (
            "convert",
            {"output_format": "png", "quality": True},
            "The `quality` parameter must be an integer from 1 to 100.",
        ),
        (
            "convert",
            {"output_format": "bmp"},
            "The `output_format` parameter must be one of: png, jpg, webp, gif, tiff.",
        ),
        ("keywords", {"ngrams": 4}, "The `ngrams` parameter must be an integer from 1 to 3."),
    ],
)
def test_wrong_setting_names_the_parameter(operation: str, given: dict[str, object], sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        OPERATIONS[operation].check_settings(given)
    assert str(caught.value) == sentence
    assert f"`{caught.value.parameter}`" in sentence


def test_first_wrong_setting_in_declared_order_is_named() -> None:
    with pytest.raises(ParameterError, match="`output_format`"):
        OPERATIONS["convert"].check_settings({"quality": 0, "output_format": "bmp"})


def test_a_wrong_secret_is_not_in_the_error() -> None:
    with pytest.raises(ParameterError) as caught:
        OPERATIONS["hmac"].check_settings({"secret": 123456789})
    assert "123456789" not in f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"


def test_defaults_are_filled_in() -> None:
    assert OPERATIONS["keywords"].check_settings({}) == {
        "ngrams": 1,
        "top": 50,
        "min_length": 4,
        "stop_words": None,
        "source": "main",
        "details": True,
    }
    assert all(p.default is not REQUIRED for o in AUDIT for p in o.settings)


def test_the_declarations_import_nothing_heavy() -> None:
    code = "import sys, webanalytics.operations; print(sorted({'pandas', 'pydantic', 'aiohttp', 'lxml'} & set(sys.modules)))"
    assert printed(code).strip() == "[]"


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (int, [0, -(2**63)], [2**63, True, 1.0, "1", None, [1]]),
        (float, [0.5, 1], [True, "1", None]),
        (str, ["", "é"], [1, None, b"x"]),
        (bool, [True], [1, "true", None]),
        (list[str] | str | None, [["a"], [], "a", None], [("a",), [None], [1], {"a": 1}]),
        (bool | Literal["auto"], [False, "auto"], ["Auto", 1, None]),
        (dict[str, int], [{}, {"a": 1}], [{"a": "1"}, []]),
    ],
)
def test_only_values_of_the_type_itself_are_valid(annotation: Any, good: list[Any], bad: list[Any]) -> None:
    assert [value for value in good if not strict(annotation)(value)] == []
    assert [value for value in bad if strict(annotation)(value)] == []


def test_bounds_hold_for_numbers_and_nothing_else() -> None:
    bounded = strict(int | None, 1, 10)
    assert [bounded(value) for value in (0, 1, 10, 11, None)] == [False, True, True, False, True]
    share = strict(float | None, 0, 1)
    assert [share(value) for value in (0, 0.5, 1, 1.01, float("nan"), float("inf"))] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]
