"""Reading the frames of an animated PNG as its specification composes them.

Pillow composes frames itself, but lays half-transparent pixels over others by pasting them, which makes the
canvas more transparent where it should stay opaque, and takes up a wrong canvas after some frames that
restore the previous one. So the frames are split, decoded one by one, and composed here.

Notes
-----
Portable Network Graphics (PNG) Specification, Third Edition (W3C Recommendation, 2025), section 11.3.6: fcTL
and fdAT, the disposal and blending operations; the canvas begins as fully transparent black, and a first
frame that would restore the previous canvas clears its box instead.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from PIL import Image

from webanalytics.records.images.modes import plain, to_mode

_CLEAR, _RESTORE = 1, 2
_OVER = 1
_FRAME_CONTROL = struct.Struct(">IIIIIHHBB")
_KEPT = (b"PLTE", b"tRNS")
"""Chunks before the first frame that say what all pixels mean."""


class ApngPart(NamedTuple):
    """One frame of an animated PNG."""

    box: tuple[int, int, int, int]  # left, top, right and bottom on the canvas, in pixels
    content: bytes  # a PNG of this frame alone
    disposal: int  # what to do with the canvas afterwards: 1 clears the box, 2 restores what was there before
    blending: int  # 1 lays the frame over the canvas, 0 puts it in the place of what was in its box
    duration: int  # milliseconds


class _Frame:
    """A frame being collected: its control and its compressed pixels."""

    def __init__(self, control: bytes) -> None:
        self.control = control
        self.pixels = bytearray()


def apng_parts(content: bytes) -> Iterator[ApngPart]:
    """Yield the frames of an animated PNG, undecoded; `ValueError` where they are damaged or out of order."""
    header = b""
    common: dict[bytes, bytes] = {}
    frame: _Frame | None = None
    expected = 0
    for name, data in chunks(content):
        if name == b"IHDR":
            header = data
        elif name in _KEPT and frame is None:
            common.setdefault(name, chunk(name, data))  # once, as the specification has it
        elif name in (b"fcTL", b"fdAT"):
            if len(data) < 4 or struct.unpack_from(">I", data)[0] != expected:
                raise ValueError("frames are out of order")
            expected += 1
            if name == b"fdAT" and frame is not None:
                frame.pixels += data[4:]
            elif name == b"fcTL":
                if frame is not None:
                    yield _part(header, b"".join(common.values()), frame)
                frame = _Frame(data)
        elif name == b"IDAT" and frame is not None:  # else it is a picture for viewers without animation
            frame.pixels += data
    if frame is not None:
        yield _part(header, b"".join(common.values()), frame)


def compose(parts: Iterator[ApngPart], size: tuple[int, int]) -> Iterator[tuple[Image.Image, int]]:
    """Yield the canvas with each frame, in mode RGBA, and its duration in milliseconds."""
    canvas = Image.new("RGBA", size)
    first = True
    for part in parts:
        shown = canvas.copy()
        with Image.open(io.BytesIO(part.content), formats=["PNG"]) as image:
            image.load()
            picture = to_mode(plain(image, part.content[24]), "RGBA")
        if part.blending == _OVER:
            shown.alpha_composite(picture, part.box[:2])
        else:
            shown.paste(picture, part.box[:2])
        yield shown, part.duration
        if part.disposal == _CLEAR or (part.disposal == _RESTORE and first):
            canvas = shown.copy()
            canvas.paste((0, 0, 0, 0), part.box)
        elif part.disposal != _RESTORE:
            canvas = shown
        first = False


def _part(header: bytes, common: bytes, frame: _Frame) -> ApngPart:
    _, width, height, left, top, number, divisor, disposal, blending = _FRAME_CONTROL.unpack(frame.control)
    whole = struct.unpack_from(">II", header)
    if not (width and height) or left + width > whole[0] or top + height > whole[1]:
        raise ValueError("a frame lies outside the canvas")
    if disposal > _RESTORE or blending > _OVER:
        raise ValueError("an operation of a frame is unknown")
    alone = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">II", width, height) + header[8:])
    alone += common + chunk(b"IDAT", bytes(frame.pixels)) + chunk(b"IEND", b"")
    duration = round(1000 * number / (divisor or 100))
    return ApngPart((left, top, left + width, top + height), alone, disposal, blending, duration)


def chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield name and data of each chunk up to the end of the picture; what is needed of them is checked."""
    position = 8
    while position + 12 <= len(content):
        (length,) = struct.unpack_from(">I", content, position)
        name, end = content[position + 4 : position + 8], position + 8 + length
        if name == b"IEND":
            return
        data = content[position + 8 : end]
        if name in (b"fcTL", b"fdAT") and content[end : end + 4] != uint32(zlib.crc32(name + data)):
            raise ValueError("a chunk is damaged")
        yield name, data
        position = end + 4


def chunk(name: bytes, data: bytes) -> bytes:
    """Return a chunk as it stands in a file."""
    return uint32(len(data)) + name + data + uint32(zlib.crc32(name + data))


def uint32(value: int) -> bytes:
    """Return four bytes, the most significant first."""
    return struct.pack(">I", value)
