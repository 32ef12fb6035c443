"""A cheap walk over the blocks of an image file, before a decoder sees it.

Decoders spend time and memory on every block, tag and comment, needed or not; a 2 MB file of one-byte
comments, or of tags that all point at the same bytes, can cost seconds and gigabytes. The walk reads
lengths only, and leaves anything it cannot interpret to the decoder.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from webanalytics.errors import RowError
from webanalytics.records.images.formats import ImageFormat, ImageLimits
from webanalytics.records.images.gif import blocks, colour_table_bytes

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
