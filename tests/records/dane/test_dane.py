"""TLSA records: presentation forms, rules, explanations; dnspython is the independent reader."""

from __future__ import annotations

import csv
import string
from pathlib import Path

import idna
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webanalytics.errors import RowError
from webanalytics.records.dane import dane

DIGEST = "d2abde240d7cd3ee6b4b28c54df034b97983a1d16e8a410e4561cb106618e971"
SAMPLES = Path(__file__).parents[3] / "data" / "tlsa-records.csv"


def record(name="_443._tcp.www.example.com.", rdata=f"3 1 1 {DIGEST}", before="3600 IN "):
    return f"{name} {before}TLSA {rdata}"


def validity(text):
    return dane.analyse(text)["validation"]


def test_all_fields_in_the_order_of_the_specification():
    answer = dane.analyse(record())
    assert list(answer) == ["raw_record", "parsed", "interpretation", "validation"]
    assert answer["raw_record"] == record()
    assert answer["parsed"] == {
        "name": "_443._tcp.www.example.com.",
        "port": 443,
        "protocol": "tcp",
        "hostname": "www.example.com",
        "ttl": 3600,
        "class": "IN",
        "usage": 3,
        "selector": 1,
        "matching": 1,
        "certificate_data": DIGEST,
        "certificate_data_length": 64,
    }
    fields = "name, port, protocol, hostname, ttl, class, usage, selector, matching, certificate_data"
    assert ", ".join(answer["parsed"]) == f"{fields}, certificate_data_length"
    interpretation = answer["interpretation"]
    assert list(interpretation) == ["usage", "selector", "matching", "security_level", "recommendation"]
    assert all(
        list(interpretation[field]) == ["name", "description", "full_description"]
        for field in list(interpretation)[:3]
    )
    assert answer["validation"] == {
        "is_valid": True,
        "certificate_data_format": "Valid hexadecimal",
        "certificate_data_length_valid": True,
    }


# The examples of RFC 6698 section 2.3, as printed there.
@pytest.mark.parametrize(
    ("text", "codes", "length", "level"),
    [
        (
            """_443._tcp.www.example.com. IN TLSA (
               0 0 1 d2abde240d7cd3ee6b4b28c54df034b9
                     7983a1d16e8a410e4561cb106618e971 )""",
            (0, 0, 1),
            64,
            "Acceptable",
        ),
        (
            """_443._tcp.www.example.com. IN TLSA (
               1 1 2 92003ba34942dc74152e2f2c408d29ec
                     a5a520e7f2e06bb944f4dca346baf63c
                     1b177615d466f6c4b71c216a50292bd5
                     8c9ebdd2f74e38fe51ffd48c43326cbc )""",
            (1, 1, 2),
            128,
            "Acceptable",
        ),
    ],
)
def test_examples_of_rfc_6698(text, codes, length, level):
    answer = dane.analyse(text)
    parsed = answer["parsed"]
    assert (parsed["usage"], parsed["selector"], parsed["matching"]) == codes
    assert parsed["certificate_data_length"] == length
    assert (parsed["ttl"], parsed["class"]) == (None, "IN")
    assert answer["validation"]["is_valid"]
    assert answer["interpretation"]["security_level"] == level


@pytest.mark.parametrize(
    "text",
    [
        record(before=""),
        record(before="3600 "),
        record(before="IN "),
        record(before="in 3600 "),
        record(before="1h "),
        record(before="CLASS1 60m "),
        "  " + record() + "  ; a comment\n\n; another\n",
        f"; first\n\n_443._tcp.www.example.com.\t3600\tIN\tTLSA\t3\t1\t1\t{DIGEST}\r\n",
        f"_443._tcp.www.example.com. 3600 IN TLSA 3 1 1 {DIGEST[:10]} {DIGEST[10:20]} {DIGEST[20:]}",
        f"_443._tcp.www.example.com. ( 3600 IN\nTLSA ) 3 ( 1 1 ;)\n{DIGEST[:5]}\n{DIGEST[5:]} )",
        record(rdata=f"3 1 1 {DIGEST.upper()}"),
        record(rdata=f"DANE-EE SPKI SHA2-256 {DIGEST}"),
        record(rdata=f"dane-ee spki sha2-256 {DIGEST}"),
        record(rdata=f"03 001 1 {DIGEST}"),
        record(rdata=f"\\# 35 030101 {DIGEST}"),
        f"_443._tcp.www.example.com. 3600 IN TYPE52 \\# 35 0301 01{DIGEST}",
        f"_443._tcp.www.example.com. 3600 IN type52 3 1 1 {DIGEST}",
        record(name="_443._TCP.www.example.com."),
        record(name="_443._tcp.www.example.com"),
        record(name="\\095443._tcp.www.example.com."),
    ],
)
def test_presentation_forms_that_mean_the_same(text):
    answer = dane.analyse(text)
    parsed = answer["parsed"]
    assert answer["validation"]["is_valid"]
    assert (parsed["port"], parsed["protocol"], parsed["hostname"]) == (443, "tcp", "www.example.com")
    assert parsed["class"] == "IN"
    assert parsed["ttl"] in (None, 3600)
    assert parsed["certificate_data"] == DIGEST
    assert answer["interpretation"]["security_level"] == "Recommended"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "hello",
        "www.example.com. 3600 IN A 192.0.2.1",
        "TLSA",
        f"TLSA 3 1 1 {DIGEST}",
        f"3 1 1 {DIGEST}",
        record(rdata="3 1 1"),
        record(rdata=""),
        record(rdata=f"3 1 {DIGEST} x"),
        record(rdata=f"three 1 1 {DIGEST}"),
        record(rdata=f"-1 1 1 {DIGEST}"),
        record(rdata=f"9999999999 1 1 {DIGEST}"),
        record(rdata=f"٣ 1 1 {DIGEST}"),
        record(before="3600 IN 60 "),
        record(before="IN IN "),
        record(before="soon "),
        record(rdata="\\# 3 030101"),
        record(rdata="\\# x 030101ab"),
        record(rdata="\\#"),
        record() + "\n" + record(),
        "$TTL 3600\n" + record(),
        record() + " (",
        record() + " )",
        f"_443._tcp.www.example.com. IN TLSA 3 1 1\n{DIGEST}",
        record() + ' "open',
        record() + " \\",
        None,
        float("nan"),
        b"bytes",
    ],
)
def test_a_line_that_is_no_tlsa_record(text):
    with pytest.raises(RowError) as caught:
        dane.analyse(text)
    assert caught.value.error_type == "invalid"
    assert caught.value.sentence == (
        "The `record` parameter must be a TLSA record in the form "
        "`<name> <ttl> <class> TLSA <usage> <selector> <matching> <hex_certificate_data>`."
    )


def test_a_record_that_is_too_long():
    long = record(rdata="3 1 0 " + "ab" * 100)
    assert dane.analyse(long, limit=len(long))["validation"]["is_valid"]
    with pytest.raises(RowError, match=r"^The `record` parameter must be at most 100 characters long\.$"):
        dane.analyse(long, limit=100)


@pytest.mark.parametrize(
    ("text", "format_start", "length_valid"),
    [
        (record(rdata=f"3 1 1 {DIGEST[:-1]}"), "Invalid: odd", False),
        (record(rdata=f"3 1 1 {DIGEST[:-2]}"), "Valid", False),
        (record(rdata=f"3 1 2 {DIGEST}"), "Valid", False),
        (record(rdata=f"3 1 1 {DIGEST * 2}"), "Valid", False),
        (record(rdata=f"3 1 0 {DIGEST}a"), "Invalid: odd", False),
        (record(rdata=f"3 1 1 {DIGEST[:-1]}g"), "Invalid: char", True),
        (record(rdata=f'3 1 1 "{DIGEST}"'), "Invalid: char", False),
        (record(rdata=f"4 1 1 {DIGEST}"), "Valid", True),
        (record(rdata=f"255 1 1 {DIGEST}"), "Valid", True),
        (record(rdata=f"300 1 1 {DIGEST}"), "Valid", True),
        (record(rdata=f"3 2 1 {DIGEST}"), "Valid", True),
        (record(rdata=f"3 1 3 {DIGEST}"), "Valid", False),
        (record(rdata=f"PrivCert PrivSel PrivMatch {DIGEST}"), "Valid", False),
        (record(rdata=f"\\# 34 030101{DIGEST}"), "Valid", False),
        (record(before=f"{2**31} IN "), "Valid", True),
        (record(name="www.example.com."), "Valid", True),
        (record(name="@"), "Valid", True),
        (record(name="tlsa._dane.example.com."), "Valid", True),
        (record(name="_443.tcp.example.com."), "Valid", True),
        (record(name="443._tcp.example.com."), "Valid", True),
        (record(name="_tcp._443.example.com."), "Valid", True),
        (record(name="_0._tcp.example.com."), "Valid", True),
        (record(name="_0443._tcp.example.com."), "Valid", True),
        (record(name="_65536._tcp.example.com."), "Valid", True),
        (record(name="_443._http.example.com."), "Valid", True),
        (record(name="_443._tcp..example.com."), "Valid", True),
        (record(name=f"_443._tcp.{'a' * 64}.example."), "Valid", True),
        (record(name=f"_443._tcp.{'a23456789.' * 25}"), "Valid", True),
        (record(name="_443._tcp.a\\256.example."), "Valid", True),
        (record(name='"_443._tcp.www.example.com."'), "Valid", True),
    ],
)
def test_records_that_are_not_valid(text, format_start, length_valid):
    answer = dane.analyse(text)
    assert answer["validation"]["is_valid"] is False
    assert answer["validation"]["certificate_data_format"].startswith(format_start)
    assert answer["validation"]["certificate_data_length_valid"] is length_valid
    assert answer["interpretation"]["security_level"] == "Invalid"
    assert answer["interpretation"]["recommendation"].startswith("Correct the record: ")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("_25._tcp.mx1.example.net.", (25, "tcp", "mx1.example.net")),
        ("_853._udp.dns.example.", (853, "udp", "dns.example")),
        ("_5000._sctp.example.", (5000, "sctp", "example")),
        ("_65535._tcp.example.", (65535, "tcp", "example")),
        ("_443._tcp", (443, "tcp", "")),
        ("_443._tcp.xn--bcher-kva.example.", (443, "tcp", "xn--bcher-kva.example")),
    ],
)
def test_names_of_services(name, expected):
    answer = dane.analyse(record(name=name))
    parsed = answer["parsed"]
    assert (parsed["port"], parsed["protocol"], parsed["hostname"]) == expected
    assert parsed["name"] == name
    assert answer["validation"]["is_valid"]


@pytest.mark.parametrize(
    "host",
    ["bücher.example", "*.example", "a\\.b.example", "-a.example", "b\\252cher.example", "a:b.example"],
)
def test_the_host_is_one_that_clients_ask_for(host):
    """RFC 6698 section 3: labels of RFC 952, of an internationalized name A-labels; ``*`` stands first only."""
    answer = dane.analyse(record(name=f"_443._tcp.{host}."))
    assert answer["parsed"]["hostname"] == host
    assert not answer["validation"]["is_valid"]
    assert "the host in the name must be" in answer["interpretation"]["recommendation"]
    if "ü" in host:
        assert dane.analyse(record(name=f"_443._tcp.{idna.encode(host).decode()}."))["validation"]["is_valid"]


def test_a_wildcard_names_no_port():
    answer = dane.analyse(record(name="*._tcp.example.com."))
    assert (answer["parsed"]["port"], answer["parsed"]["hostname"]) == (None, "example.com")
    assert not answer["validation"]["is_valid"]


# 3 1 1 Recommended; other DANE usages with SHA-2 Good; PKIX usages with SHA-2 Acceptable; matching 0 Weak
@pytest.mark.parametrize("usage", range(4))
@pytest.mark.parametrize("selector", range(2))
@pytest.mark.parametrize("matching", range(3))
def test_security_levels_of_all_assigned_codes(usage, selector, matching):
    data = {0: "3003020101", 1: "ab" * 32, 2: "ab" * 64}[matching]
    answer = dane.analyse(record(rdata=f"{usage} {selector} {matching} {data}"))
    if matching == 0:
        expected = "Weak"
    elif (usage, selector, matching) == (3, 1, 1):
        expected = "Recommended"
    else:
        expected = {0: "Acceptable", 1: "Acceptable", 2: "Good", 3: "Good"}[usage]
    assert answer["interpretation"]["security_level"] == expected
    assert answer["interpretation"]["recommendation"].endswith(".")


# The acronyms and short descriptions of the IANA registry.
@pytest.mark.parametrize(
    ("field", "code", "name", "description"),
    [
        ("usage", 0, "PKIX-TA", "CA constraint"),
        ("usage", 1, "PKIX-EE", "Service certificate constraint"),
        ("usage", 2, "DANE-TA", "Trust anchor assertion"),
        ("usage", 3, "DANE-EE", "Domain-issued certificate"),
        ("usage", 255, "PrivCert", "Reserved for Private Use"),
        ("usage", 77, "Unassigned", "Unassigned (77)"),
        ("selector", 0, "Cert", "Full certificate"),
        ("selector", 1, "SPKI", "SubjectPublicKeyInfo"),
        ("selector", 255, "PrivSel", "Reserved for Private Use"),
        ("matching", 0, "Full", "No hash used"),
        ("matching", 1, "SHA2-256", "256 bit hash by SHA2"),
        ("matching", 2, "SHA2-512", "512 bit hash by SHA2"),
        ("matching", 255, "PrivMatch", "Reserved for Private Use"),
        ("matching", 256, "Out of range", "Out of range (256)"),
    ],
)
def test_names_of_the_registry(field, code, name, description):
    codes = {"usage": 3, "selector": 1, "matching": 1} | {field: code}
    answer = dane.analyse(record(rdata=f"{codes['usage']} {codes['selector']} {codes['matching']} {DIGEST}"))
    explained = answer["interpretation"][field]
    assert (explained["name"], explained["description"]) == (name, description)
    assert len(explained["full_description"].split()) >= 10


@pytest.mark.parametrize(
    ("name", "rdata", "words"),
    [
        ("_443._tcp.a.example.", f"3 1 1 {DIGEST}", ["RFC 7671", "Keep it"]),
        ("_443._tcp.a.example.", f"3 0 1 {DIGEST}", ["3 1 1", "renewal"]),
        ("_443._tcp.a.example.", f"2 0 1 {DIGEST}", ["chain"]),
        ("_443._tcp.a.example.", f"2 1 1 {DIGEST}", ["prefer 2 0 1"]),
        ("_25._tcp.a.example.", f"1 1 1 {DIGEST}", ["RFC 7672", "3 1 1"]),
        ("_443._tcp.a.example.", f"1 1 1 {DIGEST}", ["RFC 7671", "3 1 1"]),
        ("_443._tcp.a.example.", f"3 1 2 {DIGEST * 2}", ["SHA2-256"]),
        ("_443._tcp.a.example.", "3 0 0 308201", ["not one complete DER structure"]),
    ],
)
def test_recommendations(name, rdata, words):
    text = dane.analyse(record(name=name, rdata=rdata))["interpretation"]["recommendation"]
    assert all(word in text for word in words)


def test_a_complete_der_structure_is_not_doubted():
    for content in (5, 200, 70_000):  # short length, one octet, three octets
        size = bytes([content]) if content < 128 else b""
        if content >= 128:
            octets = content.to_bytes((content.bit_length() + 7) // 8)
            size = bytes([0x80 + len(octets)]) + octets
        data = b"\x30" + size + bytes(content)
        advice = dane.analyse(record(rdata=f"2 0 0 {data.hex()}"))["interpretation"]["recommendation"]
        assert "DER" not in advice
        advice = dane.analyse(record(rdata=f"2 0 0 {data[:-1].hex()}"))["interpretation"]["recommendation"]
        assert "DER" in advice


@given(st.text(max_size=300))
@example("(" * 300)
@example("_443._tcp.a. TLSA 3 1 1 \ud800")
def test_any_text_is_a_record_or_a_row_error(text):
    try:
        answer = dane.analyse(text)
    except RowError:
        return
    assert answer["raw_record"] == text


ALPHABET = string.printable + '\\();"_.#é\x00'


@given(st.data())
def test_a_damaged_record_is_a_record_or_a_row_error(data):
    text = list(
        data.draw(
            st.sampled_from(
                [record(), record(rdata=f"\\# 35 030101{DIGEST}"), record(rdata=f"(\n3 1 1 ;x\n{DIGEST})")]
            )
        )
    )
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at] = data.draw(st.sampled_from(ALPHABET))
    try:
        answer = dane.analyse("".join(text))
    except RowError:
        return
    assert answer["validation"]["is_valid"] is (answer["interpretation"]["security_level"] != "Invalid")


def test_sample_records():
    with SAMPLES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= 25
    for row in rows:
        comment = row["comment"]
        if comment.endswith(": an error"):
            with pytest.raises(RowError):
                dane.analyse(row["record"])
        else:
            assert validity(row["record"])["is_valid"] is not comment.startswith("invalid"), comment


@pytest.mark.parametrize("written", ["CH", "HS", "CS", "CLASS3", "CLASS255"])
def test_only_the_class_of_the_internet_is_valid(written):
    answer = dane.analyse(f"_443._tcp.www.example. 60 {written} TLSA 3 1 1 {'ab' * 32}")
    assert answer["validation"]["is_valid"] is False
    assert answer["interpretation"]["security_level"] == "Invalid"
    assert "the class must be IN, not " in answer["interpretation"]["recommendation"]
