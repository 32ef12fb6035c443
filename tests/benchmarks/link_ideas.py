"""Links hidden in real sites: how many of them `audit.link_ideas` finds again.

Of two sites of documentation a tenth of the pairs of pages with a link in the text lose their links, chosen by chance;
the words stay. What is found is counted among the ideas for each target, the links that remain being known.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

import webanalytics as wa
from tests.benchmarks.site_content import SITES, pages_of
from webanalytics.fetching.testing import Reply, SiteServer

CHOSEN = ("sqlite3-doc", "python-django-doc")
HIDDEN = 0.1
DEPTHS = (1, 5, 20)
MENUS = ("nav", "header", "footer", "aside")


def _stands_in_text(node: LexborNode) -> bool:
    above = node.parent
    while above is not None:
        classes = (above.attributes.get("class") or "").split()
        if above.tag in MENUS or {"sphinxsidebar", "related", "nav", "menu", "toc"} & set(classes):
            return False
        above = above.parent
    return True


def measured(name: str, chance: random.Random) -> str:
    """Return how many hidden links of a site are found."""
    pages = pages_of(Path(SITES[name]))
    trees = {path: LexborHTMLParser(content) for path, (content, _) in pages.items()}
    links: dict[tuple[str, str], list[LexborNode]] = {}
    for path, tree in trees.items():
        for node in tree.css("a[href]"):
            target = urlsplit(urljoin(f"http://x/{path}", node.attributes["href"] or "")).path[1:]
            if target in pages and target != path and node.text(strip=True) and _stands_in_text(node):
                links.setdefault((path, target), []).append(node)
    hidden = set(chance.sample(sorted(links), int(HIDDEN * len(links))))
    for pair in hidden:
        for node in links[pair]:
            node.unwrap()
    left = Counter(target for pair in links if pair not in hidden for target in pair[1:])
    site = {
        f"/{path}": Reply(200, {"Content-Type": "text/html"}, (tree.html or "").encode())
        for path, tree in trees.items()
    }
    with SiteServer(site) as server:
        start = f"{server.url}/{Path(SITES[name]).name}"
        audit = wa.crawl(start, sitemap=None, allow_private=True, progress=False, max_pages=10_000)
        length = len(server.url) + 1
    begun = time.process_time()
    ideas = audit.link_ideas(per_page=max(DEPTHS))
    spent = time.process_time() - begun
    places = ideas.groupby("target").cumcount()
    shares = []
    for depth in DEPTHS:
        top = ideas[places < depth]
        found = hidden & set(zip(top["source"].str[length:], top["target"].str[length:], strict=True))
        shares.append(f"{len(found) / len(hidden):.2f} of them among {depth} for each page")
    named = sum(1 for _, target in hidden if left[target])
    return (
        f"{name}: {len(pages):,} pages, {len(links):,} pairs, {len(hidden):,} hidden ({named:,} to pages that other "
        f"links name), {len(ideas):,} ideas in {spent:.1f} s: {', '.join(shares)}"
    )


def report() -> str:
    """Return the figures of both sites."""
    there = [name for name in CHOSEN if Path(SITES[name]).exists()]
    missing = [f"{name}: not installed" for name in CHOSEN if name not in there]
    return "\n".join([*(measured(name, random.Random(29)) for name in there), *missing])
