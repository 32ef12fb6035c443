"""Where the command line keeps rows until they are in a file that is written in parts: on the disk.

A call of many pages with ``-o`` and a file of Parquet or Arrow runs as with ``--save-to``, into a folder
beside the file that is removed in the end; memory holds neither the rows nor the file.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from webanalytics.operations import AUDIT, by_function
from webanalytics.runs.frames.output_files import IN_PARTS
from webanalytics.runs.storage.row_folder import keeps_rows

MANY = 1_000
"""Rows from which a table is not held in memory."""


@contextmanager
def kept_on_disk(
    inputs: Any, keywords: Mapping[str, Any], arguments: argparse.Namespace
) -> Iterator[dict[str, str]]:
    """Yield the further arguments of a call whose rows go to the disk as they finish; none for any other."""
    if not _is_long(inputs, keywords, arguments):
        yield {}
        return
    output = Path(arguments.output)
    folder = tempfile.mkdtemp(prefix=f".{output.name}-", dir=output.parent)
    try:
        yield {"store": folder}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_long(inputs: Any, keywords: Mapping[str, Any], arguments: argparse.Namespace) -> bool:
    if arguments.output is None or Path(arguments.output).suffix.lower().lstrip(".") not in IN_PARTS:
        return False
    if arguments.format is not None or keywords.get("store"):
        return False
    if keywords.get("resources") == "check" or keywords.get("image_sizes"):  # they look at all rows again
        return False
    operation = by_function(arguments.function)
    operations = AUDIT if arguments.function == "audit" else () if operation is None else (operation,)
    listed = inputs is None or len(inputs) >= MANY  # None: the pages of sitemaps
    return bool(operations) and operations[0].kind == "page" and keeps_rows(operations) and listed
