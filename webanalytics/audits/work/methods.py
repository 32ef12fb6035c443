"""What an audit says of the work to do: methods of `webanalytics.Audit`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pandas as pd

from webanalytics.audits.graph.site_links import count_missing
from webanalytics.audits.origin import Audited
from webanalytics.audits.profiles import resolve_profile
from webanalytics.audits.selection import segmented, segments_of
from webanalytics.audits.site import Site
from webanalytics.audits.work.muting import muted, new_mute
from webanalytics.audits.work.prune import Limits, prune
from webanalytics.audits.work.search_data import SearchData, search_data
from webanalytics.audits.work.search_issues import search_issues
from webanalytics.errors import ParameterError, path_of
from webanalytics.thresholds import PRIORITIES


class WorkMethods:
    """Methods of `webanalytics.Audit` that lead from findings to work."""

    def link_ideas(
        self: Audited, to: str | Sequence[str] | None = None, *, per_page: int = 5
    ) -> pd.DataFrame:
        """Return links that the site lacks: words that name another page and lead nowhere yet.

        Parameters
        ----------
        to : str or sequence of str, optional
            Pages that should be linked to; by default all that may be indexed.
        per_page : int, default 5
            Most ideas for each of them.

        Returns
        -------
        pandas.DataFrame
            ``target``, ``source`` (the page that should link there), ``anchor`` (as it stands in the text),
            ``sentence`` (around it), ``similarity`` (of both pages, 0 to 1), ``words`` (which they share, the
            strongest first), ``target_inlinks``, ``target_depth`` (clicks from the start of a crawl) and
            ``target_clicks`` (where the pages have a column ``clicks``). The most similar pages come first.

        Raises
        ------
        ParameterError
            For an address that is no page of the audit, or may not be indexed.

        Notes
        -----
        A page is named by the parts of its title, by its main heading, and by what other links call it. What
        names more than three pages names none. Looked through is the content of each page, without blocks
        that most pages have; links in menus and footers do not count, so a page that only the menu links to
        has ideas too; one with a heading of these words needs no link. Both may be indexed, and are not in
        different languages. These are ideas for a person to judge, neither an issue nor in the score; the
        guide says how many are good.

        Examples
        --------
        >>> import pandas as pd
        >>> import webanalytics as wa
        >>> texts = ["A brass lamp has a wick.", "Trim the wick of a brass lamp with sharp scissors."]
        >>> html = [f"<title>{name}</title><p>{text}" for name, text in zip(["Brass lamp", "Wicks"], texts)]
        >>> pages = pd.DataFrame({"url": ["https://a.example/lamp", "https://a.example/wick"], "html": html})
        >>> wa.audit(pages).link_ideas()[["source", "anchor", "target"]].values.tolist()
        [['https://a.example/wick', 'brass lamp', 'https://a.example/lamp']]
        """
        from webanalytics.audits.work.link_ideas import link_ideas

        return link_ideas(self.rows_site, to, per_page)

    def with_search_data(self: Audited, source: Any) -> Any:
        """Return this audit with clicks, impressions and positions of its pages from an export.

        Parameters
        ----------
        source : path or DataFrame
            An export of Search Console (``.zip``, Excel, or its ``Pages.csv``), Bing Webmaster Tools or
            Analytics, in nine languages (see the guide): CSV, TSV, ``.gz``, ``.zip``, ``.xlsx``;
            or a table with a column of addresses, and of queries where it is by query and page.

        Returns
        -------
        Audit
            Its pages have ``clicks``, ``impressions``, ``ctr`` (clicks by impressions), ``position`` (mean by
            impressions) and ``clicks_from``, which says where they are from; of Analytics ``sessions`` and
            ``views``. Pages without data have missing values, rows without a page are in ``unmatched``, and
            rows by query in ``search_queries``.

        Raises
        ------
        ParameterError
            For a file that cannot be read or has no pages, and for columns that the pages have already.

        Notes
        -----
        An address belongs to the page with the same one, else with another slash at its end, scheme or case
        of its path, else without parameters of campaigns; several of one page are summed up. Paths belong to
        the host of the audit, if it has one. Search engines leave out rare queries, so sums over queries are
        too low: they stand for pages only where the file has no pages without queries.

        Examples
        --------
        >>> import pandas as pd
        >>> import webanalytics as wa
        >>> site = {"url": ["https://a.example/", "https://a.example/b"], "html": ["<title>A", "<p>B"]}
        >>> rows = {"Häufigste Seiten": ["https://a.example/B/", "/c"], "Klicks": ["1.200", "2"]}
        >>> audit = wa.audit(pd.DataFrame(site)).with_search_data(pd.DataFrame(rows))
        >>> audit.pages["clicks"].tolist(), audit.unmatched["url"].tolist()
        ([<NA>, 1200], ['/c'])
        """

        def find(raw: pd.DataFrame) -> SearchData:
            site = Site(raw)
            return search_data(raw, site.addresses, site.good, source)

        return self._joined(find)

    def with_field_data(
        self: Audited, source: Any = None, *, key: str | None = None, form_factor: str | None = None
    ) -> Any:
        """Return this audit with what the browsers of visitors measured of its pages.

        Parameters
        ----------
        source : path, mapping, or list of them, optional
            Answers of the CrUX API or of PageSpeed Insights, as JSON (also ``.jsonl``) or parsed. By default
            the CrUX API is asked, about two pages a second.
        key : str, optional
            Your key for the CrUX API, which is asked of each page that may be indexed. It is not kept.
        form_factor : {"PHONE", "TABLET", "DESKTOP"}, optional
            Whose visits are asked for; by default all.

        Returns
        -------
        Audit
            Its pages have ``lcp``, ``inp``, ``fcp`` and ``ttfb`` (milliseconds) and ``cls``, each the value
            that three of four visits stay below, and ``performance``, the score of PageSpeed from 0 to 100.
            What is known of a whole site alone is not given to its pages.

        Raises
        ------
        ParameterError
            For neither source nor key, a key that is refused, and two answers on one page.
        WebAnalyticsError
            Where the CrUX API cannot be reached, or asks to wait, before it told of any page; later a warning
            says so, and what it told is there.

        Examples
        --------
        >>> import pandas as pd
        >>> import webanalytics as wa
        >>> audit = wa.audit(pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Tea"]}))
        >>> metrics = {"largest_contentful_paint": {"percentiles": {"p75": 1900}}}
        >>> answer = {"record": {"key": {"url": "https://a.example/"}, "metrics": metrics}}
        >>> audit.with_field_data(answer).pages[["url", "lcp"]].values.tolist()
        [['https://a.example/', 1900.0]]
        """
        from webanalytics.audits.work import field_data as fields

        if (source is None) == (key is None):
            raise ParameterError.must_be("source", "given, or else `key`")
        urls = [self.site.name(row) for row in self.site.distinct]
        found = fields.asked(urls, key, form_factor) if source is None else list(fields.given(source))
        told = fields.field_data(found)
        if found and told.empty:
            raise ParameterError.must_be("source", "answers of CrUX or of PageSpeed Insights on pages")
        return self.with_columns(told)

    def search_issues(self: Audited) -> pd.DataFrame:
        """Return what only the audit and search data together know, such as pages with noindex and clicks.

        Returns
        -------
        pandas.DataFrame
            One row for each page and fact, those with the most clicks first: ``url``, ``fact``, ``clicks``,
            ``impressions``, ``position``, ``evidence`` and ``fix``. Pages with clicks are told that are
            ``noindex``, ``blocked by robots.txt``, ``canonicalised``, ``orphan``, ``deep`` (over 4 clicks
            from the start) or ``slow``, that ``redirects`` or ``fails``; of pages that may be indexed those
            with ``no impressions``, and with a ``title cut`` among the quarter with the most impressions;
            ``query on several pages``, where queries are known; and what is ``not in the audit`` although
            search results show it: orphans that only the search engine knows, or what the crawl left out.

        Raises
        ------
        ParameterError
            For an audit without clicks; see `with_search_data`.

        Notes
        -----
        Search data are of weeks, the audit of a day: what has changed in between may look wrong here. Nobody
        can tell pages without impressions from sums over queries, nor from an export that ends at 1,000 rows.
        Limits of titles and of slow pages are those of the rules ``title_too_long`` and ``slow_response``. A
        page competes for a query with 10 impressions and a fifth of all that the query has.

        Examples
        --------
        >>> import pandas as pd
        >>> import webanalytics as wa
        >>> html = "<title>Tea</title><meta name=robots content=noindex>"
        >>> audit = wa.audit(pd.DataFrame({"url": ["https://a.example/tea"], "html": [html]}))
        >>> clicks = pd.DataFrame({"page": ["/tea"], "clicks": [7], "impressions": [90]})
        >>> audit.with_search_data(clicks).search_issues()[["fact", "clicks", "evidence"]].values.tolist()
        [['noindex', 7, 'Asks not to be indexed.']]
        """
        profile = self.origin.profile or resolve_profile()
        searched = self.search_queries, self.search_unmatched
        return search_issues(self.site, searched, profile, self._selected())

    def write_sitemap(
        self: Audited,
        folder: str | os.PathLike[str],
        *,
        base_url: str | None = None,
        compressed: bool = False,
    ) -> pd.DataFrame:
        """Write the sitemap that the site should have: every page that may be indexed, and no other.

        Parameters
        ----------
        folder : str or path
            Where ``sitemap.xml`` goes; with more than 50,000 pages or 50 MB it is the index of
            ``sitemap-1.xml`` and so on. An audit of several hosts has a folder for each.
        base_url : str, optional
            Where the folder is served, which an index names; by default the top of the pages' host.
        compressed : bool, default False
            Whether the files with pages are compressed, as ``.xml.gz``.

        Returns
        -------
        pandas.DataFrame
            One row for each address of the audit: ``url``, ``file`` (missing for what was left out),
            ``reason`` (why it was: noindex, canonicalised, redirects to ..., client error, ...), ``lastmod``
            and ``lastmod_from`` (page, sitemap or header), and how many ``alternates``, ``images`` and
            ``videos`` the entry has, and whether it is ``news``.

        Raises
        ------
        ParameterError
            For a `base_url` that is no address, or with an audit of several hosts.
        WriteError
            Where the folder cannot be written to.

        Notes
        -----
        ``lastmod`` is the day of change that the page declares, else that of the site's own sitemap, else the
        ``Last-Modified`` header unless that is the time of the answer; where nobody knows, it is left out.
        Images are those of the page without icons and without what more than half of the host's pages have;
        videos those of structured data with a thumbnail, a title, a description and an address; news
        articles of structured data of the two days before the audit. Sources: the sitemap protocol
        (https://www.sitemaps.org/protocol.html) and Google's extensions of it.

        Examples
        --------
        >>> import tempfile
        >>> import pandas as pd
        >>> import webanalytics as wa
        >>> html = ["<title>Tea</title>", "<title>Cart</title><meta name=robots content=noindex>"]
        >>> urls = ["https://a.example/tea", "https://a.example/cart"]
        >>> folder = tempfile.mkdtemp()
        >>> listed = wa.audit(pd.DataFrame({"url": urls, "html": html})).write_sitemap(folder)
        >>> listed[["url", "file", "reason"]].values.tolist()
        [['https://a.example/tea', 'sitemap.xml', ''], ['https://a.example/cart', nan, 'noindex']]
        """
        from webanalytics.audits.work.sitemap_writer import write_sitemap

        read = self.audited_at
        moment = datetime.now(UTC) if read is None else read.to_pydatetime()
        return write_sitemap(self.rows_site, moment, path_of(folder, "folder"), base_url, compressed)

    def prune(
        self: Audited,
        *,
        thin: float = 200,
        similar: float = 0.8,
        clicks: float = 1,
        inlinks: float = 10,
        whole: bool = False,
    ) -> pd.DataFrame:
        """Return what to do with each page: keep, improve, merge, redirect, close to search engines, remove.

        Parameters
        ----------
        thin : float, default 200
            Words of content below which a page is thin: the limit of the rule ``content_low``.
        similar : float, default 0.8
            Similarity, from 0 to 1, from which on two pages are about the same.
        clicks : float, default 1
            Clicks from search from which on a page is neither merged nor removed: a visitor is a visitor.
        inlinks : float, default 10
            Pages that link to a page, from which on it is neither merged nor removed: menus lead to it.
        whole : bool, default False
            Whether the search data has every page that was shown: then one without a number had no clicks.
            Exports by hand end after a thousand pages, so by default nothing is known of it.

        Returns
        -------
        pandas.DataFrame
            One row for each page that was read, plain texts aside: ``url``; ``advice`` (``keep``,
            ``improve``, ``merge into``, ``redirect to``, ``noindex`` or ``remove``); ``target`` of a merge or
            redirect; ``reasons``, a sentence; and what it rests on: ``content_words`` (missing where they may
            not be all), ``inlinks``, ``clicks`` and ``impressions`` (where the pages have such columns),
            ``similarity`` (to the target, else to the nearest page) and ``indexability``.

        Raises
        ------
        ParameterError
            For a threshold that is not above 0.

        Notes
        -----
        A page is kept unless there is a reason. Of near duplicates (`near_duplicate_cluster`) the one with
        the most clicks stays, then that with the most links to it; the others are redirected there. A page of
        few clicks and links that is similar to one that stays is merged into it. Home pages, lists of other
        pages and versions in other languages are neither, and later pages of a list stay. A thin page is
        removed, or closed to search engines where menus lead to it, only if its clicks are known and too few
        and no impressions are known: without search data it is to be improved.

        Examples
        --------
        >>> import pandas as pd
        >>> import webanalytics as wa
        >>> text = " ".join(f"Step {number} of the mending of lamp {number}." for number in range(60))
        >>> html = [f"<title>Lamps</title><p>{said}" for said in (text, text, "Old prices.", "Soon more.")]
        >>> urls = [f"https://a.example/{name}" for name in ("lamps", "lamps-2", "prices", "soon")]
        >>> clicks = pd.DataFrame({"url": urls, "clicks": [9, 0, 0, None]})
        >>> audit = wa.audit(pd.DataFrame({"url": urls, "html": html})).with_columns(clicks)
        >>> audit.prune()[["advice", "target"]].fillna("").values.tolist()
        [['keep', ''], ['redirect to', 'https://a.example/lamps'], ['remove', ''], ['improve', '']]
        """
        return prune(self.site, self._selected(), Limits(thin, similar, clicks, inlinks), whole)

    @property
    def muted(self: Audited) -> pd.DataFrame:
        """Issues that `mute` has set aside, with the reason, and until when."""
        return self._once("muted", lambda: muted(self._found, self.origin.mutes))

    def mute(
        self: Audited,
        *,
        reason: str,
        rule: str | None = None,
        url: str | None = None,
        until: str | date | None = None,
    ) -> Any:
        """Return this audit with some issues set aside: known, and not to be reported.

        Parameters
        ----------
        reason : str
            Why, which is shown wherever the audit is.
        rule : str, optional
            The rule whose issues these are; all by default.
        url : str, optional
            The address of a page, or a pattern of addresses as in `segments`. All by default.
        until : str or datetime.date, optional
            The last day (UTC), ``"2026-12-31"``, on which they are muted; without end by default.

        Returns
        -------
        Audit
            Muted issues are neither in ``issues`` nor in the score, causes, summary, report or comparisons,
            but in ``muted``. They are kept when the audit is saved. A day that has passed ends the muting.

        Raises
        ------
        ParameterError
            For a missing reason, an unknown rule, a wrong pattern or day, and neither a rule nor addresses.

        Examples
        --------
        >>> import pandas as pd
        >>> import webanalytics as wa
        >>> audit = wa.audit(pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Hello</title>"]}))
        >>> quiet = audit.mute(rule="h1_missing", reason="The new layout has one", until="2100-12-31")
        >>> quiet.muted[["rule", "reason", "until"]].values.tolist()
        [['h1_missing', 'The new layout has one', '2100-12-31']]
        >>> "h1_missing" in set(quiet.issues["rule"]), quiet.score > audit.score
        (False, True)
        """
        mutes = (*self.origin.mutes, new_mute(rule, url, reason, until))
        return self._judged_by(replace(self.origin, mutes=mutes), "site", "issues")

    def segments(self: Audited, patterns: Mapping[str, str] | str, *, column: str = "segment") -> Any:
        """Return this audit with a column that names the part of the site to which each page belongs.

        Parameters
        ----------
        patterns : mapping of str to str, or str
            Segments by name, with the address of a page or a pattern of addresses as in `webanalytics.crawl`:
            a folder (``"/shop/*"``), a glob that begins with ``*``, or a regular expression. The first that
            matches counts; pages of none are ``other``. Or a column of the pages, such as ``page_type``.
        column : str, default "segment"
            Name of the column; one called ``segment`` takes the place of the one before.

        Returns
        -------
        Audit
            Its column is read by ``summary(by=...)``, ``scores(by=...)`` and
            ``charts.issues_by_section(audit, segment=...)``; the report goes by one called ``segment``.

        Raises
        ------
        ParameterError
            For patterns that are none, and another column that the pages have already.

        Examples
        --------
        >>> import pandas as pd
        >>> import webanalytics as wa
        >>> urls = ["https://a.example/", "https://a.example/shop/tea", "https://a.example/shopping"]
        >>> audit = wa.audit(pd.DataFrame({"url": urls, "html": ["<title>A</title>"] * 3}))
        >>> audit.segments({"shop": "/shop/*"}).scores(by="segment")[["segment", "pages"]].values.tolist()
        [['other', 2], ['shop', 1]]
        """
        return self._joined(lambda raw: (*segmented(raw, patterns, column), {}))

    def scores(self: Audited, by: str = "segment") -> pd.DataFrame:
        """Return the score of each part of the site.

        Parameters
        ----------
        by : str, default "segment"
            Column of `pages` whose values cut the audit, as for `summary`.

        Returns
        -------
        pandas.DataFrame
            ``segment``, ``pages``, ``score`` and the faults of its pages: ``issues_high``, ``issues_medium``
            and ``issues_low``.

        Examples
        --------
        >>> import pandas as pd
        >>> import webanalytics as wa
        >>> audit = wa.audit(pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Hello</title>"]}))
        >>> audit.scores(by="section")[["pages", "score"]].values.tolist() == [[1, audit.score]]
        True
        """
        faults = [f"issues_{priority}" for priority in PRIORITIES]
        rows = []
        for mask in segments_of(self.pages, by):
            part = self.select(mask)
            sizes = {"pages": len(part) - count_missing(part.raw), "score": part.score}
            rows.append({"segment": part.pages[by].iloc[0]} | sizes | part.pages[faults].sum().to_dict())
        return pd.DataFrame(rows, columns=["segment", "pages", "score", *faults])
