"""Whole sites: crawls that follow links from start addresses."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal, Unpack

import pandas as pd

from webanalytics.audits.audit import Audit
from webanalytics.audits.function import entries, own_selectors, with_own_columns
from webanalytics.audits.origin import Origin
from webanalytics.audits.profiles import resolve_profile
from webanalytics.audits.requests.sources import origins_of, with_robots
from webanalytics.audits.storage.folders import keep_stored
from webanalytics.core.access_by_host import access_for, without_logins
from webanalytics.core.option_types import PageOptions
from webanalytics.core.run_options import resolve
from webanalytics.crawls.facts import Listed
from webanalytics.crawls.run import Call
from webanalytics.crawls.run import crawl as run_crawl
from webanalytics.crawls.scope import MAX_SEQUENCE, avoid_of, checked, start_address
from webanalytics.fetching.robots import RobotsKept, keeping
from webanalytics.operations import AUDIT_PAGES, EXTRACT, OUTLINKS, Operation
from webanalytics.runs.backends.base import LOCAL_FAMILY
from webanalytics.runs.backends.pipeline import with_rendering
from webanalytics.runs.frames.inputs import addresses_of
from webanalytics.runs.frames.link_table import CrawlFacts, Kind

__all__ = ["crawl"]


async def crawl(
    start: str | Iterable[str],
    *,
    max_pages: int = 10_000,
    max_depth: int | None = None,
    include: str | Iterable[str] | None = None,
    exclude: str | Iterable[str] | None = None,
    subdomains: bool = False,
    query: str | Iterable[str] = "keep",
    nofollow: bool = False,
    external: Literal["list", "check", "ignore"] = "list",
    resources: Literal["ignore", "check"] = "ignore",
    sitemap: str | Iterable[str] | None = "auto",
    follow: Sequence[Kind] | None = None,
    traps: Literal["stop", "report", "off"] = "stop",
    max_sequence: int = MAX_SEQUENCE,
    image_sizes: bool = False,
    avoid: str | Iterable[str] | None = "actions",
    body: bool = False,
    profile: str | os.PathLike[str] | None = None,
    thresholds: Mapping[str, float] | str | os.PathLike[str] | None = None,
    extract: Mapping[str, Any] | None = None,
    **options: Unpack[PageOptions],
) -> Audit:
    """Audit the pages of a site, found by following links from a start address.

    Parameters
    ----------
    start : str or iterable of str
        Where to begin. The site is the host of the address, and the one that it redirects to.
    max_pages : int, default 10,000
        Most pages that are fetched; stopping there is a warning.
    max_depth : int, optional
        Most clicks from a start.
    include : str or iterable of str, optional
        Only addresses in which one of these is found are fetched: regular expressions, folders
        (``"/docs/*"``), or patterns for the whole address where they begin with ``*``, such as ``"*.html"``.
        Starts are always fetched.
    exclude : str or iterable of str, optional
        Addresses in which one of these is found are not fetched.
    subdomains : bool, default False
        Whether other hosts of the same registrable domain belong to the site, by the Public Suffix List.
    query : str or iterable of str, default "keep"
        What to do with the queries of addresses: "keep" them, "drop" them, or drop the parameters of these
        names; "tracking" stands for those of analytics and advertising, and for session ids.
    nofollow : bool, default False
        Follow links with rel nofollow, ugc or sponsored, and those of pages that say nofollow.
    external : {"list", "check", "ignore"}, default "list"
        What to do with addresses elsewhere: list them as skipped, ask each once whether it is there, or
        neither.
    resources : {"ignore", "check"}, default "ignore"
        Whether to ask for images, scripts, style sheets and the like, each once.
    sitemap : str, iterable of str or None, default "auto"
        Sitemaps whose pages are fetched too, after those that links lead to; by default those that the
        robots.txt of each start's host names, else its ``/sitemap.xml`` if it is there.
    follow : sequence of str, optional
        Kinds of links that are followed, of link, redirect, refresh, canonical, hreflang, next, prev, amp,
        frame and form; by default link, redirect, refresh, canonical and frame. What canonical, hreflang,
        next, prev and amp name elsewhere is asked for its status, as many as `max_pages`; on other hosts
        unless `external` ignores them.
    traps : {"stop", "report", "off"}, default "stop"
        Whether endless families of addresses are left, or only reported, or not looked for.
    max_sequence : int, default 5,000
        How many pages of one sequence of numbers (``?page=2``, ``/part/17``) may bring nothing new before it
        is taken for endless.
    image_sizes : bool, default False
        Fetch the images of the pages too, as for `webanalytics.audit`.
    avoid : str or iterable of str, optional
        What is not followed on hosts that ``access=`` opens: addresses that look like "logout", "delete" or
        filling a "basket" ("actions" are all three), and patterns as for ``exclude``; None for nothing.
    body : bool, default False
        Fill ``responseBody`` with the HTML of each page.
    profile : str or path, optional
        Which rules count and how much, as for `webanalytics.audit`.
    thresholds : mapping or path, optional
        Limits by the name of their rule, as for `webanalytics.audit`.
    extract : mapping, optional
        Columns of one's own, as for `webanalytics.audit`: ``{"price": ".price::text"}``.
    **options
        Options of this call, such as `access`, `allow_private`, `delay` and `robots`: those of
        `webanalytics.core.option_types.PageOptions`, which `webanalytics.options` shows; ``robots="report"``
        is as True.

    Returns
    -------
    Audit
        What `webanalytics.audit` returns, its pages in breadth-first order: by clicks from
        the start, then in the order in which links lead to them; pages that only a sitemap lists are last.
        Its links, what was not fetched and why, traps and more are ``links``, ``skipped``, ``traps``,
        ``broken_links`` and ``paths(url)``.

    Raises
    ------
    ParameterError
        For a wrong argument, before any page is fetched.
    AuditInterrupted
        On Ctrl-C; carries an `Audit` of the pages that are there.

    Notes
    -----
    Each address is fetched once, in the normal form of `webanalytics.urls` (URL Standard), with the limits of
    `per_host`, `delay` and robots.txt. The order in which answers arrive changes neither rows nor links: an
    answer counts when all before it in breadth-first order have been counted.

    Endless families of addresses (calendars, filters, sessions, paths that repeat) are recognised by pages
    that bring neither new text nor links out of their family, bounded, and reported in ``traps``. Of far more
    addresses than `max_pages` wants, those alike are counted in ``skipped`` and not kept.

    With ``store=`` the same call goes on where it was interrupted; ``max_pages`` and
    what is followed may differ. Rows go to the folder, and pages are not held in memory.

    Examples
    --------
    >>> import webanalytics as wa
    >>> from webanalytics.fetching.testing import SiteServer
    >>> site = SiteServer({"/": b"<title>Tea</title><a href=/milk>Milk</a>", "/milk": b"<title>Milk</title>"})
    >>> with site:
    ...     audit = wa.crawl(site.url, allow_private=True)
    >>> audit.pages["title"].tolist()
    ['Tea', 'Milk']
    """
    given: Any = dict(options)
    if given.get("robots") == "report":
        given["robots"] = True
    starts, logins = without_logins(addresses_of(start, "start"))
    named, more = without_logins(addresses_of(sitemap, "sitemap"))
    scope = checked(
        starts,
        {
            "max_pages": max_pages,
            "max_depth": max_depth,
            "include": include,
            "exclude": exclude,
            "subdomains": subdomains,
            "query": query,
            "nofollow": nofollow,
            "external": external,
            "resources": resources,
            "sitemap": named,
            "follow": follow,
            "traps": traps,
            "max_sequence": max_sequence,
            "image_sizes": image_sizes,
            "avoid": avoid,
        },
    )
    resolved = access_for(resolve(given), [*scope.starts, *(scope.sitemap or ())], {**more, **logins})
    if resolved["access"] is not None:
        free = [scope.normal(start_address(one) or one) for one in scope.starts]
        resolved["access"] = resolved["access"].avoiding(avoid_of(scope.avoid), free)
    backend = resolved["backend"]
    counted = backend is None or backend.family == LOCAL_FAMILY  # a service counts whole pages
    here = backend is None or backend.serves(OUTLINKS)
    own_columns = () if extract is None else own_selectors(extract)
    origin = Origin(date=datetime.now(UTC).isoformat(timespec="seconds"))
    if profile is not None or thresholds is not None:
        origin = replace(origin, profile=resolve_profile(profile, thresholds))

    kept = RobotsKept()

    def finish(frame: pd.DataFrame, facts: CrawlFacts, listed: Listed) -> Audit:
        known = replace(
            origin,
            sitemap=listed.sitemap,
            robots=listed.robots,
            robots_files=listed.robots_files,
            crawl=facts,
        )
        barred = facts.skipped.loc[facts.skipped["reason"] == "robots", "url"]
        known = with_robots(known, kept, origins_of([*frame["final_url"].dropna(), *frame["url"], *barred]))
        return Audit(frame, known)

    own: tuple[Operation, ...] = (EXTRACT,) if own_columns else ()
    operations = (*with_rendering(AUDIT_PAGES, resolved), *own, OUTLINKS)
    wanted: dict[str, Any] = {
        "metadata": {"body": body or not here},
        "keywords": {"details": False},
        "extract": entries(own_columns),
    }
    settings = {item.name: item.check_settings(wanted.get(item.name, {})) for item in operations}
    lay = partial(with_own_columns, counted=counted, chosen=own_columns)
    async with keeping(kept):
        found = await run_crawl(Call(scope, operations, settings, resolved, tuple(given), body, lay, finish))
    audit = Audit.of(found, "start")
    if resolved["store"] is not None:
        await asyncio.to_thread(keep_stored, audit.raw, audit.origin)
    return audit
