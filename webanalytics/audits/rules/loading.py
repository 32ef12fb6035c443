"""Rules about what a page makes browsers load, as far as its HTML tells."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.rules.searches import Find, enumerated, listed, more
from webanalytics.audits.rules.sources import (
    DOM_SIZE,
    LAZY_IMAGES,
    LAZY_LOADING,
    RENDER_BLOCKING,
    RESPONSIVE_IMAGES,
    SCRIPT,
    SRCSET,
    STYLE_SHEET,
    WEBP,
    both,
)
from webanalytics.audits.site import Site


def _more(column: str) -> Find:
    @page_by_page
    def find(site: Site, threshold: float) -> Iterator[Finding]:
        for row, urls in site.read(column):
            distinct = list(dict.fromkeys(urls or ()))
            if len(distinct) > threshold:
                yield Finding(row, len(distinct), enumerated(distinct))

    return find


_rule = partial(Rule, type="opportunity", priority="low")

RULES = (
    _rule(
        name="dom_too_large",
        title="Very many elements",
        category="html",
        explanation="Each element costs browsers time and memory whenever the page is laid out, above all on "
        "phones.",
        fix="Leave out elements that only wrap others, and load long lists in parts.",
        find=more("elements", "elements"),
        threshold=1_500,
        unit="elements",
        columns=("elements",),
        measured="All elements of the page as a browser parses it, before scripts run.",
        source=DOM_SIZE,
    ),
    _rule(
        name="scripts_blocking",
        title="Scripts that block rendering",
        category="html",
        explanation="Browsers show nothing until these scripts of the head have been fetched and run.",
        fix="Add defer or async to the scripts, or move them to the end of the body.",
        find=listed("blocking_scripts"),
        columns=("blocking_scripts",),
        measured="Scripts in the head with src and without async, defer, nomodule or the type module.",
        source=both(RENDER_BLOCKING, SCRIPT),
    ),
    _rule(
        name="styles_blocking",
        title="Many style sheets that block rendering",
        category="html",
        explanation="Browsers show nothing until all style sheets of the head have been fetched.",
        fix="Join style sheets, write the few styles that the top needs into the page, and load others "
        "later.",
        find=_more("blocking_styles"),
        threshold=2,
        unit="style sheets",
        columns=("blocking_styles",),
        measured="Distinct style sheets in the head for all media or for screens, over a limit that is ours: "
        "one or two are common.",
        source=both(RENDER_BLOCKING, STYLE_SHEET),
    ),
    _rule(
        name="images_not_lazy",
        title="Images that are not loaded late",
        category="images",
        explanation="Images further down compete for the line with what visitors see first.",
        fix='Add loading="lazy" to images that are not in view when the page opens.',
        find=listed("images_not_lazy"),
        columns=("images_not_lazy",),
        measured="Images after the first five of the page without loading=lazy and without an address that "
        "scripts read; the limit is ours, since styles decide what is in view.",
        source=both(LAZY_IMAGES, LAZY_LOADING),
    ),
    _rule(
        name="images_old_format",
        title="Images without a modern format",
        category="images",
        explanation="WebP and AVIF take a quarter to a half less bytes than JPEG and PNG at the same "
        "quality.",
        fix="Save the images as WebP or AVIF, or offer them in a picture element.",
        find=listed("images_in_old_formats"),
        columns=("images_in_old_formats",),
        measured="Images whose address ends in jpg, jpeg, png or bmp, larger than 64 pixels where the size "
        "is given, and with no WebP or AVIF in srcset or picture. What a server sends by Accept is not "
        "seen.",
        source=WEBP,
    ),
    _rule(
        name="images_without_srcset",
        title="Large images in one size",
        category="images",
        explanation="Phones load the same large file as wide screens, though they show it small.",
        fix="Offer the image in several widths with srcset and sizes.",
        find=listed("images_without_srcset"),
        columns=("images_without_srcset",),
        measured="Images with a width attribute over 600 and neither srcset nor a picture element with "
        "sources; drawings in SVG are left out.",
        source=both(RESPONSIVE_IMAGES, SRCSET),
    ),
)
