"""What an audit says of the links between its pages, and of what a crawl saw besides them."""

from __future__ import annotations

from typing import Any

import pandas as pd

from webanalytics.audits.graph.frames import Answer, broken_frame, links_frame, paths_frame
from webanalytics.audits.graph.verdicts import verdict
from webanalytics.audits.origin import Audited
from webanalytics.audits.site import Site
from webanalytics.errors import ParameterError, whole_number
from webanalytics.runs.frames.link_table import CrawlFacts

MOST_PATHS = 1_000

_CHECKED = ("url", "http_status", "final_url", "verdict", "error")
_SOFT = "The page says that there is no such page, with HTTP 200."


class LinkMethods:
    """Properties and methods of `webanalytics.Audit` on links."""

    @property
    def links(self: Audited) -> pd.DataFrame:
        """Every link of the pages, in the order of the pages and of each document; alike ones are one row.

        ``source``, ``target`` (absolute, without fragment), ``anchor`` (its text), ``rel`` (nofollow, ugc and
        sponsored), ``kind`` (link, redirect, canonical, hreflang, image, ...), ``position`` (head, nav, main,
        footer, ...), ``internal``, ``followed`` (neither the link nor its page says nofollow, so images and
        scripts that no crawl goes along are True too), ``crawled``, ``target_status`` and
        ``target_final_url``, missing where that was not asked, ``fragment`` (what stands behind #),
        ``broken_anchor`` (the page was read and has no such place) and ``times`` (how many links of the page
        are alike). Columns of texts are categorical, so that
        five million links take 178 MB. The column ``links`` of the pages has those of each
        page. Without a crawl only
        what the pages' columns know is here: links to the own host without texts, canonicals, hreflang and
        redirects.
        """

        def make() -> pd.DataFrame:
            site, rows = self.site, self._selected()
            fetched = [outcome.problem != "blocked by robots.txt" for outcome in site.fetches]
            frame = links_frame(site.graph, answers(site, self.origin.checked), fetched)
            if rows is None:
                return frame
            own = {site.graph.page_of(row) for row in rows} | set(rows)
            return frame.loc[[row in own for row in site.graph.source_row.tolist()]].reset_index(drop=True)

        return self._once("links", make)

    @property
    def broken_links(self: Audited) -> pd.DataFrame:
        """Every link to something that does not answer as it should, what is surely gone first.

        ``url``, ``verdict``, ``http_status``, ``error``, ``kind``, ``source``, ``anchor``, ``position`` and
        ``times`` (how many links of the page are alike).
        The verdict ``gone`` is HTTP 404, 410 or a host that does not exist; ``soft 404`` a page that says so
        with HTTP 200; ``failed`` another error; ``blocked`` what did not answer in time. What refused us
        (HTTP 401, 403, 429, 999, a challenge) is not broken, and not here: see ``failures()``. Other sites,
        pictures and scripts are here if the crawl asked for them (``external="check"``,
        ``resources="check"``).
        """

        def make() -> pd.DataFrame:
            site, rows = self.site, self._selected()
            frame = broken_frame(site.graph, answers(site, self.origin.checked))
            if rows is None:
                return frame
            own = {site.name(row) for row in rows}
            return frame[frame["source"].isin(own)].reset_index(drop=True)

        return self._once("broken_links", make)

    def paths(self: Audited, url: str, most: int = 10) -> pd.DataFrame:
        """Return the shortest ways from where a crawl began to an address, click by click.

        Parameters
        ----------
        url : str
            A page of the crawl, or any other address that it saw.
        most : int, default 10
            Most ways.

        Returns
        -------
        pandas.DataFrame
            ``path`` (number of the way), ``step`` (0 at the start), ``url``, and ``anchor``, ``kind`` and
            ``position`` of the link that leads there. Redirects are steps, and cost no click. Without rows if
            no way leads there.

        Raises
        ------
        ParameterError
            For an audit that is no crawl, and an address that it has not seen.
        """
        crawl_of(self, "paths")
        whole_number("most", most, 1, MOST_PATHS)
        graph = self.site.graph
        seen = isinstance(url, str) and (graph.place(url) >= 0 or self.site.find(url) is not None)
        if not seen:
            raise ParameterError.must_be("url", "an address that the crawl has seen")
        return paths_frame(graph, url, most)

    @property
    def skipped(self: Audited) -> pd.DataFrame:
        """Every address that a crawl saw and did not fetch, once, with the reason.

        ``url``, ``reason`` (robots, depth, limit, pattern, external, nofollow, kind, trap, not_html or
        counted), ``detail``, ``depth``, ``found_on``, ``links`` (how many lead there) and ``addresses``: of
        far more than are wanted, those of a pattern are counted in one row.
        """
        return crawl_of(self, "skipped").skipped

    @property
    def traps(self: Audited) -> pd.DataFrame:
        """Endless families of addresses that a crawl met, one a row.

        ``pattern``, ``kind``, ``fetched``, ``skipped``, ``example`` and ``evidence``.
        """
        return crawl_of(self, "traps").traps

    @property
    def hosts(self: Audited) -> pd.DataFrame:
        """How a crawl asked each host, and why it changed its pace.

        ``host``, ``pages``, ``failures``, ``delay``, ``connections`` and ``note``.
        """
        return crawl_of(self, "hosts").hosts


def crawl_of(audit: Audited, name: str) -> CrawlFacts:
    """Return what the crawl of an audit knows; only `webanalytics.crawl` makes it.

    Raises
    ------
    ParameterError
        For an audit of given pages.
    """
    crawl = audit.origin.crawl
    if crawl is None:
        raise ParameterError(
            f"`{name}` is known of a crawl alone, and this audit is of pages that were given: "
            "`webanalytics.crawl` follows the links of a site.",
            name,
        )
    return crawl


def answers(site: Site, checked: pd.DataFrame | None = None) -> dict[str, Answer]:
    """Return what is known of every address that was asked for: pages, and what was only checked."""
    found: dict[str, Answer] = {}
    soft: frozenset[str] = frozenset()
    if site.crawl is not None:
        soft, checked = site.crawl.soft_404, site.crawl.checked
    if checked is not None:
        columns = (_plain(checked[name]) for name in _CHECKED)
        found = {url: Answer(*cells) for url, *cells in zip(*columns, strict=True)}
    known, outcomes = site.addresses, site.fetches
    asked = {url: row for row, url in reversed(list(enumerate(known.final))) if url is not None}
    asked |= {url: row for row, url in reversed(list(enumerate(known.requested))) if url is not None}
    failures = (site.values(name) for name in ("error_type", "error_key", "error"))
    rows = list(zip(outcomes, known.final, *failures, strict=True))
    for url, row in asked.items():
        outcome, final, kind, key, error = rows[row]
        said = _judged(outcome.problem, outcome.status, kind, key)
        if said in ("ok", "redirected") and (final in soft or url in soft):
            said, error = "soft 404", _SOFT
        found[url] = Answer(outcome.status, final if outcome.status is not None else None, said, error)
    return found


def _plain(column: pd.Series[Any]) -> list[Any]:
    cells = column.astype(object)
    found: list[Any] = cells.where(cells.notna(), None).tolist()
    return found


def _judged(problem: str, status: int | None, kind: Any, key: Any) -> str:
    if problem in ("blocked by robots.txt", "not read"):
        return ""
    if problem in ("", "redirected", "not a page"):
        return "redirected" if problem == "redirected" else "ok"
    return verdict(status, *(said if isinstance(said, str) else None for said in (kind, key)))
