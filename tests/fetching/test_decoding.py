"""Decoders fed in pieces of every size."""

from __future__ import annotations

import gzip
import zlib
from typing import Any

import brotli
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webanalytics.fetching.content import DecodingError, Inflate, decoder_for


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKERS: list[tuple[str, Any]] = [
    ("gzip", gzip.compress),
    ("x-gzip", gzip.compress),
    ("deflate", zlib.compress),
    ("deflate", raw_deflate),
    ("br", brotli.compress),
    ("identity", bytes),
]


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=3000), st.sampled_from(PACKERS), st.integers(1, 500))
def test_what_was_packed_comes_out(data: bytes, packer: tuple[str, Any], step: int) -> None:
    name, pack = packer
    decoder, packed = decoder_for([name.upper()]), pack(data)
    out = b"".join(decoder.feed(packed[at : at + step], 10_000) for at in range(0, len(packed), step))
    assert out == data
    assert decoder.complete


@settings(max_examples=60, deadline=None)
@given(st.binary(min_size=1, max_size=500), st.sampled_from(PACKERS[:5]), st.data())
def test_what_is_cut_off_is_not_complete(data: bytes, packer: tuple[str, Any], draw: Any) -> None:
    name, pack = packer
    packed = pack(data)
    cut = draw.draw(st.integers(1, len(packed) - 1))
    decoder = decoder_for([name])
    decoder.feed(packed[:cut], 10_000)
    assert not decoder.complete


@settings(max_examples=70, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", "br"]))
def test_any_bytes_decode_or_raise_the_one_error(data: bytes, name: str) -> None:
    decoder = decoder_for([name])
    try:
        decoder.feed(data, 1000)
    except DecodingError:
        return
    assert isinstance(decoder.complete, bool)


def test_members_and_padding() -> None:
    two = gzip.compress(b"one ") + gzip.compress(b"two")
    for step in (1, 7, len(two)):
        decoder = Inflate(gzip=True)
        assert (
            b"".join(decoder.feed(two[at : at + step], 100) for at in range(0, len(two), step)) == b"one two"
        )
    decoder = Inflate(gzip=True)
    assert decoder.feed(gzip.compress(b"text") + bytes(20), 100) == b"text"
    assert decoder.complete
    with pytest.raises(DecodingError):
        Inflate(gzip=True, max_members=5).feed(gzip.compress(b"") * 6, 100)


def test_the_limit_holds() -> None:
    assert len(decoder_for(["gzip"]).feed(gzip.compress(bytes(10_000_000)), 1000)) == 1000
    # Brotli gives whole blocks of its output, so it overshoots a little.
    assert len(decoder_for(["br"]).feed(brotli.compress(bytes(50_000_000)), 1000)) < 200_000


@pytest.mark.parametrize(
    "headers", [["gzip", "br"], ["gzip,deflate"], ["zstd"], ["aes128gcm"], ["gzip gzip"]]
)
def test_unknown_and_stacked(headers: list[str]) -> None:
    with pytest.raises(DecodingError):
        decoder_for(headers)


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 98_272, 1_000_000, 3_000_001])
@pytest.mark.parametrize(("name", "pack"), PACKERS)
def test_large_bodies_come_out_whole(name: str, pack: Any, size: int) -> None:
    data = (bytes(range(256)) * (size // 256 + 1))[:size]
    decoder, packed = decoder_for([name]), pack(data)
    assert decoder.feed(packed, size + 1) == data
    assert decoder.complete
