"""Rules for the images of a page."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.rules.searches import LONGEST, enumerated, listed
from webanalytics.audits.site import Site


@page_by_page
def _alt_too_long(site: Site, threshold: float) -> Iterator[Finding]:
    for row, images in site.read("imgTags"):
        texts = [image["alt"] for image in images or () if len(image["alt"]) > threshold]
        if texts:
            longest = max(texts, key=len)
            yield Finding(row, len(longest), longest[:LONGEST])


@page_by_page
def _too_large(site: Site, threshold: float) -> Iterator[Finding]:
    for row, sizes in site.read("image_bytes"):
        large = sorted(
            ((size, source) for source, size in (sizes or {}).items() if size and size > threshold * 1000),
            key=lambda pair: (-pair[0], pair[1]),
        )
        if large:
            shown = (f"{source[:200]} ({size / 1000:,.0f} kB)" for size, source in large)
            yield Finding(row, large[0][0] / 1000, enumerated(shown))


_rule = partial(Rule, category="images")

RULES = (
    _rule(
        name="images_too_large",
        title="Images too large",
        type="opportunity",
        explanation="Large image files make a page slow to load, above all on phones.",
        fix="Scale the images to the size in which they are shown, and save them as WebP or AVIF.",
        find=_too_large,
        threshold=100,
        unit="kB",
        columns=("image_bytes",),
        measured="Bytes of each image of the page as it was fetched; they are known only where "
        "`image_sizes=True` was given.",
        source=sources.both(sources.WEBP, sources.IMAGES),
    ),
    _rule(
        name="images_without_alt_attribute",
        title="Images without alt attribute",
        priority="low",
        explanation="Without an alt attribute, screen readers read out the name of the file instead.",
        fix="Give every image an alt attribute: a description, or an empty one for a mere decoration.",
        find=listed("images_without_alt"),
        columns=("images_without_alt",),
        measured="img elements that have no alt attribute are counted.",
        source=sources.both(sources.ALT, sources.IMAGES),
    ),
    _rule(
        name="images_without_alt_text",
        title="Images without alt text",
        priority="low",
        explanation="Search engines and people who do not see an image learn from alt text what it shows.",
        fix="Describe in the alt attribute what the image shows; leave it empty only for mere decorations.",
        find=listed("images_with_empty_alt"),
        columns=("images_with_empty_alt",),
        measured="img elements whose alt attribute is empty or white space are counted, those left out that "
        "are marked as decoration by their role or aria-hidden.",
        source=sources.both(sources.IMAGES, sources.WAI_IMAGES),
    ),
    _rule(
        name="images_alt_too_long",
        title="Alt text too long",
        type="opportunity",
        priority="low",
        explanation="Alt text is read out in one go, so a long one is hard to follow.",
        fix="Shorten the alt text to what matters here, and put details into the text around the image.",
        find=_alt_too_long,
        threshold=100,
        unit="characters",
        columns=("imgTags",),
        measured="Characters of the longest alternative text. No standard has a limit: the default is the "
        "usual one of SEO tools.",
        source=sources.both(sources.WAI_IMAGES, sources.ALT),
    ),
    _rule(
        name="images_without_size",
        title="Images without size",
        type="opportunity",
        priority="low",
        explanation="Without width and height, the browser keeps no room for an image, and the text jumps "
        "when it arrives.",
        fix="Add the width and height attributes to each image.",
        find=listed("images_without_size"),
        columns=("images_without_size",),
        measured="img elements without width or without height are counted; data: addresses and pixels that "
        "count visits are left out. Style sheets are not read.",
        source=sources.LAYOUT_SHIFT,
    ),
)
