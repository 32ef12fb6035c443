"""The functions over pages that do more than their declarations say: keywords and audits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Unpack

import pandas as pd

from webanalytics.analysis.keywords.stopwords import chosen_stop_words
from webanalytics.audits.audit import Audit
from webanalytics.audits.bodies import FactsOfBodies
from webanalytics.audits.origin import Origin
from webanalytics.audits.profiles import resolve_profile
from webanalytics.audits.sources import listed, with_image_sizes
from webanalytics.errors import ParameterError
from webanalytics.frames.inputs import Inputs
from webanalytics.frames.tidy import tidy_keywords
from webanalytics.operations import AUDIT_PAGES, FACTS, KEYWORDS
from webanalytics.run_options import RunOptions, resolve
from webanalytics.runs.run import Hooks, collect

__all__ = ["audit", "keywords"]


async def keywords(
    urls: Inputs,
    *,
    column: str | None = None,
    ngrams: int = 1,
    top: int = 50,
    min_length: int = 4,
    stop_words: Sequence[str] | str | None = None,
    **options: Unpack[RunOptions],
) -> pd.DataFrame:
    """Count the words of pages, in tidy form: one row per page and keyword.

    Parameters
    ----------
    urls : str, path, iterable, Series, Index or DataFrame
        Pages: URLs, paths of saved HTML files, or a DataFrame with ``url`` and ``html``.
    column : str, optional
        Column of a DataFrame that holds the URLs.
    ngrams : {1, 2, 3}, default 1
        Words in a keyword.
    top : int, default 50
        Most keywords of a page.
    min_length : int, default 4
        Fewest letters of a word.
    stop_words : list of str or str, optional
        Words to leave out, or a language code; by default those of the page's own language.
    **options
        Options of this call; `webanalytics.options` prints them all.

    Returns
    -------
    pandas.DataFrame
        ``url``, ``keyword``, ``frequency`` (Int64), ``density`` (float64, share of all words),
        ``rank`` (Int64, 1 for the most frequent), ``status``, ``error``, ``error_type``, ``note``.
        The index repeats that of the inputs. A page without keywords, or that failed, keeps one
        row with an empty keyword.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work.
    AuditInterrupted
        On Ctrl-C; carries the finished rows.

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
        {"ngrams": ngrams, "top": top, "min_length": min_length, "stop_words": words}
    )
    chosen_stop_words(settings["stop_words"], "en")  # raises for a language without a list
    return await collect(
        (KEYWORDS,),
        urls,
        "urls",
        column=column,
        settings={"keywords": settings},
        options=options,
        hooks=Hooks(finish=tidy_keywords),
    )


async def audit(
    urls: Inputs | None = None,
    *,
    sitemap: str | Iterable[str] | None = None,
    column: str | None = None,
    body: bool = False,
    profile: str | os.PathLike[str] | None = None,
    thresholds: Mapping[str, float] | str | os.PathLike[str] | None = None,
    image_sizes: bool = False,
    **options: Unpack[RunOptions],
) -> Audit:
    """Metadata, text, readability and keywords of pages, from one fetch and one parse of each, and issues.

    Parameters
    ----------
    urls : str, path, iterable, Series, Index or DataFrame, optional
        Pages: URLs, paths of saved HTML files, or a DataFrame with ``url`` and ``html``.
    sitemap : str or iterable of str, optional
        URL of a sitemap, or several: the pages that they list are audited after ``urls``, each once. The
        robots.txt of each origin is then read too, and errors in it and in the sitemap become issues.
    column : str, optional
        Column of a DataFrame that holds the URLs.
    body : bool, default False
        Fill ``responseBody`` with the HTML of each page.
    profile : str or path, optional
        Which rules count and how much: ``desktop_crawler`` by default, ``strict``, ``news``, or a TOML file.
    thresholds : mapping or path, optional
        Limits by the name of their rule, such as ``{"title_too_long": 600}``, or a TOML file of them;
        `webanalytics.rules` lists them all.
    image_sizes : bool, default False
        Fetch the images of the pages too, each once and up to 2 MB, for the rule on large images: the column
        ``imageBytes`` maps their addresses to their sizes.
    **options
        Options of this call; `webanalytics.options` prints them all.

    Returns
    -------
    Audit
        A DataFrame with one row per input and the columns of all four operations; ``keywords`` is the map of
        keyword to frequency, and the meta keywords are in ``meta_keywords``. Then come facts that rules
        examine, such as ``links``, ``canonicals`` and ``imagesWithoutAlt``, and the headers ``content_type``
        and ``x_robots_tag``. For pages fetched by a hosted API, the facts are extracted on this machine from
        the HTML it returns (Premium), and the headers are missing. The audit's ``issues``, ``summary()``,
        ``report(path)``, ``compare(after)`` and more show what was found.

    Raises
    ------
    ParameterError
        For a wrong argument, before any page is fetched; also for a sitemap without a page.
    AuditInterrupted
        On Ctrl-C; carries the finished rows, as an `Audit` too.

    Examples
    --------
    >>> import pandas as pd
    >>> import webanalytics as wa
    >>> pages = pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Hello</title><p>Hello there"]})
    >>> frame = wa.audit(pages)
    >>> frame.loc[0, "title"], frame.loc[0, "keywords"]
    ('Hello', {'hello': 1})
    >>> frame.issues.loc[frame.issues["rule"] == "title_too_short", "value"].tolist()
    [46.0]
    """
    resolved = resolve(options)
    backend = resolved["backend"]
    here = backend is None or backend.serves(FACTS)  # else they are read from the pages that it returns
    origin = Origin()
    if profile is not None or thresholds is not None:
        origin = Origin(profile=resolve_profile(profile, thresholds))
    if sitemap is not None:
        found = await listed(sitemap, urls, column, resolved)
        urls, column = found.inputs, None
        origin = replace(origin, sitemap=found.sitemap, robots=found.robots)
    elif urls is None:
        raise ParameterError("The `urls` parameter is required where no `sitemap` is given.", "urls")
    async with nullcontext() if here else FactsOfBodies(resolved, keep=body) as facts:
        frame = await collect(
            AUDIT_PAGES,
            urls,
            "urls",
            column=column,
            settings={"metadata": {"body": body or not here}},
            options=options,
            hooks=Hooks(
                finish=lambda frame: Audit(frame, origin), on_group=None if facts is None else facts.add
            ),
        )
    return Audit(await with_image_sizes(frame, resolved), origin) if image_sizes else Audit(frame, origin)
