"""The image converter: upload images, convert them, see both side by side, download the result."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import ipywidgets as w
import pandas as pd
from markupsafe import Markup

from webanalytics import aio
from webanalytics.core.strings import counted, size_in_words
from webanalytics.notebook.widgets.parts import (
    Tool,
    all_rows,
    as_text,
    button,
    discard,
    download_link,
    labelled,
    panel,
    paragraph,
    row,
)
from webanalytics.operations import CONVERT
from webanalytics.records.images.formats import LOSSY, SUFFIXES, is_supported
from webanalytics.runs.frames.schema import is_missing

ACCEPTED = ",".join(SUFFIXES)
NAMES = {
    "png": "PNG",
    "jpg": "JPEG",
    "webp": "WebP",
    "gif": "GIF",
    "tiff": "TIFF",
    "avif": "AVIF",
    "jxl": "JPEG XL",
}

SHOWN_BY_BROWSERS = {"png": "png", "jpg": "jpeg", "webp": "webp", "gif": "gif", "avif": "avif"}
"""Formats that browsers show, with what follows ``image/`` in their MIME types."""

LARGEST_SHOWN = 2_000_000
"""Images of up to so many bytes are shown as they are; of a larger one, a smaller copy."""

PREVIEW_PIXELS = 1200
MOST_SHOWN = 12
"""Images shown side by side; all are converted and included in the archive."""

LONGEST_NAME = 80
NOTHING_CAME = "No image has come: choose one or several, together no more than about 10 MB."
"""Of more than a notebook server's limit nothing reaches the kernel, not even that it was too much."""


@dataclass(frozen=True)
class Upload:
    """One uploaded file."""

    name: str
    content: bytes


@dataclass(frozen=True)
class Converted:
    """One converted image: its file name, its content, its size before, and its row of the frame."""

    name: str
    content: bytes
    before: int
    row: Mapping[str, Any]


class ImageConverter(Tool):
    """A form that converts images.

    ``uploads`` are the images chosen last, ``frame`` is what `webanalytics.convert` returned for them, one
    row per image, and ``converted`` are those that could be converted.
    """

    def __init__(self, backend: Any = None) -> None:
        self.upload = w.FileUpload(
            accept=ACCEPTED, multiple=True, description="Choose images", layout=w.Layout(width="160px")
        )
        offered = CONVERT.parameter("output_format")
        names = [*offered.choices, *(name for name in offered.more if is_supported(name))]
        formats = [(NAMES[name], name) for name in names]
        self.output_format = w.Dropdown(options=formats, value="webp", layout=w.Layout(width="110px"))
        quality = CONVERT.parameter("quality")
        self.quality = w.IntSlider(
            value=quality.default_here,
            min=quality.low,
            max=quality.high,
            continuous_update=False,
            layout=w.Layout(width="230px"),
        )
        self.max_width, self.max_height = _pixels("maxWidth"), _pixels("maxHeight")
        self.keep_smaller = w.Checkbox(
            value=True,
            indent=False,
            description="keep the original if smaller",
            layout=w.Layout(width="230px"),
        )
        self.output_format.observe(lambda _: self._offer_quality(), "value")
        self.upload.observe(lambda _: self._take(), "value")
        self.uploads: list[Upload] = []
        self.frame: pd.DataFrame | None = None
        self.converted: list[Converted] = []
        start = button("Convert")
        start.on_click(lambda _: self.convert())
        form = [
            labelled("Images, about 10 MB at a time", self.upload),
            labelled("Convert to", self.output_format),
            labelled("Quality", self.quality),
            labelled("Max. width (0: any)", self.max_width),
            labelled("Max. height (0: any)", self.max_height),
            self.keep_smaller,
            start,
        ]
        super().__init__(
            "Image converter",
            "converts images between WebP, PNG, JPEG, GIF and TIFF and shows what is saved.",
            [row(*form)],
            start,
            w.VBox(),
            backend,
        )

    def convert(self) -> None:
        """Convert the uploaded images."""
        self.start(self._convert)

    def clear(self) -> None:
        """Remove the last images."""
        self.frame, self.converted = None, []
        old, self.results.children = self.results.children, ()
        discard(old)

    def _offer_quality(self) -> None:
        self.quality.disabled = self.output_format.value not in LOSSY

    def _take(self) -> None:
        """Take the files just uploaded."""
        if self.upload.value:
            self.uploads = [Upload(str(file["name"]), bytes(file["content"])) for file in self.upload.value]
            self.upload.value = ()
            size = size_in_words(sum(len(upload.content) for upload in self.uploads))
            self.say(f"{counted(len(self.uploads), 'image')} chosen, {size}.")

    async def _convert(self) -> None:
        uploads = self.uploads
        if not uploads:
            self.say(NOTHING_CAME, "bad")
            return
        frame = await aio.convert(
            [upload.content for upload in uploads],
            self.output_format.value,
            quality=self.quality.value,
            max_width=self.max_width.value or None,
            max_height=self.max_height.value or None,
            keep_smaller=self.keep_smaller.value,
            **self.options,
        )
        rows = all_rows(frame)
        self.converted = _named(uploads, rows)
        shown = zip(uploads[:MOST_SHOWN], rows[:MOST_SHOWN], strict=True)
        cards = [await self._card(*pair) for pair in shown]
        self.frame = frame
        self.results.children = (*self._archive(), *cards)
        self.say(*_summary(rows, self.converted))

    async def _card(self, upload: Upload, answer: Mapping[str, Any]) -> w.Widget:
        """Return one image before and after, or the sentence that says why it was not converted."""
        title = Markup("<strong>{}</strong>: {}")
        result = next((item for item in self.converted if item.row is answer), None)
        if result is None:
            return w.HTML(panel(paragraph(title.format(as_text(upload.name), as_text(_reason(answer))))))
        size = "" if is_missing(answer["width"]) else f", {answer['width']} \u00d7 {answer['height']} pixels"
        pair = row(
            await _picture("Before", upload.content, answer["inputFormat"]),
            await _picture("After", result.content, answer["outputFormat"], size),
            align="flex-start",
        )
        link = download_link(result.name, result.content, str(answer["mimeType"]))
        gain = as_text(". ".join([saving(result.before, len(result.content)), *_remarks(answer)]))
        text = w.HTML(panel(paragraph(title.format(as_text(upload.name), gain))))
        return w.VBox([text, pair, w.HTML(panel(link))], layout=w.Layout(margin="8px 0"))

    def _archive(self) -> list[w.Widget]:
        if len(self.converted) < 2:
            return []
        link = download_link("converted-images.zip", _zipped(self.converted), "application/zip")
        return [w.HTML(panel(link))]


def _pixels(name: str) -> w.BoundedIntText:
    highest = CONVERT.parameter(name).high
    return w.BoundedIntText(value=0, min=0, max=highest, layout=w.Layout(width="130px"))


def _remarks(answer: Mapping[str, Any]) -> list[str]:
    """Return what else there is to say about a conversion."""
    said = []
    similar, quality, note = (answer.get(name) for name in ("ssim", "quality", "note"))
    if answer.get("lossless") is True and answer["outputFormat"] in LOSSY:
        said.append("Written without loss")
    elif not is_missing(similar) and not is_missing(quality):
        said.append(f"Structural similarity {similar:.3f} at quality {quality}")
    return said if is_missing(note) else [*said, str(note)]


async def _picture(label: str, content: bytes, image_format: str, note: str = "") -> w.Widget:
    """Return an image with a caption; one that a browser cannot show, or not quickly, as a copy."""
    shown, kind = content, SHOWN_BY_BROWSERS.get(image_format)
    if kind is None or len(content) > LARGEST_SHOWN:
        largest = {"max_width": PREVIEW_PIXELS, "max_height": PREVIEW_PIXELS}
        plainly = {"backend": None, "progress": False, "keep_smaller": False}
        copy = await aio.convert([content], "webp", **largest, **plainly)  # type: ignore[arg-type]
        shown, kind, note = copy.iloc[0]["content"], "webp", f"{note}, shown as a copy"
    caption = f"{label}: {NAMES.get(image_format, image_format)}, {size_in_words(len(content))}{note}"
    layout = w.Layout(max_width="100%", max_height="360px", object_fit="contain", align_self="flex-start")
    picture = w.Image(value=shown, format=kind, layout=layout)
    text = w.HTML(panel(as_text(caption)))
    return w.VBox([text, picture], layout=w.Layout(width="400px", max_width="100%"))


def saving(before: int, after: int) -> str:
    """Return in words what a conversion saved, from the sizes in bytes.

    >>> saving(240_000, 60_000)
    '60 kB instead of 240 kB: 75% smaller, 180 kB saved'
    >>> saving(100, 150)
    '150 bytes instead of 100 bytes: 50% larger'
    """
    sizes = f"{size_in_words(after)} instead of {size_in_words(before)}"
    if before == after:
        return f"{sizes}: no change"
    share = f"{abs(before - after) / before:.0%}"
    if after > before:
        return f"{sizes}: {share} larger"
    return f"{sizes}: {share} smaller, {size_in_words(before - after)} saved"


def _summary(rows: list[dict[str, Any]], converted: list[Converted]) -> tuple[str, str]:
    """Return the sentence of the status line and its tone."""
    failed = len(rows) - len(converted)
    if not converted:
        return (str(_reason(rows[0])) if failed == 1 else "None of the images could be converted."), "bad"
    text = f"{counted(len(converted), 'image')} converted"
    if len(converted) > 1:
        text += f": {saving(sum(i.before for i in converted), sum(len(i.content) for i in converted))}"
    text += f". {failed} could not be converted." if failed else "."
    if len(rows) > MOST_SHOWN:
        text += f" The first {MOST_SHOWN} are shown."
    return text, "warning" if failed else "good"


def _reason(answer: Mapping[str, Any]) -> str:
    return str(answer["error"]) if answer["status"] != "ok" else "The converted image did not arrive."


def _named(uploads: list[Upload], rows: list[dict[str, Any]]) -> list[Converted]:
    """Return the converted images with file names that differ."""
    taken: set[str] = set()
    converted = []
    for upload, answer in zip(uploads, rows, strict=True):
        if answer["status"] != "ok" or not isinstance(answer["content"], bytes):
            continue
        stem, number = file_stem(upload.name), 1
        name = f"{stem}.{answer['outputFormat']}"
        while name.casefold() in taken:
            number += 1
            name = f"{stem}-{number}.{answer['outputFormat']}"
        taken.add(name.casefold())
        converted.append(Converted(name, answer["content"], len(upload.content), answer))
    return converted


def file_stem(name: str) -> str:
    r"""Return the name of an uploaded file without folders, suffix and special characters.

    >>> [file_stem(name) for name in ("My photo.JPG", "../../etc/passwd", r"C:\new\über.png", "...")]
    ['My photo', 'passwd', 'über', 'image']
    """
    last = PurePosixPath(PureWindowsPath(name).name).name
    stem = last.rpartition(".")[0] or last
    kept = "".join(sign for sign in stem if sign.isalnum() or sign in " -_.()")[:LONGEST_NAME]
    return kept.strip(" .") or "image"


def _zipped(images: list[Converted]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:  # images are compressed already
        for image in images:
            archive.writestr(image.name, image.content)
    return stream.getvalue()


def image_converter(backend: Any = None) -> ImageConverter:
    """Return a form that converts uploaded images.

    Parameters
    ----------
    backend : Hosted, optional
        Where the images are converted; None for the session's, which is this machine where it was not set.

    Returns
    -------
    ImageConverter
        A widget; a notebook shows it when it ends a cell.

    Notes
    -----
    Uploads travel through the notebook server, which takes about 10 MB at a time unless it is
    configured otherwise; `webanalytics.convert` has no such limit and takes paths.
    """
    return ImageConverter(backend)
