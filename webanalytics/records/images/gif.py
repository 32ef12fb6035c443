"""Reading the frames of a GIF as browsers show them.

Pillow composes frames itself, but on a canvas that is opaque until a frame says otherwise: areas cleared or
never covered take the background colour there, but are transparent in every browser. So the images are
split, decoded one by one, and composed here.

Notes
-----
GIF89a specification (CompuServe, 1990), sections 18 (screen), 20 (image) and 23 (disposal). That the
background colour is not used is a convention of browsers, not of the specification.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import NamedTuple

from PIL import Image

_EXTENSION, _IMAGE, _TRAILER = 0x21, 0x2C, 0x3B
_GRAPHIC_CONTROL = 0xF9
_CLEAR, _RESTORE = 2, 3


class GifPart(NamedTuple):
    """One image of a GIF."""

    box: tuple[int, int, int, int]  # left, top, right and bottom on the screen, in pixels
    content: bytes  # a GIF of this image alone
    disposal: int  # what to do with it afterwards: 2 clears its box, 3 restores what was there before
    duration: int  # milliseconds

    @property
    def pixels(self) -> int:
        """Width times height."""
        return (self.box[2] - self.box[0]) * (self.box[3] - self.box[1])


def gif_parts(content: bytes) -> Iterator[GifPart]:
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
            yield GifPart((left, top, left + width, top + height), alone, flags >> 2 & 7, delay * 10)
            control = b"\0" * 4


def compose(parts: Iterator[GifPart], size: tuple[int, int]) -> Iterator[tuple[Image.Image, int]]:
    """Yield the screen after each image, in mode RGBA, and its duration in milliseconds."""
    screen = Image.new("RGBA", size)
    for part in parts:
        shown = screen.copy()
        if part.pixels:
            with Image.open(io.BytesIO(part.content), formats=["GIF"]) as image:
                picture = image.convert("RGBA")
            shown.paste(picture, part.box[:2], picture)
        yield shown, part.duration
        if part.disposal == _CLEAR:
            screen = shown.copy()
            screen.paste((0, 0, 0, 0), part.box)
        elif part.disposal != _RESTORE:
            screen = shown


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
