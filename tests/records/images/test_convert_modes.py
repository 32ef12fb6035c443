"""Conversion of images: transparency, modes and depths, palettes."""

from __future__ import annotations

import io
import struct
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageStat

from tests.records.images.pictures import BLUE, RED, SOUND, WHITE, convert, decode, encode, near, sample
from webanalytics.errors import RowError
from webanalytics.records.images.convert import FORMATS, analyse
from webanalytics.records.images.modes import TARGET_MODES

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


def tiff(order: str, side: int, photometric: int, strips: list[bytes], bits: int = 16) -> bytes:
    """Return a square image with a strip for each plane, put together by TIFF 6.0 itself (sections 2, 3, 8)."""
    planes, pixels = len(strips), 8 + sum(map(len, strips))
    offsets = [8 + sum(map(len, strips[:number])) for number in range(planes)]
    depths = struct.pack(f"{order}{planes}H", *[bits] * planes)
    lengths = struct.pack(f"{order}{planes}I", *map(len, strips))
    arrays = {258: (3, depths), 273: (4, struct.pack(f"{order}{planes}I", *offsets)), 279: (4, lengths)}
    numbers = {
        256: side,
        257: side,
        259: 1,
        262: photometric,
        277: planes,
        278: side,
        284: 2 if planes > 1 else 1,
    }
    entries, values = b"", b""
    for tag in sorted({*arrays, *numbers}):
        if tag in numbers:
            entries += struct.pack(f"{order}HHIHH", tag, 3, 1, numbers[tag], 0)
            continue
        kind, value = arrays[tag]
        entries += struct.pack(f"{order}HHI", tag, kind, planes)
        entries += (
            value.ljust(4, b"\0") if len(value) <= 4 else struct.pack(f"{order}I", pixels + len(values))
        )
        values += value if len(value) > 4 else b""
    head = (b"II" if order == "<" else b"MM") + struct.pack(f"{order}HI", 42, pixels + len(values))
    directory = struct.pack(f"{order}H", len(numbers) + len(arrays)) + entries + b"\0" * 4
    return head + b"".join(strips) + values + directory


SIXTEEN_BITS = [0x0000, 0x1234, 0x80FF, 0xFFFF]


def test_sixteen_bits_with_white_at_zero() -> None:
    """TIFF 6.0, PhotometricInterpretation 0: WhiteIsZero."""
    data = struct.pack("<4H", *SIXTEEN_BITS)
    one, other = tiff("<", 2, 0, [data]), tiff("<", 2, 1, [data])
    for output_format in ("png", "tiff"):
        for content, expected in ((other, SIXTEEN_BITS), (one, [0xFFFF - value for value in SIXTEEN_BITS])):
            kept = convert(content, output_format)
            assert [kept.getpixel((place % 2, place // 2)) for place in range(4)] == expected


@pytest.mark.parametrize("order", ["<", ">"])
def test_sixteen_bits_in_planes(order: str) -> None:
    """TIFF 6.0, PlanarConfiguration 2: reds, greens and blues apart."""
    planes = [
        [0x0100, 0x2000, 0xFF00, 0x8000],
        [0x7F00, 0x0300, 0x0000, 0x4000],
        [0xFE00, 0x1100, 0x6600, 0xC000],
    ]
    image = convert(tiff(order, 2, 2, [struct.pack(f"{order}4H", *plane) for plane in planes]), "png")
    found = [image.getpixel((place % 2, place // 2)) for place in range(4)]
    assert found == [tuple(plane[place] >> 8 for plane in planes) for place in range(4)]


def test_a_sound_file_of_a_kind_that_is_not_read_is_not_called_truncated() -> None:
    content = tiff("<", 2, 1, [b"\0" * 32], bits=64)
    with pytest.raises(RowError, match="of another kind"):
        analyse(content, output_format="png")


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

    from webanalytics.records.images.modes import to_srgb

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
