"""Whole sites: the pages that a sitemap lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

import pandas as pd

from webanalytics.frames.sitemap import sitemap_frame
from webanalytics.run_options import RunOptions, resolve

__all__ = ["sitemap"]


async def sitemap(url: str | Iterable[str], **options: Unpack[RunOptions]) -> pd.DataFrame:
    """Read a sitemap, or an index of sitemaps, into a frame of URLs.

    Parameters
    ----------
    url : str or iterable of str
        URL of the sitemap; XML, gzip, text, RSS or Atom.
    **options
        Options of this call; `webanalytics.options` prints them all.

    Returns
    -------
    pandas.DataFrame
        ``url``, ``lastmod``, ``changefreq``, ``priority`` (float64), ``sitemap`` (the file that
        lists the page), ``status``, ``error``, ``error_type``. A sitemap that cannot be read is
        a row without ``url`` that says why.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work.

    Notes
    -----
    The protocol is that of sitemaps.org.
    """
    return await sitemap_frame(url, resolve(options))
