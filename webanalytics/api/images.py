"""The function over images, which can save its results to a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import pandas as pd

from webanalytics.frames.inputs import Inputs
from webanalytics.frames.saving import ImageFolder, add_savings
from webanalytics.operations import CONVERT
from webanalytics.run_options import RunOptions
from webanalytics.runs.run import Hooks, collect

__all__ = ["convert"]


async def convert(
    images: Inputs,
    output_format: str,
    *,
    quality: int = 90,
    max_width: int | None = None,
    max_height: int | None = None,
    save_to: str | Path | None = None,
    column: str | None = None,
    **options: Unpack[RunOptions],
) -> pd.DataFrame:
    """Convert images between WebP, PNG, JPG, GIF and TIFF.

    Parameters
    ----------
    images : str, bytes, path, iterable, Series, Index or DataFrame
        Paths, URLs, or the bytes of images.
    output_format : {"png", "jpg", "webp", "gif", "tiff"}
        Target format.
    quality : int, default 90
        1 to 100, for jpg and webp.
    max_width, max_height : int, optional
        Largest size in pixels; the aspect ratio is kept and nothing is enlarged.
    save_to : str or path, optional
        Folder for the converted files, created if missing; without it the bytes are in the
        column ``content``.
    column : str, optional
        Column of a DataFrame that holds the images.
    **options
        Options of this call; `webanalytics.options` prints them all.

    Returns
    -------
    pandas.DataFrame
        One row per image: formats, sizes in bytes and pixels, ``saved`` bytes and
        ``saved_share``, ``frames``, and ``path`` or ``content``.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work. A broken image is a row.
    AuditInterrupted
        On Ctrl-C; carries the finished rows.

    Examples
    --------
    >>> import io
    >>> import webanalytics as wa
    >>> from PIL import Image
    >>> file = io.BytesIO()
    >>> Image.new("RGB", (40, 30), "navy").save(file, "png")
    >>> frame = wa.convert(file.getvalue(), "webp", max_width=20)
    >>> frame[["outputFormat", "mimeType", "width", "height"]].values.tolist()
    [['webp', 'image/webp', 20, 15]]
    """
    folder = None if save_to is None else ImageFolder(save_to)
    settings = {
        "output_format": output_format,
        "quality": quality,
        "max_width": max_width,
        "max_height": max_height,
    }
    return await collect(
        (CONVERT,),
        images,
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
