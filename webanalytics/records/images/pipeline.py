"""One conversion from file to converted file: what `convert.analyse` calls, step by step."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from PIL import Image, TiffImagePlugin

from webanalytics.errors import RowError
from webanalytics.records.images.animation import Frames, write_apng, write_gif, write_webp
from webanalytics.records.images.decoder import (
    Opened,
    check_structure,
    count_frames,
    is_animated,
    open_image,
    read_first,
    read_frames,
    read_pages,
    strict_pillow,
    times_to_play,
)
from webanalytics.records.images.encoder import Encoded, Wishes, encode, tiff_options
from webanalytics.records.images.formats import MAX_SIDE, ImageFormat, ImageLimits, fit_size
from webanalytics.records.images.modes import WIDE_MODES, fits, normalise, plain, resize, to_mode, to_srgb

Box = tuple[int | None, int | None]
"""Maximum width and height in pixels."""

_STILL: frozenset[ImageFormat] = frozenset(("jpg", "avif", "jxl"))
"""Formats that are written with one picture only."""

REDUCED = "More than 8 bits a channel became 8."


class Converted(NamedTuple):
    """A converted image: what was written, size of the first picture, its original size, frames or pages."""

    written: Encoded
    size: tuple[int, int]
    input_size: tuple[int, int]
    frames: int | None
    kept: bool = False


def convert(
    content: bytes,
    input_format: ImageFormat,
    output_format: ImageFormat,
    wishes: Wishes,
    box: Box,
    limits: ImageLimits,
    keep_smaller: bool = False,
) -> Converted:
    """Convert an image whose format is known; see `webanalytics.records.images.convert.analyse`."""
    with strict_pillow(limits):
        check_structure(content, input_format, limits)
        opened = open_image(content, input_format, limits)
        input_size = opened.size
        size = fit_size(input_size, *box)
        _check_side(size, output_format)
        several = is_animated(opened)
        with _encoding(output_format):
            if several and output_format == "tiff":
                written, frames = _write_pages(opened, box)
            elif several and input_format != "tiff" and output_format not in _STILL:
                written, frames = _write_animation(opened, output_format, wishes, size)
            else:
                written, frames = _write_first(opened, output_format, wishes, size, several), 1
        if len(written.content) <= len(content):
            return Converted(written, size, input_size, frames)
        if not keep_smaller or size != input_size:
            note = f"{written.note} Larger than the given {len(content):,} bytes.".strip()
            return Converted(written._replace(note=note), size, input_size, frames)
        note = f"Kept: as {output_format} it would have {len(written.content):,} bytes."
        there = _frames_of(content, input_format, limits) if several else 1
        kept = Encoded(content, None, False, note=note)
        return Converted(kept, size, input_size, there, kept=True)


def _frames_of(content: bytes, image_format: ImageFormat, limits: ImageLimits) -> int | None:
    with suppress(RowError):  # more than the limit: they were not needed
        return count_frames(open_image(content, image_format, limits))
    return None


@contextmanager
def _encoding(output_format: ImageFormat) -> Iterator[None]:
    try:
        yield
    except MemoryError as error:
        raise RowError("image_memory", parameter="image") from error
    except (OSError, ValueError, OverflowError, RuntimeError, struct.error) as error:
        raise RowError("image_unwritable", parameter="image", format=output_format) from error


def _check_side(size: tuple[int, int], output_format: ImageFormat) -> None:
    most = MAX_SIDE[output_format]
    if max(size) > most:
        raise RowError("image_side", parameter="image", limit=most, format=output_format)


def _write_first(
    opened: Opened, output_format: ImageFormat, wishes: Wishes, size: tuple[int, int], several: bool
) -> Encoded:
    picture = read_first(opened, size)
    image, profile = normalise(picture, output_format, opened.profile, size, opened.bit_depth)
    opened.image.close()  # the pixels read; the image to write is a copy
    encoded = encode(image, output_format, profile, wishes)
    notes = [REDUCED] if opened.bit_depth > 8 and image.mode not in WIDE_MODES else []
    if several:
        notes.append(f"Only the first {'page' if opened.image_format == 'tiff' else 'frame'} is in it.")
    return encoded._replace(note=" ".join([*notes, encoded.note]).strip())


def _write_animation(
    opened: Opened, output_format: ImageFormat, wishes: Wishes, size: tuple[int, int]
) -> tuple[Encoded, int]:
    count = count_frames(opened)
    times = times_to_play(opened)
    profile = opened.profile if fits(opened.profile, "RGB") else b""
    reduced = REDUCED if opened.bit_depth > 8 else ""
    if output_format == "gif":
        frames = _rgba_frames(opened, count, size, profile)
        content, written = write_gif(frames, times, opened.image_format == "gif")
        return Encoded(content, None, True, note=reduced), written
    frames = _rgba_frames(opened, count, size)
    total_pixels = count * size[0] * size[1]
    if output_format == "png":
        content, written = write_apng(frames, total_pixels, times, profile)
        return Encoded(content, None, True, note=reduced), written
    lossless = wishes.lossless is True
    content, written = write_webp(frames, count, total_pixels, times, wishes.quality, profile, lossless)
    searched = "Animations are written at the given quality." if wishes.searched and not lossless else ""
    note = f"{reduced} {searched}".strip()
    return Encoded(content, None if lossless else wishes.quality, lossless, note=note), written


def _rgba_frames(opened: Opened, count: int, size: tuple[int, int], profile: bytes = b"") -> Frames:
    """Yield frames at their final size, converted from the profile to sRGB where one is given."""
    for picture, duration in read_frames(opened, count):
        frame = plain(picture, opened.bit_depth)
        frame = to_mode(resize(frame, size) if frame.size != size else frame, "RGBA")
        if profile:
            frame = to_srgb(frame, profile) or frame
        yield frame, duration


class _PageFile(io.BytesIO):
    """A file in memory that stays readable while it exists.

    The writer of pages accesses its file again when it is garbage collected. After an error both may be
    collected together, the file first; Python 3.13 reports that.
    """

    def close(self) -> None:
        """Do nothing."""


def _write_pages(opened: Opened, box: Box) -> tuple[Encoded, int]:
    count = count_frames(opened)
    output = _PageFile()
    reduced = False
    with TiffImagePlugin.AppendingTiffWriter(output) as document:
        for picture, profile in _pages(opened, count):
            size = fit_size(picture.size, *box)
            image, profile = normalise(picture, "tiff", profile, size, opened.bit_depth)
            reduced = reduced or (opened.bit_depth > 8 and image.mode not in WIDE_MODES)
            image.save(document, "TIFF", **tiff_options(image, profile))
            document.newFrame()
    return Encoded(output.getvalue(), None, True, note=REDUCED if reduced else ""), count


def _pages(opened: Opened, count: int) -> Iterator[tuple[Image.Image, bytes]]:
    if opened.image_format == "tiff":
        yield from read_pages(opened, count)
    else:
        for picture, _ in read_frames(opened, count):
            yield picture, opened.profile
