"""`webanalytics.keywords`: the words of pages, one row per page and keyword."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal, Unpack

import pandas as pd

from webanalytics.core.option_types import PageOptions
from webanalytics.core.run_options import resolve
from webanalytics.operations import KEYWORDS
from webanalytics.page.keywords.stopwords import chosen_stop_words
from webanalytics.runs.backends.base import LOCAL_FAMILY
from webanalytics.runs.frames.inputs import Inputs, pages_or_texts
from webanalytics.runs.frames.tidy import tidy_keywords
from webanalytics.runs.run import Hooks, collect

__all__ = ["keywords"]


async def keywords(
    urls: Inputs | None = None,
    *,
    texts: Inputs | None = None,
    language: str | None = None,
    column: str | None = None,
    ngrams: int = 1,
    top: int = 50,
    min_length: int = 4,
    stop_words: Sequence[str] | str | None = None,
    source: Literal["main", "page"] = "main",
    details: bool = True,
    **options: Unpack[PageOptions],
) -> pd.DataFrame:
    """Count the words of pages, in tidy form: one row per page and keyword.

    Parameters
    ----------
    urls : str, path, iterable, Series, Index or DataFrame, optional
        Pages: URLs, saved HTML files, web archives, or a DataFrame with ``url`` and ``html``.
    texts : str, iterable, Series, Index or DataFrame, optional
        Texts in place of pages, exactly one of the two: nothing is fetched. Of a DataFrame, the column
        ``text`` or the one that ``column`` names. The result then has, in place of ``url``, the column
        ``text`` with the first 80 characters of each; the index says which text a row belongs to.
    language : str, optional
        Language of the texts, a code of ISO 639-1; by default that of each is detected.
    column : str, optional
        Column of a DataFrame that holds the URLs or texts.
    ngrams : {1, 2, 3}, default 1
        Words in a keyword.
    top : int, default 50
        Most keywords of a page.
    min_length : int, default 4
        Fewest letters of a word.
    stop_words : list of str or str, optional
        Words to leave out, or a language code; by default those of the page's own language.
    source : {"main", "page"}, default "main"
        Text that is counted: the main text, or everything that the page shows, with its menus, banners and
        footers. A hosted API always counts the whole page.
    details : bool, default True
        Find out where each keyword stands and how distinctive it is of its page; a hosted API does not.
    **options
        Options of this call: those of `webanalytics.core.option_types.PageOptions`.

    Returns
    -------
    pandas.DataFrame
        ``url``, ``keyword``, ``frequency`` (Int64), ``density`` (float64, share of all words),
        ``distinctiveness`` (float64), ``rank`` (Int64, 1 for the most frequent; among equals the first to
        appear comes first), ``in_title``, ``in_h1``, ``in_description`` and ``in_first_paragraph``
        (boolean), ``source`` (the text that was counted), ``status``, ``error``, ``error_type``, ``note``.
        The index repeats that of the inputs. A page without keywords, or that failed, keeps one row with an
        empty keyword.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work.
    AuditInterrupted
        On Ctrl-C; carries the finished rows.

    Notes
    -----
    The distinctiveness is the log-likelihood ratio G2 of the keyword on its page against all other pages of
    the frame together, each page once: ``2 (a ln(a / E1) + b ln(b / E2))`` with the frequencies ``a`` and
    ``b`` on the page and on the others, and those expected if it were equally frequent on both, ``E1`` and
    ``E2``; negative where it is rarer on the page (T. Dunning, Computational Linguistics 19, 1993; P. Rayson
    and R. Garside, "Comparing corpora using frequency profiling", 2000). Chance alone exceeds 3.84 in 5% of
    keywords, 6.63 in 1% and 10.83 in 0.1%. It is missing in a frame of one page. It grows with the evidence,
    so a word said ten times counts for more than one said twice as exclusively.

    Places are missing where they are not known: a page without a paragraph of 80 characters has no first one.

    Examples
    --------
    >>> import pandas as pd
    >>> import webanalytics as wa
    >>> html = "<p>Green tea, black tea, green leaves"
    >>> pages = pd.DataFrame({"url": ["https://tea.example/"], "html": [html]})
    >>> wa.keywords(pages, min_length=3)[["keyword", "frequency"]].head(2).values.tolist()
    [['green', 2], ['tea', 2]]
    """
    words = list(stop_words) if isinstance(stop_words, (tuple, set, frozenset)) else stop_words
    settings = KEYWORDS.check_settings(
        {
            "ngrams": ngrams,
            "top": top,
            "min_length": min_length,
            "stop_words": words,
            "source": source,
            "details": details,
        }
    )
    chosen_stop_words(settings["stop_words"], "en")  # raises for a language without a list
    backend = resolve(options)["backend"]
    here = backend is None or backend.family == LOCAL_FAMILY
    counted = source if here or texts is not None else KEYWORDS.parameter("source").service_value
    return await collect(
        (KEYWORDS,),
        pages_or_texts(urls, texts, language),
        "urls",
        column=column,
        settings={"keywords": settings},
        options=options,
        hooks=Hooks(finish=partial(tidy_keywords, source=counted)),
    )
