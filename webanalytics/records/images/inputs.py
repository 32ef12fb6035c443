"""Folders and patterns among images given by name -> the files in them."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from webanalytics.errors import ParameterError
from webanalytics.records.images.formats import SUFFIXES
from webanalytics.runs.frames.inputs import Inputs


def with_files(images: Inputs, save_to: str | Path | None = None) -> Any:
    """Return inputs in which folders and patterns are replaced by the image files in them, sorted by path.

    Folders are read with all folders in them; hidden files, and those below `save_to`, are left out. One name
    or a list is looked at; a Series or a DataFrame keeps its rows.

    Raises
    ------
    ParameterError
        For a folder or a pattern in which there is no image.
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
        raise ParameterError(
            f"The `images` parameter must be a folder that can be read: {text}: {error.strerror}.", "images"
        ) from None
    if made is not None:
        found = [one for one in found if made not in one.resolve().parents]
    if not found:
        raise ParameterError(f"The `images` parameter must lead to an image: none is in {text}.", "images")
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
