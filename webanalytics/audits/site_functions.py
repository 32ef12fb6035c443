"""Whole sites: the pages that a sitemap lists, and what a site says to AI services."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

import pandas as pd

from webanalytics.audits.ai.llms import llms_frame
from webanalytics.core.option_types import SiteOptions
from webanalytics.core.run_options import resolve
from webanalytics.runs.frames.sitemap import sitemap_frame

__all__ = ["llms_txt", "sitemap"]


async def sitemap(url: str | Iterable[str], **options: Unpack[SiteOptions]) -> pd.DataFrame:
    """Read a sitemap, or an index of sitemaps, into a frame of URLs.

    Parameters
    ----------
    url : str or iterable of str
        URL of the sitemap; XML, gzip, text, RSS or Atom.
    **options
        Options of this call: those of `webanalytics.core.option_types.SiteOptions`.

    Returns
    -------
    pandas.DataFrame
        ``url``, ``lastmod``, ``changefreq``, ``priority`` (float64), ``sitemap`` (the file that
        lists the page), ``alternates`` (language versions, a list of ``lang`` and ``url``), ``images``,
        ``videos`` and ``news`` (how many the entry names), ``extension_faults`` (what these lack),
        ``status``, ``error``, ``error_type``. A sitemap that cannot be read, or not to its end, is a row
        without ``url`` that says why. ``webanalytics.runs.frames.sitemap.sitemap_files(frame)`` has one
        row for each file, with its size.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work.

    Notes
    -----
    The protocol is that of sitemaps.org, with the extensions of Google. Of one call at most 500,000 addresses
    are read, in 1,000 files of 50 MB each and of 500 MB in all.
    """
    return await sitemap_frame(url, resolve(options))


async def llms_txt(urls: str | Iterable[str], **options: Unpack[SiteOptions]) -> pd.DataFrame:
    """Ask sites for their llms.txt, each once, and say what is wrong with its form.

    Parameters
    ----------
    urls : str or iterable of str
        Addresses; the sites of them are asked, at most 100.
    **options
        Options of this call: those of `webanalytics.core.option_types.SiteOptions`.

    Returns
    -------
    pandas.DataFrame
        One row for each site: ``url`` of the file, ``present``, ``title``, ``sections``, ``links``,
        ``bytes``, ``faults`` (a list of sentences), ``status``, ``error``, ``error_type``.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work.

    Notes
    -----
    The form is that of llmstxt.org, which is a proposal. No search engine is known to use the file: Google
    says that its search does not, and of 137,000 sites that have one, 97% saw no request for it by an AI
    service (Ahrefs, 2026). So nothing of it enters an audit's score.
    """
    return await llms_frame(urls, resolve(options))
