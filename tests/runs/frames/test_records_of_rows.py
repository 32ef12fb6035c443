"""What each row of records may bring along: the region of a phone number, the name of a TLSA record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.zone
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

import webanalytics as wa
from webanalytics.errors import RowError
from webanalytics.records.dane.dane import analyse
from webanalytics.records.dane.record import is_bare, named, parse, split_records

DIGEST = "0C72AC70B745AC19998811B131D662C9AC69DBDBE7CB23E5B514B566 64C5D3D6"
"""As ``dig +short`` prints it: capitals, a blank after 56 digits."""
SHORT = f"3 1 1 {DIGEST}"
SEVERAL = f"{SHORT}\n2 0 1 {DIGEST}\n"
NAME = "_25._tcp.mail.example.org"
CERTIFICATE = Path(__file__).parents[3] / "data" / "certificates" / "server.pem"
PHONES = pd.DataFrame(
    {
        "phone": [
            "020 7946 0958",
            "208-581-3945",
            "+12085813945",
            "08-123 456 78",
            "12",
            None,
            "208-581-3945",
        ],
        "country": ["GB", "us", "Atlantis", "Sweden", "SE", "SE", None],
    },
    index=list("abcdefg"),
)


# ---------------------------------------------------------------- phones


@pytest.mark.parametrize("details", [True, False])
def test_each_number_has_its_own_region(details: bool) -> None:
    frame = wa.phones(PHONES, region="country", details=details)
    assert frame.index.tolist() == list("abcdefg")
    assert frame["input"].tolist()[:5] == PHONES["phone"].tolist()[:5]
    assert frame["phone"].tolist()[:3] == ["+442079460958", "+12085813945", "+12085813945"]
    assert frame["isDisposable"].tolist()[1:3] == [True, True]
    assert frame["status"].tolist()[3:] == ["error"] * 1 + frame["status"].tolist()[4:5] + ["error"] * 2
    assert "`region` parameter must be a two-letter ISO 3166 country code" in frame.loc["d", "error"]
    assert frame.loc["f", "error"] == "The `phone` parameter is required."
    assert "`phone` parameter" in frame.loc["g", "error"]


def test_a_number_with_its_region_is_what_the_region_alone_gives() -> None:
    for region in ("GB", "US"):
        numbers = pd.DataFrame({"phone": ["020 7946 0958", "208-581-3945"], "where": [region] * 2})
        for details in (True, False):
            own = wa.phones(numbers, region="where", details=details)
            assert_frame_equal(own, wa.phones(numbers["phone"], region=region, details=details))


def test_both_ways_of_looking_up_agree() -> None:
    with_details = wa.phones(PHONES, region="country")
    without = wa.phones(PHONES, region="country", details=False)
    assert_frame_equal(with_details[list(without.columns)], without)


def test_the_column_of_regions_is_not_that_of_the_numbers() -> None:
    frame = pd.DataFrame({"contact": ["208-581-3945"], "where": ["US"]})
    assert wa.phones(frame, region="where")["isDisposable"].tolist() == [True]
    assert wa.phones(frame, region="where", column="contact")["isDisposable"].tolist() == [True]


def test_a_region_code_is_a_region_also_where_a_column_is_called_so() -> None:
    frame = pd.DataFrame({"id": [7], "phone": ["0812-3456-7890"]})
    assert wa.phones(frame, region="id").loc[0, "country"] == "ID"


@pytest.mark.parametrize("details", [True, False])
def test_a_column_of_regions_may_be_called_as_a_region_is(details: bool) -> None:
    """``cc`` is what tables call the country code, and the Cocos Islands."""
    frame = PHONES.rename(columns={"country": "cc"})
    assert_frame_equal(
        wa.phones(frame, region="cc", details=details), wa.phones(PHONES, region="country", details=details)
    )


@pytest.mark.parametrize(
    ("numbers", "region", "sentence"),
    [
        (PHONES, "contry", "or a column of the DataFrame; did you mean `country`?"),
        (PHONES, "Sweden", "or a column of the DataFrame."),
        (["1"], "country", "or a column of the DataFrame."),
        (PHONES["phone"], "country", "or a column of the DataFrame."),
        (PHONES, "", "or a column of the DataFrame."),
        (PHONES, 5, "The `region` parameter must be a two-letter ISO 3166 country code"),
    ],
)
@pytest.mark.parametrize("details", [True, False])
def test_what_is_neither_region_nor_column(numbers: Any, region: Any, sentence: str, details: bool) -> None:
    with pytest.raises(wa.ParameterError) as caught:
        wa.phones(numbers, region=region, details=details)
    assert sentence in str(caught.value)
    assert caught.value.parameter == "region"


# ---------------------------------------------------------------- TLSA records


def test_dig_short_is_read_without_a_name() -> None:
    frame = wa.dane(SHORT)
    row = frame.iloc[0]
    assert (row["status"], row["is_valid"], row["security_level"]) == ("ok", True, "Recommended")
    assert row["raw_record"] == SHORT
    assert frame[["hostname", "port", "protocol"]].isna().all(axis=None)
    assert row["parsed"]["certificate_data"] == DIGEST.replace(" ", "").lower()
    assert row["parsed"]["name"] is None
    assert not wa.dane("3 1 1 abc").loc[0, "is_valid"]


def test_the_output_of_dig_is_a_row_for_each_record() -> None:
    frame = wa.dane(f";; a comment of dig\n\n{SEVERAL}", name=NAME)
    assert frame["usage"].tolist() == [3, 2]
    assert frame["hostname"].tolist() == ["mail.example.org"] * 2
    assert frame["port"].tolist() == [25, 25]
    assert frame["is_valid"].tolist() == [True, True]
    lines = "3 1 1 0C72AC70B745AC19998811B131D662C9\nAC69DBDBE7CB23E5B514B56664C5D3D6\n2 0 1 AB\nCD"
    assert wa.dane(lines)["usage"].tolist() == [3, 2]
    assert wa.dane(lines).loc[0, "is_valid"]


ZONE = f"""
{NAME}.example.net. 3600 IN TLSA 3 1 1 (  ; of today (
        {DIGEST[:30]}
        {DIGEST[30:]} )

                3600 IN TLSA ( 2 0 1
{DIGEST} )
\tTLSA 3 1 2 {DIGEST}{DIGEST}
; the site
_443._tcp.www.example.net. ( 300 IN
 TLSA 3 1 1 {DIGEST} ) ; )
 IN 60 TLSA 1 1 1 {DIGEST}
"""


def test_records_are_split_as_in_a_zone_file() -> None:
    zone = dns.zone.from_text(f"$TTL 1\n{ZONE}", "example.net.", relativize=False, check_origin=False)
    expected = {
        (str(name), one.usage, one.selector, one.mtype, one.cert.hex())
        for name, _, one in zone.iterate_rdatas("TLSA")
    }
    frame = wa.dane(ZONE)
    assert frame["is_valid"].tolist() == [True] * 5
    names = ("name", "usage", "selector", "matching", "certificate_data")
    found = [tuple(parsed[name] for name in names) for parsed in frame["parsed"]]
    assert len(found) == len(expected) == 5
    assert set(found) == expected


def test_in_a_list_each_text_is_one_record() -> None:
    frame = wa.dane([SEVERAL, "3 1 1 AB\nCD", SHORT])
    assert frame["status"].tolist() == ["error", "ok", "ok"]


def test_names_come_from_a_column() -> None:
    frame = pd.DataFrame({"data": [SHORT, SHORT, f"_443._tcp.own.example. IN {'TLSA'} {SHORT}"],
                          "host": [NAME, None, NAME]}, index=[3, 4, 5])  # fmt: skip
    found = wa.dane(frame, name="host")
    assert found.index.tolist() == [3, 4, 5]
    assert found["hostname"].tolist()[0] == "mail.example.org"
    assert pd.isna(found["hostname"].tolist()[1])
    assert found["hostname"].tolist()[2] == "own.example"
    assert found["is_valid"].tolist() == [True, True, True]


@pytest.mark.parametrize("wrong", ["hots", "a b.example", "", 5, "a" * 70 + ".example", "a..example"])
def test_a_wrong_name(wrong: Any) -> None:
    with pytest.raises(wa.ParameterError, match="`name` parameter must be a name such as"):
        wa.dane(pd.DataFrame({"data": [SHORT], "host": [NAME]}), name=wrong)


def test_a_name_without_a_service_is_told_as_ever() -> None:
    assert not wa.dane(SHORT, name="mail.example.org").loc[0, "is_valid"]
    assert wa.dane(f"mail.example.org. IN TLSA {SHORT}").loc[0, "security_level"] == "Invalid"


def test_a_certificate_is_compared_with_short_records() -> None:
    record = wa.tlsa_record(CERTIFICATE, "www.example.com")
    short = record.partition(" TLSA ")[2].upper()
    frame = wa.dane([short, SHORT], certificates=CERTIFICATE)
    assert frame["matches_certificate"].tolist() == [True, False]


def test_the_column_of_short_records_is_found() -> None:
    assert wa.dane(pd.DataFrame({"id": ["x"], "data": [SHORT]}))["is_valid"].tolist() == [True]


codes = st.tuples(st.integers(0, 255), st.integers(0, 255), st.integers(0, 255))


@given(codes, st.binary(min_size=1, max_size=80), st.integers(1, 70), st.booleans())
def test_what_dnspython_writes_is_read(
    numbers: tuple[int, int, int], data: bytes, width: int, lines: bool
) -> None:
    """dnspython's own text of the record's data is the reference, whatever blanks and breaks are put in it."""
    size = {1: 32, 2: 64}.get(numbers[2], len(data))  # it refuses digests of other lengths
    data = (data * 64)[:size]
    rdata = dns.rdata.from_text(
        dns.rdataclass.IN, dns.rdatatype.TLSA, f"{numbers[0]} {numbers[1]} {numbers[2]} {data.hex()}"
    )
    head, _, digits = rdata.to_text().rpartition(" ")
    width += width % 2  # pairs of digits
    parts = [digits[at : at + width] for at in range(0, len(digits), width)]
    text = f"{head} {(chr(10) if lines else ' ').join(parts)}"
    assert is_bare(text)
    record = parse(text, name=None)
    assert (record.usage, record.selector, record.matching) == numbers
    assert bytes.fromhex(record.data) == data == rdata.cert
    assert parse(named(text, "_1._tcp.a.example.")).data == record.data
    answer = analyse(text, name=None)
    whole = analyse(f"_1._tcp.a.example. IN TLSA {numbers[0]} {numbers[1]} {numbers[2]} {data.hex()}")
    assert answer["validation"] == whole["validation"]
    assert answer["interpretation"]["security_level"] == whole["interpretation"]["security_level"]


@given(st.lists(st.tuples(codes, st.binary(min_size=1, max_size=40)), min_size=2, max_size=5))
def test_several_records_are_split(records: list[tuple[tuple[int, int, int], bytes]]) -> None:
    lines = [f"{a} {b} {c} {data.hex().upper()}" for (a, b, c), data in records]
    assert split_records("\n".join(lines)) == lines


@given(st.text(max_size=80))
def test_any_text_is_refused_or_read(text: str) -> None:
    assert "".join("".join(split_records(text)).split()) in "".join(text.split()) or not text.strip()
    for name in ("", None, "_1._tcp.a.example."):
        try:
            parse(text, name=name)
        except RowError as error:
            key = error.key
        else:
            key = "tlsa_record"
        assert key == "tlsa_record"


@given(st.sampled_from([SHORT, f"{NAME}. 3600 IN TLSA {SHORT}", f"{NAME} TYPE52 \\# 5 030101 abcd", "x", ""]))
def test_without_the_argument_nothing_has_changed(text: str) -> None:
    """A service calls `analyse` with the name "", which reads whole lines only."""
    if is_bare(text):
        with pytest.raises(RowError):
            analyse(text)
