"""What the names of classes, ids, roles and tags say about a part of a page: a bit for each group."""

from __future__ import annotations

import re
from functools import lru_cache

GROUPS: dict[str, str] = {
    "navigation": "nav navbar navigation menu submenu megamenu topbar toolbar skip navigate subnav menubar",
    "breadcrumb": "breadcrumb breadcrumbs crumb crumbs",
    "header": "header masthead topnav",
    "footer": "footer foot colophon copyright legal contentinfo",
    "side": "sidebar aside rail widget widgets secondary complementary sidenav side sidecolumn",
    "advert": "ad ads advert advertisement sponsor sponsored promo promoted promotion adslot dfp outbrain "
    "taboola",
    "share": "share sharing social socials follow facebook twitter pinterest addthis sharebar shares",
    "related": "related recommended recommendation recommendations similar upsell crosssell also more "
    "trending popular latest suggested next previous prev readmore recirculation",
    "comment": "comment comments disqus respond commentlist feedback replies",
    "post": "post message thread topic msg messages posts threaded reply userpost postbody",
    "article": "article story entry blog blogpost articles",
    "body": "content body text richtext prose wysiwyg markdown rte copy articlebody entrycontent postcontent "
    "paragraph maincontent",
    "title": "title headline heading headings titles",
    "byline": "meta byline author date time published timestamp avatar user username signature bio profile "
    "authors datetime info",
    "product": "product price sku buy cart offer prices products pdp variant stock shipping wishlist "
    "addtocart",
    "review": "review reviews rating ratings stars testimonial testimonials bazaarvoice",
    "card": "card cards tile item items teaser grid list listing result results carousel slide slider swiper "
    "slick row cell",
    "popup": "cookie cookies consent gdpr modal popup overlay dialog notice toast drawer alert onetrust "
    "lightbox",
    "form": "newsletter subscribe signup signin login register form subscription account search filter "
    "filters facet facets sort refine select dropdown search searchbox input",
    "tag": "tag tags category categories label labels keywords topics badge badges chip pill",
    "contents": "toc contents tableofcontents outline pagination pager paging pagenav pages",
    "media": "caption credit figure gallery image photo video media player thumbnail img figcaption picture "
    "icon",
    "hidden": "hidden sr visually screenreader collapsed invisible tooltip offscreen only assistive",
    "code": "code highlight example syntax pre snippet codeblock language",
    "fold": "accordion tab faq panel collapse tabs tabpanel accordions toggle expand",
    "action": "button btn cta action actions link links buttons controls",
    "details": "spec specs specification specifications attributes details feature features table detail "
    "properties benefits overview",
    "lead": "lead intro summary excerpt dek subtitle standfirst tagline hero banner introduction abstract",
    "answer": "answer question answers qa questions",
    "description": "description desc about longdescription shortdescription productdescription",
    "main": "main primary",
    "section": "section block container wrapper module component layout",
}
"""Words by group; the order is that of the bits."""

BIT = {name: 1 << number for number, name in enumerate(GROUPS)}
WORDS = {word: BIT[name] for name, words in GROUPS.items() for word in words.split()}
_TAGS = (
    "nav=navigation menu=navigation header=header footer=footer aside=side form=form fieldset=form "
    "label=form search=form figure=media figcaption=media button=action main=main article=article "
    "dialog=popup time=byline address=byline details=fold pre=code code=code"
)
TAGS = {tag: BIT[name] for tag, name in (pair.split("=") for pair in _TAGS.split())}
"""Bits of tags."""
READ = frozenset(
    ("class", "id", "role", "itemprop", "data-testid", "aria-label", "data-component", "itemtype")
)
"""Attributes whose words are read."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
MOST = 300
"""Characters of a name that are read."""


@lru_cache(maxsize=20_000)
def bits(value: str) -> int:
    """Return the groups that the words of a name belong to.

    Examples
    --------
    >>> bits("postContent td-main") == BIT["post"] | BIT["body"] | BIT["main"]
    True
    """
    found = 0
    for word in _WORD.findall(value[:MOST]):
        found |= WORDS.get(word.lower(), 0)
    return found
