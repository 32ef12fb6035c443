"""Facts of a page that rules of an audit look at, beyond the answers of the page operations."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from webanalytics.analysis.facts_links import read_links
from webanalytics.analysis.facts_scan import FactScan
from webanalytics.analysis.facts_structured import structured_facts
from webanalytics.analysis.page import Page, fold


def content_hash(text: str) -> str:
    """Return the SHA-256 of a text with its white space folded, in hexadecimal; '' where there is none.

    Examples
    --------
    >>> content_hash(" abc ") == content_hash("abc"), content_hash("")
    (True, '')
    """
    folded = fold(text)
    return sha256(folded.encode("utf-8", "replace")).hexdigest() if folded else ""


def analyse(page: Page) -> dict[str, Any]:
    """Return the facts of a page.

    Parameters
    ----------
    page : Page
        The page.

    Returns
    -------
    dict
        The fields of `webanalytics.operations.facts.FACTS`.

    Raises
    ------
    RowError
        When there is no HTML in the page.

    Notes
    -----
    Read as the HTML Standard says: what stands inside ``noscript`` or an unused ``template`` is no part of
    the page, a drawing's title is none of the page's, and an alternative text that is empty is right for
    an image that is marked as decorative (WAI-ARIA ``presentation``, ``none`` and ``aria-hidden``).
    Mixed content is that of W3C Mixed Content; a page that lets its requests be upgraded has none.

    Examples
    --------
    >>> page = Page('<title>Tea</title><a href="/milk#cold">Milk</a>', "https://example.org/tea")
    >>> facts = analyse(page)
    >>> facts["titles"], facts["links"], facts["internalLinks"]
    (['Tea'], ['https://example.org/milk'], 1)
    """
    scan = FactScan(page)
    links = read_links(page, scan.links, scan.hrefs)
    structured = structured_facts(page)
    return {
        "titles": scan.titles,
        "descriptions": scan.descriptions,
        "canonicals": scan.canonicals,
        "hreflangs": scan.hreflangs,
        "outsideHead": scan.outside_head,
        "declaredCharset": (page.declared_charset or "")[:100],
        "googlebot": ", ".join(page.metas("googlebot"))[:500],
        "refresh": scan.refresh,
        "internalLinks": links.internal,
        "externalLinks": links.external,
        "links": links.pages,
        "images": scan.images,
        "imagesWithoutAlt": scan.without_alt,
        "imagesWithEmptyAlt": scan.empty_alt,
        "imagesWithoutSize": scan.without_size,
        "imagesWithLongAlt": scan.long_alt,
        "mixedContent": list(dict.fromkeys(scan.insecure)),
        "insecureForms": list(dict.fromkeys(scan.insecure_forms)),
        "structuredTypes": structured.types,
        "structuredErrors": structured.faults,
        "contentHash": content_hash(page.main_text),
    }
