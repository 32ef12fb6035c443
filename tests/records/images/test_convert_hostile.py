"""Images that are none, broken or made to hurt: each is an error of its row, soon."""

from __future__ import annotations

import io
import random
import struct
import zlib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image, TiffImagePlugin

from tests.records.images.pictures import SOUND, encode, refusal, sample
from webanalytics.errors import RowError
from webanalytics.records.images.convert import FORMATS, ImageLimits, analyse, sniff

pytestmark = pytest.mark.usefixtures("large_images_can_be_made")

SMALL = ImageLimits(max_pixels=1_000_000, max_total_pixels=3_000_000, max_frames=40)


# No image


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 100,
        b"plain text",
        b"<!doctype html><title>Not found</title>",
        b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><script>alert(1)</script></svg>",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(/etc/passwd) run\n",
        b"%PDF-1.7\n",
        b"BM" + b"\0" * 60,
        b"P6 2 2 255\n" + b"\0" * 12,
        b"\0\0\0\x1cftypavif" + b"\0" * 40,
        b"8BPS\0\1" + b"\0" * 40,
        sample("really-a-text.png"),
        *(
            b"\x89PNG\r\n\x1a\n",
            b"\xff\xd8\xff",
            b"GIF89a",
            b"II*\0",
            b"MM\0*",
            b"II+\0",
            b"RIFF\0\0\0\0WEBP",
        ),
    ],
)
def test_no_image(content: bytes) -> None:
    for output_format in FORMATS:
        assert refusal(content, output_format) == "invalid"


def test_a_wrong_magic_number_opens_no_other_decoder() -> None:
    postscript = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n"
    for magic in (b"\xff\xd8\xff", b"GIF89a", b"II*\0\x08\0\0\0"):
        assert refusal(magic + postscript) == "invalid"


# Truncated and damaged


def test_truncated_sample() -> None:
    for output_format in FORMATS:
        assert refusal(sample("truncated.jpg"), output_format) == "invalid"


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("image_format", ["PNG", "JPEG", "WEBP", "TIFF", "GIF"])
def test_truncated(image_format: str, share: float) -> None:
    noise = Image.effect_noise((90, 90), 90).convert("RGB")
    options = {"compression": "tiff_lzw"} if image_format == "TIFF" else {}
    content = encode(noise, image_format, **options)
    for output_format in FORMATS:
        assert refusal(content[: int(len(content) * share)], output_format) == "invalid"


@pytest.mark.parametrize("image_format", ["GIF", "WEBP", "PNG"])
def test_animation_truncated_in_a_later_frame(image_format: str) -> None:
    frames = [Image.effect_noise((60, 60), 90).convert("RGB") for _ in range(4)]
    content = encode(frames[0], image_format, save_all=True, append_images=frames[1:], duration=50)
    assert refusal(content[: int(len(content) * 0.9)], "gif") == "invalid"
    assert refusal(content[: int(len(content) * 0.9)], "webp") == "invalid"


def test_animation_that_promises_too_many_frames() -> None:
    content = sample("balloon-animated.png")
    position = content.index(b"acTL")
    control = b"acTL" + struct.pack(">II", 200, 0)
    content = content[:position] + control + struct.pack(">I", zlib.crc32(control)) + content[position + 16 :]
    assert refusal(content, "gif") == "invalid"


# Anything


def outcome(content: bytes, output_format: Any) -> tuple[dict[str, Any] | None, str]:
    """Return a result, or the kind of error; anything but the error of a row goes through and fails the test."""
    try:
        return analyse(content, output_format=output_format, limits=SMALL), ""
    except RowError as error:
        return None, error.error_type


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(
        [
            b"",
            b"\x89PNG\r\n\x1a\n",
            b"\xff\xd8\xff\xe0",
            b"GIF89a",
            b"II*\0",
            b"MM\0*",
            b"RIFF\0\0\0\0WEBPVP8 ",
        ]
    ),
    st.binary(max_size=400),
    st.sampled_from(FORMATS),
)
def test_random_bytes(start: bytes, rest: bytes, output_format: Any) -> None:
    result, error_type = outcome(start + rest, output_format)
    assert result is not None or error_type in ("invalid", "too_large")


@settings(max_examples=130, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from([path.name for path in SOUND]),
    st.sampled_from(FORMATS),
    st.integers(0, 2**32),
    st.integers(1, 6),
    st.sampled_from(["anywhere", "header", "cut", "insert"]),
)
def test_damaged_samples(name: str, output_format: Any, seed: int, changes: int, place: str) -> None:
    dice = random.Random(seed)
    content = bytearray(sample(name))
    for _ in range(changes):
        position = dice.randrange(min(len(content), 120) if place == "header" else len(content))
        if place == "cut" and len(content) > 40:
            del content[position : position + dice.randrange(1, 30)]
        elif place == "insert":
            content[position:position] = dice.randbytes(dice.randrange(1, 30))
        else:
            content[position] = dice.choice([0, 1, 0x7F, 0x80, 0xFF, dice.randrange(256)])
    result, error_type = outcome(bytes(content), output_format)
    if result is None:
        assert error_type in ("invalid", "too_large")
        return
    assert sniff(result["content"]) == output_format
    with Image.open(io.BytesIO(result["content"])) as image:
        assert image.size == (result["width"], result["height"])
        image.load()


def test_pillow_writes_tiff_pages_in_the_way_we_rely_on() -> None:
    assert hasattr(TiffImagePlugin, "AppendingTiffWriter")
