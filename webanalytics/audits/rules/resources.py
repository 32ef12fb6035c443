"""Rules for images, and for what else a page loads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webanalytics.audits.rules.base import Find, Finding, PageByPage
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.audits.rules.searches import enumerated, listed
from webanalytics.audits.site import Site


@PageByPage
def _alt_too_long(site: Site, threshold: float) -> Iterator[Finding]:
    for row, images in site.read("imgTags"):
        texts = [image["alt"] for image in images or () if len(image["alt"]) > threshold]
        if texts:
            longest = max(texts, key=len)
            yield Finding(row, len(longest), longest)


@PageByPage
def _too_large(site: Site, threshold: float) -> Iterator[Finding]:
    for row, sizes in site.read("image_bytes"):
        large = sorted(
            ((size, source) for source, size in (sizes or {}).items() if size and size > threshold * 1000),
            key=lambda pair: (-pair[0], pair[1]),
        )
        if large:
            shown = (f"{source[:200]} ({size / 1000:,.0f} kB)" for size, source in large)
            yield Finding(row, large[0][0] / 1000, enumerated(shown))


def _broken(kind: str) -> Find:
    @PageByPage
    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, resources in site.read("broken_resources"):
            found = [item for item in resources or () if item["kind"] == kind]
            if found:
                shown = (f"{item['url'][:200]} ({item['reason']})" for item in found)
                yield Finding(row, len(found), enumerated(shown))

    return find


RULES = rules_of(
    __name__,
    {
        "images_too_large": _too_large,
        "images_without_alt_attribute": listed("images_without_alt"),
        "images_without_alt_text": listed("images_with_empty_alt"),
        "images_alt_too_long": _alt_too_long,
        "images_without_size": listed("images_without_size"),
        "broken_image": _broken("image"),
        "broken_script": _broken("script"),
        "broken_stylesheet": _broken("stylesheet"),
    },
)
