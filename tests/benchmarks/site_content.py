"""Duplicates and thin pages of eight real sites, judged by an own reading of them.

The sites are documentation in Debian packages, read from their files: what is reached by links from the start
page. Truth is an own walk over the tree of lexbor, and shares nothing else with the package: the blocks of text of a
page, without those that stand on most pages of the site or of its first folder.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

import pandas as pd
from selectolax.lexbor import LexborHTMLParser, LexborNode

import webanalytics as wa
from tests.peers.walk import SITES

RULES = ("duplicate_page", "near_duplicate", "content_low")
THIN, LEAST, NEAR, GROUP = 200, 20, 0.9, 10
"""Words of a thin page, fewest of one that is compared, likeness of near duplicates, pages of a group."""
SHOWN = 8

_WORD = re.compile(r"\w+")
_UNSEEN = """script style template noscript head svg math iframe object select textarea audio video canvas
title""".split()  # noqa: SIM905
_BLOCKS = """address article aside blockquote body br caption center dd details div dl dt fieldset figcaption figure
footer form h1 h2 h3 h4 h5 h6 header hr legend li main nav ol p pre section summary table tbody td tfoot th thead
tr ul""".split()  # noqa: SIM905


class Read(NamedTuple):
    """What lexbor reads of a page."""

    blocks: list[str]
    links: list[str]
    lang: str
    canonical: str


def read(html: bytes) -> Read:
    """Return the blocks of visible text, the links, the language and the canonical address of a page."""
    tree = LexborHTMLParser(html)
    pieces: list[str] = []
    if tree.body is not None:
        _walk(tree.body, pieces)
    blocks = [" ".join(block.split()) for block in "".join(pieces).split("\0")]
    links = [node.attributes.get("href") or "" for node in tree.css("a[href]")]
    canonical = tree.css_first('link[rel="canonical"]')
    return Read(
        [block for block in blocks if block],
        links,
        (tree.root.attributes.get("lang") or "") if tree.root else "",
        (canonical.attributes.get("href") or "") if canonical else "",
    )


def _walk(root: LexborNode, pieces: list[str]) -> None:
    todo: list[LexborNode | str] = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, str):
            pieces.append(node)
        elif node.tag == "-text":
            pieces.append(node.text_content or "")
        elif node.tag not in _UNSEEN and not _is_hidden(node):
            edge = "\0" if node.tag in _BLOCKS else ""
            todo += [edge, *reversed(list(node.iter(include_text=True))), edge]


def _is_hidden(node: LexborNode) -> bool:
    style = (node.attributes.get("style") or "").replace(" ", "").lower()
    return "hidden" in node.attributes or "display:none" in style


def pages_of(start: Path) -> dict[str, tuple[bytes, Read]]:
    """Return the pages that links lead to, by their paths below the folder of the start."""
    home = start.resolve().parent
    found: dict[str, tuple[bytes, Read]] = {}
    todo = [start.name]
    while todo:
        path = todo.pop()
        file = home / path
        if path in found or file.suffix not in (".html", ".htm") or not file.is_file():
            continue
        content = file.read_bytes()
        found[path] = content, read(content)
        for link in found[path][1].links:
            parts = urlsplit(urljoin(f"http://x/{path}", link.strip())) if "[" not in link else urlsplit("")
            if parts.netloc == "x":
                todo.append(unquote(parts.path).lstrip("/"))
    return dict(sorted(found.items()))


def own_texts(pages: dict[str, Read]) -> dict[str, str]:
    """Return the text of each page without the blocks on most pages of the site or of its first folder."""
    groups = defaultdict(list)
    for path in pages:
        for group in {"", path.partition("/")[0] if "/" in path else ""}:
            groups[group].append(path)
    shared: dict[str, set[str]] = {}
    for group, paths in groups.items():
        texts = {"\n".join(pages[path].blocks) for path in paths}
        counts = Counter(chain.from_iterable(set(text.split("\n")) for text in texts))
        few = len(texts) < GROUP
        shared[group] = set() if few else {block for block, count in counts.items() if 2 * count > len(texts)}
    return {
        path: "\n".join(
            block
            for block in page.blocks
            if block not in shared[""] and block not in shared.get(path.partition("/")[0], ())
        )
        for path, page in pages.items()
    }


def words_of(text: str) -> int:
    """Return the words that white space parts and that have a letter or a digit."""
    return sum(any(map(str.isalnum, word)) for word in text.split())


def near_pairs(sets: dict[str, set[tuple[str, ...]]]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of pages whose sets are alike, found exactly by the rarest members of each (PPJoin)."""
    counts = Counter(chain.from_iterable(sets.values()))
    index = defaultdict(list)
    for path, own in sorted(sets.items(), key=lambda item: len(item[1])):
        rarest = sorted(own, key=lambda item: (counts[item], item))[: int((1 - NEAR) * len(own)) + 1]
        for other in {known for item in rarest for known in index[item]}:
            both = len(own & sets[other])
            if both >= NEAR * (len(own) + len(sets[other]) - both):
                yield path, other
        for item in rarest:
            index[item].append(path)


def truth(pages: dict[str, Read]) -> dict[str, set[str]]:
    """Return the pages that each rule should name."""
    texts = own_texts(pages)
    compared = {
        path: text for path, text in texts.items() if words_of(text) >= LEAST and not pages[path].canonical
    }
    equal = Counter((text, pages[path].lang) for path, text in compared.items())
    duplicates = {path for path, text in compared.items() if equal[text, pages[path].lang] > 1}
    sets = {}
    for path, text in compared.items():
        words = _WORD.findall(text.lower())
        sets[path] = set(zip(words, words[1:], words[2:], strict=False))
    near = {
        path
        for pair in near_pairs(sets)
        for path in pair
        if compared[pair[0]] != compared[pair[1]] and pages[pair[0]].lang == pages[pair[1]].lang
    }
    low = {path for path, text in texts.items() if 0 < words_of(text) < THIN}
    return {"duplicate_page": duplicates, "near_duplicate": near, "content_low": low}


def report() -> str:
    """Return precision and recall of each rule and site, and pages that are judged wrongly."""
    lines = [f"{'site':22} {'pages':>6}" + "".join(f"  {rule:>34}" for rule in RULES)]
    sums = {rule: [0, 0, 0] for rule in RULES}
    wrong = []
    for site, start in SITES.items():
        if not Path(start).exists():
            lines.append(f"{site:22} not installed")
            continue
        known = pages_of(Path(start))
        home = "https://site.example/"
        frame = pd.DataFrame(
            {"url": [home + path for path in known], "html": [html for html, _ in known.values()]}
        )
        issues = wa.audit(frame, progress=False).issues
        expected = truth({path: page for path, (_, page) in known.items()})
        cells = []
        for rule in RULES:
            said = {url.removeprefix(home) for url in issues.loc[issues["rule"] == rule, "url"]}
            both = len(said & expected[rule])
            for place, count in enumerate((both, len(said), len(expected[rule]))):
                sums[rule][place] += count
            cells.append(_cell(both, len(said), len(expected[rule])))
            wrong += [f"{site} {rule}: {path} (not so)" for path in sorted(said - expected[rule])[:SHOWN]]
            wrong += [f"{site} {rule}: {path} (missed)" for path in sorted(expected[rule] - said)[:SHOWN]]
        lines.append(f"{site:22} {len(known):6,}" + "".join(cells))
    lines.append(f"{'all':29}" + "".join(_cell(*sums[rule]) for rule in RULES))
    return "\n".join([*lines, "(found right / found / there are, precision, recall)", *wrong])


def _cell(both: int, said: int, there: int) -> str:
    precision = f"{both / said:.3f}" if said else "-"
    recall = f"{both / there:.3f}" if there else "-"
    return f"  {both:6,} /{said:6,} /{there:6,} {precision:>5} {recall:>5}"
