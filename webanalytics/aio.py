"""The functions of webanalytics for asynchronous code: await each of them.

`webanalytics.metadata` and its sisters are these very functions, started on a loop of their own.

Examples
--------
>>> import asyncio
>>> import webanalytics as wa
>>> frame = asyncio.run(wa.aio.hmac(["one", "two"], secret="key"))
>>> frame.shape
(2, 7)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Unpack

import pandas as pd

from webanalytics.errors import ParameterError
from webanalytics.frames.certificates import matcher
from webanalytics.frames.inputs import Inputs
from webanalytics.frames.lookup import lookup_frame
from webanalytics.frames.saving import ImageFolder, add_savings
from webanalytics.frames.sitemap import sitemap_frame
from webanalytics.frames.tidy import tidy_keywords
from webanalytics.operations import AUDIT, CONVERT, DANE, HMAC, KEYWORDS, METADATA, PHONE, READABILITY, TEXT
from webanalytics.options import RunOptions, resolve
from webanalytics.run import collect

__all__ = [
    "audit",
    "convert",
    "dane",
    "hmac",
    "keywords",
    "metadata",
    "phones",
    "readability",
    "sitemap",
    "text",
]


async def metadata(
    urls: Inputs, *, column: str | None = None, body: bool = False, **options: Unpack[RunOptions]
) -> pd.DataFrame:
    """Read the metadata of pages: meta tags, Open Graph, social cards, headings, images, JSON-LD.

    Parameters
    ----------
    urls : str, path, iterable, Series, Index or DataFrame
        Pages: URLs, paths of saved HTML files, or a DataFrame with ``url`` and ``html``.
    column : str, optional
        Column of a DataFrame that holds the URLs; found by itself where there is no doubt.
    body : bool, default False
        Fill ``responseBody`` with the HTML of each page.
    **options
        Options of this call, such as ``concurrency=8``; see `webanalytics.options`.

    Returns
    -------
    pandas.DataFrame
        One row per input, in input order, with the input's index. ``url`` is the input,
        ``final_url`` where it ended; then the fields of the operation (strings, and lists of dicts
        for ``favicons``, ``jsonld``, ``headings`` and ``imgTags``), ``error``, ``error_type``,
        ``redirects``, ``http_status``, ``elapsed`` in seconds and ``bytes``.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work. A page that cannot be had is a row.
    AuditInterrupted
        On Ctrl-C; carries the finished rows.

    Notes
    -----
    Tags are read as the HTML standard, the Open Graph protocol (ogp.me) and schema.org define
    them; where a tag repeats, the first that is not empty wins.

    Examples
    --------
    >>> import pandas as pd
    >>> import webanalytics as wa
    >>> pages = pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>A &amp; B</title>"]})
    >>> wa.metadata(pages).loc[0, "title"]
    'A & B'
    """
    return await collect(
        (METADATA,), urls, "urls", column=column, settings={"metadata": {"body": body}}, options=options
    )


async def text(urls: Inputs, *, column: str | None = None, **options: Unpack[RunOptions]) -> pd.DataFrame:
    """Extract the main text of pages, with title, dates, language and publisher.

    Parameters
    ----------
    urls : str, path, iterable, Series, Index or DataFrame
        Pages: URLs, paths of saved HTML files, or a DataFrame with ``url`` and ``html``.
    column : str, optional
        Column of a DataFrame that holds the URLs.
    **options
        Options of this call; see `webanalytics.options`.

    Returns
    -------
    pandas.DataFrame
        One row per input; ``text``, ``title``, ``title_alt``, ``description`` and ``language``
        (ISO 639-1) are strings, ``date`` is a dict with ``published`` and ``modified``,
        ``publisher`` a dict with ``name``, ``url`` and ``logo`` (both missing where the page
        has none).

    Raises
    ------
    ParameterError
        For a wrong argument, before any work.
    AuditInterrupted
        On Ctrl-C; carries the finished rows.

    Notes
    -----
    The main text is what trafilatura (Barbaresi, ACL 2021) extracts.

    Examples
    --------
    >>> import pandas as pd
    >>> import webanalytics as wa
    >>> html = "<h1>Tides</h1><p>" + "The sea rises and falls twice a day. " * 8 + "</p>"
    >>> frame = wa.text(pd.DataFrame({"url": ["https://sea.example/"], "html": [html]}))
    >>> frame.loc[0, ["title_alt", "language"]].tolist()
    ['Tides', 'en']
    """
    return await collect((TEXT,), urls, "urls", column=column, settings={}, options=options)


async def readability(
    urls: Inputs, *, column: str | None = None, **options: Unpack[RunOptions]
) -> pd.DataFrame:
    """Score how easily the main text of pages reads.

    Parameters
    ----------
    urls : str, path, iterable, Series, Index or DataFrame
        Pages: URLs, paths of saved HTML files, or a DataFrame with ``url`` and ``html``.
    column : str, optional
        Column of a DataFrame that holds the URLs.
    **options
        Options of this call; see `webanalytics.options`.

    Returns
    -------
    pandas.DataFrame
        One row per input: the indices (float64, two decimals, NaN where a formula is not defined
        for the page's language), ``wordCount`` and ``sentenceCount`` (Int64),
        ``readingTimeMinutes`` at 238 words a minute, ``averageGradeLevel`` and
        ``targetAudience``.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work.
    AuditInterrupted
        On Ctrl-C; carries the finished rows.

    Notes
    -----
    Flesch (1948), Kincaid et al. (1975), Gunning (1952), Coleman and Liau (1975),
    McLaughlin (1969, SMOG), Smith and Senter (1967, ARI), Dale and Chall (1948), each as the
    textstat package computes it. Reading speed: Brysbaert (2019).

    Examples
    --------
    >>> import pandas as pd
    >>> import webanalytics as wa
    >>> html = "<p>" + "The cat sat on the mat. The dog ran to the door. " * 8 + "</p>"
    >>> frame = wa.readability(pd.DataFrame({"url": ["https://cat.example/"], "html": [html]}))
    >>> frame.loc[0, ["fleschReadingEaseText", "targetAudience"]].tolist()
    ['Very Easy', 'elementary']
    """
    return await collect((READABILITY,), urls, "urls", column=column, settings={}, options=options)


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
        Options of this call; see `webanalytics.options`.

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
    words = stop_words if stop_words is None or isinstance(stop_words, str) else list(stop_words)
    settings = {"ngrams": ngrams, "top": top, "min_length": min_length, "stop_words": words}
    return await collect(
        (KEYWORDS,),
        urls,
        "urls",
        column=column,
        settings={"keywords": settings},
        options=options,
        finish=tidy_keywords,
    )


async def audit(
    urls: Inputs, *, column: str | None = None, body: bool = False, **options: Unpack[RunOptions]
) -> pd.DataFrame:
    """Metadata, text, readability and keywords of pages, from one fetch and one parse of each.

    Parameters
    ----------
    urls : str, path, iterable, Series, Index or DataFrame
        Pages: URLs, paths of saved HTML files, or a DataFrame with ``url`` and ``html``.
    column : str, optional
        Column of a DataFrame that holds the URLs.
    body : bool, default False
        Fill ``responseBody`` with the HTML of each page.
    **options
        Options of this call; see `webanalytics.options`.

    Returns
    -------
    pandas.DataFrame
        One row per input with the columns of all four operations; ``keywords`` is the map of
        keyword to frequency, and the meta keywords are in ``meta_keywords``.

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
    >>> pages = pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Hello</title><p>Hello there"]})
    >>> frame = wa.audit(pages)
    >>> frame.loc[0, "title"], frame.loc[0, "keywords"]
    ('Hello', {'hello': 1})
    """
    return await collect(
        AUDIT, urls, "urls", column=column, settings={"metadata": {"body": body}}, options=options
    )


async def dane(
    records: Inputs,
    *,
    column: str | None = None,
    certificates: Any = None,
    **options: Unpack[RunOptions],
) -> pd.DataFrame:
    """Parse, explain and validate DANE/TLSA records.

    Parameters
    ----------
    records : str, iterable, Series, Index or DataFrame
        TLSA records as zone files have them, such as
        ``_443._tcp.example.org. 3600 IN TLSA 3 1 1 <hex>``.
    column : str, optional
        Column of a DataFrame that holds the records.
    certificates : certificate, list or Series, optional
        One certificate or chain for all records, or one for each: PEM or DER bytes, PEM text, a
        path, or `cryptography.x509.Certificate`; adds the column ``matches_certificate``.
    **options
        Options of this call; see `webanalytics.options`.

    Returns
    -------
    pandas.DataFrame
        One row per record: ``raw_record``, the dicts ``parsed``, ``interpretation`` and
        ``validation``, and their main parts as columns of their own.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work. A line that is no TLSA record is a row.
    AuditInterrupted
        On Ctrl-C; carries the finished rows.

    Notes
    -----
    RFC 6698, RFC 7218 (names of the codes), RFC 7671 (operational guidance).

    Examples
    --------
    >>> import webanalytics as wa
    >>> frame = wa.dane("_25._tcp.mail.example.org. 3600 IN TLSA 3 1 1 " + "ab" * 32)
    >>> frame.loc[0, ["hostname", "port", "security_level"]].tolist()
    ['mail.example.org', 25, 'Recommended']
    """
    rows = records if isinstance(records, (str, pd.Series, pd.Index, pd.DataFrame)) else list(records)  # type: ignore[arg-type]
    match = matcher(certificates, 1 if isinstance(rows, str) else len(rows))
    return match(await collect((DANE,), rows, "records", column=column, settings={}, options=options))


async def hmac(
    messages: Inputs,
    *,
    secret: str,
    algorithm: str = "sha256",
    encoding: str = "hex",
    column: str | None = None,
    **options: Unpack[RunOptions],
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
        Encoding of the signature.
    column : str, optional
        Column of a DataFrame that holds the messages.
    **options
        Options of this call; see `webanalytics.options`.

    Returns
    -------
    pandas.DataFrame
        ``message``, ``status``, ``hmac``, ``algorithm``, ``encoding``, ``error``, ``error_type``.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work.
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
    if not secret:
        raise ParameterError("The `secret` parameter is required.", "secret")
    settings = {"secret": secret, "algorithm": algorithm, "encoding": encoding}
    return await collect(
        (HMAC,), messages, "messages", column=column, settings={"hmac": settings}, options=options
    )


async def phones(
    numbers: Inputs,
    *,
    column: str | None = None,
    region: str | None = None,
    details: bool = True,
    **options: Unpack[RunOptions],
) -> pd.DataFrame:
    """Tell which phone numbers belong to disposable-number services.

    Parameters
    ----------
    numbers : str, iterable, Series, Index or DataFrame
        Phone numbers in E.164 format (``+12085813945``), or national ones with ``region``.
    column : str, optional
        Column of a DataFrame that holds the numbers.
    region : str, optional
        ISO 3166 code of the country whose national format the numbers may have.
    details : bool, default True
        Add ``country``, ``carrier``, ``line_type`` and ``valid``. Without them a million numbers
        take a second or two.
    **options
        Options of this call; see `webanalytics.options`.

    Returns
    -------
    pandas.DataFrame
        ``input``, ``status``, ``phone`` (E.164), ``isDisposable`` (boolean), ``firstSeen``
        (``YYYY-MM-DD``), the details, ``error``, ``error_type``.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work. A string that is no number is a row.
    AuditInterrupted
        On Ctrl-C; carries the finished rows.

    Notes
    -----
    The list is that of the npm package ``@ip1sms/disposable-phone-numbers`` (MIT); countries,
    carriers and line types come from the phonenumbers package.

    Examples
    --------
    >>> import webanalytics as wa
    >>> frame = wa.phones(["+12085813945", "+12125550123"], details=False)
    >>> frame[["isDisposable", "firstSeen"]].values.tolist()
    [[True, '2024-01-30'], [False, nan]]
    """
    settings = PHONE.check_settings({"region": region, "details": details})
    if not details:
        resolve(options)
        return lookup_frame(numbers, column, region)
    return await collect(
        (PHONE,), numbers, "numbers", column=column, settings={"phone": settings}, options=options
    )


async def convert(
    images: Inputs,
    output_format: str,
    *,
    quality: int = 90,
    max_width: int | None = None,
    max_height: int | None = None,
    save_to: str | Path | None = None,
    column: str | None = None,
    **options: Unpack[RunOptions],
) -> pd.DataFrame:
    """Convert images between WebP, PNG, JPG, GIF and TIFF.

    Parameters
    ----------
    images : str, bytes, path, iterable, Series, Index or DataFrame
        Paths, URLs, or the bytes of images.
    output_format : {"png", "jpg", "webp", "gif", "tiff"}
        Target format.
    quality : int, default 90
        1 to 100, for jpg and webp.
    max_width, max_height : int, optional
        Largest size in pixels; the aspect ratio is kept and nothing is enlarged.
    save_to : str or path, optional
        Folder for the converted files, made if it is not there; without it the bytes are in the
        column ``content``.
    column : str, optional
        Column of a DataFrame that holds the images.
    **options
        Options of this call; see `webanalytics.options`.

    Returns
    -------
    pandas.DataFrame
        One row per image: formats, sizes in bytes and pixels, ``saved`` bytes and
        ``saved_share``, ``frames``, and ``path`` or ``content``.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work. A broken image is a row.
    AuditInterrupted
        On Ctrl-C; carries the finished rows.

    Examples
    --------
    >>> import io
    >>> import webanalytics as wa
    >>> from PIL import Image
    >>> file = io.BytesIO()
    >>> Image.new("RGB", (40, 30), "navy").save(file, "png")
    >>> frame = wa.convert(file.getvalue(), "webp", max_width=20)
    >>> frame.loc[0, ["outputFormat", "mimeType", "width", "height"]].tolist()
    ['webp', 'image/webp', 20, 15]
    """
    folder = None if save_to is None else ImageFolder(save_to)
    settings = {
        "output_format": output_format,
        "quality": quality,
        "max_width": max_width,
        "max_height": max_height,
    }
    return await collect(
        (CONVERT,),
        images,
        "images",
        column=column,
        settings={"convert": settings},
        options=options,
        on_answer=None if folder is None else folder.keep,
        finish=add_savings,
    )


async def sitemap(url: str | Iterable[str], **options: Unpack[RunOptions]) -> pd.DataFrame:
    """Read a sitemap, or an index of sitemaps, into a frame of URLs.

    Parameters
    ----------
    url : str or iterable of str
        URL of the sitemap; XML, gzip, text, RSS or Atom.
    **options
        Options of this call; see `webanalytics.options`.

    Returns
    -------
    pandas.DataFrame
        ``url``, ``lastmod``, ``changefreq``, ``priority`` (float64), ``sitemap`` (the file that
        lists the page), ``status``, ``error``, ``error_type``. A sitemap that cannot be read is
        a row without ``url`` that says why.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work.

    Notes
    -----
    The protocol is that of sitemaps.org.
    """
    return await sitemap_frame(url, resolve(options))
