"""What an audit knows of its pages from logs: methods of `webanalytics.Audit`."""

from __future__ import annotations

from typing import Any

import pandas as pd

from webanalytics.audits.logs.join import log_issues, with_logs
from webanalytics.audits.logs.table import Logs
from webanalytics.audits.origin import Audited


class LogMethods:
    """Methods of `webanalytics.Audit` that put hits of a server beside its pages."""

    def with_logs(self: Audited, logs: Logs) -> Any:
        """Return this audit with hits of crawlers and people from the logs of its server.

        Parameters
        ----------
        logs : Logs
            What `webanalytics.logs` returned.

        Returns
        -------
        Audit
            Its pages have ``search_hits``, ``ai_hits``, ``people_hits`` and ``last_search_hit``. All hits by
            page, crawler and status are in ``log_hits``; those of no page are in ``unmatched``.

        Raises
        ------
        ParameterError
            For something else than logs, and for pages that have hits already.

        Notes
        -----
        Addresses find their pages as in `with_search_data`, but an answer that redirects to a page is not of
        that page. Who only says that he is a crawler, where that is known, counts for none.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import webanalytics as wa
        >>> log = pathlib.Path(tempfile.mkdtemp(), "access.log")
        >>> line = '::1 - - [24/Nov/2026:09:00:00 +0000] "GET {} HTTP/1.1" 200 9 "-" "Googlebot/2.1"'
        >>> _ = log.write_text(line.format("/tea") + chr(10) + line.format("/old"))
        >>> pages = {"url": ["https://a.example/tea", "https://a.example/pot"], "html": ["<title>A", "<p>B"]}
        >>> audit = wa.audit(pd.DataFrame(pages)).with_logs(wa.logs(log))
        >>> audit.pages["search_hits"].tolist(), audit.unmatched["url"].tolist()
        ([1, 0], ['/old'])
        >>> audit.log_issues()[["url", "fact", "hits"]].values.tolist()
        [['/old', 'not in the audit', 1], ['https://a.example/pot', 'never crawled', 0]]
        """
        return self._joined(lambda raw: with_logs(raw, logs))

    def log_issues(self: Audited) -> pd.DataFrame:
        """Return what only the audit and logs together know, such as pages that are never crawled.

        Returns
        -------
        pandas.DataFrame
            ``url``, ``fact``, ``hits``, ``last`` and ``evidence``, the most hits first. Pages that may be
            indexed are told that no search engine (``never crawled``) or ``no AI crawler`` asked for, if any
            came at all; pages that crawlers ask for although they are ``noindex``, ``canonicalised`` or
            ``blocked by robots.txt``, or that ``redirects`` or ``fails``; and addresses of no page that
            answer, ``not in the audit``. `Logs.crawlers` counts what each crawler wastes.

        Raises
        ------
        ParameterError
            For an audit without hits; see `with_logs`.
        """
        return log_issues(self.site, self.log_hits, self._selected())
