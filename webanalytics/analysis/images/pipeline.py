"""One conversion from file to converted file: what `convert.analyse` calls, step by step."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from PIL import Image, TiffImagePlugin

from webanalytics.analysis.images.animation import Frames, write_apng, write_gif, write_webp
from webanalytics.analysis.images.formats import (
    MAX_SIDE,
    ImageFormat,
    ImageLimits,
    fit_size,
    png_effort,
    webp_effort,
)
from webanalytics.analysis.images.modes import normalise, plain, resize, to_mode
from webanalytics.analysis.images.palette import alpha_mask, quantise
from webanalytics.analysis.images.profiles import fits, to_srgb
from webanalytics.analysis.images.reading import (
    Opened,
    count_frames,
    is_animated,
    open_image,
    read_first,
    read_frames,
    read_pages,
    strict_pillow,
    times_to_play,
)
from webanalytics.analysis.images.structure import check_structure
from webanalytics.errors import RowError

Box = tuple[int | None, int | None]
"""Maximum width and height in pixels."""

_FULL_COLOUR_QUALITY = 90
"""From this quality up, a JPEG keeps colour at full resolution (4:4:4, below it 4:2:0), as in ImageMagick."""

_HORIZONTAL_DIFFERENCING = {TiffImagePlugin.PREDICTOR: 2}


class Converted(NamedTuple):
    """A converted image: bytes, size of the first picture, its original size, frames or pages written."""

    content: bytes
    size: tuple[int, int]
    input_size: tuple[int, int]
    frames: int


def convert(
    content: bytes,
    input_format: ImageFormat,
    output_format: ImageFormat,
    quality: int,
    box: Box,
    limits: ImageLimits,
) -> Converted:
    """Convert an image whose format is known; see `webanalytics.analysis.images.convert.analyse`."""
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
            elif several and input_format != "tiff" and output_format != "jpg":
                written, frames = _write_animation(opened, output_format, quality, size)
            else:
                written, frames = _write_first(opened, output_format, quality, size), 1
    return Converted(written, size, input_size, frames)


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


def _write_first(opened: Opened, output_format: ImageFormat, quality: int, size: tuple[int, int]) -> bytes:
    picture = read_first(opened, size)
    image, profile = normalise(picture, output_format, opened.profile, size, opened.bit_depth)
    opened.image.close()  # the pixels read; the image to write is a copy
    return _encode_still(image, output_format, quality, profile)


def _write_animation(
    opened: Opened, output_format: ImageFormat, quality: int, size: tuple[int, int]
) -> tuple[bytes, int]:
    count = count_frames(opened)
    times = times_to_play(opened)
    profile = opened.profile if fits(opened.profile, "RGB") else b""
    if output_format == "gif":
        return write_gif(_rgba_frames(opened, count, size, profile), times, opened.image_format == "gif")
    frames = _rgba_frames(opened, count, size)
    total_pixels = count * size[0] * size[1]
    if output_format == "png":
        return write_apng(frames, total_pixels, times, profile)
    return write_webp(frames, count, total_pixels, times, quality, profile)


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


def _write_pages(opened: Opened, box: Box) -> tuple[bytes, int]:
    count = count_frames(opened)
    output = _PageFile()
    with TiffImagePlugin.AppendingTiffWriter(output) as document:
        for picture, profile in _pages(opened, count):
            size = fit_size(picture.size, *box)
            image, profile = normalise(picture, "tiff", profile, size, opened.bit_depth)
            image.save(document, "TIFF", **_tiff_options(image, profile))
            document.newFrame()
    return output.getvalue(), count


def _pages(opened: Opened, count: int) -> Iterator[tuple[Image.Image, bytes]]:
    if opened.image_format == "tiff":
        yield from read_pages(opened, count)
    else:
        for picture, _ in read_frames(opened, count):
            yield picture, opened.profile


def _encode_still(image: Image.Image, output_format: ImageFormat, quality: int, profile: bytes) -> bytes:
    output = io.BytesIO()
    colour: dict[str, Any] = {"icc_profile": profile} if profile else {}
    pixels = image.width * image.height
    if output_format == "png":
        image.save(output, "PNG", compress_level=png_effort(pixels), **colour)
    elif output_format == "jpg":
        subsampling = 0 if quality >= _FULL_COLOUR_QUALITY else 2
        image.save(
            output,
            "JPEG",
            quality=quality,
            subsampling=subsampling,
            optimize=True,
            progressive=True,
            **colour,
        )
    elif output_format == "webp":
        image.save(output, "WEBP", quality=quality, method=webp_effort(pixels), **colour)
    elif output_format == "gif":
        _save_gif(image, output)
    else:
        image.save(output, "TIFF", **_tiff_options(image, profile))
    return output.getvalue()


def _save_gif(image: Image.Image, output: io.BytesIO) -> None:
    options: dict[str, int] = {}
    if image.mode in ("RGB", "RGBA"):
        image, transparent = quantise(image, alpha_mask(image))
        options = {} if transparent is None else {"transparency": transparent}
    image.save(output, "GIF", **options)


def _tiff_options(image: Image.Image, profile: bytes) -> dict[str, Any]:
    """Return lossless compression that every reader supports: Group 4 for bilevel, LZW for the rest."""
    options: dict[str, Any] = {"icc_profile": profile} if profile else {}
    if image.mode == "1":
        return options | {"compression": "group4"}
    if image.mode in ("P", "F"):
        return options | {"compression": "tiff_lzw"}
    return options | {"compression": "tiff_lzw", "tiffinfo": _HORIZONTAL_DIFFERENCING}
