"""Facts of saved pages against a reading of them by another parser."""

from __future__ import annotations

import re
import warnings
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from bs4 import BeautifulSoup, Tag, XMLParsedAsHTMLWarning

from webanalytics.page.facts import facts
from webanalytics.page.page import Page

PATH = "/a/b.html"


@pytest.fixture(scope="module")
def readings(corpus_pages: dict[str, bytes]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """What is found on each page, and what Beautiful Soup with html5lib finds there."""
    return [_both(content) for content in corpus_pages.values()]


def _both(content: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    # Beautiful Soup lets html5lib parse for browsers without scripts.
    html = re.sub(r"(?is)<(noscript|template)\b.*?</\1\s*>", "", Page(content).html)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        soup = BeautifulSoup(html, "html5lib")
    address = f"https://{_host(soup)}{PATH}"
    page = Page(content, address, address, "text/html")
    vars(page)["main_text"] = ""  # it is not what is compared, and takes a hundred times as long
    return facts.analyse(page), _read(soup, address)


def _host(soup: BeautifulSoup) -> str:
    """Return the host that the page says it is on."""
    canonical = next(iter(_links(soup, "canonical")), None)
    host = urlsplit(str(canonical["href"])).netloc if canonical and canonical.has_attr("href") else ""
    return host.lower() or "corpus.example"


def _links(soup: BeautifulSoup, kind: str) -> list[Tag]:
    return [link for link in soup.find_all("link", rel=True) if kind in map(str.lower, link["rel"])]


def _read(soup: BeautifulSoup, address: str) -> dict[str, Any]:
    base = soup.find("base", href=True)
    start = urljoin(address, str(base["href"])) if isinstance(base, Tag) else address
    hosts = []
    for link in soup.find_all(["a", "area"], href=True):
        href = str(link["href"]).strip()
        try:
            target = urlsplit(urljoin(start, href))
        except ValueError:
            continue
        if target.scheme in ("http", "https") and target.netloc and not href.startswith("#"):
            hosts.append(target.netloc.lower())
    images = soup.find_all("img")
    internal = hosts.count(urlsplit(address).netloc)
    return {
        "titles": [
            " ".join(title.get_text().split())
            for title in soup.find_all("title")
            if title.find_parent("svg") is None
        ],
        "canonicals": [str(link.get("href", "")).strip() for link in _links(soup, "canonical")],
        "hreflangs": [link["hreflang"] for link in _links(soup, "alternate") if link.has_attr("hreflang")],
        "internal_links": internal,
        "external_links": len(hosts) - internal,
        "images": len(images),
        "images_without_alt": sum(
            not image.has_attr("alt")
            and (image.parent.name == "picture" or any("src" in name for name in image.attrs))
            for image in images
        ),
    }


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("titles", list),
        ("canonicals", lambda found: [item["href"] for item in found]),
        ("hreflangs", lambda found: [item["lang"] for item in found]),
        ("internal_links", int),
        ("external_links", int),
        ("images", int),
        ("images_without_alt", len),
    ],
)
def test_both_readings_agree(
    readings: list[tuple[dict[str, Any], dict[str, Any]]], name: str, shown: Any
) -> None:
    differing = [
        (shown(found[name]), wanted[name]) for found, wanted in readings if shown(found[name]) != wanted[name]
    ]
    assert differing == []
    assert any(wanted[name] for _, wanted in readings)
