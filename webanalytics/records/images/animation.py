"""Writing animations: GIF and APNG frame by frame, WebP through Pillow's encoder.

Pillow's own writers of GIF and APNG hold every frame in memory and have treated disposal and transparency
differently from version to version; so the frames, each encoded by Pillow, are assembled here.

Notes
-----
GIF89a specification (CompuServe, 1990) sections 20 (image descriptor) and 23 (graphic control extension), and
the NETSCAPE2.0 application extension for loops; PNG (Third Edition) section 11.3.6 for acTL, fcTL and fdAT.
"""

from __future__ import annotations

import io
import itertools
import struct
from collections.abc import Iterator

from PIL import Image, ImageChops

from webanalytics.records.images.formats import png_effort, webp_effort, with_alpha_flag
from webanalytics.records.images.frames import chunk, chunks, uint32
from webanalytics.records.images.modes import quantise, visible_mask

Frames = Iterator[tuple[Image.Image, int]]
"""RGBA pictures of one size, each with its duration in milliseconds."""

_MAX_UINT16 = 65_535
_UNSAID_DURATION = 100
"""Milliseconds for which browsers show a frame without a duration."""


def write_webp(
    frames: Frames,
    count: int,
    total_pixels: int,
    times: int,
    quality: int,
    profile: bytes,
    lossless: bool = False,
) -> tuple[bytes, int]:
    """Write an animated WebP and return it with its number of frames (the encoder merges equal ones)."""
    durations: list[int] = []
    output = io.BytesIO()
    sequence = _Sequence(frames, count, durations)
    sequence.save(
        output,
        "WEBP",
        save_all=True,
        duration=durations,
        loop=min(times, _MAX_UINT16),
        quality=quality,
        lossless=lossless,
        method=webp_effort(total_pixels),
        icc_profile=profile,
    )
    content = with_alpha_flag(output.getvalue()) if sequence.transparent else output.getvalue()
    with Image.open(io.BytesIO(content), formats=["WEBP"]) as written:
        return content, int(getattr(written, "n_frames", 1))


class _Sequence(Image.Image):
    """Frames made on demand for Pillow's encoder, so that only one is in memory at a time.

    The encoder reads the duration of a frame from the list after seeking the frame, which fills it.
    """

    def __init__(self, frames: Frames, count: int, durations: list[int]) -> None:
        super().__init__()
        self.n_frames = count
        self._frames = frames
        self._durations = durations
        self._position = -1
        self.transparent = False
        self.seek(0)

    def seek(self, frame: int) -> None:
        if frame <= self._position:  # the encoder goes back to the first frame when it is done
            return
        picture, duration = next(self._frames)
        self._durations.append(duration or _UNSAID_DURATION)
        self.im = picture.im
        self._mode = picture.mode
        self._size = picture.size
        self._position = frame
        self.transparent = self.transparent or picture.getchannel("A").getextrema()[0] != 255

    def tell(self) -> int:
        return max(0, self._position)


def write_apng(frames: Frames, total_pixels: int, times: int, profile: bytes) -> tuple[bytes, int]:
    """Write an animated PNG and return it with its number of frames."""
    header = b""
    body = bytearray()
    sequence = itertools.count()
    canvas: Image.Image | None = None
    count = 0
    for picture, duration in frames:
        box = _changed_box(picture, canvas)
        options = {"icc_profile": profile} if profile and canvas is None else {}
        encoded = _encode(picture.crop(box), "PNG", compress_level=png_effort(total_pixels), **options)
        parts = list(chunks(encoded))
        if canvas is None:
            header = b"".join(chunk(name, data) for name, data in parts if name in (b"IHDR", b"iCCP"))
        body += chunk(b"fcTL", _frame_control(next(sequence), box, duration or _UNSAID_DURATION))
        for name, data in parts:
            if name == b"IDAT":
                body += chunk(name, data) if canvas is None else chunk(b"fdAT", uint32(next(sequence)) + data)
        canvas = picture
        count += 1
    header_end = 8 + 25  # signature and IHDR; acTL has to come before the first IDAT
    start = b"\x89PNG\r\n\x1a\n" + header
    control = chunk(b"acTL", struct.pack(">II", count, times))
    return start[:header_end] + control + start[header_end:] + bytes(body) + chunk(b"IEND", b""), count


def write_gif(frames: Frames, times: int, exact_times: bool) -> tuple[bytes, int]:
    """Write an animated GIF, and return it with its number of frames."""
    output = bytearray()
    count = 0
    clock = _GifClock(exact_times)
    canvas: Image.Image | None = None  # what is shown when the picture comes; None: nothing
    pending: tuple[Image.Image, int] | None = None
    for picture, duration in itertools.chain(((_hard_alpha(f), d) for f, d in frames), [(None, 0)]):
        if pending is not None:
            shown, shown_duration = pending
            clear = picture is not None and _uncovers(shown, picture)
            if not count:
                output += _gif_header(shown.size, times)
            output += _gif_frame(shown, canvas, clear, clock.hundredths(shown_duration), not count)
            canvas = None if clear else shown
            count += 1
        pending = None if picture is None else (picture, duration)
    return bytes(output) + b";", count


def _changed_box(picture: Image.Image, canvas: Image.Image | None) -> tuple[int, int, int, int]:
    """Return the box outside which a picture equals the previous one; at least one pixel."""
    if canvas is None:
        return (0, 0, *picture.size)
    return ImageChops.difference(picture, canvas).getbbox(alpha_only=False) or (0, 0, 1, 1)


def _encode(image: Image.Image, pillow_format: str, **options: object) -> bytes:
    output = io.BytesIO()
    image.save(output, pillow_format, **options)
    return output.getvalue()


def _frame_control(number: int, box: tuple[int, int, int, int], milliseconds: int) -> bytes:
    """Return the data of an fcTL chunk that replaces a box of the picture (dispose none, blend source)."""
    left, top, right, bottom = box
    unit = next((unit for unit in (1000, 100, 10, 1) if milliseconds * unit // 1000 <= _MAX_UINT16), 1)
    delay = min(round(milliseconds * unit / 1000), _MAX_UINT16)
    return struct.pack(">IIIIIHHBB", number, right - left, bottom - top, left, top, delay, unit, 0, 0)


class _GifClock:
    """Milliseconds to hundredths of a second, without the rounding of each frame adding up."""

    def __init__(self, exact: bool) -> None:
        self._exact = exact
        self._elapsed = 0
        self._written = 0

    def hundredths(self, milliseconds: int) -> int:
        """Return the delay to write for the next frame; viewers slow delays below 2 down to 10."""
        if self._exact:
            return min(milliseconds // 10, _MAX_UINT16)
        self._elapsed += milliseconds or _UNSAID_DURATION
        delay = max(2, min((self._elapsed + 5) // 10 - self._written, _MAX_UINT16))
        self._written += delay
        return delay


def _hard_alpha(picture: Image.Image) -> Image.Image:
    """Return the picture with alpha 0 or 255, and transparent pixels all of one colour."""
    hard = Image.new("RGBA", picture.size)
    alpha = picture.getchannel("A").point([0] * 128 + [255] * 128)
    hard.paste(picture, mask=alpha)
    hard.putalpha(alpha)
    return hard


def _uncovers(shown: Image.Image, following: Image.Image) -> bool:
    """Return whether a visible pixel has to vanish in the next picture."""
    return ImageChops.subtract(shown.getchannel("A"), following.getchannel("A")).getbbox() is not None


def _gif_header(size: tuple[int, int], times: int) -> bytes:
    header = b"GIF89a" + struct.pack("<HHBBB", *size, 0x70, 0, 0)
    if times == 1:
        return header
    repetitions = min(max(0, times - 1), _MAX_UINT16)
    return header + b"!\xff\x0bNETSCAPE2.0\x03\x01" + struct.pack("<H", repetitions) + b"\x00"


def _gif_frame(
    picture: Image.Image, canvas: Image.Image | None, clear: bool, hundredths: int, first: bool
) -> bytes:
    """Return one frame: only changes are drawn, and all is cleared afterwards if the next frame needs it."""
    visible = visible_mask(picture, canvas or Image.new("RGBA", picture.size))
    box = (0, 0, *picture.size) if first else (picture if clear else visible).getbbox() or (0, 0, 1, 1)
    # Without a transparent colour, some readers clear to opaque after a frame, or stay opaque after the
    # first one.
    reserve = clear or (first and len(picture.convert("RGB").getcolors(256) or ()) < 256)
    indexed, transparent = quantise(picture.crop(box), visible.crop(box), dither=False, reserve=reserve)
    disposal = 2 if clear else 1
    control = struct.pack("<BHBB", disposal << 2 | (transparent is not None), hundredths, transparent or 0, 0)
    return b"!\xf9\x04" + control + _local_image(indexed, box)


def _local_image(indexed: Image.Image, box: tuple[int, int, int, int]) -> bytes:
    """Return an image with its own colour table, taken from a GIF of that image alone."""
    content = _encode(indexed, "GIF", optimize=False, interlace=0)
    table_flags = content[10] & 0x87
    table_end = 13 + (3 << (table_flags & 7) + 1)
    position = table_end
    while content[position] == 0x21:  # skip extensions
        position += 2
        while content[position]:
            position += content[position] + 1
        position += 1
    left, top, right, bottom = box
    descriptor = b"," + struct.pack("<HHHHB", left, top, right - left, bottom - top, table_flags)
    return descriptor + content[13:table_end] + content[position + 10 : -1]
