"""The image formats, for every step of a conversion: names, magic numbers and limits, without Pillow.

Only the question which formats the installed Pillow reads and writes imports it.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

ImageFormat = Literal["webp", "png", "jpg", "gif", "tiff", "avif", "jxl"]
"""A format by the name the service uses for it; the last two are for calls on this machine alone."""

ALL_FORMATS: tuple[ImageFormat, ...] = get_args(ImageFormat)

FORMATS: tuple[ImageFormat, ...] = ALL_FORMATS[:5]
"""The formats of the service, which every Pillow reads and writes."""

LOSSY: frozenset[ImageFormat] = frozenset(("jpg", "webp", "avif", "jxl"))
"""Formats that have a quality."""

LOSSLESS_TOO: frozenset[ImageFormat] = frozenset(("webp", "jxl"))
"""Formats that can be written either way."""

SUFFIXES = (".webp", ".png", ".jpg", ".jpeg", ".gif", ".tif", ".tiff", ".avif", ".jxl")
"""How names of image files end, in lower case."""

PILLOW_NAMES: dict[ImageFormat, str] = {name: name.upper() for name in ALL_FORMATS} | {"jpg": "JPEG"}

MIME_TYPES: dict[ImageFormat, str] = {name: f"image/{PILLOW_NAMES[name].lower()}" for name in ALL_FORMATS}
"""Media type of each format."""

MAX_SIDE: dict[ImageFormat, int] = {
    "webp": 16_383,
    "png": 2**31 - 1,
    "jpg": 65_500,
    "gif": 65_535,
    "tiff": 2**31 - 1,
    "avif": 65_535,
    "jxl": 2**30,
}
"""Longest side a format (or, for jpg, the libjpeg library) can hold, in pixels."""

_LARGE_PIXELS = 20_000_000
"""From this many pixels in all frames, slow encoders run with less effort."""

_MAGIC_NUMBERS: tuple[tuple[bytes, ImageFormat], ...] = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpg"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"II*\x00", "tiff"),
    (b"MM\x00*", "tiff"),
    (b"II+\x00", "tiff"),
    (b"MM\x00+", "tiff"),
    (b"\xff\x0a", "jxl"),
    (b"\x00\x00\x00\x0cJXL \r\n\x87\n", "jxl"),
)
_AVIF_BRANDS = (b"avif", b"avis")
"""Brands of still and moving pictures (AV1 Image File Format, section 4)."""


@dataclass(frozen=True, slots=True)
class ImageLimits:
    """How large an image may be before it is refused with ``too_large``."""

    max_bytes: int = 20_000_000  # bytes of the file
    # width times height of the image, or of one frame; checked before any pixel is decoded
    max_pixels: int = 40_000_000
    max_frames: int = 300  # frames of an animation or pages of a TIFF, where more than the first is converted
    # frames times width times height, where more than the first frame is converted
    max_total_pixels: int = 200_000_000
    # Blocks in the file (PNG chunks, JPEG segments, GIF sub-blocks, TIFF tags). A block, however small, takes
    # some microseconds to read, and a photograph has tens of them.
    max_blocks: int = 200_000
    # A larger colour profile is dropped, not refused. Profiles of printing presses take up to 3 MB.
    max_profile_bytes: int = 4_000_000
    formats: tuple[ImageFormat, ...] = FORMATS  # formats that are read


def sniff(content: bytes) -> ImageFormat | None:
    r"""Return the format of an image by its first twelve bytes, None for any other content.

    File name and media type are ignored.

    >>> sniff(b"RIFF\x24\x00\x00\x00WEBPVP8 ")
    'webp'
    >>> sniff(b"<svg xmlns='http://www.w3.org/2000/svg'/>") is None
    True
    """
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "webp"
    if content[4:8] == b"ftyp" and content[8:12] in _AVIF_BRANDS:
        return "avif"
    for magic_number, image_format in _MAGIC_NUMBERS:
        if content.startswith(magic_number):
            return image_format
    return None


def fit_size(
    size: tuple[int, int], max_width: int | None = None, max_height: int | None = None
) -> tuple[int, int]:
    """Return width and height of an image fitted into a box: never enlarged, aspect ratio kept.

    A side of the box that is None is free; the result is at least one pixel wide and high.

    >>> fit_size((4000, 3000), max_width=800)
    (800, 600)
    >>> fit_size((4000, 3000), max_width=800, max_height=300)
    (400, 300)
    >>> fit_size((40, 30), max_width=800)
    (40, 30)
    >>> fit_size((10000, 1), max_width=100)
    (100, 1)
    """
    width, height = size
    box_width = min(width, max_width or width)
    box_height = min(height, max_height or height)
    # Compared as products: the side that is reduced more decides.
    if box_width * height <= box_height * width:
        return box_width, max(1, _divide_rounding(height * box_width, width))
    return max(1, _divide_rounding(width * box_height, height)), box_height


def with_alpha_flag(content: bytes) -> bytes:
    """Return an animated WebP with its alpha flag set; other files unchanged.

    The encoder crops frames to the box that is not transparent. If that leaves only opaque frames on a
    transparent canvas, it does not set the flag, and decoders then show the rest of the canvas black.
    """
    if content[12:16] != b"VP8X" or len(content) < 30 or not content[20] & 0x02:
        return content
    return content[:20] + bytes([content[20] | 0x10]) + content[21:]


def webp_effort(pixels: int) -> int:
    """Return the method of the WebP encoder for a number of pixels in all frames.

    Method 2 takes a sixth of the time of 4 for a photograph of 40 million pixels; below it such a
    photograph fails at quality 90 (encoding error 6, "partition #0 overflow").
    """
    return 4 if pixels <= _LARGE_PIXELS else 2


def png_effort(pixels: int) -> int:
    """Return the zlib level for a number of pixels in all frames."""
    return 6 if pixels <= _LARGE_PIXELS else 2


def _divide_rounding(dividend: int, divisor: int) -> int:
    """Return the quotient of two positive integers, a half rounded up."""
    return (2 * dividend + divisor) // (2 * divisor)


REMEDIES: dict[ImageFormat, str] = {
    "avif": "install pillow 11.3 or newer from its wheels",
    "jxl": "install the plugin pillow-jxl-plugin, version 1.3 or newer",
}
"""What makes Pillow read and write a format that it may lack."""


@cache
def is_supported(image_format: ImageFormat) -> bool:
    """Return whether the installed Pillow reads and writes a format.

    >>> is_supported("webp")
    True
    """
    if image_format in FORMATS:
        return True
    from PIL import Image, features

    if image_format == "avif":
        return bool(features.check("avif"))
    with contextlib.suppress(ImportError, OSError):  # a plugin whose library is missing is no plugin
        import pillow_jxl  # type: ignore[import-not-found, unused-ignore]  # noqa: F401 - registers itself
    return "JXL" in Image.SAVE
