"""What is measured of a page as a whole, for the model that says of which type it is."""

from __future__ import annotations

import re
from collections import Counter

import ahocorasick
import numpy as np

from webanalytics.page.content.features import Numbers, unspaced_words, words
from webanalytics.page.content.names import BIT, bits
from webanalytics.page.page import Page
from webanalytics.page.structured.jsonld import jsonld_texts
from webanalytics.page.visible_text import Blocks
from webanalytics.urls import parts_of

KINDS = {
    "article": "Article NewsArticle BlogPosting Report ScholarlyArticle ReportageNewsArticle",
    "product": "Product ProductGroup Offer AggregateOffer",
    "list": "ItemList CollectionPage SearchResultsPage ProductCollection OfferCatalog",
    "forum": "DiscussionForumPosting QAPage Question Answer",
    "company": "Organization LocalBusiness Service ProfessionalService Corporation Dentist LegalService",
    "web": "WebPage WebSite",
}
_KIND = {f"{word}": number for number, words in enumerate(KINDS.values()) for word in words.split()}
_TYPE = re.compile(r'"@type"\s*:\s*(?:\[\s*)?"([A-Za-z]+)"')
PATH = {
    "docs": "docs doc documentation reference api guide guides manual tutorial learn wiki man help "
    "latest stable",
    "forum": "forum forums thread threads topic topics t showthread viewtopic questions community "
    "discussion comments d",
    "product": "product products p dp item itm sku buy",
    "list": "collections collection category categories c shop catalog browse cat search list lists",
    "article": "blog news article articles story post posts",
    "tag": "tag tags topic author archive",
    "service": "services service solutions about pricing features platform company industries",
}
_PATH = {word: number for number, words in enumerate(PATH.values()) for word in words.split()}
GENERATORS = "docusaurus wordpress gitbook phpbb drupal webflow"
BODY = (
    "navigation header footer advert post article title byline product card form contents details lead "
    "section"
)
"""What the names of the body may say of a page."""
_WORDS = re.compile(r"[a-z]+")
PHRASES = {
    "reply": "reply;replies;posted;joined;upvote;likes;member;permalink;#1;#2",
    "buy": "add to cart;add to bag;add to basket;in stock;buy now;free shipping;quantity;sku",
    "docs": "parameter;returns;example;install;api;function;version;on this page;edit this page",
    "service": "our team;our services;our clients;customers;get started;contact us;book a;request a;"
    "free quote;demo;pricing;trusted by",
    "article": "min read;published;updated;written by;author;photo",
    "more": "read more;continue reading;view all;see all;learn more",
    "review": "verified;out of 5;reviews;rating",
}
_PHRASES = ahocorasick.Automaton(ahocorasick.STORE_INTS)
for _group, _listed in enumerate(PHRASES.values()):
    for _phrase in _listed.split(";"):
        _PHRASES.add_word(_phrase, _group)
_PHRASES.make_automaton()
_SUMMED = words("currency date call ends is_p is_li is_td is_h2 is_h3 is_pre is_button")
MOST_READ = 100_000
"""Characters of a page's text in which phrases are counted."""
_COUNTED = "img table form input article section h1 h2 h3 code pre iframe time a p ul"


def page_features(page: Page, blocks: Blocks, table: Numbers, names: list[str]) -> tuple[Numbers, list[str]]:
    """Return numbers of a page and their names, from those of its blocks and from what it says of itself."""
    body = next((node for node in blocks.nodes if node.tag == "body"), None)
    body_name = " ".join((body.get("class") or "", body.get("id") or "")) if body else ""
    generator = " ".join(page.metas("generator", "application-name", "og:site_name"))
    written = f"{generator} {body_name}".lower()
    groups = bits(body_name)
    found = {
        **_of_data(page),
        **{f"made_{name}": float(name in written) for name in GENERATORS.split()},
        **_of_address(page),
        **_of_blocks(table, names),
        **_of_texts(page, blocks),
        **{f"body_{name}": bool(groups & BIT[name]) for name in BODY.split()},
    }
    return np.array(list(found.values()), dtype=np.float32), list(found)


def _of_data(page: Page) -> dict[str, float]:
    """Return of which kinds the things are that a page's structured data tell of."""
    named = [name for text in jsonld_texts(page) for name in _TYPE.findall(text[:MOST_READ])]
    named.extend(
        (element.get("itemtype") or "").rsplit("/", 1)[-1] for element in page.having("itemscope")[:500]
    )
    times = Counter(map(_KIND.get, named))
    declared = " ".join(page.metas("og:type")).lower()
    return {
        **{f"kind_{name}": min(times[at], 50) for at, name in enumerate(KINDS)},
        **{f"og_{name}": name in declared for name in ("article", "product")},
    }


def _of_address(page: Page) -> dict[str, float]:
    """Return what a page's address says, as the page has it or as it was asked for."""
    address = next(iter(page.metas("og:url")), "") or page.url
    parts = parts_of(address)
    path = parts.path.lower()
    steps = [step for step in path.split("/") if step]
    said = " ".join((*steps[:-1], parts.netloc.lower().split(".")[0]))
    of_path = {_PATH.get(word) for word in _WORDS.findall(said)}
    return {
        "path_steps": len(steps),
        "path_known": bool(address),
        "path_hyphens": steps[-1].count("-") if steps else 0,
        "path_digits": sum(map(str.isdigit, path)),
        **{f"path_{name}": at in of_path for at, name in enumerate(PATH)},
    }


def _of_blocks(table: Numbers, names: list[str]) -> dict[str, float]:
    """Return what the blocks of a page are like together."""
    column = dict(zip(names, table, strict=True))
    chars, share, widest = column["chars"], column["link_share"], column["widest_repeat"]
    total = max(float(chars.sum()), 1.0)
    prose = (chars >= 80) & (share < 0.3)
    found: dict[str, float] = {
        "blocks": len(chars),
        "chars": total,
        "prose_share": float(chars[prose].sum()) / total,
        "prose_chars": float(chars[prose].sum()),
        "prose_blocks": int(prose.sum()),
        "prose_mean": float(chars[prose].mean()) if prose.any() else 0.0,
        "linked": float((share * chars).sum()) / total,
    }
    counts, weighed = table.sum(axis=1).tolist(), (table @ chars / total).tolist()
    for number, name in enumerate(names):
        if name in _SUMMED:
            found[f"n_{name}"] = counts[number]
            found[f"share_{name}"] = weighed[number]
        elif name.startswith(("near_", "any_")):
            found[f"share_{name}"] = weighed[number]
    found["repeat_chars"] = float(chars[widest >= 4].sum()) / total
    found["repeat_most"] = float(widest.max())
    found["repeat_prose"] = float(chars[prose & (widest >= 4)].sum()) / total
    return found


def _of_texts(page: Page, blocks: Blocks) -> dict[str, float]:
    """Return how often phrases and elements are on a page."""
    said = "\n".join(blocks.texts)[:MOST_READ].lower()
    times = Counter([group for _, group in _PHRASES.iter(said)])
    tagged = page.document.tagged
    return {
        **{f"said_{name}": times[group] for group, name in enumerate(PHRASES)},
        "title_words": page.title.count(" ") + unspaced_words(page.title),
        **{f"tag_{tag}": len(tagged[tag]) for tag in _COUNTED.split()},
    }
