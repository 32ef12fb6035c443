"""The function over images, which can save its results to a folder."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Literal, Unpack

import pandas as pd

from webanalytics.core.option_types import ImageOptions
from webanalytics.errors import ParameterError
from webanalytics.operations import CONVERT
from webanalytics.records.images.convert import check_wishes, check_written
from webanalytics.records.images.folder import ImageFolder, add_savings
from webanalytics.records.images.inputs import with_files
from webanalytics.runs.frames.inputs import Inputs
from webanalytics.runs.run import Hooks, collect

__all__ = ["convert"]

SSIM = 0.95
"""The structural similarity that ``target="ssim"`` asks for by itself."""


async def convert(
    images: Inputs,
    output_format: str,
    *,
    quality: int = 80,
    max_width: int | None = None,
    max_height: int | None = None,
    lossless: bool | Literal["auto"] = "auto",
    keep_smaller: bool = True,
    target: Literal["ssim"] | None = None,
    min_ssim: float | None = None,
    max_bytes: int | None = None,
    measure: bool = True,
    save_to: str | Path | None = None,
    column: str | None = None,
    **options: Unpack[ImageOptions],
) -> pd.DataFrame:
    """Convert images between WebP, PNG, JPG, GIF and TIFF, and to AVIF and JPEG XL where Pillow has them.

    Parameters
    ----------
    images : str, bytes, path, iterable, Series, Index or DataFrame
        Paths, URLs, or the bytes of images. A folder stands for the images in it and in all folders below,
        and a pattern such as ``"images/**/*.png"`` for the files that fit it.
    output_format : {"png", "jpg", "webp", "gif", "tiff", "avif", "jxl"}
        Target format.
    quality : int, default 80
        1 to 100, for jpg, webp, avif and jxl. Above 80 files grow faster than the similarity does; the
        service's own default is 90.
    max_width, max_height : int, optional
        Largest size in pixels; the aspect ratio is kept and nothing is enlarged.
    lossless : bool or "auto", default "auto"
        Whether webp and jxl are written without loss. ``"auto"`` writes pictures of at most 1,024 colours
        both ways and takes the lossless file where it is no larger.
    keep_smaller : bool, default True
        Keep the given file, metadata included, where the converted one would be larger; ``kept`` says so, and
        ``outputFormat`` is then the given format. An image that had to be made smaller in pixels is always
        converted.
    target : {"ssim"}, optional
        Search for the lowest quality whose structural similarity is at least `min_ssim`, or 0.95 where that
        is left out.
    min_ssim : float, optional
        From 0 to 1; implies ``target="ssim"``.
    max_bytes : int, optional
        Search for the highest quality, up to `quality`, whose file has no more bytes.
    measure : bool, default True
        Measure the structural similarity of each lossy still image; takes some 30 ms for a million pixels.
    save_to : str or path, optional
        Folder for the converted files, created if missing; without it the bytes are in the
        column ``content``.
    column : str, optional
        Column of a DataFrame that holds the images.
    **options
        Options of this call: those of `webanalytics.core.option_types.ImageOptions`.

    Returns
    -------
    pandas.DataFrame
        One row per image: formats, sizes in bytes and pixels, ``saved`` bytes and ``saved_share``,
        ``frames``, whether the given file was ``kept``, ``quality`` and ``lossless`` as written,
        ``ssim``, ``note``, and ``path`` or ``content``.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work. A broken image is a row.
    AuditInterrupted
        On Ctrl-C; carries the finished rows.

    Notes
    -----
    A search takes at most eight encodings of an image, and says in ``note`` when what is asked for cannot be
    reached. ``lossless`` to ``measure`` are for this machine: a hosted backend converts as the service does.

    Structural similarity: Wang, Bovik, Sheikh and Simoncelli, IEEE Transactions on Image Processing 13
    (2004), on luminance.

    Examples
    --------
    >>> import io
    >>> import webanalytics as wa
    >>> from PIL import Image
    >>> file = io.BytesIO()
    >>> Image.linear_gradient("L").save(file, "tiff")
    >>> frame = wa.convert(file.getvalue(), "webp", max_width=20)
    >>> frame[["outputFormat", "mimeType", "width", "height", "kept"]].values.tolist()
    [['webp', 'image/webp', 20, 20, False]]
    """
    formats = CONVERT.parameter("output_format")
    if isinstance(output_format, str) and output_format not in (*formats.choices, *formats.more):
        raise ParameterError.one_of("output_format", (*formats.choices, *formats.more))
    if target not in (None, "ssim"):
        raise ParameterError("The `target` parameter must be ssim or left out.", "target")
    if target == "ssim" and min_ssim is None:
        min_ssim = SSIM
    settings = {
        "output_format": output_format,
        "quality": quality,
        "max_width": max_width,
        "max_height": max_height,
        "lossless": lossless,
        "keep_smaller": keep_smaller,
        "min_ssim": min_ssim,
        "max_bytes": max_bytes,
        "measure": measure,
    }
    _check(CONVERT.check_settings(settings))
    folder = None if save_to is None else ImageFolder(save_to)
    return await collect(
        (CONVERT,),
        await asyncio.to_thread(with_files, images, save_to),
        "images",
        column=column,
        settings={"convert": settings},
        options=options,
        hooks=Hooks(
            finish=add_savings,
            on_answer=None if folder is None else folder.keep,
            on_restored=None if folder is None else folder.restored,
            extra={"save_to": None if folder is None else folder.name},
        ),
    )


def _check(settings: dict[str, Any]) -> None:
    """Refuse what one setting alone does not show to be wrong."""
    wishes = ("output_format", "lossless", "min_ssim", "max_bytes")
    check_wishes(*(settings[name] for name in wishes))
    if settings["output_format"] in CONVERT.parameter("output_format").more:
        check_written(settings["output_format"])
