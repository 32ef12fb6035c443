"""Conversion of images between WebP, PNG, JPG, GIF and TIFF; on this machine AVIF and JPEG XL, too.

How an image is converted:

* The **orientation** in its Exif data is applied; all other metadata (Exif, GPS, XMP, comments, resolution)
  is dropped. The **colour profile** is kept if it describes the pixels written. If their colour space changes
  (CMYK to RGB) or the format holds no profile (GIF), they are converted to sRGB through it.
* **Transparency** is flattened onto white for jpg. GIF has no partial transparency: pixels of at least half
  alpha become opaque.
* **Animation** is kept between GIF, WebP and animated PNG (APNG, which a viewer without support shows as
  its first frame), with durations and loop count. As tiff each frame is a page; as jpg, avif and jxl only one
  is kept.
* **Pages** of a TIFF are kept as tiff, each with its own size; elsewhere only the first page is.
* **16-bit greys** are kept for png and tiff, and scaled (65,535 becomes 255) elsewhere; 16-bit colours become
  8-bit everywhere. ``note`` says so.
* Images are never enlarged; the aspect ratio is kept.
"""

from __future__ import annotations

from typing import Any, Literal

from webanalytics.errors import ParameterError, RowError
from webanalytics.records.images.formats import (
    ALL_FORMATS,
    FORMATS,
    LOSSLESS_TOO,
    LOSSY,
    MIME_TYPES,
    REMEDIES,
    ImageFormat,
    ImageLimits,
    is_supported,
    sniff,
)

__all__ = ["FORMATS", "MIME_TYPES", "ImageFormat", "ImageLimits", "analyse", "sniff"]

_DEFAULT_LIMITS = ImageLimits(formats=ALL_FORMATS)


def analyse(
    content: bytes,
    *,
    output_format: ImageFormat,
    quality: int = 90,
    max_width: int | None = None,
    max_height: int | None = None,
    lossless: bool | Literal["auto"] = False,
    keep_smaller: bool = False,
    min_ssim: float | None = None,
    max_bytes: int | None = None,
    measure: bool = False,
    limits: ImageLimits = _DEFAULT_LIMITS,
) -> dict[str, Any]:
    r"""Convert one image; see `webanalytics.convert`, whose arguments are the same, for what they mean.

    From quality 90 a jpg or an avif keeps colour at full resolution, below at half. The size in pixels is
    seen with the orientation applied.

    Notes
    -----
    Hostile files can still cost the time and memory that the limits allow (200 million pixels of
    animation): run it in a process that has a deadline and a memory limit.

    Examples
    --------
    >>> import base64
    >>> gif = base64.b64decode("R0lGODlhAQABAIAAAP8AAAAAACwAAAAAAQABAAACAkQBADs=")
    >>> result = analyse(gif, output_format="png")
    >>> result["inputFormat"], result["mimeType"], result["width"], result["content"][:4]
    ('gif', 'image/png', 1, b'\x89PNG')
    """
    check_wishes(output_format, lossless, min_ssim, max_bytes)
    if len(content) > limits.max_bytes:
        raise RowError("image_bytes", parameter="image", limit=limits.max_bytes, size=len(content))
    input_format = sniff(content)
    if input_format is None or input_format not in limits.formats:
        raise RowError("image_format", parameter="image")
    # Pillow is loaded with the first image
    from webanalytics.records.images.encoder import Wishes
    from webanalytics.records.images.pipeline import convert

    if not is_supported(input_format):
        raise RowError(
            "image_no_reader", parameter="image", format=input_format, remedy=REMEDIES[input_format]
        )
    check_written(output_format)
    wishes = Wishes(quality, lossless, max_bytes, min_ssim, measure)
    box = (max_width, max_height)
    converted = convert(content, input_format, output_format, wishes, box, limits, keep_smaller)
    made = input_format if converted.kept else output_format
    written = converted.written
    return {
        "inputFormat": input_format,
        "outputFormat": made,
        "inputSize": len(content),
        "outputSize": len(written.content),
        "mimeType": MIME_TYPES[made],
        "width": converted.size[0],
        "height": converted.size[1],
        "inputWidth": converted.input_size[0],
        "inputHeight": converted.input_size[1],
        "frames": converted.frames,
        "content": written.content,
        "kept": converted.kept,
        "quality": written.quality,
        "lossless": None if converted.kept else written.lossless,
        "ssim": written.ssim if measure or min_ssim is not None or max_bytes is not None else None,
        "note": written.note or None,
    }


def check_written(output_format: ImageFormat) -> None:
    """Refuse a format that the installed Pillow does not write, with what makes it."""
    if not is_supported(output_format):
        raise ParameterError.must_be(
            "output_format",
            f"another format than {output_format}, which the installed Pillow does not write: "
            f"{REMEDIES[output_format]}",
        )


def check_wishes(
    output_format: str, lossless: bool | str, min_ssim: float | None, max_bytes: int | None
) -> None:
    """Refuse settings that contradict each other or the format, naming the parameter to change."""
    if lossless is True and output_format in LOSSY - LOSSLESS_TOO:
        raise ParameterError.must_be(
            "lossless", f"false or auto for {output_format}, which is written lossy only"
        )
    for name, value in (("max_bytes", max_bytes), ("min_ssim", min_ssim)):
        if value is None:
            continue
        if output_format not in LOSSY:
            why = f"for {output_format}, which has no quality to search"
        elif lossless is True:
            why = "with lossless=True, which has no quality to search"
        else:
            continue
        raise ParameterError.must_be(name, f"left out {why}")
    if max_bytes is not None and min_ssim is not None:
        raise ParameterError.must_be("max_bytes", "left out with `min_ssim`: one quality is searched for")
