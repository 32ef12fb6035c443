"""What an audit says about the content of its pages: their terms, and the pages that compete for one."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd

from webanalytics.audits.ai.methods import CrawlerMethods
from webanalytics.audits.origin import Audited


class ContentMethods(CrawlerMethods):
    """Methods of `webanalytics.Audit` on content."""

    @property
    def rendering(self: Audited) -> pd.DataFrame:
        """What only scripts bring to the pages, or change on them, where ``render=`` had them rendered.

        One row for each difference: ``url``, ``what`` (title, description, canonical, robots, heading, link,
        structured, text, address), ``change`` (added, removed, changed), ``sent`` and ``rendered``. What went
        wrong is there too (fault): errors on the ``console``, and in ``sent`` the address of what ``failed``
        to load. Of each kind 200 are kept of a page, and a row that says how many more there are.
        """
        from webanalytics.audits.content.rendering import rendering_frame

        return rendering_frame(self.raw)

    def keywords(self: Audited, by: Literal["page", "site"] = "page", **settings: Any) -> pd.DataFrame:
        """Return the words and phrases of the contents: of each page, or of the whole site.

        Parameters
        ----------
        by : {"page", "site"}, default "page"
            One row for each page and term, the most distinctive of a page first; or one for each term, the
            most frequent first, with its number of pages and the page that it is most distinctive of.
        **settings
            ``ngrams``: words of a term, or the fewest and the most, ``(1, 3)`` by default. ``top``: most
            terms of a page (20) or of the site (200). ``min_length`` and ``stop_words``: see
            `webanalytics.keywords`.

        Returns
        -------
        pandas.DataFrame
            By page: ``url``, ``keyword``, ``words`` (in the term), ``frequency``, ``density``,
            ``distinctiveness`` (against all other pages of the audit), ``rank``, ``in_title``, ``in_h1``,
            ``in_description``, ``in_first_paragraph``, ``language``. By site: ``keyword``, ``words``,
            ``pages``, ``frequency``, ``best_page``, ``distinctiveness`` (on that page), and on how many pages
            the term stands in each place.

        Raises
        ------
        ParameterError
            For a wrong argument.

        Notes
        -----
        Nothing is fetched again. The column ``keywords`` of the pages has the most frequent words of each. A
        phrase counts if it occurs twice on its page, and what occurs only within one longer phrase is left
        out in favour of it. Each page counts once, however many rows it has: addresses that redirect to one
        page are that page, which a count over ``audit.pages["text"]`` counts again and again. See
        `webanalytics.keywords` for the distinctiveness.

        Examples
        --------
        >>> import pandas as pd
        >>> import webanalytics as wa
        >>> texts = ["Green tea is a tea. Green tea keeps.", "A pot keeps tea warm. This pot is of clay."]
        >>> urls = ["https://a.example/tea", "https://a.example/pot"]
        >>> audit = wa.audit(pd.DataFrame({"url": urls, "html": [f"<p>{text}" for text in texts]}))
        >>> found = audit.keywords(min_length=3)
        >>> found[found["rank"] == 1]["keyword"].tolist()
        ['green tea', 'pot']
        >>> audit.keywords("site", min_length=3)[["keyword", "pages", "frequency"]].values.tolist()[0]
        ['tea', 2, 4]
        """
        from webanalytics.audits.content.terms import site_keywords

        return site_keywords(self.rows_site, by, **settings)

    def cannibalisation(self: Audited, *, min_score: float = 0.4) -> pd.DataFrame:
        """Return pairs of pages that compete with each other for the same searches, the closest first.

        Parameters
        ----------
        min_score : float, default 0.4
            Lowest score of a pair, from 0 to 1.

        Returns
        -------
        pandas.DataFrame
            ``keyword`` (the strongest term that both pages are about), ``url`` (the page that makes more of
            it), ``rival``, ``score``, ``places`` and ``rival_places`` (where it stands on each, such as
            ``title, h1, text``), ``frequency`` and ``rival_frequency``, ``distinctiveness`` and
            ``rival_distinctiveness``, ``shared`` (all terms of titles and main headings that both share) and
            ``language``.

        Notes
        -----
        Compared are the indexable pages of one host in one language; pages that are canonicalised, noindex
        or near duplicates of an earlier page are left out, as other rules report them.

        A page claims a word that stands in its title or main heading and in its text. The claim is a third
        for each of: the title, the h1, and a text in which the word is distinctive: a keyness above 3.84, as
        in 5% of words by chance, against the pages that do not claim it (see `webanalytics.keywords`).
        It is multiplied by ``ln((N + 1) / n)``, with ``n`` of the ``N`` pages claiming the word, so that a
        brand in every title counts for little (K. Sparck Jones, "A statistical interpretation of term
        specificity", 1972). The score of two pages is the sum of the smaller ones of their claims divided by
        the sum of the larger ones: the weighted Jaccard similarity. At least one shared term must be
        distinctive of both texts.

        Examples
        --------
        >>> import pandas as pd
        >>> import webanalytics as wa
        >>> titles = ["Storm lantern guide", "Guide to the storm lantern", "Clay pots", "Green tea"]
        >>> html = [f"<title>{title}</title><h1>{title}</h1><p>{f'{title}. ' * 9}" for title in titles]
        >>> urls = [f"https://a.example/{name}" for name in "abcd"]
        >>> found = wa.audit(pd.DataFrame({"url": urls, "html": html})).cannibalisation()
        >>> found[["keyword", "url", "rival"]].values.tolist()
        [['storm lantern', 'https://a.example/a', 'https://a.example/b']]
        """
        from webanalytics.audits.content.cannibalisation import rivals

        return rivals(self.rows_site, min_score)
