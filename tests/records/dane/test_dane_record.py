"""The reader of TLSA records: round trips, dnspython as the reference, and hostile text."""

from __future__ import annotations

import contextlib
import string
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.effort import effort_since
from webanalytics.errors import RowError
from webanalytics.records.dane import dane
from webanalytics.records.dane.record import parse


def record(name="_443._tcp.www.example.com.", rdata="3 1 1 " + "ab" * 32, before="3600 IN "):
    return f"{name} {before}TLSA {rdata}"


LABEL = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=20)
NAMES = st.builds(
    lambda port, protocol, labels: f"_{port}._{protocol}.{'.'.join(labels)}.",
    st.integers(1, 65535),
    st.sampled_from(["tcp", "udp", "sctp"]),
    st.lists(LABEL, min_size=1, max_size=4),
)
DATA = st.binary(min_size=1, max_size=80).map(bytes.hex)


@given(
    NAMES,
    st.none() | st.integers(0, 2**31 - 1),
    st.integers(0, 255),
    st.integers(0, 255),
    st.integers(0, 255),
    DATA,
)
def test_what_is_written_is_read_again(name, ttl, usage, selector, matching, data):
    before = "" if ttl is None else f"{ttl} "
    read = parse(record(name, f"{usage} {selector} {matching} {data}", before))
    assert (read.name, read.ttl, read.dns_class) == (name, ttl, "IN")
    assert (read.usage, read.selector, read.matching, read.data) == (usage, selector, matching, data)
    assert parse(read.render()) == read
    octets = bytes([usage, selector, matching]).hex() + data
    assert parse(f"{name} {before}TYPE52 \\# {len(octets) // 2} {octets}") == read


@st.composite
def zone_lines(draw):
    """A record as somebody might write it: blanks, parentheses, comments, split data, units."""
    matching = draw(st.integers(0, 255))
    size = {1: 32, 2: 64}.get(matching) or draw(st.integers(1, 80))
    data = draw(st.binary(min_size=size, max_size=size)).hex()
    cuts = sorted(draw(st.lists(st.integers(1, len(data)), max_size=3)))
    parts = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True) if a < b]
    ttl = draw(st.sampled_from(["300", "1h", "1h30m", "2W", "1d12h", "45s"]))
    words = [
        draw(NAMES),
        ttl,
        "IN",
        "TLSA",
        *(str(draw(st.integers(0, 255))) for _ in range(2)),
        str(matching),
        *parts,
    ]
    opened = draw(st.none() | st.integers(1, len(words) - 1))
    blanks = st.sampled_from([" ", "\t", "   "])
    inside = st.sampled_from([" ", "\n", " ; note (\n ", "\r\n  "])
    text = words[0]
    for position, word in enumerate(words[1:], start=1):
        text += draw(inside if opened is not None and position > opened else blanks)
        text += ("( " if position == opened else "") + word
    return text + (" )" if opened is not None else "") + draw(st.sampled_from(["", "\n", " ; end"]))


@given(zone_lines())
def test_read_as_dnspython_reads_it(text):
    zonefile = pytest.importorskip("dns.zonefile", reason="dnspython, the reference reader, is not installed")
    (rrset,) = zonefile.read_rrsets(text, rdclass=None, default_rdclass="IN")
    (rdata,) = rrset
    parsed = dane.analyse(text)["parsed"]
    assert parsed["name"] == rrset.name.to_text()
    assert (parsed["ttl"], parsed["class"]) == (rrset.ttl, "IN")
    assert (parsed["usage"], parsed["selector"], parsed["matching"]) == (
        rdata.usage,
        rdata.selector,
        rdata.mtype,
    )
    assert parsed["certificate_data"] == rdata.cert.hex()


@given(st.integers(1, 2), st.integers(1, 80))
@example(1, 32)
@example(2, 64)
@example(2, 32)
def test_lengths_that_dnspython_refuses_are_invalid(matching, size):
    rdata = pytest.importorskip("dns.rdata", reason="dnspython, the reference reader, is not installed")
    text = f"3 1 {matching} {'ab' * size}"
    try:
        rdata.from_text("IN", "TLSA", text)
    except (ValueError, rdata.dns.exception.SyntaxError):
        accepted = False
    else:
        accepted = True
    assert dane.analyse(record(rdata=text))["validation"]["certificate_data_length_valid"] is accepted


@pytest.mark.parametrize(
    "text",
    [
        "(" * 199_000,
        "; " * 99_000,
        '"' * 199_000,
        "a\\" * 99_000,
        record(name="a." * 90_000),
        record(rdata="3 1 1 " + "a " * 90_000),
        record(name="\\1" * 90_000),
    ],
)
def test_hostile_text_takes_little_time(text):
    start = time.process_time()
    with contextlib.suppress(RowError):
        dane.analyse(text)
    assert effort_since(start) < 2
