"""DANE/TLSA records: parse, explain and validate (RFC 6698, RFC 7671)."""

from __future__ import annotations

from typing import TypedDict

from webanalytics.core.operations.model import Field, Operation, Parameter

Parsed = TypedDict(
    "Parsed",
    {
        "name": str,
        "port": int | None,
        "protocol": str | None,
        "hostname": str,
        "ttl": int | None,
        "class": str | None,
        "usage": int,
        "selector": int,
        "matching": int,
        "certificate_data": str,
        "certificate_data_length": int,
    },
)


class Code(TypedDict):
    """What one of the three codes means."""

    name: str
    description: str
    full_description: str


class Interpretation(TypedDict):
    """What a record says, in words."""

    usage: Code
    selector: Code
    matching: Code
    security_level: str
    recommendation: str


class Validation(TypedDict):
    """Whether a record can be used."""

    is_valid: bool
    certificate_data_format: str
    certificate_data_length_valid: bool


_FORM = "<name> <ttl> <class> TLSA <usage> <selector> <matching> <hex_certificate_data>"

DANE = Operation(
    name="dane",
    path="danevalidator",
    method="POST",
    summary="Parse and validate a DANE/TLSA record and assess its security level.",
    kind="record",
    subject="record",
    input_column="raw_record",
    parameters=(
        Parameter("record", str, "A TLSA record line.", expects=f"a TLSA record in the form `{_FORM}`"),
        Parameter(
            "name",
            str | None,
            "Name of records without one, such as _25._tcp.mail.example.org, or a column with their names.",
            default=None,
            expects="a name such as _25._tcp.mail.example.org, or a column of the DataFrame",
            local=True,
            served="",
            applied_here=True,
        ),
    ),
    fields=(
        Field("raw_record", str, "The record as submitted."),
        Field("parsed", Parsed, "The parts of the record."),
        Field("interpretation", Interpretation, "What the codes mean, and how good they are.", premium=True),
        Field("validation", Validation, "Whether the record is usable."),
        Field(
            "hostname", str, "Host name without the service prefix.", extra=True, path=("parsed", "hostname")
        ),
        Field("port", int, "Port from the name.", extra=True, path=("parsed", "port")),
        Field("protocol", str, "Transport from the name.", extra=True, path=("parsed", "protocol")),
        Field("usage", int, "Certificate usage.", extra=True, path=("parsed", "usage")),
        Field("selector", int, "Selector.", extra=True, path=("parsed", "selector")),
        Field("matching", int, "Matching type.", extra=True, path=("parsed", "matching")),
        Field("is_valid", bool, "Overall result.", extra=True, path=("validation", "is_valid")),
        Field(
            "security_level",
            str,
            "How good the combination of codes is.",
            extra=True,
            path=("interpretation", "security_level"),
        ),
    ),
    credits=2,
    analysis="webanalytics.records.dane.dane:analyse",
    column_names=("record", "records", "raw_record", "tlsa"),
    column_pattern=r"(?s).*\b(TLSA|TYPE52)\b|\s*[0-3]\s+[01]\s+[0-2]\s+[0-9a-f]{16}",
    table=(
        ("raw_record", "record"),
        ("hostname", "host"),
        ("port", "port"),
        ("usage", "usage"),
        ("selector", "selector"),
        ("matching", "matching"),
        ("is_valid", "valid"),
        ("security_level", "security"),
        ("matches_certificate", "matches"),
    ),
    title="DANE/TLSA",
    chart="tlsa_security",
    example="webanalytics.records.dane:example.json",
)
