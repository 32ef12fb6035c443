"""Conversion of images: colour profiles, against the formulas of the standards."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from PIL import Image

from tests.records.images.pictures import BLUE, GREEN, RED, WHITE, convert, decode, encode, near, sample

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
