"""Conversions as wished: the smaller file kept, lossless where it pays, a quality searched for, newer formats."""

from __future__ import annotations

import importlib.util
import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, features

from tests.records.images.pictures import animation, decode, encode, sample, squares
from webanalytics.errors import ParameterError, RowError
from webanalytics.records.images import convert
from webanalytics.records.images.convert import analyse
from webanalytics.records.images.encoder import FEW_COLOURS, _last, _qualities, ssim
from webanalytics.records.images.formats import ImageLimits

SITE = Path(__file__).parents[3] / "data" / "site" / "images"
PHOTO = (SITE / "reading-lamp.jpg").read_bytes()
GRAPHIC = (SITE / "brightness.png").read_bytes()
needs_avif = pytest.mark.skipif(not features.check("avif"), reason="this Pillow has no AVIF")


def small(content: bytes, size: tuple[int, int] = (200, 200)) -> bytes:
    return encode(decode(content).convert("RGB").resize(size), "PNG")


# Keeping


def test_a_file_that_would_grow_is_kept_as_it_is() -> None:
    content = encode(decode(PHOTO), "JPEG", quality=20)
    result = analyse(content, output_format="png", keep_smaller=True)
    assert result["kept"] is True
    assert result["content"] == content
    assert (result["outputFormat"], result["mimeType"]) == ("jpg", "image/jpeg")
    assert result["outputSize"] == result["inputSize"] == len(content)
    larger = analyse(content, output_format="png")
    assert result["note"] == f"Kept: as png it would have {larger['outputSize']:,} bytes."
    assert larger["kept"] is False
    assert larger["note"] == f"Larger than the given {len(content):,} bytes."
    assert (result["quality"], result["lossless"], result["ssim"]) == (None, None, None)


def test_a_kept_animation_keeps_its_frames() -> None:
    content = animation("WEBP", squares(), [100] * 4, loop=0)
    result = analyse(content, output_format="jpg", keep_smaller=True)
    assert (result["kept"], result["frames"], result["outputFormat"]) == (True, 4, "webp")


def test_what_has_to_shrink_in_pixels_is_converted() -> None:
    content = encode(decode(PHOTO).convert("P"), "GIF")
    result = analyse(content, output_format="png", max_width=799, keep_smaller=True)
    assert (result["kept"], result["outputFormat"], result["width"]) == (False, "png", 799)
    assert "Larger than the given" in result["note"]


def test_a_smaller_file_is_no_news() -> None:
    result = analyse(PHOTO, output_format="webp", quality=80, keep_smaller=True)
    assert (result["kept"], result["note"], result["quality"], result["lossless"]) == (False, None, 80, False)


# Lossless


def test_few_colours_are_written_lossless() -> None:
    result = analyse(GRAPHIC, output_format="webp", lossless="auto", measure=True)
    lossy = analyse(GRAPHIC, output_format="webp", quality=90)
    assert (result["lossless"], result["quality"], result["ssim"]) == (True, None, 1.0)
    assert decode(result["content"]).convert("RGB").tobytes() == decode(GRAPHIC).convert("RGB").tobytes()
    assert result["outputSize"] <= lossy["outputSize"]
    assert lossy["lossless"] is False


def test_many_colours_are_not() -> None:
    assert analyse(PHOTO, output_format="webp", lossless="auto")["lossless"] is False
    assert analyse(small(PHOTO), output_format="webp", lossless=True)["lossless"] is True


def test_the_number_of_colours_decides_whether_both_ways_are_tried() -> None:
    for colours, tried in ((FEW_COLOURS, True), (FEW_COLOURS + 1, False)):
        values = np.arange(colours, dtype=np.uint32) * 16127
        pixels = np.stack([values & 255, values >> 8 & 255, values >> 16 & 255], 1).astype(np.uint8)
        image = Image.fromarray(np.repeat(pixels[None], 40, 0))  # stripes, which lossy formats dislike
        assert len(image.getcolors(5000) or ()) == colours
        assert analyse(encode(image, "PNG"), output_format="webp", lossless="auto")["lossless"] is tried


def test_formats_without_loss_say_so() -> None:
    result = analyse(GRAPHIC, output_format="png", measure=True)
    assert (result["lossless"], result["quality"], result["ssim"]) == (True, None, 1.0)
    assert analyse(small(PHOTO), output_format="gif", measure=True)["ssim"] is None, "256 colours are left"


# Searching


@pytest.mark.parametrize("output_format", ["webp", "jpg"])
@pytest.mark.parametrize("least", [0.8, 0.95, 0.99])
def test_the_lowest_quality_of_a_similarity(output_format: Any, least: float) -> None:
    content = small(PHOTO)
    result = analyse(content, output_format=output_format, min_ssim=least)
    original = decode(content)
    assert result["ssim"] >= least
    assert ssim(original, decode(result["content"])) == pytest.approx(result["ssim"])
    if result["quality"] > 1:
        worse = analyse(content, output_format=output_format, quality=result["quality"] - 1)["content"]
        assert ssim(original, decode(worse)) < least


@pytest.mark.parametrize("limit", [3_000, 6_000])
def test_the_highest_quality_of_a_size(limit: int) -> None:
    content = small(PHOTO)
    result = analyse(content, output_format="jpg", quality=95, max_bytes=limit)
    assert result["outputSize"] <= limit
    assert 0 < result["ssim"] < 1
    better = analyse(content, output_format="jpg", quality=result["quality"] + 1)
    assert better["outputSize"] > limit


def test_the_given_quality_is_the_highest_of_a_size() -> None:
    result = analyse(small(PHOTO), output_format="webp", quality=60, max_bytes=10_000_000)
    assert result["quality"] == 60


def test_what_cannot_be_reached_is_said() -> None:
    content = small(PHOTO)
    result = analyse(content, output_format="webp", max_bytes=20)
    assert (result["quality"], result["outputSize"] > 20) == (1, True)
    assert result["note"] == f"No quality makes it 20 bytes: at quality 1 it has {result['outputSize']:,}."
    result = analyse(content, output_format="jpg", min_ssim=1)
    assert result["quality"] == 100
    assert result["note"].startswith(
        "No quality reaches a structural similarity of 1: at quality 100 it is 0.9"
    )


def test_lossless_files_take_part_in_the_search() -> None:
    result = analyse(GRAPHIC, output_format="webp", lossless="auto", max_bytes=3_000)
    assert (result["lossless"], result["ssim"]) == (True, 1.0)
    result = analyse(GRAPHIC, output_format="webp", lossless="auto", min_ssim=0.999)
    assert result["ssim"] >= 0.999


def test_animations_are_not_searched() -> None:
    content = animation("GIF", squares(), [100] * 4, loop=0)
    result = analyse(content, output_format="webp", quality=70, max_bytes=100)
    assert (result["frames"], result["quality"]) == (4, 70)
    assert result["note"].startswith("Animations are written at the given quality.")


@pytest.mark.parametrize("pixels", [1, 1_000_000, 20_000_000, 40_000_000])
@pytest.mark.parametrize("highest", [1, 2, 80, 100])
def test_a_search_is_bounded(pixels: int, highest: int) -> None:
    qualities = _qualities(pixels, highest)
    assert qualities == sorted(set(qualities))
    assert qualities[-1] == highest
    for fitting in range(len(qualities) + 1):
        good = qualities[:fitting]
        best, found = _last(qualities, lambda quality: quality, good.__contains__)  # type: ignore[arg-type, return-value]
        assert best == (qualities[fitting - 1] if fitting else None)
        assert len(found) <= max(3, min(7, 60_000_000 // pixels))


# 16 bits


def deep_png(colour_type: int, size: tuple[int, int] = (6, 4)) -> bytes:
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour_type]
    rows = (b"\0" + bytes(range(7, 7 + size[0] * channels * 2)) for _ in range(size[1]))

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", *size, 16, colour_type, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"".join(rows))) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


@pytest.mark.parametrize(
    ("colour_type", "output_format", "reduced"),
    [
        (0, "png", False),
        (0, "tiff", False),
        (0, "webp", True),
        (2, "png", True),
        (2, "tiff", True),
        (4, "png", True),
        (6, "webp", True),
    ],
)
def test_sixteen_bits_that_become_eight_are_said(colour_type: int, output_format: Any, reduced: bool) -> None:
    note = analyse(deep_png(colour_type), output_format=output_format)["note"] or ""
    assert ("More than 8 bits a channel became 8." in note) is reduced
    assert "16 bits" not in (analyse(GRAPHIC, output_format=output_format)["note"] or "")


def test_left_out_frames_and_pages_are_said() -> None:
    assert (
        "Only the first page is in it."
        in analyse(sample("report-three-pages.tiff"), output_format="png")["note"]
    )
    assert "Only the first frame is in it." in analyse(sample("spinner.gif"), output_format="jpg")["note"]


# Newer formats


@needs_avif
def test_avif_both_ways() -> None:
    made = analyse(PHOTO, output_format="avif", quality=60, measure=True)
    assert (made["mimeType"], made["content"][4:12]) == ("image/avif", b"ftypavif")
    assert made["ssim"] > 0.9
    assert made["outputSize"] < len(PHOTO)
    back = analyse(made["content"], output_format="png")
    assert (back["inputFormat"], back["width"], back["height"]) == ("avif", 800, 800)
    clear = Image.new("RGBA", (20, 20), (255, 0, 0, 0))
    alpha = decode(analyse(encode(clear, "PNG"), output_format="avif")["content"]).convert("RGBA")
    assert alpha.getpixel((5, 5))[3] == 0


@needs_avif
def test_the_service_reads_its_own_formats_alone() -> None:
    content = analyse(small(PHOTO), output_format="avif")["content"]
    with pytest.raises(RowError) as caught:
        analyse(content, output_format="png", limits=ImageLimits())
    assert caught.value.sentence.endswith("in WebP, PNG, JPG, GIF or TIFF format.")


@pytest.mark.parametrize("output_format", ["avif", "jxl"])
def test_a_format_that_pillow_lacks(output_format: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convert, "is_supported", lambda name: name not in ("avif", "jxl"))
    with pytest.raises(ParameterError, match=f"another format than {output_format}.*: install .*p") as caught:
        analyse(small(PHOTO), output_format=output_format)
    assert caught.value.parameter == "output_format"
    header = {"avif": b"\0\0\0\x20ftypavif" + bytes(30), "jxl": b"\xff\x0a" + bytes(30)}[output_format]
    with pytest.raises(RowError, match=f"reads, not {output_format}: install .*p"):
        analyse(header, output_format="png")


def test_jpeg_xl_with_and_without_its_plugin() -> None:
    if importlib.util.find_spec("pillow_jxl") is None:
        sentence = "another format than jxl.*: install the plugin pillow-jxl-plugin, version"
        with pytest.raises(ParameterError, match=sentence):
            analyse(small(PHOTO), output_format="jxl")
        return
    made = analyse(small(PHOTO), output_format="jxl", quality=70, measure=True)
    assert (made["mimeType"], made["lossless"]) == ("image/jxl", False)
    exact = analyse(small(PHOTO), output_format="jxl", lossless=True)
    assert decode(exact["content"]).convert("RGB").tobytes() == decode(small(PHOTO)).tobytes()


# Wrong calls


@pytest.mark.parametrize(
    ("settings", "parameter"),
    [
        ({"output_format": "png", "max_bytes": 9}, "max_bytes"),
        ({"output_format": "gif", "min_ssim": 0.9}, "min_ssim"),
        ({"output_format": "jpg", "lossless": True}, "lossless"),
        ({"output_format": "webp", "lossless": True, "max_bytes": 9}, "max_bytes"),
        ({"output_format": "webp", "min_ssim": 0.9, "max_bytes": 9}, "max_bytes"),
    ],
)
def test_settings_that_do_not_go_together(settings: dict[str, Any], parameter: str) -> None:
    with pytest.raises(ParameterError) as caught:
        analyse(PHOTO, **settings)
    assert caught.value.parameter == parameter


def test_measuring_is_a_choice() -> None:
    assert analyse(small(PHOTO), output_format="webp")["ssim"] is None
    measured = analyse(small(PHOTO), output_format="webp", measure=True)
    assert measured["ssim"] == pytest.approx(
        ssim(decode(small(PHOTO)), Image.open(io.BytesIO(measured["content"])))
    )
