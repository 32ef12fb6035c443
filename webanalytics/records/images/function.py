"""The function over images: folders and patterns among its inputs, results that it can save to a folder."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Unpack
from urllib.parse import unquote, urlsplit

import numpy as np
import pandas as pd

from webanalytics.core.option_types import ImageOptions
from webanalytics.core.outcomes import JobResult
from webanalytics.errors import ParameterError, WriteError
from webanalytics.files import written_whole
from webanalytics.operations import CONVERT
from webanalytics.records.images.convert import check_wishes, check_written
from webanalytics.records.images.formats import SUFFIXES
from webanalytics.runs.frames.build import FrameBuilder
from webanalytics.runs.frames.inputs import Inputs
from webanalytics.runs.run import Hooks, collect

__all__ = ["convert"]

_UNSAFE = re.compile(r"[^\w.-]+")
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?$")
FORMATS = (*CONVERT.parameter("output_format").choices, *CONVERT.parameter("output_format").more)
NAME_LENGTH = 80
"""Longest stem of a written file; a longer one is cut."""


class ImageFolder:
    """Writes each converted image as it arrives, and never over an input file."""

    def __init__(self, folder: str | Path) -> None:
        if not isinstance(folder, (str, os.PathLike)):
            raise ParameterError.must_be("save_to", "a folder")
        self._folder = Path(folder)
        self._names: set[str] = set()
        self._sources: set[Path] | None = None
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ParameterError.must_be(
                "save_to", f"a folder that can be written to: {error.strerror}"
            ) from None

    @property
    def name(self) -> str:
        """The folder's whole path."""
        return str(self._folder.resolve())

    def keep(self, answer: JobResult, builder: FrameBuilder) -> JobResult:
        """Write the image of an answer and replace its bytes by the path."""
        (outcome,) = answer.outcomes
        if outcome.data is None or outcome.data.get("content") is None:  # a download may have been lost
            return answer
        subject = builder.rows.jobs[answer.number].subject
        if self._sources is None:
            paths = (job.subject for job in builder.rows.jobs if isinstance(job.subject, Path))
            self._sources = {path.resolve() for path in paths}
        made = outcome.data.get("outputFormat")
        suffix = f".{made}" if made in FORMATS else ""  # a service may have sent anything
        path = self._free_path(_stem(subject, answer.number), suffix)
        try:
            with written_whole(path) as temporary:
                temporary.write_bytes(outcome.data["content"])
        except OSError as error:
            raise WriteError.at("save_to", "a folder that can be written to", error) from None
        data = {**outcome.data, "content": None, "path": str(path)}
        return replace(answer, outcomes=(replace(outcome, data=data),))

    def restored(self, answer: JobResult, _builder: FrameBuilder) -> JobResult | None:
        """Reserve the name of a file that an earlier run has written; return None if the file is gone."""
        (outcome,) = answer.outcomes
        if outcome.data is None:
            return answer
        written = outcome.data.get("path")
        if written is None:  # its download was lost
            return answer
        try:
            path = Path(written)
            if path.parent.resolve() != self._folder.resolve() or not path.is_file():
                return None
        except (OSError, ValueError):  # an untrusted checkpoint may name anything
            return None
        self._names.add(path.name.lower())
        return answer

    def _free_path(self, stem: str, suffix: str) -> Path:
        number = 1
        while True:
            name = f"{stem}{suffix}" if number == 1 else f"{stem}-{number}{suffix}"
            path = self._folder / name
            if name.lower() not in self._names and path.resolve() not in (self._sources or ()):
                self._names.add(name.lower())
                return path
            number += 1


def _stem(subject: Any, number: int) -> str:
    """Return a safe file name: it may come from a URL, so it is never treated as a path."""
    if isinstance(subject, Path):
        name = subject.stem
    elif isinstance(subject, str):
        name = PurePosixPath(unquote(urlsplit(subject).path)).stem
    else:
        name = ""
    name = _UNSAFE.sub("-", name).strip(".-")[:NAME_LENGTH]
    return name if name and not _RESERVED.match(name) else f"image-{number + 1}"


def add_savings(frame: pd.DataFrame) -> pd.DataFrame:
    """Fill ``saved`` (bytes) and ``saved_share`` (of the given size)."""
    frame["saved"] = frame["inputSize"] - frame["outputSize"]
    frame["saved_share"] = (frame["saved"] / frame["inputSize"]).to_numpy("float64", na_value=np.nan)
    return frame


def with_files(images: Inputs, save_to: str | Path | None = None) -> Any:
    """Return inputs in which folders and patterns are replaced by the image files in them, sorted by path.

    Folders are read with all folders in them; hidden files, and those below `save_to`, are left out. One name
    or a list is looked at, and must lead to an image; a Series or a DataFrame keeps its rows.
    """
    made = None if save_to is None else Path(save_to).resolve()
    if isinstance(images, (str, Path)):
        found = _files(images, made)
        return images if found is None else found
    if not isinstance(images, (list, tuple)):
        return images
    expanded: list[Any] = []
    for image in images:
        found = _files(image, made) if isinstance(image, (str, Path)) else None
        expanded.extend([image] if found is None else found)
    return expanded


def _files(name: str | Path, made: Path | None) -> list[Path] | None:
    """Return the files of a folder or a pattern; None for any other name."""
    text = str(name).strip()
    if not text or len(text) > 4096 or "\0" in text or "://" in text or text[:5].lower() == "data:":
        return None
    path = Path(text)
    try:
        if path.is_dir():
            found = list(_below(path))
        elif _is_pattern(text) and not path.exists():
            found = [one for one in _fitting(path) if one.is_file() and (path.suffix or _is_image(one))]
        else:
            return None
    except OSError as error:
        raise ParameterError.must_be(
            "images", f"a folder that can be read: {text}: {error.strerror}"
        ) from None
    if made is not None:
        found = [one for one in found if made not in one.resolve().parents]
    if not found:
        raise ParameterError.on("images", f"must lead to an image: none is in {text}")
    return sorted(found)


def _is_pattern(text: str) -> bool:
    return any(sign in text for sign in "*?[")


def _fitting(pattern: Path) -> Iterator[Path]:
    """Yield what fits a pattern, from the last folder before its first special sign."""
    start = Path(pattern.anchor)
    parts = pattern.parts[1:] if pattern.anchor else pattern.parts
    plain = list(itertools.takewhile(lambda part: not _is_pattern(part), parts))
    yield from start.joinpath(*plain).glob("/".join(parts[len(plain) :]))


def _below(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = (path for name in names if _is_image(path := Path(parent, name)))
        yield from (path for path in paths if path.is_file())  # a pipe would never end


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".")


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
        raise ParameterError.must_be("target", "ssim or left out")
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
