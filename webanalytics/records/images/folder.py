"""Converted images: written to a folder as they arrive, and how much they save."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

import pandas as pd

from webanalytics.core.outcomes import JobResult
from webanalytics.errors import ParameterError, WriteError
from webanalytics.files import written_whole
from webanalytics.operations import CONVERT
from webanalytics.runs.frames.build import FrameBuilder
from webanalytics.runs.frames.schema import make_series

_UNSAFE = re.compile(r"[^\w.-]+")
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?$")
FORMATS = (*CONVERT.parameter("output_format").choices, *CONVERT.parameter("output_format").more)
NAME_LENGTH = 80
"""Longest stem of a written file; a longer one is cut."""


class ImageFolder:
    """Writes each converted image as it arrives, and never over an input file.

    Raises
    ------
    ParameterError
        Where the folder is a file or cannot be made.
    WriteError
        From `keep`, where an image cannot be written.
    """

    def __init__(self, folder: str | Path) -> None:
        if not isinstance(folder, (str, os.PathLike)):
            raise ParameterError("The `save_to` parameter must be a folder.", "save_to")
        self._folder = Path(folder)
        self._names: set[str] = set()
        self._sources: set[Path] | None = None
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ParameterError(
                f"The `save_to` parameter must be a folder that can be written to: {error.strerror}.",
                "save_to",
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
    saved = frame["inputSize"] - frame["outputSize"]
    share = (saved / frame["inputSize"]).astype("Float64").tolist()
    missing = pd.isna(frame["inputSize"]).tolist()
    frame["saved"] = saved
    frame["saved_share"] = make_series(
        [None if gone else float(value) for value, gone in zip(share, missing, strict=True)],
        "float",
        frame.index,
    )
    return frame
