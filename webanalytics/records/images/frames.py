"""Reading the frames of an animation as its format composes them: GIF as browsers show it, and animated PNG.

Pillow composes frames itself. Of a GIF its canvas is opaque until a frame says otherwise: areas cleared or
never covered take the background colour there, but are transparent in every browser. Of an APNG it lays
half-transparent pixels over others by pasting them, which makes the canvas more transparent where it should
stay opaque, and takes up a wrong canvas after some frames that restore the previous one. So frames are
split, decoded one by one, and composed here.

Notes
-----
GIF89a specification (CompuServe, 1990), sections 18 (screen), 20 (image) and 23 (disposal). That the
background colour is not used is a convention of browsers, not of the specification.

Portable Network Graphics (PNG) Specification, Third Edition (W3C Recommendation, 2025), section 11.3.6: fcTL
and fdAT, the disposal and blending operations; the canvas begins as fully transparent black, and a first
frame that would restore the previous canvas clears its box instead.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from PIL import Image

from webanalytics.records.images.modes import plain, to_mode

After = Literal["keep", "clear", "restore"]
"""What is done to the box of a frame on the canvas, once it was shown."""

_EXTENSION, _IMAGE, _TRAILER = 0x21, 0x2C, 0x3B
_GRAPHIC_CONTROL = 0xF9
_FRAME_CONTROL = struct.Struct(">IIIIIHHBB")
_AFTER_GIF: dict[int, After] = {2: "clear", 3: "restore"}
_AFTER_APNG: tuple[After, ...] = ("keep", "clear", "restore")
_KEPT = (b"PLTE", b"tRNS")
"""Chunks before the first frame that say what all pixels mean."""


class Part(NamedTuple):
    """One frame of an animation, undecoded."""

    box: tuple[int, int, int, int]  # left, top, right and bottom on the canvas, in pixels
    content: bytes  # a file of this frame alone
    then: After
    duration: int  # milliseconds
    over: bool = True  # whether it is laid over the canvas, not put in the place of what was in its box

    @property
    def pixels(self) -> int:
        """Width times height."""
        return (self.box[2] - self.box[0]) * (self.box[3] - self.box[1])


def gif_frames(parts: Iterator[Part], size: tuple[int, int]) -> Iterator[tuple[Image.Image, int]]:
    """Yield the screen after each image, in mode RGBA, and its duration in milliseconds."""

    def draw(screen: Image.Image, part: Part) -> None:
        if part.pixels:
            with Image.open(io.BytesIO(part.content), formats=["GIF"]) as image:
                picture = image.convert("RGBA")
            screen.paste(picture, part.box[:2], picture)

    return _composed(parts, size, draw)


def apng_frames(parts: Iterator[Part], size: tuple[int, int]) -> Iterator[tuple[Image.Image, int]]:
    """Yield the canvas with each frame, in mode RGBA, and its duration in milliseconds."""

    def draw(canvas: Image.Image, part: Part) -> None:
        with Image.open(io.BytesIO(part.content), formats=["PNG"]) as image:
            image.load()
            picture = to_mode(plain(image, part.content[24]), "RGBA")
        if part.over:
            canvas.alpha_composite(picture, part.box[:2])
        else:
            canvas.paste(picture, part.box[:2])

    return _composed(parts, size, draw)


def _composed(
    parts: Iterator[Part], size: tuple[int, int], draw: Callable[[Image.Image, Part], None]
) -> Iterator[tuple[Image.Image, int]]:
    canvas = Image.new("RGBA", size)
    for part in parts:
        shown = canvas.copy()
        draw(shown, part)
        yield shown, part.duration
        if part.then == "clear":
            canvas = shown.copy()
            canvas.paste((0, 0, 0, 0), part.box)
        elif part.then == "keep":
            canvas = shown


def gif_parts(content: bytes) -> Iterator[Part]:
    """Yield the images of a GIF, undecoded; in a truncated file the last one is truncated too."""
    table_end = 13 + colour_table_bytes(content[10])
    table = content[13:table_end]
    control = b"\0" * 4
    for position, end, _ in blocks(content, table_end):
        if content[position] == _EXTENSION:
            if content[position + 1 : position + 3] == bytes([_GRAPHIC_CONTROL, 4]):
                control = content[position + 3 : position + 7].ljust(4, b"\0")
        elif content[position] == _IMAGE and position + 10 <= len(content):
            left, top, width, height = struct.unpack_from("<4H", content, position + 1)
            flags, delay = control[0], int.from_bytes(control[1:3], "little")
            alone = content[:6] + struct.pack("<2H", width, height) + content[10:13] + table
            alone += b"!\xf9\x04" + control + b"\0," + struct.pack("<4H", 0, 0, width, height)
            alone += content[position + 9 : end] + b";"
            box = (left, top, left + width, top + height)
            yield Part(box, alone, _AFTER_GIF.get(flags >> 2 & 7, "keep"), delay * 10)
            control = b"\0" * 4


def colour_table_bytes(flags: int) -> int:
    """Return the length of the colour table that the flags of a screen or an image announce."""
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def blocks(content: bytes, position: int) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and number of parts of each extension, image and stray byte, up to the trailer."""
    while position < len(content) and content[position] != _TRAILER:
        start, parts = position, 1
        if content[position] == _EXTENSION:
            position += 2
        elif content[position] == _IMAGE and position + 10 <= len(content):
            position += 11 + colour_table_bytes(content[position + 9])
        else:
            position += 1
            yield start, position, parts
            continue
        while position < len(content) and content[position]:
            position += content[position] + 1
            parts += 1
        position += 1
        yield start, position, parts


class _Frame:
    """A frame being collected: its control and its compressed pixels."""

    def __init__(self, control: bytes, *, first: bool) -> None:
        self.control, self.first = control, first
        self.pixels = bytearray()


def apng_parts(content: bytes) -> Iterator[Part]:
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
                frame = _Frame(data, first=frame is None)
        elif name == b"IDAT" and frame is not None:  # else it is a picture for viewers without animation
            frame.pixels += data
    if frame is not None:
        yield _part(header, b"".join(common.values()), frame)


def _part(header: bytes, common: bytes, frame: _Frame) -> Part:
    _, width, height, left, top, number, divisor, disposal, blending = _FRAME_CONTROL.unpack(frame.control)
    whole = struct.unpack_from(">II", header)
    if not (width and height) or left + width > whole[0] or top + height > whole[1]:
        raise ValueError("a frame lies outside the canvas")
    if disposal >= len(_AFTER_APNG) or blending > 1:
        raise ValueError("an operation of a frame is unknown")
    alone = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">II", width, height) + header[8:])
    alone += common + chunk(b"IDAT", bytes(frame.pixels)) + chunk(b"IEND", b"")
    duration = round(1000 * number / (divisor or 100))
    then = _AFTER_APNG[1 if frame.first and disposal else disposal]
    return Part((left, top, left + width, top + height), alone, then, duration, over=blending == 1)


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
