"""`webanalytics.load` and `webanalytics.compare`: audits of another day."""

from __future__ import annotations

import os

from webanalytics.audits.audit import Audit
from webanalytics.audits.compare.comparison import Comparison


def compare(before: Audit | str | os.PathLike[str], after: Audit | str | os.PathLike[str]) -> Comparison:
    """Compare two audits: pages added, removed and changed, issues new, fixed and remaining.

    Parameters
    ----------
    before, after : Audit or path
        Two audits, or the folders that they were saved in.

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
    Pages are matched by their ``url``. Both audits are judged by the profile and thresholds of the second, so
    that differences come from the pages alone.
    """
    return Comparison(Audit.of(before, "before"), Audit.of(after, "after"))


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
