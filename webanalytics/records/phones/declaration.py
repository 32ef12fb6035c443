"""Disposable phone lookup."""

from __future__ import annotations

from webanalytics.core.operations.model import Field, Operation, Parameter

PHONE = Operation(
    name="phone",
    path="disposablephone",
    method="GET",
    summary="Check whether a phone number belongs to a disposable-number service.",
    kind="record",
    subject="phone",
    input_column="input",
    parameters=(
        Parameter("phone", str, "Phone number.", expects="a valid phone number in E.164 format", digits=True),
        Parameter(
            "region",
            str | None,
            "Region of numbers in national format, an ISO 3166 code, or a column with their regions.",
            default=None,
            expects="a two-letter ISO 3166 region code such as SE, or a column of the DataFrame",
            local=True,
            applied_here=True,
        ),
        Parameter(
            "details",
            bool,
            "Add country, carrier, line type and validity.",
            default=True,
            local=True,
            served=False,
        ),
    ),
    fields=(
        Field("phone", str, "The number checked, E.164."),
        Field("isDisposable", bool, "Whether the number is known as disposable."),
        Field("firstSeen", str | None, "Date first seen, YYYY-MM-DD; null when the number is not known."),
        Field("country", str, "Region of the number, ISO 3166.", extra=True),
        Field("carrier", str, "Carrier the number was issued to, where known.", extra=True),
        Field("line_type", str, "Kind of line, such as mobile or fixed_line.", extra=True),
        Field("valid", bool, "Whether the number can exist in its country's plan.", extra=True),
    ),
    credits=1,
    graphql=True,
    analysis="webanalytics.records.phones.phone:analyse",
    function="phones",
    inputs="numbers",
    column_names=(
        "phone",
        "phones",
        "number",
        "numbers",
        "phone_number",
        "tel",
        "telephone",
        "mobile",
        "msisdn",
    ),
    column_pattern=r"\s*\+?[\d ().-]{6,}$",
    table=(
        ("input", "input"),
        ("phone", "phone"),
        ("isDisposable", "disposable"),
        ("firstSeen", "first seen"),
        ("country", "country"),
        ("line_type", "line"),
        ("valid", "valid"),
    ),
    title="Disposable phones",
    chart="disposable_by_country",
    example="webanalytics.records.phones:example.json",
)
