"""Audits, frames, folders, archives, sitemaps and lists -> the pages of one side of a move."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from webanalytics.audits.audit import Audit
from webanalytics.audits.function import audit
from webanalytics.core.run_options import resolve
from webanalytics.errors import ParameterError
from webanalytics.runs.frames.foreign import as_pandas
from webanalytics.runs.frames.sitemap import sitemap_frame
from webanalytics.urls import address, is_archive

READ = (
    *("url", "status", "http_status", "final_url", "title", "headings", "text", "language", "canonical_url"),
    *("inlinks", "clicks"),
)
"""Columns of pages that tell where they went."""


async def pages_of(source: Any, parameter: str, options: Mapping[str, Any]) -> pd.DataFrame:
    """Return the pages of a source, with what is known of `READ`, each address once."""
    frame = await _frame(as_pandas(source, parameter), parameter, options)
    known = frame[[name for name in READ if name in frame]].copy()
    if known.columns.has_duplicates:
        raise ParameterError.on(parameter, "has two columns of one name")
    known["url"] = [normal_address(url) for url in known["url"]]
    known = known[known["url"] != ""].drop_duplicates("url", ignore_index=True)
    if "status" in known:  # what an answer with an error says is not the page
        said = known.columns.intersection(["title", "headings", "text"])
        known.loc[known["status"].eq("error").fillna(False), said] = None
    if not len(known):
        raise ParameterError.on(parameter, "has no address")
    return known


async def _frame(source: Any, parameter: str, options: Mapping[str, Any]) -> pd.DataFrame:
    if isinstance(source, Audit):
        return _of_audit(source)
    if isinstance(source, pd.DataFrame) and "url" in source:
        if "html" in source and "text" not in source:
            return _of_audit(await audit(source, **options))
        return source
    if isinstance(source, (str, os.PathLike)):
        return await _named(source, parameter, options)
    if isinstance(source, Iterable) and not isinstance(source, (pd.DataFrame, bytes)):
        addresses = list(source)
        if all(isinstance(item, str) for item in addresses):
            return pd.DataFrame({"url": addresses}, dtype=object)
    raise ParameterError.must_be(
        parameter,
        "an audit, the folder of one, a web archive, a frame with the column url, a list of addresses or "
        "the address of a sitemap",
    )


def _of_audit(source: Audit) -> pd.DataFrame:
    """Return what is known of `READ`; the texts are the contents, without what the site shares."""
    found = source.pages[[name for name in READ if name in source.pages]]
    texts = [content.text for content in source.rows_site.contents()]
    return found.assign(text=pd.Series(texts, found.index, dtype=object))


async def _named(source: str | os.PathLike[str], parameter: str, options: Mapping[str, Any]) -> pd.DataFrame:
    """Return the pages of a folder, an archive, or a sitemap."""
    if is_archive(source):
        return _of_audit(await audit(Path(source), **options))
    if isinstance(source, str) and address(source):
        return (await sitemap_frame(source, resolve(options))).dropna(subset=["url"])
    if await asyncio.to_thread(os.path.isdir, source):
        return await _frame(Audit.of(source, parameter), parameter, options)
    raise ParameterError.on(parameter, "names no folder, archive or address")


def normal_address(url: object) -> str:
    """Return an address in normal form, '' for what is none."""
    found = address(url.strip()) if isinstance(url, str) else None
    return "" if found is None else found.url
