"""A report on paper: printed by Chromium from a file of ours, with no way to a network."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from webanalytics.errors import BackendError, ParameterError, path_of
from webanalytics.fetching.rendering.browser import VARIABLE, program

ARGUMENTS = (
    *("--headless", "--disable-gpu", "--no-first-run", "--disable-extensions", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--dns-prefetch-disable"),
    *("--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=http://127.0.0.1:9"),
    *("--no-pdf-header-footer", "--generate-pdf-document-outline"),
)
SECONDS = 300
"""How long printing may take."""


def printer(path: str | os.PathLike[str]) -> str:
    """Return the browser that prints a report, "" for one in HTML; refuse other files, before any work."""
    suffix = path_of(path).suffix.lower()
    if suffix in {".html", ".htm"}:
        return ""
    if suffix != ".pdf":
        raise ParameterError.must_be("path", f"a file that ends in .html or .pdf, not `{Path(path).name}`")
    found = program()
    if found is None:
        raise ParameterError(
            "The `path` parameter must end in .html where no Chromium or Chrome is installed to print a PDF; "
            f"the environment variable {VARIABLE} can name one.",
            "path",
        )
    return found


def printed(document: bytes, browser: str) -> bytes:
    """Return a report as PDF."""
    with TemporaryDirectory() as folder:
        page, made = Path(folder, "report.html"), Path(folder, "report.pdf")
        page.write_bytes(document)
        # the file is ours and its policy loads nothing; root can have no sandbox
        unboxed = ["--no-sandbox"] * (hasattr(os, "geteuid") and os.geteuid() == 0)
        own = [f"--user-data-dir={folder}/profile", f"--print-to-pdf={made}", page.as_uri()]
        try:
            subprocess.run(  # noqa: S603 - a browser that is found, and files of ours
                [browser, *ARGUMENTS, *unboxed, *own], timeout=SECONDS, capture_output=True, check=False
            )
            return made.read_bytes()
        except (OSError, subprocess.TimeoutExpired):
            raise BackendError("The report could not be printed: the browser ended without a PDF.") from None
