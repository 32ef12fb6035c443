"""Functions of operations that need nothing beyond their declaration.

Written by ``python -m webanalytics.generate``: change the declarations, not this file.
"""

from __future__ import annotations

from typing import Unpack

import pandas as pd

from webanalytics.core.option_types import PageOptions, RecordOptions
from webanalytics.operations import OPERATIONS
from webanalytics.runs.frames.inputs import Inputs, pages_or_texts
from webanalytics.runs.functions.source import secret_setting
from webanalytics.runs.run import collect

__all__ = ["hmac", "metadata", "readability", "text"]


async def hmac(
    messages: Inputs,
    *,
    secret: str,
    algorithm: str = "sha256",
    encoding: str = "hex",
    column: str | None = None,
    **options: Unpack[RecordOptions],
) -> pd.DataFrame:
    """Sign messages with a secret key.

    Parameters
    ----------
    messages : str, iterable, Series, Index or DataFrame
        Messages; signed as UTF-8.
    secret : str
        Secret key, used as UTF-8. It is in no frame, log or error.
    algorithm : {"sha256", "sha384", "sha512", "sha1", "md5"}, default "sha256"
        Hash algorithm.
    encoding : {"hex", "base64"}, default "hex"
        Output encoding.
    column : str, optional
        Column of a DataFrame that holds the inputs; found automatically where there is no doubt.
    **options
        Options of this call, such as ``concurrency=8``: those of
        `webanalytics.core.option_types.RecordOptions`.

    Returns
    -------
    pandas.DataFrame
        ``message``, ``status``, ``hmac``, ``algorithm``, ``encoding``, ``error``, ``error_type``.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work. An input that cannot be used is a row.
    AuditInterrupted
        On Ctrl-C; carries the finished rows.

    Notes
    -----
    RFC 2104; test vectors in RFC 2202 and RFC 4231.

    Examples
    --------
    >>> import webanalytics as wa
    >>> wa.hmac("what do ya want for nothing?", secret="Jefe").loc[0, "hmac"]
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
    """
    secret = secret_setting(OPERATIONS["hmac"], "secret", secret)
    return await collect(
        (OPERATIONS["hmac"],),
        messages,
        "messages",
        column=column,
        settings={"hmac": {"secret": secret, "algorithm": algorithm, "encoding": encoding}},
        options=options,
    )


async def metadata(
    urls: Inputs,
    *,
    body: bool = False,
    column: str | None = None,
    **options: Unpack[PageOptions],
) -> pd.DataFrame:
    """Read the metadata of pages: meta tags, Open Graph, social cards, headings, images, JSON-LD.

    Parameters
    ----------
    urls : str, path, iterable, Series, Index or DataFrame
        Pages: URLs, saved HTML files, web archives, or a DataFrame with ``url`` and ``html``.
    body : bool, default False
        Fill ``responseBody`` with the HTML of each page.
    column : str, optional
        Column of a DataFrame that holds the inputs; found automatically where there is no doubt.
    **options
        Options of this call, such as ``concurrency=8``: those of
        `webanalytics.core.option_types.PageOptions`.

    Returns
    -------
    pandas.DataFrame
        One row per input, in input order, with the input's index. ``url`` is the input, ``final_url``
        where it ended; then the fields of the operation (strings, and lists of dicts for ``favicons``,
        ``jsonld``, ``headings`` and ``imgTags``), ``error``, ``error_type``, ``redirects``,
        ``http_status``, ``elapsed`` in seconds and ``bytes``.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work. A page that cannot be fetched is a row.
    AuditInterrupted
        On Ctrl-C; carries the finished rows.

    Notes
    -----
    Tags are read as the HTML standard, the Open Graph protocol (ogp.me) and schema.org define them; where
    a tag repeats, the first that is not empty wins.

    Examples
    --------
    >>> import pandas as pd
    >>> import webanalytics as wa
    >>> pages = pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>A &amp; B</title>"]})
    >>> wa.metadata(pages).loc[0, "title"]
    'A & B'
    """
    return await collect(
        (OPERATIONS["metadata"],),
        urls,
        "urls",
        column=column,
        settings={"metadata": {"body": body}},
        options=options,
    )


async def readability(
    urls: Inputs | None = None,
    *,
    texts: Inputs | None = None,
    language: str | None = None,
    column: str | None = None,
    **options: Unpack[PageOptions],
) -> pd.DataFrame:
    """Score how easily the main text of pages reads.

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
        Column of a DataFrame that holds the inputs; found automatically where there is no doubt.
    **options
        Options of this call, such as ``concurrency=8``: those of
        `webanalytics.core.option_types.PageOptions`.

    Returns
    -------
    pandas.DataFrame
        One row per input: the indices (float64, two decimals, NaN where a formula is not defined for the
        page's language), ``wordCount`` and ``sentenceCount`` (Int64), ``readingTimeMinutes``,
        ``averageGradeLevel`` and ``targetAudience`` as the API answers them; ``language`` of the main
        text, ``readability_score`` on that language's ``readability_scale``, the ``audience`` that
        follows, or in ``readability_note`` why there is none; ``wiener_sachtextformel`` of German texts.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work. A page that cannot be fetched is a row.
    AuditInterrupted
        On Ctrl-C; carries the finished rows.

    Notes
    -----
    Flesch (1948), Kincaid et al. (1975), Gunning (1952), Coleman and Liau (1975), McLaughlin (1969,
    SMOG), Smith and Senter (1967, ARI), Dale and Chall (1948), each as the textstat package computes it;
    scales of other languages: the guide "Readability". Reading speed: 238 words a minute (Brysbaert
    2019), Chinese 255 and Japanese 357 characters (Trauzettel-Klosinski and Dietz 2012). No formula
    scores a text of undetermined language. ``targetAudience`` follows the API: general public for every
    text without a grade, which only English texts have; ``audience`` is missing instead. A hosted API
    answers without the columns after ``targetAudience``: ``readability_score`` and ``audience`` are
    derived from its grade or its reading ease.

    Examples
    --------
    >>> import pandas as pd
    >>> import webanalytics as wa
    >>> html = "<p>" + "The cat sat on the mat. The dog ran to the door. " * 8 + "</p>"
    >>> frame = wa.readability(pd.DataFrame({"url": ["https://cat.example/"], "html": [html]}))
    >>> frame.loc[0, ["fleschReadingEaseText", "audience", "readability_scale"]].tolist()
    ['Very Easy', 'elementary', 'average of five grade indices (English)']
    """
    return await collect(
        (OPERATIONS["readability"],),
        pages_or_texts(urls, texts, language),
        "urls",
        column=column,
        settings={"readability": {}},
        options=options,
    )


async def text(
    urls: Inputs,
    *,
    format: str = "plain",  # noqa: A002 - the name of the parameter
    comments: bool = False,
    column: str | None = None,
    **options: Unpack[PageOptions],
) -> pd.DataFrame:
    """Extract the main text of pages, with title, dates, language and publisher.

    Parameters
    ----------
    urls : str, path, iterable, Series, Index or DataFrame
        Pages: URLs, saved HTML files, web archives, or a DataFrame with ``url`` and ``html``.
    format : {"plain", "markdown"}, default "plain"
        Form of the text: plain, or markdown with its headings, lists, tables and links.
    comments : bool, default False
        Return readers' comments beside the text.
    column : str, optional
        Column of a DataFrame that holds the inputs; found automatically where there is no doubt.
    **options
        Options of this call, such as ``concurrency=8``: those of
        `webanalytics.core.option_types.PageOptions`.

    Returns
    -------
    pandas.DataFrame
        One row per input; ``text``, ``title``, ``title_alt``, ``description`` and ``language`` (ISO
        639-1) are strings, ``date`` is a dict with ``published`` and ``modified``, ``publisher`` a dict
        with ``name``, ``url`` and ``logo`` (both missing where the page has none).

    Raises
    ------
    ParameterError
        For a wrong argument, before any work. A page that cannot be fetched is a row.
    AuditInterrupted
        On Ctrl-C; carries the finished rows.

    Notes
    -----
    Which blocks of a page are its content is decided by small models for any type of page, trained on the
    Web Content eXtraction Benchmark (Foley 2026, CC BY 4.0). ``content_confidence`` says how likely the
    text is right.

    Examples
    --------
    >>> import pandas as pd
    >>> import webanalytics as wa
    >>> html = "<h1>Tides</h1><p>" + "The sea rises and falls twice a day. " * 8 + "</p>"
    >>> frame = wa.text(pd.DataFrame({"url": ["https://sea.example/"], "html": [html]}))
    >>> frame.loc[0, ["title_alt", "language"]].tolist()
    ['Tides', 'en']
    """
    return await collect(
        (OPERATIONS["text"],),
        urls,
        "urls",
        column=column,
        settings={"text": {"format": format, "comments": comments}},
        options=options,
    )
