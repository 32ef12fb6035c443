"""Conversion of images between WebP, PNG, JPG, GIF and TIFF.

How an image is converted:

* The **orientation** in its Exif data is applied; all other metadata (Exif, GPS, XMP, comments, resolution)
  is dropped. The **colour profile** is kept if it describes the pixels written. If their colour space changes
  (CMYK to RGB) or the format holds no profile (GIF), they are converted to sRGB through it.
* **Transparency** is flattened onto white for jpg. GIF has no partial transparency: pixels of at least half
  alpha become opaque.
* **Animation** is kept between GIF, WebP and animated PNG (APNG, which a viewer without support shows as
  its first frame), with durations and loop count. As tiff each frame is a page; as jpg only one is kept.
* **Pages** of a TIFF are kept as tiff, each with its own size; elsewhere only the first page is.
* **16-bit greys** are kept for png and tiff, and scaled (65,535 becomes 255) elsewhere.
* Images are never enlarged; the aspect ratio is kept.
"""

from __future__ import annotations

from typing import Any

from webanalytics.analysis.images.formats import (
    EXTENSIONS,
    FORMATS,
    MIME_TYPES,
    ImageFormat,
    ImageLimits,
    sniff,
)
from webanalytics.errors import ParameterError, RowError

__all__ = ["EXTENSIONS", "FORMATS", "MIME_TYPES", "ImageFormat", "ImageLimits", "analyse", "sniff"]

_DEFAULT_LIMITS = ImageLimits()


def analyse(
    content: bytes,
    *,
    output_format: ImageFormat,
    quality: int = 90,
    max_width: int | None = None,
    max_height: int | None = None,
    limits: ImageLimits = _DEFAULT_LIMITS,
) -> dict[str, Any]:
    r"""Convert one image.

    Parameters
    ----------
    content : bytes
        The image file.
    output_format : {"png", "jpg", "webp", "gif", "tiff"}
        Format to convert to.
    quality : int
        1 to 100; applies to jpg and webp (which is always written lossy). From 90 a jpg keeps colour at full
        resolution, below at half.
    max_width, max_height : int, optional
        Box in pixels, seen with the orientation applied, that the result fits in.
    limits : ImageLimits
        Sizes above which an image is refused.

    Returns
    -------
    dict
        ``inputFormat``, ``outputFormat``, ``inputSize`` and ``outputSize`` (bytes), ``mimeType``, ``width``,
        ``height``, ``inputWidth``, ``inputHeight`` (pixels, with the orientation applied), ``frames`` (frames
        or pages written) and ``content``, the bytes of the converted image.

    Raises
    ------
    RowError
        ``invalid`` when the content is not an image of the five formats, or is truncated or damaged;
        ``too_large`` when it exceeds a limit, or does not fit the output format.
    ParameterError
        A wrong argument.

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
    _check_parameters(output_format, quality, max_width, max_height)
    if len(content) > limits.max_bytes:
        raise RowError("image_bytes", parameter="image", limit=limits.max_bytes, size=len(content))
    input_format = sniff(content)
    if input_format is None:
        raise RowError("image_format", parameter="image")
    from webanalytics.analysis.images.pipeline import convert  # Pillow is loaded with the first image

    converted = convert(content, input_format, output_format, quality, (max_width, max_height), limits)
    return {
        "inputFormat": input_format,
        "outputFormat": output_format,
        "inputSize": len(content),
        "outputSize": len(converted.content),
        "mimeType": MIME_TYPES[output_format],
        "width": converted.size[0],
        "height": converted.size[1],
        "inputWidth": converted.input_size[0],
        "inputHeight": converted.input_size[1],
        "frames": converted.frames,
        "content": converted.content,
    }


def _check_parameters(
    output_format: str, quality: int, max_width: int | None, max_height: int | None
) -> None:
    if output_format not in FORMATS:
        raise ParameterError.one_of("output_format", FORMATS)
    if not 1 <= quality <= 100:
        raise ParameterError("The `quality` parameter must be an integer from 1 to 100.", "quality")
    for name, value in (("max_width", max_width), ("max_height", max_height)):
        if value is not None and value < 1:
            raise ParameterError(f"The `{name}` parameter must be an integer of at least 1.", name)
