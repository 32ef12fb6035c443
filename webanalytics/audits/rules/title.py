"""Rules for the title of a page."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.rules.searches import above, below, empty, listed, outside_head
from webanalytics.audits.site import Site
from webanalytics.thresholds import TITLE_PIXELS


@page_by_page
def _same_as_h1(site: Site, _: Any) -> Iterator[Finding]:
    for row, title, headings in site.read("title", "headings"):
        wanted = (title or "").strip().casefold()
        for heading in headings or ():
            if heading["level"] == "h1" and (text := heading["text"].strip()):
                if wanted and text.casefold() == wanted:
                    yield Finding(row, evidence=text)
                break


_rule = partial(Rule, category="title")

RULES = (
    _rule(
        name="title_missing",
        title="Title missing",
        priority="high",
        explanation="The title is the headline of the page in search results and in browser tabs. "
        "Without one, search engines make up their own.",
        fix="Add a title element to the head that says in a few words what the page is about.",
        find=empty("title"),
        columns=("title",),
        measured="The first title element with text, anywhere in the document but in drawings (SVG); a page "
        "is reported where none has text.",
        source=sources.both(sources.TITLE_LINKS, sources.TITLE),
    ),
    _rule(
        name="title_too_long",
        title="Title too long",
        type="opportunity",
        explanation="Search results have room for a title of a certain width and cut what is longer, so that "
        "readers do not see how it ends.",
        fix="Shorten the title and put what matters first; capital letters take the most room.",
        find=above("title_pixels", "title", beside="title_length"),
        threshold=TITLE_PIXELS[1],
        unit="pixels",
        columns=("title_pixels",),
        measured="Width in pixels of the title at 20 pixels in an Arial-like font, by the advance width of "
        "each letter. Search engines publish no limit: the default is the usual one of SEO tools.",
        source=sources.TITLE_LINKS,
    ),
    _rule(
        name="title_too_short",
        title="Title too short",
        type="opportunity",
        explanation="A short title leaves room unused that could say what the page offers and for whom.",
        fix="Extend the title by what the page is about, in the words that readers search for.",
        find=below("title_pixels", "title", beside="title_length"),
        threshold=TITLE_PIXELS[0],
        unit="pixels",
        columns=("title_pixels",),
        measured="Width in pixels of the title at 20 pixels in an Arial-like font. No search engine "
        "publishes a least width: the default is the usual one of SEO tools.",
        source=sources.TITLE_LINKS,
    ),
    _rule(
        name="title_same_as_h1",
        title="Title same as h1",
        type="opportunity",
        explanation="Title and main heading say the same, so one of two places to tell readers and search "
        "engines more about the page is not used.",
        fix="Word one of the two differently, for example with a related search term in the title.",
        find=_same_as_h1,
        columns=("title", "headings"),
        measured="The title and the first h1 with text are compared without regard to case and to white "
        "space at their ends.",
        source=sources.TITLE_LINKS,
    ),
    _rule(
        name="title_multiple",
        title="Several titles",
        explanation="A page has one title. With several of them it is up to the search engine which one "
        "it shows.",
        fix="Keep the best title element and remove the others, which often come from a plug-in.",
        find=listed("titles", 2),
        columns=("titles",),
        measured="Title elements are counted in the whole document; those of drawings (SVG) are left out.",
        source=sources.both(sources.TITLE, sources.HEAD_METADATA),
    ),
    _rule(
        name="title_outside_head",
        title="Title outside of the head",
        priority="high",
        explanation="Search engines look for the title in the head of the page and may not see one "
        "that stands after it.",
        fix="Move the title element into the head, and look for an element before it that ends the head "
        "too early.",
        find=outside_head("title"),
        columns=("outside_head",),
        measured="Whether a title element comes after the start of the body, in the tree that a browser "
        "builds.",
        source=sources.both(sources.HEAD_METADATA, sources.HEAD),
    ),
)
