"""Certificates beside records."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa

FOLDER = Path(__file__).parents[3] / "data" / "certificates"
SERVER, CHAIN, OTHER = FOLDER / "server.pem", FOLDER / "chain.pem", FOLDER / "self-signed.pem"


def test_each_record_with_its_own_certificate() -> None:
    good = wa.tlsa_record(SERVER, "a.example")
    authority = wa.tlsa_record(FOLDER / "intermediate.pem", "a.example", usage=2)
    records = pd.Series([good, good, good, authority, "no record"], index=list("abcde"))
    frame = wa.dane(records, certificates=[SERVER, OTHER, None, CHAIN, SERVER])
    found = frame["matches_certificate"]
    assert found.dtype == "boolean"
    assert found.tolist()[:2] == [True, False]
    assert pd.isna(found["c"])
    assert found["d"] is True or found["d"] == True  # noqa: E712
    assert pd.isna(found["e"])


def test_one_certificate_for_all() -> None:
    records = [wa.tlsa_record(SERVER, "a.example", matching=matching) for matching in (0, 1, 2)]
    assert wa.dane(records, certificates=SERVER.read_text())["matches_certificate"].tolist() == [True] * 3


@pytest.mark.parametrize("certificates", [[SERVER], "nonsense", b"nonsense", FOLDER / "none.pem"])
def test_wrong_certificates_are_a_wrong_call(certificates: object) -> None:
    with pytest.raises(wa.ParameterError, match="`certificates` parameter"):
        wa.dane(["no record", "no record"], certificates=certificates)


def test_without_certificates_there_is_no_column() -> None:
    assert "matches_certificate" not in wa.dane(["no record"])
