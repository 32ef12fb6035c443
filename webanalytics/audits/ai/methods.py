"""Methods of an audit on crawlers: which may read what, and what is said about the use of its pages."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from webanalytics.audits.ai.access import access_frame, section_frame, use_frame
from webanalytics.audits.ai.roster import chosen
from webanalytics.audits.origin import Audited


class CrawlerMethods:
    """Methods of `webanalytics.Audit` on the crawlers of search engines and AI services."""

    def ai_access(self: Audited, crawlers: Iterable[str] | None = None) -> pd.DataFrame:
        r"""Return which crawlers may read which pages, and by which line of robots.txt.

        Parameters
        ----------
        crawlers : iterable of str, optional
            Product tokens such as ``"GPTBot"``; by default all of `webanalytics.ai_crawlers`.

        Returns
        -------
        pandas.DataFrame
            One row for each page and crawler: ``url``, ``section``, ``crawler``, ``operator``, ``purpose``
            (search, user or training), ``allowed`` (missing where robots.txt is not known), ``group`` (the
            token in robots.txt that speaks to it, ``*`` for all), ``line`` and ``rule`` (what decides; none
            where nothing speaks against it) and ``obeys``: whether the crawler obeys robots.txt, as its
            operator says.

        Notes
        -----
        RFC 9309: whole product tokens, the longest matching path, of equally long ones what allows. A rule
        for one token says nothing to another one of the same operator. Addresses that a crawl did not fetch
        because robots.txt closes them to it are no pages: `skipped` has them. Nothing of it lowers the score:
        whom a site lets in is its owner's decision.

        Examples
        --------
        >>> import pandas as pd
        >>> import webanalytics as wa
        >>> from webanalytics.audits.origin import Origin
        >>> from webanalytics.fetching.robots import RobotsCopy
        >>> pages = pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Hello</title>"]})
        >>> copy = RobotsCopy("User-agent: GPTBot\nDisallow: /", 200)
        >>> audit = wa.Audit(wa.audit(pages), Origin(robots_files={"https://a.example": copy}))
        >>> audit.ai_access(["GPTBot", "OAI-SearchBot"])[["crawler", "allowed", "rule"]].values.tolist()
        [['GPTBot', False, 'Disallow: /'], ['OAI-SearchBot', True, '']]
        """
        return access_frame(self.rows_site, chosen(crawlers))

    def ai_sections(self: Audited, crawlers: Iterable[str] | None = None) -> pd.DataFrame:
        """Return the share of pages that each crawler may read, by section of the site.

        Parameters
        ----------
        crawlers : iterable of str, optional
            Product tokens; by default all of `webanalytics.ai_crawlers`.

        Returns
        -------
        pandas.DataFrame
            ``section`` (first folder of the path, empty for pages at the top), ``crawler``, ``operator``,
            ``purpose``, ``pages``, ``allowed`` and ``share``, of the pages that `ai_access` judges;
            `webanalytics.notebook.charts.crawler_access` draws it.
        """
        return section_frame(self.ai_access(crawlers))

    def ai_use(self: Audited) -> pd.DataFrame:
        """Return what each page says about its use by AI services, and how much there is to use.

        Returns
        -------
        pandas.DataFrame
            One row for each page that was read: ``url``; ``noai`` and ``noimageai``, directives in the robots
            meta tag or header that a few services read and no standard has; ``content_signal`` and
            ``content_usage`` of robots.txt and headers, for all crawlers, both of them drafts;
            ``signal_faults``; ``text_characters`` of the main text; ``text_tokens`` of an English one, about:
            four characters a token; ``script_only``, whether a page with scripts has a main text of fewer
            than 20 words, so that who runs no scripts sees nothing.

        Notes
        -----
        Content-Signal is a proposal of Cloudflare (contentsignals.org), Content-Usage that of the IETF's
        working group on AI preferences (draft-ietf-aipref-attach, draft-ietf-aipref-vocab). The tokens follow
        the rule of thumb in "What are tokens and how to count them?" (help.openai.com): each model counts in
        another way. ``webanalytics.text(urls, format="markdown")`` gives the main text as Markdown.
        """
        return use_frame(self.rows_site)
