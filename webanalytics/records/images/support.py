"""Which formats the installed Pillow reads and writes."""

from __future__ import annotations

import contextlib
from functools import cache

from PIL import Image, features

from webanalytics.records.images.formats import FORMATS, ImageFormat

PILLOW_NAMES: dict[ImageFormat, str] = {
    "webp": "WEBP",
    "png": "PNG",
    "jpg": "JPEG",
    "gif": "GIF",
    "tiff": "TIFF",
    "avif": "AVIF",
    "jxl": "JXL",
}

REMEDIES: dict[ImageFormat, str] = {
    "avif": "install pillow 11.3 or newer from its wheels",
    "jxl": "install the plugin pillow-jxl-plugin, version 1.3 or newer",
}
"""What makes Pillow read and write a format that it may lack."""


@cache
def is_supported(image_format: ImageFormat) -> bool:
    """Return whether the installed Pillow reads and writes a format.

    Examples
    --------
    >>> is_supported("webp")
    True
    """
    if image_format in FORMATS:
        return True
    if image_format == "avif":
        return bool(features.check("avif"))
    with contextlib.suppress(ImportError, OSError):  # a plugin whose library is missing is no plugin
        import pillow_jxl  # type: ignore[import-not-found, unused-ignore]  # noqa: F401 - registers itself
    return "JXL" in Image.SAVE
