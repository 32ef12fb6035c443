"""What an audit knows of its pages from logs: methods of `webanalytics.Audit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from webanalytics.audits.origin import Audited

if TYPE_CHECKING:
    from webanalytics.audits.logs.table import Logs


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
            Its pages have ``search_hits``, ``ai_hits``, ``people_hits`` and ``last_search_hit`` (the day).
            ``log_hits`` has hits by page, crawler and status, ``unmatched`` those of no page.

        Raises
        ------
        ParameterError
            For something else than logs, and for pages that have hits already.

        Notes
        -----
        Addresses find their pages as in `with_search_data`. An answer that redirects to a page counts for the
        address that was asked for, not for the page. Who only says that he is a crawler counts for none.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import webanalytics as wa
        >>> log = pathlib.Path(tempfile.mkdtemp(), "access.log")
        >>> line = '::1 - - [24/Nov/2026:09:00:00 +0000] "GET {} HTTP/1.1" 200 9 "-" "Googlebot/2.1"'
        >>> log.write_text("".join(line.format(path) + chr(10) for path in ("/tea", "/tea", "/old"))) > 0
        True
        >>> pages = {"url": ["https://a.example/tea", "https://a.example/pot"], "html": ["<title>A", "<title>B"]}
        >>> audit = wa.audit(pd.DataFrame(pages)).with_logs(wa.logs(log))
        >>> audit.pages["search_hits"].tolist(), audit.unmatched["url"].tolist()
        ([2, 0], ['/old'])
        >>> audit.log_issues()[["url", "fact", "hits"]].values.tolist()
        [['/old', 'not in the audit', 1], ['https://a.example/pot', 'never crawled', 0]]
        """
        from webanalytics.audits.logs.join import with_logs

        return self._joined(lambda raw: with_logs(raw, logs))

    def log_issues(self: Audited) -> pd.DataFrame:
        """Return what only the audit and logs together know, such as pages that are never crawled.

        Returns
        -------
        pandas.DataFrame
            ``url``, ``fact``, ``hits``, ``last``, ``evidence`` and ``fix``, the most hits first. Pages that may
            be indexed are told that no search engine (``never crawled``) or ``no AI crawler`` asked for, if any
            asked for others; pages that crawlers spend time on although they are ``noindex``,
            ``canonicalised`` or ``blocked by robots.txt``, or that ``redirects`` or ``fails``; and addresses
            that answer and are ``not in the audit``. `Logs.crawlers` counts what each wastes.

        Raises
        ------
        ParameterError
            For an audit without hits; see `with_logs`.
        """
        from webanalytics.audits.logs.join import log_issues

        return log_issues(self.site, self.log_hits, self.unmatched, self._selected())
