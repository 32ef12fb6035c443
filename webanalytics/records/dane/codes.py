"""What the three codes of a TLSA record mean.

Numbers, acronyms and short descriptions are those of IANA's registry "DNS-Based Authentication of
Named Entities (DANE) Parameters", set up by RFC 6698 section 7 and given acronyms by RFC 7218.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple


class Code(NamedTuple):
    """One code of a registry: its acronym, its registered description and what it does."""

    name: str
    description: str
    full_description: str


def _registry(field: str) -> Mapping[int, Code]:
    with Path(__file__).with_name("codes.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row.pop("field") == field]
    return {int(row.pop("code")): Code(**row) for row in rows}


USAGES: Final = _registry("usage")
SELECTORS: Final = _registry("selector")
MATCHING: Final = _registry("matching")

LAST_ASSIGNED: Final = {"usage": 3, "selector": 1, "matching": 2}
"""Highest code in public use, for each of the three fields."""

DIGEST_HEX_LENGTH: Final[Mapping[int, int]] = {1: 64, 2: 128}
"""Hexadecimal digits of the association data, for the matching types that are digests."""


def explain(codes: Mapping[int, Code], code: int) -> Code:
    """Return the meaning of a code, assigned or not.

    >>> explain(USAGES, 3).name
    'DANE-EE'
    >>> explain(MATCHING, 7).description
    'Unassigned (7)'
    """
    known = codes.get(code)
    if known is not None:
        return known
    if code > 255:
        text = "The code does not fit into the one octet the record has for it, so no such record can exist."
        return Code("Out of range", f"Out of range ({code})", text)
    text = "The code is not assigned in the IANA registry, so clients treat the record as unusable."
    return Code("Unassigned", f"Unassigned ({code})", text)


def by_acronym(codes: Mapping[int, Code]) -> dict[str, int]:
    """Map the acronyms of a registry, case folded, to their codes."""
    return {code.name.casefold(): number for number, code in codes.items()}
