"""Conversion of images, checked on the pixels that a fresh decoder finds in the results."""

from __future__ import annotations

import importlib.util
import io
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops, ImageFile, ImageStat, PngImagePlugin, TiffImagePlugin

from webanalytics.analysis.convert import EXTENSIONS, FORMATS, MIME_TYPES, analyse, sniff
from webanalytics.analysis.convert_formats import fit_size
from webanalytics.analysis.convert_modes import TARGET_MODES
from webanalytics.errors import ParameterError, RowError

DATA = Path(__file__).parents[2] / "data"
SAMPLES = sorted((DATA / "images").iterdir())
BROKEN = {"really-a-text.png", "truncated.jpg"}
SOUND = [path for path in SAMPLES if path.name not in BROKEN]
RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 160, 0), (0, 0, 255), (255, 255, 255)


def sample(name: str) -> bytes:
    return (DATA / "images" / name).read_bytes()


def encode(image: Image.Image, image_format: str, **options: Any) -> bytes:
    output = io.BytesIO()
    image.save(output, image_format, **options)
    return output.getvalue()


def decode(content: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(content))
    image.load()
    return image


def convert(content: bytes, output_format: Any, **options: Any) -> Image.Image:
    return decode(analyse(content, output_format=output_format, **options)["content"])


def frames_of(content: bytes) -> list[tuple[Image.Image, int]]:
    image = Image.open(io.BytesIO(content))
    frames = []
    for index in range(getattr(image, "n_frames", 1)):
        image.seek(index)
        image.load()
        frames.append((image.convert("RGBA"), round(image.info.get("duration", 0))))
    return frames


def near(found: Any, expected: tuple[int, ...], tolerance: int = 4) -> bool:
    return all(abs(one - other) <= tolerance for one, other in zip(found, expected, strict=True))


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    """The script that draws the sample images."""
    specification = importlib.util.spec_from_file_location("build_images", DATA / "build_images.py")
    assert specification
    assert specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


# What every conversion has in common


@pytest.mark.parametrize("output_format", FORMATS)
@pytest.mark.parametrize("path", SOUND, ids=lambda path: path.name)
def test_every_sample_converts_to_every_format(path: Path, output_format: Any) -> None:
    content = path.read_bytes()
    result = analyse(content, output_format=output_format)
    assert list(result) == [
        "inputFormat", "outputFormat", "inputSize", "outputSize", "mimeType", "width", "height", "inputWidth",
        "inputHeight", "frames", "content",
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
        written = tmp_path / f"image{EXTENSIONS[output_format]}"
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
    ],
)
def test_wrong_arguments(parameter: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=f"`{parameter}`") as caught:
        analyse(sample("icon-static.gif"), **arguments)
    assert caught.value.parameter == parameter


def test_pillow_is_loaded_with_the_first_image_only() -> None:
    code = "import sys, webanalytics.analysis.convert; sys.exit('PIL' in sys.modules)"
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


# Orientation: CIPA DC-008 gives for each value the sides of the picture that row 0 and column 0 are.

SIDES = {
    1: ("top", "left"),
    2: ("top", "right"),
    3: ("bottom", "right"),
    4: ("bottom", "left"),
    5: ("left", "top"),
    6: ("right", "top"),
    7: ("right", "bottom"),
    8: ("left", "bottom"),
}


def stored_as(upright: Image.Image, orientation: int) -> Image.Image:
    first_row, first_column = SIDES[orientation]
    across = first_row in ("top", "bottom")
    width, height = upright.size
    stored = Image.new("RGB", (width, height) if across else (height, width))
    for row in range(stored.height):
        for column in range(stored.width):
            offsets = {first_row: row, first_column: column}
            x = offsets["left"] if "left" in offsets else width - 1 - offsets["right"]
            y = offsets["top"] if "top" in offsets else height - 1 - offsets["bottom"]
            stored.putpixel((column, row), upright.getpixel((x, y)))
    return stored


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


# Transparency


def test_flattened_on_white() -> None:
    image = Image.new("RGBA", (48, 16), (255, 0, 0, 0))
    image.paste((200, 100, 0, 128), (16, 0, 32, 16))
    image.paste((0, 0, 255, 255), (32, 0, 48, 16))
    flat = convert(encode(image, "PNG"), "jpg")
    assert flat.mode == "RGB"
    assert near(flat.getpixel((7, 8)), WHITE)
    # (128 * 200 + 127 * 255) / 255 = 227.4, likewise 177.2 and 127.0
    assert near(flat.getpixel((24, 8)), (227, 177, 127))
    assert near(flat.getpixel((41, 8)), BLUE)


def test_grey_with_alpha_is_flattened_to_grey() -> None:
    image = Image.new("LA", (16, 16), (40, 51))
    flat = convert(encode(image, "PNG"), "jpg")
    assert flat.mode == "L"
    assert abs(flat.getpixel((8, 8)) - 212) <= 2  # (51 * 40 + 204 * 255) / 255


@pytest.mark.parametrize("name", ["badge-palette.png", "icon-static.gif"])
def test_palette_image(name: str) -> None:
    corner, ring, face = (0, 0), (48, 8), (48, 20)
    kept = {"png": "P", "gif": "P"}
    for output_format in ("png", "gif", "tiff"):
        image = convert(sample(name), output_format)
        assert image.mode == kept.get(output_format, "RGBA")
        pixels = image.convert("RGBA")
        assert pixels.getpixel(corner)[3] == 0
        assert pixels.getpixel(ring) == (200, 30, 40, 255)
        assert pixels.getpixel(face) == (*WHITE, 255)
    webp = convert(sample(name), "webp")
    assert webp.getpixel(corner)[3] == 0
    assert near(webp.getpixel((48, 48)), (20, 20, 90, 255), 12)
    assert near(convert(sample(name), "jpg").getpixel(corner), WHITE)


def test_palette_with_an_alpha_for_each_colour() -> None:
    image = Image.new("P", (32, 32), 1)
    image.putpalette([0, 0, 0, 250, 0, 0, 0, 250, 0])
    image.paste(2, (16, 0, 32, 32))
    content = encode(image, "PNG", transparency=bytes([0, 200, 60]))
    assert convert(content, "png").convert("RGBA").getpixel((3, 3)) == (250, 0, 0, 200)
    assert convert(content, "tiff").getpixel((30, 3)) == (0, 250, 0, 60)
    gif = convert(content, "gif").convert("RGBA")
    assert gif.getpixel((3, 3)) == (250, 0, 0, 255)  # from half alpha on opaque, in its own colour
    assert gif.getpixel((30, 3))[3] == 0


@pytest.mark.parametrize(
    ("image", "transparent", "hidden", "seen"),
    [
        (Image.new("L", (4, 2), 90), 90, 90, 91),
        (Image.new("RGB", (4, 2), (1, 2, 3)), (1, 2, 3), (1, 2, 3), (1, 2, 4)),
        (Image.new("1", (4, 2), 0), 0, 0, 1),
        (Image.new("I;16", (4, 2), 4_660), 4_660, 4_660, 4_661),
    ],
    ids=["L", "RGB", "1", "I;16"],
)
def test_transparent_colour_of_png(image: Image.Image, transparent: Any, hidden: Any, seen: Any) -> None:
    image = image.copy()
    image.paste(seen, (2, 0, 4, 2))
    content = encode(image, "PNG", transparency=transparent)
    for output_format in ("png", "tiff", "gif"):
        alpha = convert(content, output_format).convert("RGBA").getchannel("A")
        assert [alpha.getpixel((x, 0)) for x in range(4)] == [0, 0, 255, 255]


def test_transparent_colour_of_png_with_few_bits() -> None:
    # Four greys of 2 bits: 0, 85, 170, 255 when decoded; tRNS says 2 in the scale of the file.
    content = bytearray(encode(Image.new("L", (4, 1)), "PNG"))
    chunks = [(b"IHDR", bytes([0, 0, 0, 4, 0, 0, 0, 1, 2, 0, 0, 0, 0])), (b"tRNS", b"\0\2")]
    import zlib

    chunks += [(b"IDAT", zlib.compress(bytes([0, 0b00_01_10_11]))), (b"IEND", b"")]
    content[8:] = b"".join(
        len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")
        for name, data in chunks
    )
    image = convert(bytes(content), "png")
    assert [image.getpixel((x, 0)) for x in range(4)] == [(0, 255), (85, 255), (170, 0), (255, 255)]


# Modes and depths


def test_sixteen_bits_are_scaled_not_clipped() -> None:
    values = [0, 128, 129, 257, 4_660, 32_768, 65_535]
    expected = [0, 0, 1, 1, 18, 128, 255]  # value / 257: 0.498, 0.502, 1, 18.13, 127.5019
    data = b"".join(value.to_bytes(2, "little") for value in values)
    content = encode(Image.frombytes("I;16", (len(values), 1), data), "PNG")
    gif = convert(content, "gif").convert("L")
    assert [gif.getpixel((x, 0)) for x in range(len(values))] == expected
    for output_format in ("png", "tiff"):
        kept = convert(content, output_format)
        assert kept.mode == "I;16"
        assert [kept.getpixel((x, 0)) for x in range(len(values))] == values
    ramp = encode(
        Image.linear_gradient("L").convert("I").point(lambda value: value * 257).convert("I;16"), "PNG"
    )
    for output_format in ("jpg", "webp"):
        lossy = convert(ramp, output_format).convert("L")
        assert all(abs(lossy.getpixel((100, row)) - row) <= 4 for row in range(256))


def test_sixteen_bits_of_the_other_byte_order() -> None:
    content = encode(Image.frombytes("I;16B", (2, 1), bytes.fromhex("1234fedc")), "TIFF")
    assert content[:2] == b"MM"
    image = convert(content, "png")
    assert [image.getpixel((x, 0)) for x in range(2)] == [0x1234, 0xFEDC]


def test_sixteen_bits_survive_resizing() -> None:
    content = encode(Image.new("I;16", (40, 40), 40_123), "PNG")
    image = convert(content, "png", max_width=11)
    assert (image.mode, image.getextrema()) == ("I;16", (40_123, 40_123))


@pytest.mark.parametrize(
    ("mode", "values", "expected"),
    [
        ("I", [0, 51, 255], [0, 51, 255]),
        ("I", [0, 25_700, 65_535], [0, 100, 255]),
        ("I", [-100, 0, 100], [0, 128, 255]),
        ("I", [1_000_000, 1_500_000, 2_000_000], [0, 128, 255]),
        ("F", [0.0, 0.2, 1.0], [0, 51, 255]),
        ("F", [0.0, 51.0, 255.0], [0, 51, 255]),
        ("F", [-1.0, 0.0, 1.0], [0, 128, 255]),
        ("F", [7.0e9, 7.0e9, 7.0e9], [0, 0, 0]),
        ("F", [-3.0e38, -3.0e38, -3.0e38], [0, 0, 0]),
        ("I", [-(2**31), -(2**31), 2**31 - 1], [0, 0, 255]),
    ],
)
def test_greys_without_a_fixed_range(mode: str, values: list[float], expected: list[int]) -> None:
    image = Image.new(mode, (3, 1))
    for x, value in enumerate(values):
        image.putpixel((x, 0), value)
    content = encode(image, "TIFF")
    gif = convert(content, "gif").convert("L")
    assert [gif.getpixel((x, 0)) for x in range(3)] == expected
    png = convert(content, "png")
    assert png.mode == "I;16"
    assert all(abs(png.getpixel((x, 0)) / 257 - grey) <= 0.51 for x, grey in enumerate(expected))
    tiff = convert(content, "tiff")
    assert (tiff.mode, tiff.tobytes()) == (mode, image.tobytes())


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_floats_that_are_no_numbers(value: float) -> None:
    assert convert(encode(Image.new("F", (3, 3), value), "TIFF"), "jpg").size == (3, 3)


MODES: dict[str, tuple[Any, tuple[int, int, int]]] = {
    "1": (1, WHITE),
    "L": (100, (100, 100, 100)),
    "LA": ((100, 255), (100, 100, 100)),
    "I;16": (25_700, (100, 100, 100)),
    "I": (25_700, (100, 100, 100)),
    "F": (0.4, (102, 102, 102)),
    "P": (1, (10, 200, 30)),
    "RGB": ((10, 200, 30), (10, 200, 30)),
    "RGBA": ((10, 200, 30, 255), (10, 200, 30)),
    "CMYK": ((0, 255, 255, 0), RED),
    "YCbCr": ((76, 85, 255), (254, 0, 0)),  # ITU-R BT.601: red
    "LAB": ((138, 128, 128), (130, 130, 130)),  # L* 54.1: linear 0.222, sRGB 130
}
"""A colour in each mode that TIFF holds, and what it is in sRGB."""


@pytest.mark.parametrize("output_format", FORMATS)
@pytest.mark.parametrize("mode", MODES)
def test_modes(mode: str, output_format: Any) -> None:
    value, expected = MODES[mode]
    image = Image.new(mode, (24, 24), value)
    if mode == "P":
        image.putpalette([0, 0, 0, 10, 200, 30])
    content = encode(image, "TIFF", compression="tiff_lzw" if mode == "YCbCr" else None)
    for box in ({}, {"max_height": 9}):
        found = convert(content, output_format, **box)
        if not box:
            source = {"LAB": "RGB", "YCbCr": "RGB"}.get(mode, mode)
            written = TARGET_MODES[source][output_format]
            assert found.mode in (
                {written, "P", "L"} if output_format == "gif" else {written, written.removesuffix("A")}
            )
        rgb = (
            found.convert("I").point(lambda v: v / 257).convert("RGB")
            if found.mode == "I;16"
            else found.convert("RGB")
        )
        if found.mode in ("I", "F"):
            assert found.getextrema() == pytest.approx((value, value))
        else:
            assert near(rgb.getpixel((4, 4)), expected, 5), (found.mode, box)


def test_bilevel_tiff_stays_bilevel() -> None:
    original = decode(sample("fax-bilevel.tiff"))
    for output_format in ("png", "tiff"):
        page = convert(sample("fax-bilevel.tiff"), output_format)
        assert (page.mode, page.tobytes()) == ("1", original.tobytes())
    assert convert(sample("fax-bilevel.tiff"), "png", max_width=100).mode == "L"  # smoothed, not thinned out


@pytest.mark.parametrize("name", [path.name for path in SOUND])
def test_lossless_formats_keep_every_pixel(name: str) -> None:
    original = convert(sample(name), "png")
    again = convert(analyse(sample(name), output_format="png")["content"], "tiff")
    assert again.convert(original.mode).tobytes() == original.tobytes() or "P" in (original.mode, again.mode)
    assert again.convert("RGBA").tobytes() == original.convert("RGBA").tobytes()


# Colour profiles


def linear(value: float) -> float:
    """IEC 61966-2-1, from light to the value of sRGB (0..1)."""
    value = min(max(value, 0.0), 1.0)
    return 12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055


def srgb_of_xyz(x: float, y: float, z: float) -> tuple[int, ...]:
    """From XYZ relative to D50 to sRGB (matrix adapted by Bradford, brucelindbloom.com)."""
    rows = [
        (3.1338561, -1.6168667, -0.4906146),
        (-0.9787684, 1.9161415, 0.0334540),
        (0.0719453, -0.2289914, 1.4052427),
    ]
    return tuple(round(255 * linear(a * x + b * y + c * z)) for a, b, c in rows)


def srgb_of_lab(light: float, a: float, b: float) -> tuple[int, ...]:
    """CIE 15: from L*a*b* (D50) by way of XYZ."""

    def cube(t: float) -> float:
        return t**3 if t > 6 / 29 else 3 * (6 / 29) ** 2 * (t - 4 / 29)

    y = (light + 16) / 116
    return srgb_of_xyz(0.9642 * cube(y + a / 500), cube(y), 0.8249 * cube(y - b / 200))


@pytest.mark.parametrize("output_format", ["png", "jpg", "webp", "gif"])
def test_cmyk_is_converted_through_its_profile(output_format: Any, builder: ModuleType) -> None:
    image = convert(sample("print-advert-cmyk.jpg"), output_format, quality=100)
    assert "icc_profile" not in image.info
    rgb = image.convert("RGB")
    for index, inks in enumerate(["C", "M", "Y", "MY", "CY", "CM"]):
        found = rgb.getpixel((index * 40 + 20, 50))
        # Black point compensation stretches the darker colours by up to some steps.
        assert near(found, srgb_of_lab(*builder.INKS[inks]), 16), (inks, found)
    assert near(rgb.getpixel((300, 50)), WHITE, 16)
    assert max(rgb.getpixel((260, 50))) < 50


def test_cmyk_and_its_profile_stay_together_in_tiff() -> None:
    image = convert(sample("print-advert-cmyk.jpg"), "tiff")
    assert image.mode == "CMYK"
    assert image.info["icc_profile"] == decode(sample("print-advert-cmyk.jpg")).info["icc_profile"]
    assert near(image.getpixel((60, 50)), (0, 255, 0, 0), 6)


def test_cmyk_without_profile() -> None:
    content = encode(Image.new("CMYK", (16, 16), (0, 255, 255, 0)), "JPEG", quality=95)
    assert near(convert(content, "png").getpixel((8, 8)), RED)


@pytest.mark.parametrize("output_format", ["png", "jpg", "webp", "tiff"])
@pytest.mark.parametrize("box", [{}, {"max_width": 50}])
def test_profile_is_kept(output_format: Any, box: dict[str, int]) -> None:
    profile = decode(sample("photograph-lying-on-its-side.jpg")).info["icc_profile"]
    image = convert(sample("photograph-lying-on-its-side.jpg"), output_format, **box)
    assert image.info["icc_profile"] == profile


def test_profile_is_kept_in_animations(builder: ModuleType) -> None:
    frames = [Image.new("RGBA", (9, 9), colour) for colour in (RED, BLUE)]
    profile = builder.wide_rgb_profile()
    content = encode(
        frames[0], "WEBP", save_all=True, append_images=frames[1:], duration=50, icc_profile=profile
    )
    for output_format in ("webp", "png", "tiff"):
        assert convert(content, output_format).info["icc_profile"] == profile


def wide_to_srgb(red: int, green: int, blue: int) -> tuple[int, ...]:
    light = [(value / 255) ** 2.2 for value in (red, green, blue)]
    columns = [(0.51512, 0.24120, -0.00105), (0.29198, 0.69225, 0.04189), (0.15710, 0.06657, 0.78407)]
    x, y, z = (
        sum(share * column[axis] for share, column in zip(light, columns, strict=True)) for axis in range(3)
    )
    return srgb_of_xyz(x, y, z)


def test_gif_holds_no_profile_and_is_converted(builder: ModuleType) -> None:
    colour = (200, 100, 100)
    expected = wide_to_srgb(*colour)
    assert abs(expected[0] - 200) > 8, "the test would not notice a missing conversion"
    image = Image.new("RGB", (20, 20), colour)
    profile = builder.wide_rgb_profile()
    assert near(
        convert(encode(image, "PNG", icc_profile=profile), "gif").convert("RGB").getpixel((3, 3)), expected, 2
    )
    palette = encode(image.quantize(4), "PNG", icc_profile=profile)
    assert near(convert(palette, "gif").convert("RGB").getpixel((3, 3)), expected, 2)
    options = {"save_all": True, "append_images": [Image.new("RGB", (20, 20), GREEN)], "duration": 50}
    animation = encode(image, "WEBP", lossless=True, icc_profile=profile, **options)
    assert near(convert(animation, "gif").convert("RGB").getpixel((3, 3)), expected, 2)


def test_grey_profile_is_converted_where_the_format_has_no_grey(builder: ModuleType) -> None:
    tags = [(b"desc", builder.description(b"grey")), (b"wtpt", builder.xyz((0.9642, 1.0, 0.8249)))]
    tags += [(b"kTRC", b"curv\0\0\0\0\0\0\0\0")]  # no entries: the values are light
    profile = builder.icc_profile(b"GRAY", b"XYZ ", b"mntr", tags)
    content = encode(Image.new("L", (20, 20), 128), "PNG", icc_profile=profile)
    expected = round(255 * linear(128 / 255))  # 188
    webp = convert(content, "webp")
    assert "icc_profile" not in webp.info
    assert near(webp.convert("RGB").getpixel((9, 9)), (expected,) * 3)
    assert convert(content, "gif").convert("L").getpixel((9, 9)) == pytest.approx(expected, abs=1)
    for output_format in ("png", "jpg", "tiff"):
        kept = convert(content, output_format)
        assert (kept.mode, kept.info["icc_profile"]) == ("L", profile)


def test_profile_that_does_not_fit_is_dropped(builder: ModuleType) -> None:
    for mode, profile in (
        ("RGB", builder.cmyk_profile()),
        ("L", builder.wide_rgb_profile()),
        ("RGB", b"nonsense" * 40),
    ):
        image = convert(encode(Image.new(mode, (4, 4), "red"), "PNG", icc_profile=profile), "png")
        assert "icc_profile" not in image.info


def test_broken_profile_of_cmyk() -> None:
    profile = b"\0" * 16 + b"CMYK" + b"\0" * 200
    content = encode(Image.new("CMYK", (16, 16), (0, 255, 255, 0)), "JPEG", quality=95, icc_profile=profile)
    image = convert(content, "png")
    assert near(image.getpixel((8, 8)), RED)
    assert "icc_profile" not in image.info


# Animations


def squares(count: int = 4) -> list[Image.Image]:
    """A red square that moves over transparency, on a canvas of 48 x 32."""
    frames = []
    for index in range(count):
        frame = Image.new("RGBA", (48, 32))
        frame.paste((*RED, 255), (index * 10, 8, index * 10 + 10, 20))
        frames.append(frame)
    return frames


def animation(image_format: str, frames: list[Image.Image], durations: list[int], **options: Any) -> bytes:
    if image_format == "WEBP":
        options["lossless"] = True
    if image_format == "GIF":
        options["disposal"] = 2
    return encode(
        frames[0], image_format, save_all=True, append_images=frames[1:], duration=durations, **options
    )


@pytest.mark.parametrize("output_format", ["gif", "webp", "png"])
@pytest.mark.parametrize("input_format", ["GIF", "WEBP", "PNG"])
def test_animation_survives(input_format: str, output_format: Any) -> None:
    durations = [100, 50, 200, 70]
    content = animation(input_format, squares(), durations, loop=0)
    result = analyse(content, output_format=output_format)
    assert result["frames"] == 4
    found = frames_of(result["content"])
    assert [duration for _, duration in found] == durations
    for index, (frame, _) in enumerate(found):
        assert frame.size == (48, 32)
        assert near(frame.getpixel((index * 10 + 5, 14)), (*RED, 255), 8)
        for other in set(range(4)) - {index}:
            assert frame.getpixel((other * 10 + 5, 14))[3] == 0, (
                f"frame {index} shows a trace of frame {other}"
            )


@pytest.mark.parametrize("output_format", ["gif", "webp", "png"])
def test_animation_is_resized_frame_by_frame(output_format: Any) -> None:
    result = analyse(
        animation("GIF", squares(), [100] * 4, loop=0), output_format=output_format, max_width=24
    )
    assert (result["width"], result["height"], result["frames"]) == (24, 16, 4)
    for index, (frame, _) in enumerate(frames_of(result["content"])):
        assert frame.size == (24, 16)
        assert near(frame.getpixel((index * 5 + 2, 7)), (*RED, 255), 12)


def loop_of(content: bytes) -> int | None:
    return Image.open(io.BytesIO(content)).info.get("loop")


@pytest.mark.parametrize(
    ("gif", "times"),
    [(None, 1), (0, 0), (3, 4), (65_535, 65_535)],
    ids=["once", "for ever", "three repetitions", "most"],
)
def test_loops(gif: int | None, times: int) -> None:
    # A GIF says how often to repeat, WebP and APNG how often to play.
    options = {} if gif is None else {"loop": gif}
    content = animation("GIF", squares(), [100] * 4, **options)
    assert loop_of(content) == gif
    assert loop_of(analyse(content, output_format="gif")["content"]) == gif
    assert loop_of(analyse(content, output_format="webp")["content"]) == times
    if times < 65_535:
        assert loop_of(analyse(content, output_format="png")["content"]) == times
        for other in ("WEBP", "PNG"):
            back = analyse(animation(other, squares(), [100] * 4, loop=times), output_format="gif")
            assert loop_of(back["content"]) == gif


def test_gif_durations_do_not_drift() -> None:
    content = animation("WEBP", squares(), [33, 33, 33, 34], loop=0)
    durations = [duration for _, duration in frames_of(analyse(content, output_format="gif")["content"])]
    assert durations == [30, 40, 30, 30]  # 33, 66, 99 and 133 ms, each to the nearest hundredth of a second
    fast = animation("WEBP", squares(), [5, 5, 5, 5], loop=0)
    assert [d for _, d in frames_of(analyse(fast, output_format="gif")["content"])] == [
        20
    ] * 4  # less is slowed by viewers


def test_a_frame_without_a_duration_is_shown_as_browsers_do() -> None:
    content = animation("GIF", squares(), [0, 50, 0, 50], loop=0)
    assert [d for _, d in frames_of(analyse(content, output_format="gif")["content"])] == [0, 50, 0, 50]
    for output_format in ("webp", "png"):
        durations = [d for _, d in frames_of(analyse(content, output_format=output_format)["content"])]
        assert durations == [100, 50, 100, 50]


@pytest.mark.parametrize("milliseconds", [65_535, 70_000, 600_000])
def test_long_durations(milliseconds: int) -> None:
    content = animation("WEBP", squares(2), [milliseconds, 40], loop=0)
    for output_format in ("png", "gif", "webp"):
        first = frames_of(analyse(content, output_format=output_format)["content"])[0][1]
        assert first == pytest.approx(milliseconds, abs=10)


def test_equal_frames_stay_frames() -> None:
    frames = [Image.new("RGBA", (8, 8), (*RED, 255))] * 2 + [Image.new("RGBA", (8, 8), (*BLUE, 255))]
    content = animation("GIF", squares(), [100] * 4)
    assert analyse(content, output_format="gif")["frames"] == 4
    from webanalytics.analysis.convert_animation import write_apng, write_gif

    for written, count in (
        write_gif(zip(frames, [10, 20, 30], strict=True), 0, True),
        write_apng(zip(frames, [10, 20, 30], strict=True), 192, 0, b""),
    ):
        assert count == 3
        found = frames_of(written)
        assert [duration for _, duration in found] == [10, 20, 30]
        assert [frame.getpixel((4, 4))[:3] for frame, _ in found] == [RED, RED, BLUE]


COLOURS = st.sampled_from(
    [(0, 0, 0, 0), (255, 0, 0, 255), (0, 128, 255, 255), (9, 9, 9, 255), (0, 0, 0, 255)]
)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 6).flatmap(
        lambda width: st.lists(
            st.lists(COLOURS, min_size=width * 4, max_size=width * 4), min_size=2, max_size=6
        )
    )
)
def test_any_frames_come_back_from_gif_and_apng(drawn: list[list[tuple[int, ...]]]) -> None:
    from webanalytics.analysis.convert_animation import write_apng, write_gif

    frames = []
    for pixels in drawn:
        frame = Image.new("RGBA", (len(pixels) // 4, 4))
        for index, pixel in enumerate(pixels):
            frame.putpixel((index % frame.width, index // frame.width), pixel)
        frames.append(frame)
    timed = [(frame, 40) for frame in frames]
    gif, _ = write_gif(iter(timed), 0, True)
    apng, _ = write_apng(iter(timed), 1, 0, b"")
    for written in (gif, apng):
        found = [frame for frame, _ in frames_of(written)]
        assert len(found) == len(frames)
        for frame, expected in zip(found, frames, strict=True):
            assert frame.getchannel("A").tobytes() == expected.getchannel("A").tobytes()
            visible = Image.new("RGBA", expected.size)
            visible.paste(frame, mask=frame.getchannel("A"))
            assert visible.tobytes() == expected.tobytes()


def test_still_formats_take_the_first_frame() -> None:
    content = animation("GIF", squares(), [100] * 4, loop=0)
    result = analyse(content, output_format="jpg")
    assert result["frames"] == 1
    image = decode(result["content"])
    assert near(image.getpixel((5, 14)), RED, 12)
    assert near(image.getpixel((25, 14)), WHITE, 12)


def test_animation_becomes_pages_of_tiff() -> None:
    result = analyse(animation("WEBP", squares(), [100] * 4, loop=0), output_format="tiff")
    pages = frames_of(result["content"])
    assert len(pages) == result["frames"] == 4
    for index, (page, _) in enumerate(pages):
        assert page.getpixel((index * 10 + 5, 14)) == (*RED, 255)
        assert page.getchannel("A").getbbox() == (index * 10, 8, index * 10 + 10, 20)


def test_apng_picture_for_old_viewers_is_no_frame() -> None:
    poster = Image.new("RGBA", (48, 32), (*GREEN, 255))
    options = {"default_image": True, "append_images": squares(), "save_all": True, "duration": 80}
    content = encode(poster, "PNG", **options)
    assert near(convert(content, "jpg").getpixel((9, 9)), GREEN)
    result = analyse(content, output_format="gif")
    assert result["frames"] == 4
    assert frames_of(result["content"])[0][0].getpixel((5, 14)) == (*RED, 255)


def test_first_frame_of_a_gif_that_does_not_cover_the_canvas() -> None:
    small = encode(Image.new("P", (4, 4), 1), "GIF")
    position = small.index(b",")
    content = small[:6] + (10).to_bytes(2, "little") * 2 + small[10:position]
    content += b"," + bytes([3, 0, 3, 0]) + small[position + 5 :]
    image = convert(content, "png").convert("RGBA")
    assert image.size == (10, 10)
    assert image.getchannel("A").getbbox() == (3, 3, 7, 7)


def gif_of(*parts: tuple[tuple[int, int, int, int], tuple[int, int, int], int]) -> bytes:
    """Assemble a GIF of 12 x 8 from boxes, their colours and their disposals, without a transparent colour."""
    content = (
        b"GIF89a" + bytes([12, 0, 8, 0, 0x80, 0, 0]) + bytes([0, 0, 90, 90, 0, 0])
    )  # dark blue background
    for (left, top, right, bottom), rgb, disposal in parts:
        alone = Image.new("P", (right - left, bottom - top), 1)
        alone.putpalette([0, 0, 0, *rgb])
        written = encode(alone, "GIF", optimize=False, interlace=0)
        assert written[10] & 0x87 == 0x81  # four colours, two of them unused
        image = written[written.index(b",") + 9 : -1]
        content += b"!\xf9\x04" + bytes([disposal << 2, 5, 0, 0, 0])
        content += b"," + b"".join(
            value.to_bytes(2, "little") for value in (left, top, right - left, bottom - top)
        )
        content += b"\x81" + written[13:25] + image[1:]
    return content + b";"


@pytest.mark.parametrize("output_format", ["gif", "webp", "png", "tiff"])
def test_gif_is_composed_as_browsers_do(output_format: Any) -> None:
    # What no frame covers is transparent, and so is what is cleared (2); 3 brings back what was there.
    content = gif_of(
        ((0, 0, 6, 8), RED, 1),
        ((6, 0, 12, 8), GREEN, 2),
        ((0, 0, 12, 4), BLUE, 3),
        ((6, 4, 12, 8), WHITE, 1),
    )
    places = [(2, 1), (9, 1), (2, 6), (9, 6)]
    found = [
        [frame.getpixel(place) for place in places]
        for frame, _ in frames_of(analyse(content, output_format=output_format, quality=100)["content"])
    ]
    empty = None
    expected = [
        [RED, empty, RED, empty],
        [RED, GREEN, RED, GREEN],
        [BLUE, BLUE, RED, empty],
        [RED, empty, RED, WHITE],
    ]
    assert len(found) == len(expected)
    for pixels, colours in zip(found, expected, strict=True):
        for pixel, colour in zip(pixels, colours, strict=True):
            # WebP halves the resolution of colours, which the edges of so small a picture show.
            assert (
                pixel[3] == 0
                if colour is None
                else near(pixel, (*colour, 255), 90 if output_format == "webp" else 0)
            )


# Pages


def test_pages_keep_their_sizes_and_modes() -> None:
    original = Image.open(io.BytesIO(sample("report-three-pages.tiff")))
    result = analyse(sample("report-three-pages.tiff"), output_format="tiff")
    assert (result["frames"], result["width"], result["height"]) == (3, 170, 240)
    written = Image.open(io.BytesIO(result["content"]))
    for page in range(3):
        original.seek(page)
        written.seek(page)
        assert (written.size, written.mode, written.tobytes()) == (
            original.size,
            original.mode,
            original.tobytes(),
        )


def test_each_page_is_fitted() -> None:
    result = analyse(sample("report-three-pages.tiff"), output_format="tiff", max_width=100)
    assert [page.size for page, _ in frames_of(result["content"])] == [(100, 141), (100, 67), (100, 71)]


def test_each_page_is_turned() -> None:
    output = io.BytesIO()
    upright = Image.new("RGB", (20, 10), BLUE)
    upright.paste(RED, (0, 0, 10, 10))
    with TiffImagePlugin.AppendingTiffWriter(output) as document:
        for orientation in (6, 1, 3):
            stored_as(upright, orientation).save(document, "TIFF", tiffinfo={274: orientation})
            document.newFrame()
    pages = frames_of(analyse(output.getvalue(), output_format="tiff")["content"])
    assert [(page.size, page.getpixel((2, 2))[:3], page.getpixel((17, 7))[:3]) for page, _ in pages] == [
        ((20, 10), RED, BLUE)
    ] * 3


def test_other_formats_take_the_first_page() -> None:
    for output_format in ("png", "webp", "gif", "jpg"):
        result = analyse(sample("report-three-pages.tiff"), output_format=output_format)
        assert (result["width"], result["height"], result["frames"]) == (170, 240, 1)


def test_jpeg_with_several_pictures_is_its_first() -> None:
    pictures = [Image.new("RGB", (16, 16), colour) for colour in (GREEN, BLUE)]
    content = encode(pictures[0], "MPO", save_all=True, append_images=pictures[1:])
    for output_format in ("png", "tiff", "webp", "gif"):
        result = analyse(content, output_format=output_format)
        assert (result["inputFormat"], result["frames"]) == ("jpg", 1)
        assert near(decode(result["content"]).convert("RGB").getpixel((8, 8)), GREEN)


# Palettes of GIF


@pytest.mark.parametrize("colours", [2, 17, 256])
def test_few_colours_are_kept_exactly(colours: int) -> None:
    image = Image.new("RGB", (64, 64))
    for index in range(64 * 64):
        shade = index % colours
        image.putpixel((index % 64, index // 64), (shade, 255 - shade, shade * 7 % 256))
    assert convert(encode(image, "PNG"), "gif").convert("RGB").tobytes() == image.tobytes()


def test_many_colours_are_near() -> None:
    content = sample("photograph-lying-on-its-side.jpg")
    gif = analyse(content, output_format="gif")
    image = Image.open(io.BytesIO(gif["content"]))
    assert len(image.getcolors(256) or []) > 200
    # Compared after a blur, which the eye does as well: dithering must not shift the colours. GIF is sRGB.
    from PIL import ImageFilter

    from webanalytics.analysis.convert_profiles import to_srgb

    original = convert(content, "png")
    reference = to_srgb(original, original.info["icc_profile"])
    assert reference
    blur = ImageFilter.GaussianBlur(3)
    difference = ImageChops.difference(image.convert("RGB").filter(blur), reference.filter(blur))
    assert max(ImageStat.Stat(difference).mean) < 3


def test_soft_edges_become_hard_without_a_halo() -> None:
    gif = convert(sample("logo-soft-edges.png"), "gif").convert("RGBA")
    assert {alpha for _, (_, _, _, alpha) in gif.getcolors() or []} == {0, 255}
    # The green that hides under the transparent pixels is not to be seen.
    assert all(green < 100 for _, (_, green, _, alpha) in gif.getcolors() or [] if alpha)


def test_fully_transparent_image() -> None:
    content = encode(Image.new("RGBA", (5, 5), (1, 2, 3, 0)), "PNG")
    assert convert(content, "gif").convert("RGBA").getextrema()[3] == (0, 0)


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
