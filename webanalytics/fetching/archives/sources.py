"""Which inputs are archives: names of files, lists of them and patterns -> `Pages`."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

from webanalytics.core.run_options import resolve
from webanalytics.errors import ParameterError, choice
from webanalytics.fetching.archives.index import Duplicates, index_of
from webanalytics.fetching.archives.pages import Pages
from webanalytics.fetching.archives.records import parser
from webanalytics.urls import ARCHIVE_SUFFIXES, is_archive


def files_of(source: Any, parameter: str) -> list[Path]:
    """Return the archives that are named, each once; those of a pattern in the order of their names."""
    given = (
        list(source) if isinstance(source, Iterable) and not isinstance(source, (str, bytes)) else [source]
    )
    if not given or not all(map(is_archive, given)):
        raise ParameterError.must_be(
            parameter,
            f"an archive, a list of archives or a pattern, whose names end in {', '.join(ARCHIVE_SUFFIXES)}",
        )
    return list(dict.fromkeys(path for name in given for path in _matching(os.fspath(name), parameter)))


def _matching(name: str, parameter: str) -> list[Path]:
    if not glob.has_magic(name) or os.path.lexists(name):
        return [Path(name)]
    found = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - a pattern may be absolute
    if not found:
        raise ParameterError.must_be(parameter, "a pattern of archives that are there: no file fits")
    return [Path(path) for path in found]


def pages(
    source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    duplicates: Duplicates = "latest",
    decode: bool = True,
    max_download: int | None = None,
) -> Pages:
    """Return the pages of web archives, each read when its turn comes.

    Parameters
    ----------
    source : str, path or iterable of them
        Files in WARC or ARC format, compressed by gzip or not, or patterns of their names such as
        ``"crawls/*.warc.gz"``.
    duplicates : {"latest", "all"}, default "latest"
        What to do where an address is there more than once.
    decode : bool, default True
        Return pages as text, decoded as a browser would; with False as the bytes that were received.
    max_download : int, optional
        Largest page after decompression; by default that of `webanalytics.options`.

    Returns
    -------
    Pages
        Iterated over, it gives records with ``url``, ``html``, ``http_status``, ``headers``, ``final_url``,
        ``redirects``, ``fetched_at``, ``error`` and more; ``pandas.DataFrame(pages)`` is a table of them.
        What cannot be read is a record with an error. Every function over pages takes it in place of
        addresses. ``counts`` says how many records there were of each kind.

    Raises
    ------
    ParameterError
        For a wrong argument, such as a pattern that no file fits.
    MissingExtraError
        Without the extra ``archives``.

    Notes
    -----
    The archives are read through once for what is in them, without the pages; then a page at a time is in
    memory. An answer that redirects is a page if the archives have where it leads. Answers that are no page,
    such as images, are counted.

    References
    ----------
    ISO 28500:2017, the WARC 1.1 file format (iipc.github.io/warc-specifications).

    Examples
    --------
    >>> import tempfile, webanalytics as wa
    >>> from webanalytics.fetching.testing import SiteServer
    >>> file = tempfile.mkdtemp() + "/tea.warc.gz"
    >>> with SiteServer({"/": b"<title>Tea</title>"}) as site:
    ...     audit = wa.audit(site.url, archive=file, allow_private=True)
    >>> [(page.http_status, page.html) for page in wa.pages(file)]
    [(200, '<title>Tea</title>')]
    >>> wa.metadata(file)["title"].tolist()
    ['Tea']
    """
    choice("duplicates", duplicates, get_args(Duplicates))
    if not isinstance(decode, bool):
        raise ParameterError.one_of("decode", (True, False))
    limit = resolve({} if max_download is None else {"max_download": max_download})["max_download"]
    return read_pages(source, "source", duplicates, limit=limit, decode=decode)


def read_pages(
    source: Any, parameter: str, duplicates: Duplicates = "latest", *, limit: int = 0, decode: bool = False
) -> Pages:
    """Return the pages of archives that the caller's parameter names."""
    files = files_of(source, parameter)
    parser()  # without it no file would be read
    return Pages(index_of(files, duplicates), limit, decode=decode)
