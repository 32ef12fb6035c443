"""Rules for the meta description of a page."""

from __future__ import annotations

from functools import partial

from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Rule
from webanalytics.audits.rules.searches import above, below, empty, listed, outside_head
from webanalytics.thresholds import DESCRIPTION_PIXELS

_rule = partial(Rule, category="description")

RULES = (
    _rule(
        name="description_missing",
        title="Meta description missing",
        type="opportunity",
        priority="low",
        explanation="Without a description, search engines show any passage of the page under its title.",
        fix="Add a meta description of one or two sentences that tells why to open the page.",
        find=empty("description"),
        columns=("description",),
        measured="The first meta element named description that has content.",
        source=sources.SNIPPETS,
    ),
    _rule(
        name="description_too_long",
        title="Meta description too long",
        type="opportunity",
        priority="low",
        explanation="Search results have room for a description of a certain width and cut what is longer, "
        "often in the middle of a sentence.",
        fix="Shorten the description and put what matters first.",
        find=above("description_pixels", "description", beside="description_length"),
        threshold=DESCRIPTION_PIXELS[1],
        unit="pixels",
        columns=("description_pixels",),
        measured="Width in pixels of the description at 14 pixels in an Arial-like font. Search engines "
        "publish no limit: the default is the usual one of SEO tools.",
        source=sources.SNIPPETS,
    ),
    _rule(
        name="description_too_short",
        title="Meta description too short",
        type="opportunity",
        priority="low",
        explanation="A short description leaves room unused that could win readers over.",
        fix="Extend the description by what readers find on the page and what they gain from it.",
        find=below("description_pixels", "description", beside="description_length"),
        threshold=DESCRIPTION_PIXELS[0],
        unit="pixels",
        columns=("description_pixels",),
        measured="Width in pixels of the description at 14 pixels in an Arial-like font. No search engine "
        "publishes a least width: the default is the usual one of SEO tools.",
        source=sources.SNIPPETS,
    ),
    _rule(
        name="description_multiple",
        title="Several meta descriptions",
        priority="low",
        explanation="With several descriptions it is up to the search engine which one it shows.",
        fix="Keep the best meta description and remove the others, which often come from a plug-in.",
        find=listed("descriptions", 2),
        columns=("descriptions",),
        measured="Meta elements named description are counted; those of Open Graph and of cards are others.",
        source=sources.both(sources.SNIPPETS, sources.DESCRIPTION),
    ),
    _rule(
        name="description_outside_head",
        title="Meta description outside of the head",
        explanation="Search engines look for the description in the head of the page and may not see one "
        "that stands after it.",
        fix="Move the meta description into the head, and look for an element before it that ends the head "
        "too early.",
        find=outside_head("description"),
        columns=("outside_head",),
        measured="Whether a meta description comes after the start of the body, in the tree that a browser "
        "builds.",
        source=sources.both(sources.HEAD_METADATA, sources.HEAD),
    ),
)
