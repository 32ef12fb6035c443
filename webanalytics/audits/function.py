"""`webanalytics.audit`: pages to an audit."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from webanalytics.audits.audit import Audit
from webanalytics.audits.origin import Origin
from webanalytics.audits.pages import DERIVED, FOUND
from webanalytics.audits.profiles import resolve_profile
from webanalytics.audits.requests.bodies import FactsOfBodies
from webanalytics.audits.requests.resources import Resources, loaded_by_pages
from webanalytics.audits.requests.sources import (
    is_sitemap,
    listed,
    listed_in,
    with_image_sizes,
    with_listed,
    with_robots,
)
from webanalytics.audits.storage.folders import keep_stored
from webanalytics.core.access_by_host import access_for, without_logins
from webanalytics.core.option_types import PageOptions
from webanalytics.core.run_options import resolve
from webanalytics.core.strings import part_of
from webanalytics.errors import ParameterError
from webanalytics.fetching.robots import keeping
from webanalytics.operations import AUDIT_PAGES, CRAWL_PAGES, EXTRACT, FACTS
from webanalytics.runs.backends.base import LOCAL_FAMILY
from webanalytics.runs.backends.pipeline import with_rendering
from webanalytics.runs.frames.arrow import declared
from webanalytics.runs.frames.foreign import as_pandas, is_plain
from webanalytics.runs.frames.inputs import Inputs
from webanalytics.runs.frames.tidy import REPLACED, spread
from webanalytics.runs.run import Hooks, collect

if TYPE_CHECKING:
    from webanalytics.page.extraction import Selector

__all__ = ["audit"]


async def audit(
    urls: Inputs | None = None,
    *,
    sitemap: str | Iterable[str] | None = None,
    column: str | None = None,
    body: bool = False,
    profile: str | os.PathLike[str] | None = None,
    thresholds: Mapping[str, float] | str | os.PathLike[str] | None = None,
    image_sizes: bool = False,
    resources: Resources = "ignore",
    extract: Mapping[str, Any] | None = None,
    **options: Unpack[PageOptions],
) -> Audit:
    """Metadata, text, readability and keywords of pages, from one fetch and one parse of each, and issues.

    Parameters
    ----------
    urls : str, path, iterable, Series, Index or DataFrame, optional
        Pages: URLs, saved HTML files, web archives, or a DataFrame with ``url`` and ``html``. Rows of what
        `webanalytics.sitemap` returned are audited as their sitemap would be by ``sitemap=``.
    sitemap : str or iterable of str, optional
        URL of a sitemap, or several: the pages that they list are audited after ``urls``, each once. The
        robots.txt of each origin is then read too, and errors in it and in the sitemap become issues.
    column : str, optional
        Column of a DataFrame that holds the URLs.
    body : bool, default False
        Fill ``responseBody`` with the HTML of each page.
    profile : str or path, optional
        Which rules count and how much: ``desktop_crawler`` by default, ``strict``, ``news``, or a TOML file.
    thresholds : mapping or path, optional
        Limits by the name of their rule, such as ``{"title_too_long": 600}``, or a TOML file of them;
        `webanalytics.rules` lists them all.
    image_sizes : bool, default False
        Fetch the images of the pages too, each once and up to 2 MB, for the rule on large images: the column
        ``image_bytes`` maps their addresses to their sizes.
    resources : {"ignore", "check"}, default "ignore"
        With "check", ask each image, script and style sheet of the pages once whether it answers, for the
        rules on broken ones: the column ``broken_resources`` lists those that do not. On this machine only.
    extract : mapping, optional
        Columns of one's own: name to a CSS selector (``".price::text"``, ``"a::attr(href)"``), an XPath 1.0
        (``"//meta[@itemprop='sku']/@content"``) or a compiled regular expression, which is searched in the
        source and gives its first group. The column has the first value as a string, missing where there is
        none; ``[selector]``, a list of one, makes a column of lists of all values. What takes longer than
        five seconds on a page is missing there, and ``extract_note`` says so.
    **options
        Options of this call, such as `access`, `allow_private`, `delay` and `robots`: those of
        `webanalytics.core.option_types.PageOptions`, which `webanalytics.options` shows.

    Returns
    -------
    Audit
        Its ``pages`` is a DataFrame with one row per input: what was found, and the columns of all four
        operations; ``keywords`` is the map of keyword to frequency, and the meta keywords are in
        ``meta_keywords``. Then come facts that rules examine, such as ``links``,
        ``canonicals`` and ``images_without_alt``, the ``headers`` of the answer and in ``redirect_kinds``
        the status of each redirect. A page that came with an HTTP error has its title, headings and
        links, and no text. For pages fetched by a hosted API, the facts are extracted on this machine
        from the HTML it returns (Premium), and the headers are missing. With ``render=`` there are also
        ``rendered``, ``rendered_words``, ``words_without_scripts`` and more. The audit's ``issues``,
        ``summary()``, ``report(path)``, ``compare(after)`` and more show what was found. A table of
        polars or pyarrow is answered with an audit, too: ``wa.to_polars(audit.pages)``.

    Raises
    ------
    ParameterError
        For a wrong argument, before any page is fetched; also for a sitemap without a page.
    AuditInterrupted
        On Ctrl-C; carries an `Audit` of the finished rows.

    Examples
    --------
    >>> import pandas as pd
    >>> import webanalytics as wa
    >>> pages = pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Hello</title><p>Hello there"]})
    >>> audit = wa.audit(pages)
    >>> audit.pages.loc[0, "title"], audit.pages.loc[0, "keywords"]
    ('Hello', {'hello': 1})
    >>> audit.issues.loc[audit.issues["rule"] == "title_too_short", "value"].tolist()
    [46.0]
    """
    urls = urls if is_plain(urls) else as_pandas(urls, "urls")
    sitemap, logins = without_logins(sitemap)
    resolved = access_for(resolve(options), (), logins)
    backend = resolved["backend"]
    loaded = loaded_by_pages(resources, backend)
    counted = backend is None or backend.family == LOCAL_FAMILY  # a service counts whole pages
    here = backend is None or backend.serves(FACTS)  # else they are read from the pages that it returns
    own_columns = () if extract is None else own_selectors(extract)
    origin = Origin(date=datetime.now(UTC).isoformat(timespec="seconds"))
    if profile is not None or thresholds is not None:
        origin = replace(origin, profile=resolve_profile(profile, thresholds))
    if sitemap is None and column is None and is_sitemap(urls):
        found = await listed_in(urls, resolved)
        urls = found.inputs
        origin = with_listed(origin, found)
    elif sitemap is not None:
        found = await listed(sitemap, urls, column, resolved)
        urls, column = found.inputs, None
        origin = with_listed(origin, found)
        logins |= found.logins
    elif urls is None:
        raise ParameterError.on("urls", "is required where no `sitemap` is given")
    operations = with_rendering(AUDIT_PAGES if loaded is None else CRAWL_PAGES, resolved)
    own = entries(own_columns)
    if own_columns:
        operations = (*operations, EXTRACT)
    unserved = tuple(item for item in operations if not (backend is None or backend.serves(item)))
    bodies = (
        nullcontext()
        if here
        else FactsOfBodies(resolved, keep=body, operations=operations, read=unserved, extract=own)
    )
    if logins:
        options["access"] = resolved["access"] = access_for(resolved, (), logins)["access"]
    async with bodies as facts, keeping() as kept:
        frame = await collect(
            operations,
            urls,
            "urls",
            column=column,
            settings={"metadata": {"body": body or not here}, "keywords": {"details": False}, "extract": own},
            options=options,
            hooks=Hooks(
                rows=partial(with_own_columns, counted=counted, chosen=own_columns),
                partial=lambda frame, asked: Audit(frame, replace(origin, stopped=interrupted(frame, asked))),
                on_group=None if facts is None else facts.add,
                on_answer=None if loaded is None else loaded.take,
                on_restored=None if loaded is None else loaded.take,
                on_logins=logins.update,
            ),
        )
    origin = await asyncio.to_thread(with_robots, origin, kept)
    resolved = access_for(resolved, frame["url"], logins)
    if image_sizes:
        frame = await with_image_sizes(frame, resolved)
    if loaded is not None:
        frame, asked = await loaded.ask(frame, resolved)
        origin = replace(origin, checked=asked)
    if resolved["store"] is not None:
        await asyncio.to_thread(keep_stored, frame, origin)
    return Audit(frame, origin)


def interrupted(frame: pd.DataFrame, asked: int) -> str:
    """Return why these are not all pages that were asked for."""
    return f"The audit was interrupted: it stopped at {part_of(len(frame), asked)}."


def with_own_columns(frame: pd.DataFrame, counted: bool, chosen: Sequence[Selector]) -> pd.DataFrame:
    """Return an audit's frame with keywords of the main texts, and what users extracted in columns."""
    if not counted:
        from webanalytics.audits.content.terms import of_main_texts  # takes time to load

        frame = of_main_texts(frame)
    made = frame
    return spread(made, chosen) if chosen else made


def own_selectors(extract: Any) -> tuple[Selector, ...]:
    """Return the checked selectors of ``extract=``, or raise `ParameterError` before any work."""
    from webanalytics.page.extraction import selectors  # its parsers take time to load

    known = frozenset((*declared("audit"), *DERIVED, *FOUND, "extracted", "extract_note"))
    return selectors(extract, known - REPLACED, single=REPLACED)


def entries(chosen: Sequence[Selector]) -> dict[str, Any]:
    """Return the settings of `EXTRACT`."""
    return {"entries": [selector.entry() for selector in chosen]}
