"""Opening and decoding images of unknown origin: the first half of a conversion.

Before a decoder sees a file, a cheap walk counts its blocks. Decoders spend time and memory on every block,
tag and comment, needed or not; a 2 MB file of one-byte comments, or of tags that all point at the same bytes,
can cost seconds and gigabytes. The walk reads lengths only, and leaves anything it cannot interpret to the
decoder.
"""

from __future__ import annotations

import io
import itertools
import struct
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from PIL import ExifTags, Image, ImageFile, TiffImagePlugin, UnidentifiedImageError

from webanalytics.errors import RowError
from webanalytics.records.images.formats import PILLOW_NAMES, ImageFormat, ImageLimits, with_alpha_flag
from webanalytics.records.images.frames import (
    apng_frames,
    apng_parts,
    blocks,
    colour_table_bytes,
    gif_frames,
    gif_parts,
)
from webanalytics.records.images.modes import profile_of

_TIFF_TYPE_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4} | {
    16: 8,
    17: 8,
    18: 8,
}
"""Bytes of one value by field type (TIFF 6.0 section 2, 13 from its supplement 1, 16 to 18 from BigTIFF)."""

_TIFF_SUB_DIRECTORIES = {0x8769, 0x8825, 0xA005}
"""Tags that point at a directory of their own: Exif, GPS, interoperability."""


def check_structure(content: bytes, image_format: ImageFormat, limits: ImageLimits) -> None:
    """Refuse a file made of an absurd number of blocks, or TIFF tags that hold more bytes than the file."""
    walkers = {"png": _png_blocks, "jpg": _jpeg_blocks, "gif": _gif_blocks}
    if image_format == "tiff":
        _check_tiff(content, limits)
    elif image_format in walkers:
        blocks = 0
        for found in walkers[image_format](content):
            blocks += found
            _check_blocks(blocks, limits)


def _check_blocks(blocks: int, limits: ImageLimits) -> None:
    if blocks > limits.max_blocks:
        raise RowError("image_blocks", parameter="image", limit=limits.max_blocks)


def _png_blocks(content: bytes) -> Iterator[int]:
    position = 8
    while position + 8 <= len(content):
        (length,) = struct.unpack_from(">I", content, position)
        if content[position + 4 : position + 8] == b"IEND":
            return
        position += 12 + length
        yield 1


def _jpeg_blocks(content: bytes) -> Iterator[int]:
    """Yield segments up to the start of scan; each byte of junk between them counts, as it is read singly."""
    position = 2
    while position + 4 <= len(content):
        marker = content.find(b"\xff", position)
        if marker < 0:
            yield len(content) - position
            return
        yield marker - position + 1
        code = content[marker + 1] if marker + 1 < len(content) else 0
        if code == 0xDA:
            return
        if code in (0x00, 0xFF):
            position = marker + 1
        elif 0xD0 <= code <= 0xD9 or code == 0x01:
            position = marker + 2
        elif marker + 4 > len(content):
            return
        else:
            position = marker + 2 + max(2, int.from_bytes(content[marker + 2 : marker + 4], "big"))


def _gif_blocks(content: bytes) -> Iterator[int]:
    if len(content) >= 13:
        yield from (parts for _, _, parts in blocks(content, 13 + colour_table_bytes(content[10])))


def _check_tiff(content: bytes, limits: ImageLimits) -> None:
    order = "<" if content[:2] == b"II" else ">"
    big = 43 in (content[2], content[3])
    offset_code = "Q" if big else "I"
    start = 8 if big else 4
    if len(content) < start + 8:
        return
    (position,) = struct.unpack_from(order + offset_code, content, start)
    seen: set[int] = set()
    tags = 0
    while position and position not in seen and len(seen) <= limits.max_frames:
        seen.add(position)
        try:
            count, position = _check_tiff_directory(content, position, order, big)
        except struct.error:  # it points outside the file: the decoder will report it
            return
        tags += count
        _check_blocks(tags, limits)


def _check_tiff_directory(
    content: bytes, position: int, order: str, big: bool, depth: int = 0
) -> tuple[int, int]:
    """Return the number of tags of a directory and the position of the next one."""
    offset_code, inline_bytes = ("Q", 8) if big else ("I", 4)
    (count,) = struct.unpack_from(order + ("Q" if big else "H"), content, position)
    entry = struct.Struct(f"{order}HH{offset_code}{offset_code}")
    position += 8 if big else 2
    if position + count * entry.size > len(content):
        raise struct.error("directory is cut off")
    outside = 0
    tags = count
    for tag, field_type, values, offset in entry.iter_unpack(
        content[position : position + count * entry.size]
    ):
        length = values * _TIFF_TYPE_SIZES.get(field_type, 0)
        outside += length if length > inline_bytes else 0
        if outside > len(content):
            raise RowError("image_tiff_tags", parameter="image")
        if tag in _TIFF_SUB_DIRECTORIES and depth < 2:
            sub_position = offset if order == "<" or field_type in (4, 13, 16, 18) else offset >> 16
            tags += _count_sub_directory(content, sub_position, order, big, depth + 1)
    position += count * entry.size
    (following,) = struct.unpack_from(order + offset_code, content, position)
    return tags, following


def _count_sub_directory(content: bytes, position: int, order: str, big: bool, depth: int) -> int:
    try:
        return _check_tiff_directory(content, position, order, big, depth)[0]
    except struct.error:
        return 0


_MAX_EXIF_BYTES = 1_000_000
"""Exif longer than any camera writes is not searched for an orientation."""

_ORIENTATIONS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""What turns a picture upright, by Exif orientation (CIPA DC-008, 0x0112); Pillow rotates anticlockwise."""

_settings_lock = threading.RLock()


@contextmanager
def strict_pillow(limits: ImageLimits) -> Iterator[None]:
    """Set Pillow's process-wide settings to what hostile files require, and restore them afterwards.

    Truncated files are errors, images over the pixel limit too, and other warnings are silent. libtiff reads
    every TIFF: Pillow itself takes planes of 16 bits for planes of 8. The settings are global, so that
    conversions in several threads take turns.
    """
    with _settings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        saved = ImageFile.LOAD_TRUNCATED_IMAGES, Image.MAX_IMAGE_PIXELS
        reader, TiffImagePlugin.READ_LIBTIFF = TiffImagePlugin.READ_LIBTIFF, True
        ImageFile.LOAD_TRUNCATED_IMAGES, Image.MAX_IMAGE_PIXELS = False, limits.max_pixels
        try:
            yield
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES, Image.MAX_IMAGE_PIXELS = saved
            TiffImagePlugin.READ_LIBTIFF = reader


@contextmanager
def decoding(limits: ImageLimits) -> Iterator[None]:
    """Turn whatever a decoder raises into an error of the row."""
    try:
        yield
    except RowError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise too_many_pixels(limits) from error
    except MemoryError as error:
        raise RowError("image_memory", parameter="image") from error
    except UnidentifiedImageError as error:
        raise RowError("image_unread", parameter="image") from error
    except Exception as error:  # broken files make decoders raise nearly anything
        raise RowError("image_damaged", parameter="image") from error


def too_many_pixels(limits: ImageLimits) -> RowError:
    """Return the error for an image over the pixel limit."""
    return RowError("image_pixels", parameter="image", limit=limits.max_pixels)


@dataclass
class Opened:
    """An image whose header is read and whose pixels are not."""

    image: ImageFile.ImageFile  # the file as Pillow opened it
    content: bytes  # the file itself
    image_format: ImageFormat  # its format
    orientation: int  # Exif orientation, 1 to 8; 1 when it is missing and for TIFF, which Pillow turns itself
    bit_depth: int  # bits per channel in a PNG or TIFF file, 8 for others
    profile: bytes  # ICC profile, or empty
    limits: ImageLimits  # the limits it was opened with

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the (first) picture, upright."""
        return self.upright_size(self.image.size)

    def upright_size(self, size: tuple[int, int]) -> tuple[int, int]:
        """Return a size, or a box, with its sides swapped if the picture is stored sideways."""
        return (size[1], size[0]) if self.orientation >= 5 else size

    def upright(self, image: Image.Image) -> Image.Image:
        """Return a decoded picture or frame with the orientation applied."""
        operation = _ORIENTATIONS.get(self.orientation)
        return image if operation is None else image.transpose(operation)


def open_image(content: bytes, image_format: ImageFormat, limits: ImageLimits) -> Opened:
    """Open a file strictly as the format that its first bytes indicate, within the limits."""
    with decoding(limits):
        readable = with_alpha_flag(content) if image_format == "webp" else content
        image = Image.open(io.BytesIO(readable), formats=[PILLOW_NAMES[image_format]])
        check_pixels(image.size, limits)
        return Opened(
            image=image,
            content=content,
            image_format=image_format,
            orientation=1 if image_format == "tiff" else _orientation(image),
            bit_depth=_bit_depth(image, content, image_format),
            profile=profile_of(image, limits.max_profile_bytes),
            limits=limits,
        )


def check_pixels(size: tuple[int, int], limits: ImageLimits) -> None:
    """Refuse a size over the pixel limit, and an image without pixels."""
    if 0 in size:
        raise RowError("image_without_pixels", parameter="image")
    if size[0] * size[1] > limits.max_pixels:
        raise too_many_pixels(limits)


def count_frames(opened: Opened) -> int:
    """Count frames or pages, which must not be too many, nor have too many pixels in all."""
    limits = opened.limits
    with decoding(limits):
        if opened.image_format == "tiff":
            frames = _count_pages(opened.image, limits.max_frames + 1)
        elif opened.image_format == "gif":
            frames = sum(1 for _ in itertools.islice(gif_parts(opened.content), limits.max_frames + 1))
        else:
            frames = int(getattr(opened.image, "n_frames", 1)) - int(_first_is_apart(opened))
    if frames > limits.max_frames:
        raise RowError("image_frames", parameter="image", limit=limits.max_frames)
    if opened.image_format != "tiff":
        check_total_pixels(frames * opened.size[0] * opened.size[1], limits)
    return max(1, frames)


def check_total_pixels(pixels: int, limits: ImageLimits) -> None:
    """Refuse an animation or a document whose frames have too many pixels together."""
    if pixels > limits.max_total_pixels:
        raise RowError("image_total_pixels", parameter="image", limit=limits.max_total_pixels)


def is_animated(opened: Opened) -> bool:
    """Return whether there is more than one frame, or page, without counting them."""
    with decoding(opened.limits):
        return bool(getattr(opened.image, "is_animated", False)) and opened.image.format != "MPO"


def read_first(opened: Opened, size: tuple[int, int]) -> Image.Image:
    """Decode the first picture, upright; a JPEG to be made smaller is decoded at a reduced size."""
    image = opened.image
    with decoding(opened.limits):
        if opened.image_format == "jpg" and size != opened.size:
            width, height = opened.upright_size(size)
            image.draft(None, (2 * width, 2 * height))  # twice the size leaves enough detail for the filter
        extents = _gif_extents(image)
        loaded = _load(image)
        picture = _clear_outside(loaded, extents) if extents else loaded
        return opened.upright(picture)


def read_frames(opened: Opened, frames: int) -> Iterator[tuple[Image.Image, int]]:
    """Decode the frames of an animation, each a whole upright picture with its duration in milliseconds."""
    readers = {"gif": _gif_frames, "png": _png_frames}
    pictures = readers.get(opened.image_format, _sought_frames)(opened)
    for _ in range(frames):
        with decoding(opened.limits):
            picture, duration = next(pictures)
            upright = opened.upright(picture)
        yield upright, duration


def _gif_frames(opened: Opened) -> Iterator[tuple[Image.Image, int]]:
    parts = list(gif_parts(opened.content))
    check_total_pixels(sum(part.pixels for part in parts), opened.limits)
    return gif_frames(iter(parts), opened.image.size)


def _png_frames(opened: Opened) -> Iterator[tuple[Image.Image, int]]:
    return apng_frames(apng_parts(opened.content), opened.image.size)


def _sought_frames(opened: Opened) -> Iterator[tuple[Image.Image, int]]:
    image = opened.image
    for index in itertools.count():
        image.seek(index)
        image.load()
        # A copy: the image is the same object for all frames, and comparing two needs both.
        yield image.copy(), max(0, round(float(image.info.get("duration", 0))))


def read_pages(opened: Opened, pages: int) -> Iterator[tuple[Image.Image, bytes]]:
    """Decode the pages of a TIFF, each with its colour profile."""
    image = opened.image
    pixels = 0
    for index in range(pages):
        with decoding(opened.limits):
            image.seek(index)
            check_pixels(image.size, opened.limits)
            pixels += image.size[0] * image.size[1]
            check_total_pixels(pixels, opened.limits)
            picture = _load(image)
            profile = profile_of(image, opened.limits.max_profile_bytes)
        yield picture, profile


def _load(image: ImageFile.ImageFile) -> Image.Image:
    """Decode the current picture of a file; in one of Pillow's 16-bit greys white may still be zero."""
    _forget_xmp(image)
    image.load()
    tags = getattr(image, "tag_v2", {})
    if image.mode == "I;16" and tags.get(TiffImagePlugin.PHOTOMETRIC_INTERPRETATION) == 0:
        return image.point(lambda value: value * -1 + 65_535)
    return image


def times_to_play(opened: Opened) -> int:
    """Return how many times an animation plays, 0 for endlessly.

    A GIF counts the repetitions after the first time, and without a count it plays once; WebP and APNG count
    the total.
    """
    loop = opened.image.info.get("loop")
    if not isinstance(loop, int) or loop < 0:
        return 1 if opened.image_format == "gif" else 0
    return loop + 1 if opened.image_format == "gif" and loop else loop


def _bit_depth(image: ImageFile.ImageFile, content: bytes, image_format: ImageFormat) -> int:
    if image_format == "png":
        return content[24]
    if image_format == "tiff":
        bits: Any = getattr(image, "tag_v2", {}).get(TiffImagePlugin.BITSPERSAMPLE)
        return max((bit for bit in bits if isinstance(bit, int)), default=8) if isinstance(bits, tuple) else 8
    return 8


def _forget_xmp(image: Image.Image) -> None:
    """Keep Pillow from taking an orientation in XMP for one in Exif, as no browser does."""
    for name in ("xmp", "XML:com.adobe.xmp"):
        image.info.pop(name, None)


def _orientation(image: Image.Image) -> int:
    raw = image.info.get("exif", b"")
    if not isinstance(raw, bytes) or len(raw) > _MAX_EXIF_BYTES:
        return 1
    _forget_xmp(image)
    try:
        exif = Image.Exif() if raw else image.getexif()
        if raw:
            exif.load(raw)
        orientation = exif.get(ExifTags.Base.Orientation, 1)
    except Exception:  # broken Exif costs an image its orientation, not its conversion
        return 1
    return orientation if orientation in _ORIENTATIONS else 1


def _first_is_apart(opened: Opened) -> bool:
    """Return whether the first picture of an APNG is only for viewers without support for animation."""
    return opened.image_format == "png" and bool(getattr(opened.image, "default_image", False))


def _count_pages(image: ImageFile.ImageFile, most: int) -> int:
    """Count the pages of a TIFF, one by one and up to a limit: there may be a hundred thousand.

    Seeking far past the end at once would leave Pillow with a wrong number of pages.
    """
    pages = 0
    try:
        while pages < most:
            image.seek(pages)
            pages += 1
    except EOFError:
        pass
    image.seek(0)
    return pages


def _gif_extents(image: ImageFile.ImageFile) -> tuple[int, int, int, int] | None:
    """Return the box that the first frame of a GIF covers, if that is not the whole picture."""
    if image.format != "GIF" or not image.tile or image.tile[0][1] in (None, (0, 0, *image.size)):
        return None
    return image.tile[0][1]


def _clear_outside(image: Image.Image, extents: tuple[int, int, int, int]) -> Image.Image:
    """Make transparent what the first frame of a GIF does not cover, as browsers do."""
    cleared = Image.new("RGBA", image.size)
    cleared.paste(image.convert("RGBA").crop(extents), extents)
    return cleared
