"""Conversion of images, checked on the pixels that a fresh decoder finds in the results."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageFile, PngImagePlugin, TiffImagePlugin

import webanalytics as wa
from tests.records.images.pictures import (
    BLUE,
    DATA,
    GREEN,
    RED,
    SAMPLES,
    SOUND,
    WHITE,
    convert,
    decode,
    encode,
    near,
    sample,
    stored_as,
)
from webanalytics.errors import ParameterError, RowError
from webanalytics.records.images.convert import FORMATS, MIME_TYPES, analyse, sniff
from webanalytics.records.images.formats import fit_size

# What every conversion has in common


@pytest.mark.parametrize("output_format", FORMATS)
@pytest.mark.parametrize("path", SOUND, ids=lambda path: path.name)
def test_every_sample_converts_to_every_format(path: Path, output_format: Any) -> None:
    content = path.read_bytes()
    result = analyse(content, output_format=output_format)
    assert list(result) == [
        "inputFormat", "outputFormat", "inputSize", "outputSize", "mimeType", "width", "height", "inputWidth",
        "inputHeight", "frames", "content", "kept", "quality", "lossless", "ssim", "note",
    ]  # fmt: skip
    image = decode(result["content"])
    names = {"WEBP": "webp", "PNG": "png", "JPEG": "jpg", "GIF": "gif", "TIFF": "tiff"}
    assert names[str(image.format)] == sniff(result["content"]) == result["outputFormat"] == output_format
    assert result["mimeType"] == str(image.get_format_mimetype()).replace("apng", "png")
    assert image.size == (result["width"], result["height"]) == (result["inputWidth"], result["inputHeight"])
    assert (result["inputSize"], result["outputSize"]) == (len(content), len(result["content"]))
    assert result["inputFormat"] == sniff(content)
    assert result["frames"] == getattr(image, "n_frames", 1)


def test_the_sample_folder_is_small_and_what_the_script_draws(builder: ModuleType, tmp_path: Path) -> None:
    assert sum(path.stat().st_size for path in SAMPLES) < 400_000
    builder.main(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [path.name for path in SAMPLES]
    for path in SOUND:  # encoders change from version to version: the sizes are what must be equal
        drawn = Image.open(tmp_path / path.name)
        with drawn, Image.open(path) as kept:
            assert (drawn.size, drawn.mode, drawn.format) == (kept.size, kept.mode, kept.format)


@pytest.mark.skipif(not shutil.which("file"), reason="the command file(1) is not installed")
@pytest.mark.parametrize("output_format", FORMATS)
def test_media_types_as_another_program_sees_them(output_format: Any, tmp_path: Path) -> None:
    for path in SOUND:
        result = analyse(path.read_bytes(), output_format=output_format)
        written = tmp_path / f"image.{output_format}"
        written.write_bytes(result["content"])
        command = ["file", "--brief", "--mime-type", str(written)]
        assert (
            subprocess.run(command, capture_output=True, text=True).stdout.strip()
            == MIME_TYPES[output_format]
        )


@pytest.mark.parametrize(
    ("start", "image_format"),
    [
        (b"RIFF\x00\x00\x00\x00WEBPVP8L", "webp"),
        (b"RIFF\x00\x00\x00\x00WAVEfmt ", None),
        (b"\x89PNG\r\n\x1a\n", "png"),
        (b"\x89PNG\n", None),
        (b"\xff\xd8\xff\xe1", "jpg"),
        (b"GIF87a", "gif"),
        (b"GIF89a", "gif"),
        (b"GIF90a", None),
        (b"II*\x00", "tiff"),
        (b"MM\x00*", "tiff"),
        (b"II+\x00", "tiff"),
        (b"BM", None),
        (b"%!PS-Adobe-3.0 EPSF", None),
        (b"%PDF-1.7", None),
        (b"<svg", None),
        (b"<!doctype html>", None),
        (b"", None),
    ],
)
def test_sniff(start: bytes, image_format: str | None) -> None:
    assert sniff(start) == image_format


@pytest.mark.parametrize(
    ("parameter", "arguments"),
    [
        ("output_format", {"output_format": "bmp"}),
        ("quality", {"output_format": "png", "quality": 0}),
        ("quality", {"output_format": "png", "quality": 101}),
        ("max_width", {"output_format": "png", "max_width": 0}),
        ("max_height", {"output_format": "png", "max_height": -1}),
        ("lossless", {"output_format": "webp", "lossless": "never"}),
    ],
)
def test_wrong_arguments(parameter: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=f"`{parameter}`") as caught:
        wa.convert(sample("icon-static.gif"), **arguments)
    assert caught.value.parameter == parameter


def test_pillow_is_loaded_with_the_first_image_only() -> None:
    code = "import sys, webanalytics.records.images.convert; sys.exit('PIL' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=DATA.parent).returncode == 0


@pytest.mark.parametrize("output_format", ["jpg", "webp"])
def test_quality_applies(output_format: Any) -> None:
    sizes = [
        analyse(sample("photograph-lying-on-its-side.jpg"), output_format=output_format, quality=q)[
            "outputSize"
        ]
        for q in (5, 50, 90, 100)
    ]
    assert sizes == sorted(set(sizes))


def test_quality_leaves_the_lossless_formats_alone() -> None:
    for output_format in ("png", "gif", "tiff"):
        poor = convert(sample("print-advert-cmyk.jpg"), output_format, quality=1)
        assert poor.tobytes() == convert(sample("print-advert-cmyk.jpg"), output_format).tobytes()


# Size


@given(
    st.tuples(st.integers(1, 70_000), st.integers(1, 70_000)),
    st.none() | st.integers(1, 10_000),
    st.none() | st.integers(1, 10_000),
)
def test_fit_size(size: tuple[int, int], max_width: int | None, max_height: int | None) -> None:
    width, height = fit_size(size, max_width, max_height)
    assert 1 <= width <= min(size[0], max_width or size[0])
    assert 1 <= height <= min(size[1], max_height or size[1])
    # One side is as large as the box allows, and the other within half a pixel of the same share (or one pixel).
    shares = []
    if width == min(size[0], max_width or size[0]):
        shares.append(height == 1 or abs(height - size[1] * width / size[0]) <= 0.5)
    if height == min(size[1], max_height or size[1]):
        shares.append(width == 1 or abs(width - size[0] * height / size[1]) <= 0.5)
    assert any(shares)


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        ({"max_width": 100}, (100, 75)),
        ({"max_height": 30}, (40, 30)),
        ({"max_width": 100, "max_height": 30}, (40, 30)),
        ({"max_width": 30, "max_height": 100}, (30, 23)),  # 22.5 is rounded up
        ({"max_width": 5_000, "max_height": 5_000}, (400, 300)),
    ],
)
@pytest.mark.parametrize("input_format", ["PNG", "JPEG", "GIF", "WEBP", "TIFF"])
def test_box(input_format: str, box: dict[str, int], expected: tuple[int, int]) -> None:
    content = encode(Image.new("RGB", (400, 300), GREEN), input_format)
    for output_format in FORMATS:
        result = analyse(content, output_format=output_format, **box)
        assert (result["width"], result["height"]) == expected == decode(result["content"]).size
        assert (result["inputWidth"], result["inputHeight"]) == (400, 300)
        assert near(decode(result["content"]).convert("RGB").getpixel((9, 9)), GREEN, 6)


def test_a_side_never_vanishes() -> None:
    content = encode(Image.new("RGB", (2_000, 2), RED), "PNG")
    assert convert(content, "webp", max_width=10).size == (10, 1)


def test_large_jpeg_decoded_small_is_the_same_picture() -> None:
    picture = Image.linear_gradient("L").resize((2_000, 1_200))  # grey is the row's share of 255
    small = convert(encode(picture, "JPEG", quality=95), "png", max_width=100)
    assert small.size == (100, 60)
    for row in (5, 30, 55):
        assert abs(small.getpixel((50, row)) - (row + 0.5) / 60 * 255) < 4


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_no_dark_halo_when_resized(mode: str) -> None:
    image = Image.new(mode, (64, 64), 0)  # transparent, and black where it does not show
    image.paste(Image.new(mode, (33, 64), "white"))
    small = convert(encode(image, "PNG"), "png", max_width=13)
    pixels = small.convert("RGBA")
    halves = 0
    for x in range(13):
        red, _, _, alpha = pixels.getpixel((x, 6))
        halves += 20 < alpha < 235
        assert alpha < 8 or red >= 245
    assert halves, "the edge has no half-transparent pixel that could show a halo"


# Orientation


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("input_format", ["PNG", "JPEG", "WEBP", "TIFF"])
def test_orientation(input_format: str, orientation: int) -> None:
    upright = Image.new("RGB", (48, 32))
    for index, colour in enumerate([RED, GREEN, BLUE, WHITE]):
        upright.paste(colour, (index % 2 * 24, index // 2 * 16, index % 2 * 24 + 24, index // 2 * 16 + 16))
    exif = Image.Exif()
    exif[0x0112] = orientation
    options: dict[str, Any] = {"WEBP": {"lossless": True}, "JPEG": {"quality": 95, "subsampling": 0}}.get(
        input_format, {}
    )
    content = encode(stored_as(upright, orientation), input_format, exif=exif, **options)
    for output_format in FORMATS:
        result = analyse(content, output_format=output_format, max_width=24)
        image = decode(result["content"])
        assert (result["inputWidth"], result["inputHeight"]) == (48, 32)
        assert image.size == (24, 16)
        assert image.getexif().get(0x0112, 1) == 1
        corners = [image.convert("RGB").getpixel(place) for place in [(3, 3), (20, 3), (3, 12), (20, 12)]]
        assert all(map(near, corners, [RED, GREEN, BLUE, WHITE], [24] * 4)), (output_format, corners)


XMP = (
    b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    b'<rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6"/></rdf:RDF></x:xmpmeta>'
)


@pytest.mark.parametrize("with_exif", [True, False])
@pytest.mark.parametrize("input_format", ["PNG", "JPEG", "WEBP", "TIFF"])
def test_an_orientation_in_xmp_alone_turns_nothing(input_format: str, with_exif: bool) -> None:
    """As in browsers (CSS Images 3, image-orientation: that of Exif) and in OpenCV."""
    wide = Image.new("RGB", (40, 20), RED)
    wide.paste(BLUE, (0, 0, 20, 10))
    exif, tags, text = Image.Exif(), TiffImagePlugin.ImageFileDirectory_v2(), PngImagePlugin.PngInfo()
    if with_exif:
        exif[0x010F] = tags[0x010F] = "camera"
    tags[700], tags.tagtype[700] = XMP, 1
    text.add_itxt("XML:com.adobe.xmp", XMP.decode())
    options: dict[str, Any] = {"TIFF": {"tiffinfo": tags}, "PNG": {"pnginfo": text, "exif": exif}}.get(
        input_format, {"xmp": XMP, "exif": exif}
    )
    content = encode(wide, input_format, **options)
    assert b"tiff:Orientation" in content
    for output_format in FORMATS:
        result = analyse(content, output_format=output_format, lossless="auto")
        image = decode(result["content"]).convert("RGB")
        assert image.size == (result["width"], result["height"]) == (40, 20)
        assert near(image.getpixel((3, 3)), BLUE, 24)
        assert near(image.getpixel((30, 3)), RED, 24)


def test_sample_photograph_stands_upright() -> None:
    image = convert(sample("photograph-lying-on-its-side.jpg"), "png")
    assert image.size == (480, 320)
    sun, sky, ground = (image.getpixel(place) for place in [(330, 90), (240, 4), (240, 316)])
    assert sun[0] > 230
    assert sky[2] > sky[0] + 60
    assert ground[1] > ground[0]


def test_broken_exif_costs_the_orientation_only() -> None:
    content = encode(Image.new("RGB", (8, 4), RED), "PNG", exif=b"Exif\0\0MM\0*\0\0\xff\xff broken")
    assert convert(content, "png").size == (8, 4)


# Metadata


def with_metadata(input_format: str) -> bytes:
    exif = Image.Exif()
    exif[0x010F] = "SecretCamera"
    exif[0x8825] = {1: "N", 2: (48.0, 51.0, 29.6)}
    xmp = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'>SecretXmp</x:xmpmeta>"
    text = PngImagePlugin.PngInfo()
    text.add_text("Comment", "SecretText")
    text.add_itxt("XML:com.adobe.xmp", xmp.decode())
    tags = TiffImagePlugin.ImageFileDirectory_v2()
    tags[270], tags[700] = "SecretDescription", xmp
    options: dict[str, dict[str, Any]] = {
        "JPEG": {"exif": exif, "comment": b"SecretComment", "xmp": xmp, "dpi": (300, 300)},
        "PNG": {"exif": exif, "pnginfo": text, "dpi": (300, 300)},
        "WEBP": {"exif": exif, "xmp": xmp},
        "GIF": {"comment": b"SecretComment"},
        "TIFF": {"exif": exif, "tiffinfo": tags},
    }
    return encode(Image.new("RGB", (16, 16), GREEN), input_format, **options[input_format])


@pytest.mark.parametrize("output_format", FORMATS)
@pytest.mark.parametrize("input_format", ["JPEG", "PNG", "WEBP", "GIF", "TIFF"])
def test_metadata_is_dropped(input_format: str, output_format: Any) -> None:
    content = with_metadata(input_format)
    assert b"Secret" in content
    result = analyse(content, output_format=output_format)["content"]
    for trace in (
        b"Secret",
        b"Exif",
        b"EXIF",
        b"eXIf",
        b"xmp",
        b"XMP",
        b"tEXt",
        b"iTXt",
        b"Photoshop",
        b"pHYs",
    ):
        assert trace not in result
    image = decode(result)
    tags = set(image.tag_v2) if isinstance(image, TiffImagePlugin.TiffImageFile) else set(image.getexif())
    assert not tags & {270, 271, 700, 0x8769, 0x8825, 0x0112, 33723, 34377}
    assert not {"comment", "exif", "xmp", "dpi", "Comment"} & set(image.info) - {
        "dpi" if output_format == "tiff" else ""
    }


@pytest.mark.parametrize("output_format", ["gif", "webp", "png", "tiff"])
def test_metadata_of_animations_is_dropped(output_format: Any) -> None:
    content = sample("spinner.gif")
    assert b"made for the sample images" in content
    assert b"made for the sample images" not in analyse(content, output_format=output_format)["content"]


# The process's own Pillow


def test_settings_of_the_process_play_no_part_and_are_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 7)
    with pytest.raises(RowError) as caught:
        analyse(sample("truncated.jpg"), output_format="png")
    assert caught.value.error_type == "invalid"
    assert analyse(sample("icon-static.gif"), output_format="png")["width"] == 96
    assert ImageFile.LOAD_TRUNCATED_IMAGES
    assert Image.MAX_IMAGE_PIXELS == 7
