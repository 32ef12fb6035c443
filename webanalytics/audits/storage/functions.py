"""`webanalytics.load` and `webanalytics.compare`: audits of another day."""

from __future__ import annotations

import os

from webanalytics.audits.audit import Audit
from webanalytics.audits.compare.comparison import Comparison


def compare(
    before: Audit | str | os.PathLike[str],
    after: Audit | str | os.PathLike[str],
    *,
    again: Audit | str | os.PathLike[str] | None = None,
) -> Comparison:
    """Compare two audits of a site: what changed on its pages, which issues got worse, which are fixed.

    Parameters
    ----------
    before, after : Audit or path
        Two audits, or the folders that they were saved in.
    again : Audit or path, optional
        A further audit of the pages of ``after``, or of some, made at once after it. Where a page differs
        from itself it has a counter, a token or links that rotate: what differs there alone is no change.

    Returns
    -------
    Comparison
        It can be printed and displayed; its frames are ``pages``, ``changes``, ``issues`` and ``summary()``.

    Raises
    ------
    ParameterError
        For anything but an audit.

    Notes
    -----
    Pages are matched by their ``url`` in normal form. Both are judged by the profile and thresholds of the
    second, so that differences come from the pages alone. What only one of them looked at is ``unchecked``:
    pages that a stopped crawl did not reach, or that gave no answer, are neither removed nor fixed; nor is
    what one of them has muted (`Audit.mute`), which is left out on its side.

    Examples
    --------
    >>> import pandas as pd
    >>> import webanalytics as wa
    >>> october, november, again = (
    ...     wa.audit(pd.DataFrame({"url": ["https://a.example/"], "html": [f"<title>{title}"]}))
    ...     for title in ("Tea, 7 visits", "Tea, 8 visits", "Tea, 9 visits")
    ... )
    >>> wa.compare(october, november).pages["change"].tolist()
    ['changed']
    >>> wa.compare(october, november, again=again).pages["change"].tolist()
    ['same']
    """
    third = None if again is None else Audit.of(again, "again")
    return Comparison(Audit.of(before, "before"), Audit.of(after, "after"), third)


def load(folder: str | os.PathLike[str]) -> Audit:
    """Load an audit that `webanalytics.Audit.save` has saved.

    Parameters
    ----------
    folder : str or path
        The folder.

    Returns
    -------
    Audit
        Equal to the saved one: dtypes, index, ``attrs``, lists and dicts. Its issues are found again, by the
        rules of this version.

    Raises
    ------
    ParameterError
        For a folder without an audit, or with one that was changed.
    MissingExtraError
        Where pyarrow is not installed.

    Notes
    -----
    Open only folders that you trust. Damage is noticed: what is not as it was written is an error.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> import webanalytics as wa
    >>> pages = pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Hello</title>"]})
    >>> audit = wa.audit(pages)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     wa.load(audit.save(folder)).pages.equals(audit.pages)
    True
    """
    from webanalytics.audits.storage import folders as storage

    return Audit(*storage.load(folder))
