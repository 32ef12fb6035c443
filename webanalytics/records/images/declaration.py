"""Image conversion between WebP, PNG, JPG, GIF and TIFF."""

from __future__ import annotations

from typing import Literal

from webanalytics.core.operations.model import Field, Operation, Parameter

Format = Literal["png", "jpg", "webp", "gif", "tiff"]

CONVERT = Operation(
    name="convert",
    path="webpconverter",
    method="POST",
    summary="Convert an image between WebP, PNG, JPG, GIF and TIFF.",
    kind="image",
    subject="image",
    input_column="image",
    parameters=(
        Parameter("image", str, "The image file to convert.", expects="a WebP, PNG, JPG, GIF or TIFF image"),
        Parameter("outputFormat", Format, "Target format.", more=("avif", "jxl")),
        Parameter("quality", int, "Quality of jpg and webp.", default=90, low=1, high=100, here=80),
        Parameter(
            "maxWidth",
            int | None,
            "Largest width in pixels; the aspect ratio is kept.",
            default=None,
            low=1,
            high=10_000,
            premium=True,
        ),
        Parameter(
            "maxHeight",
            int | None,
            "Largest height in pixels; the aspect ratio is kept.",
            default=None,
            low=1,
            high=10_000,
            premium=True,
        ),
        Parameter(
            "lossless",
            bool | Literal["auto"],
            "Write webp without loss: true, false, or auto where few colours make that no larger.",
            default="auto",
            expects="true, false or auto",
            local=True,
            served=False,
        ),
        Parameter(
            "keep_smaller",
            bool,
            "Keep the given file where the converted one would be larger.",
            default=True,
            local=True,
            served=False,
        ),
        Parameter(
            "min_ssim",
            float | None,
            "Least structural similarity; the lowest quality that reaches it is searched for.",
            default=None,
            low=0,
            high=1,
            expects="a number from 0 to 1",
            local=True,
        ),
        Parameter(
            "max_bytes",
            int | None,
            "Most bytes of a converted file; the highest quality that fits is searched for.",
            default=None,
            low=1,
            high=2**53,
            local=True,
        ),
        Parameter(
            "measure",
            bool,
            "Measure the structural similarity of what is written lossy.",
            default=True,
            local=True,
            served=False,
        ),
    ),
    fields=(
        Field("id", str | None, "Identifier of the conversion on a service.", premium=True),
        Field("inputFormat", str, "Format of the given image."),
        Field("outputFormat", str, "Format of the converted image."),
        Field("inputSize", int, "Bytes given.", premium=True),
        Field("outputSize", int, "Bytes of the converted image.", premium=True),
        Field("mimeType", str, "MIME type of the output."),
        Field("expires", int | None, "Unix time at which a service forgets the image."),
        Field("downloadURL", str | None, "Where a service offers the converted file."),
        Field("saved", int, "Bytes saved: inputSize less outputSize.", extra=True),
        Field("saved_share", float, "Saved bytes as a share of inputSize.", extra=True),
        Field("width", int, "Width of the output in pixels.", extra=True),
        Field("height", int, "Height of the output in pixels.", extra=True),
        Field("frames", int, "Frames of the output, 1 for a still image.", extra=True),
        Field("kept", bool, "Whether this is the given file, as the converted one is larger.", extra=True),
        Field("quality", int, "Quality with which it was written, where it is lossy.", extra=True),
        Field("lossless", bool, "Whether it was written without loss.", extra=True),
        Field(
            "ssim", float, "Structural similarity of a still image to the given one, 1 at most.", extra=True
        ),
        Field(
            "note", str, "What there is to know about the conversion, where there is something.", extra=True
        ),
        Field("path", str | None, "File written with save_to.", extra=True),
        Field("content", bytes | None, "The converted image, where no folder was given.", extra=True),
    ),
    credits=5,
    formats=("json", "xml", "yaml"),
    analysis="webanalytics.records.images.convert:analyse",
    column_names=("image", "images", "img", "src", "path", "file", "url"),
    column_pattern=r".+\.(webp|png|jpe?g|gif|tiff?)([?#].*)?$",
    table=(
        ("image", "image"),
        ("inputSize", "bytes in"),
        ("outputSize", "bytes out"),
        ("saved_share", "saved"),
        ("kept", "kept"),
        ("ssim", "ssim"),
        ("width", "width"),
        ("height", "height"),
        ("path", "file"),
    ),
    title="Image conversion",
    chart="image_sizes",
    example="webanalytics.records.images:example.json",
)
