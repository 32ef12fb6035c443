"""Findings on saved pages against own detectors of lexbor, rule by rule: precision, and what only one side has.

``--folder DIR`` names the pages, ``*.html`` or ``*.html.gz``; ``DIR/../ground-truth/NAME.json`` has the address of each,
where there is such a folder. The detectors read the markup alone and share nothing with the package but what the
pages of the rules say that is measured. Where a page has what a rule names, the rule is right; what only lexbor sees is
more often what browsers hide.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pandas as pd
from selectolax.lexbor import LexborHTMLParser, LexborNode

import webanalytics as wa
from tests.benchmarks.rule_detectors import MORE, QUOTING, quoted

MOST = 760
SHOWN = 6
_HEADINGS = "h1, h2, h3, h4, h5, h6"
_OLD = re.compile(r"\.(?:jpe?g|png|bmp)$", re.IGNORECASE)
_NOSCRIPT = re.compile(r"<noscript\b.*?</noscript\s*>", re.IGNORECASE | re.DOTALL)
_NEW = re.compile(r"\.(?:webp|avif)\b|image/(?:webp|avif)|format=(?:webp|avif)", re.IGNORECASE)


class Page:
    """A page as lexbor reads it, and what the detectors ask for."""

    def __init__(self, url: str, html: bytes) -> None:
        self.url, self.html = url, html
        # What browsers do that run scripts: `noscript` is text, and ends no head.
        self.source = _NOSCRIPT.sub("", html.decode("utf-8", "replace"))
        self.tree = LexborHTMLParser(self.source)

    def all(self, selector: str) -> list[LexborNode]:
        return [node for node in self.tree.css(selector) if not self.inside(node, "template", "noscript")]

    @staticmethod
    def inside(node: LexborNode, *tags: str) -> bool:
        parent = node.parent
        while parent is not None:
            if parent.tag in tags:
                return True
            parent = parent.parent
        return False

    @staticmethod
    def get(node: LexborNode, name: str) -> str | None:
        return (node.attributes[name] or "") if name in node.attributes else None

    def is_hidden(self, node: LexborNode | None) -> bool:
        while node is not None and node.tag not in ("-document", "-undef", None):
            style = (self.get(node, "style") or "").replace(" ", "").lower()
            gone = "display:none" in style or "visibility:hidden" in style
            if "hidden" in node.attributes or gone or (self.get(node, "aria-hidden") or "").lower() == "true":
                return True
            node = node.parent
        return False

    def meta(self, name: str) -> list[str]:
        return [
            value
            for node in self.all("meta")
            if name in ((self.get(node, key) or "").strip().lower() for key in ("name", "property"))
            and (value := (self.get(node, "content") or "").strip())
        ]

    def rel(self, *names: str) -> list[LexborNode]:
        return [
            node
            for node in self.all("link[href]")
            if set((self.get(node, "rel") or "").lower().split()) & set(names)
        ]

    def text(self, node: LexborNode) -> str:
        return " ".join(
            "".join(
                part.text_content or ""
                for part in node.traverse(include_text=True)
                if part.tag == "-text" and not self.inside(part, "script", "style")
            ).split()
        )

    def name(self, node: LexborNode) -> str:
        """Return what a link or button is called: text, alternative texts, label, title; not what is hidden."""
        said = [self.get(node, key) or "" for key in ("aria-label", "aria-labelledby", "title", "value")]
        for part in node.traverse(include_text=True):
            if part.tag == "-text":
                if not self.is_hidden(part.parent) and not self.inside(part, "script", "style"):
                    said.append(part.text_content or "")
            elif part.tag and not part.tag.startswith("-") and not self.is_hidden(part):
                said += [self.get(part, key) or "" for key in ("aria-label", "title", "alt")]
        return "".join(said).strip()

    @cached_property
    def headings(self) -> list[tuple[int, str, LexborNode]]:
        found = [(int((node.tag or "h0")[1]), self.text(node), node) for node in self.all(_HEADINGS)]
        return [(level, text, node) for level, text, node in found if not self.inside(node, "svg")]

    def of_level(self, level: int) -> list[str]:
        return [text for other, text, _ in self.headings if other == level and text]

    @cached_property
    def images(self) -> list[LexborNode]:
        return [node for node in self.tree.css("img") if not self.inside(node, "template", "noscript")]

    @cached_property
    def base(self) -> str:
        found = [self.get(node, "href") or "" for node in self.tree.css("base[href]")]
        return urljoin(self.url, found[0].strip()) if found else self.url

    @cached_property
    def links(self) -> list[tuple[str, LexborNode]]:
        found = []
        for node in self.all("a[href], area[href]"):
            try:
                target = urljoin(self.base, (self.get(node, "href") or "").strip())
                if urlsplit(target).scheme in ("http", "https"):
                    found.append((target, node))
            except ValueError:
                continue
        return found

    def own_links(self) -> Iterator[LexborNode]:
        host = urlsplit(self.url).netloc
        for target, node in self.links:
            if urlsplit(target).netloc == host and target.partition("#")[0] != self.url:
                yield node

    @cached_property
    def canonicals(self) -> list[str]:
        return [
            urljoin(self.base, (self.get(node, "href") or "").strip())
            for node in self.rel("canonical")
            if self.inside(node, "head")
        ]

    @cached_property
    def ids(self) -> tuple[set[str], set[str]]:
        """Ids that several elements have, and ids that something refers to."""
        counts = Counter(self.get(node, "id") for node in self.all("[id]"))
        refs: set[str] = set()
        for key in ("for", "headers", "aria-labelledby", "aria-describedby", "aria-controls", "aria-owns"):
            for node in self.all(f"[{key}]"):
                refs |= set((self.get(node, key) or "").split())
        for key in ("aria-activedescendant", "aria-details", "aria-errormessage", "aria-flowto"):
            for node in self.all(f"[{key}]"):
                refs |= set((self.get(node, key) or "").split())
        return {name for name, times in counts.items() if name and times > 1}, refs

    def in_label(self, node: LexborNode) -> bool:
        parent = node.parent
        while parent is not None and parent.tag != "label":
            parent = parent.parent
        return parent is not None and bool(self.name(parent))

    @cached_property
    def fields(self) -> list[tuple[LexborNode, bool, bool]]:
        """Fields, whether each has a label, whether it has a placeholder."""
        labelled = {self.get(node, "for") for node in self.all("label[for]") if self.text(node)}
        drawn = {self.get(node, "for") for node in self.all("label[for]")}
        found = []
        for node in self.all("input, select, textarea"):
            kind = (self.get(node, "type") or "text").lower()
            if node.tag == "input" and kind in ("hidden", "submit", "button", "reset", "image"):
                continue
            named = any(
                (self.get(node, key) or "").strip() for key in ("aria-label", "aria-labelledby", "title")
            )
            switch = kind == "checkbox" and not self.get(node, "name")  # of a menu; style sheets hide it
            label = named or self.in_label(node) or self.get(node, "id") in (drawn if switch else labelled)
            found.append((node, label, bool((self.get(node, "placeholder") or "").strip())))
        return found

    @cached_property
    def types(self) -> bool:
        """Whether the page has structured data of schema.org."""
        for node in self.all('script[type="application/ld+json"]'):
            if re.search(r"[\"']@type[\"']", node.text() or node.html or ""):
                return True
        return bool(self.all("[itemscope][itemtype*=schema]"))

    def head(self, selector: str) -> list[LexborNode]:
        return [node for node in self.all(selector) if self.inside(node, "head")]

    @cached_property
    def hreflangs(self) -> list[tuple[str, str]]:
        return [
            (self.get(node, "hreflang") or "", urljoin(self.base, self.get(node, "href") or ""))
            for node in self.rel("alternate")
            if self.get(node, "hreflang")
        ]


def _not_in_order(page: Page) -> bool:
    levels = [level for level, text, node in page.headings if text]
    every = [level for level, _, _ in page.headings]
    return any(b > a + 1 for row in (levels, every) for a, b in pairwise(row))


def _old_images(page: Page) -> bool:
    for node in page.images:
        source = page.get(node, "src") or ""
        new = _NEW.search(page.get(node, "srcset") or "") or _NEW.search(source)
        picture = (
            node.parent is not None and node.parent.tag == "picture" and _NEW.search(node.parent.html or "")
        )
        if (
            _OLD.search(urlsplit(source.strip()).path if "[" not in source else "")
            and not new
            and not picture
        ):
            return True
    return False


def _lazy(page: Page) -> bool:
    return any((page.get(node, "loading") or "").lower() != "lazy" for node in page.images[5:])


def _blocking(page: Page) -> bool:
    return any(
        "async" not in node.attributes
        and "defer" not in node.attributes
        and "nomodule" not in node.attributes
        and (page.get(node, "type") or "").lower() != "module"
        for node in page.head("script[src]")
    )


def _sheets(page: Page) -> int:
    sheets = set()
    for node in page.head("link[href]"):
        rel = set((page.get(node, "rel") or "").lower().split())
        media = (page.get(node, "media") or "all").lower()
        if (
            "stylesheet" in rel
            and "alternate" not in rel
            and ("all" in media or "screen" in media or "(" in media)
        ):
            sheets.add(page.get(node, "href"))
    return len(sheets)


def _self_is_missing(page: Page) -> bool:
    plain = {url.partition("#")[0].rstrip("/") for _, url in page.hreflangs}
    return bool(plain) and page.url.rstrip("/") not in plain


def _og(page: Page, *names: str) -> list[bool]:
    return [bool(page.meta(f"og:{name}")) for name in names]


def _scale(page: Page) -> bool:
    said = ",".join(page.meta("viewport")).lower().replace(" ", "")
    limit = re.search(r"maximum-scale=([\d.]+)", said)
    return bool(re.search(r"user-scalable=(?:no|0)", said)) or bool(
        limit and float(limit[1].strip(".") or 9) < 2
    )


def _no_address(page: Page) -> bool:
    for node in page.all("a"):
        href = page.get(node, "href")
        if href is None and page.text(node):
            return True
        if href is not None and re.match(r"\s*(?:javascript|file):|\s*https?:/*\s*$", href, re.IGNORECASE):
            return True
    return False


def _unlabelled(page: Page, placeholder: bool) -> bool:
    return any(
        not label and has is placeholder for node, label, has in page.fields if not page.is_hidden(node)
    )


def _decoration(page: Page, node: LexborNode) -> bool:
    return (page.get(node, "role") or "").lower() in ("presentation", "none") or page.is_hidden(node)


_SUBJECT = re.compile(
    r"[\"'/]@?(?:AboutPage|\w*Article|\w*Posting|CollectionPage|ContactPage|Course|\w*Event|FAQPage|HowTo|ItemPage"
    r"|Product\w*|\w*Product|ProfilePage|QAPage|Question|Recipe|\w*Review|\w*Service|SoftwareApplication|WebApplication"
    r"|MobileApplication|VideoGame)[\"'/]"
)

DETECTORS: dict[str, Callable[[Page], bool]] = {
    "canonicalised": lambda page: bool(page.canonicals) and page.canonicals[0] != page.url,
    "canonical_other_host": lambda page: (
        bool(page.canonicals) and urlsplit(page.canonicals[0]).netloc != urlsplit(page.url).netloc
    ),
    "h2_multiple": lambda page: len(page.of_level(2)) > 1,
    "images_without_size": lambda page: any(
        not ({"width", "height"} <= node.attributes.keys()) for node in page.images
    ),
    "images_old_format": _old_images,
    "styles_blocking": lambda page: _sheets(page) > 2,
    "images_not_lazy": _lazy,
    "scripts_blocking": _blocking,
    "images_without_alt_text": lambda page: any(
        page.get(node, "alt") is not None
        and not (page.get(node, "alt") or "").strip()
        and not _decoration(page, node)
        for node in page.images
    ),
    "links_without_name": lambda page: any(
        not page.name(node) for node in page.all("a[href]") if not page.is_hidden(node)
    ),
    "duplicate_ids": lambda page: bool(page.ids[0] - page.ids[1]),
    "duplicate_ids_used": lambda page: bool(page.ids[0] & page.ids[1]),
    "headings_not_sequential": _not_in_order,
    "dom_too_large": lambda page: len(page.tree.css("*")) > 1500,
    "h1_not_first": lambda page: bool(page.headings) and page.headings[0][0] != 1 and bool(page.of_level(1)),
    "structured_data_missing": lambda page: not page.types or not _SUBJECT.search(page.source),
    "links_not_crawlable": _no_address,
    "images_without_alt_attribute": lambda page: any("alt" not in node.attributes for node in page.images),
    "many_external_links": lambda page: (
        sum(urlsplit(target).netloc != urlsplit(page.url).netloc for target, _ in page.links) > 100
    ),
    "fields_with_placeholder_only": lambda page: _unlabelled(page, True),
    "fields_without_label": lambda page: _unlabelled(page, False),
    "social_card_missing": lambda page: not page.meta("twitter:card"),
    "buttons_without_name": lambda page: any(
        not page.name(node)
        for node in page.all("button, input[type=button], input[type=image], [role=button]")
        if not page.is_hidden(node)
    ),
    "images_alt_too_long": lambda page: any(len(page.get(node, "alt") or "") > 100 for node in page.images),
    "hreflang_missing_self": _self_is_missing,
    "hreflang_not_canonical": lambda page: (
        bool(page.hreflangs) and bool(page.canonicals) and page.canonicals[0] != page.url
    ),
    "hreflang_missing_x_default": lambda page: (
        bool(page.hreflangs) and "x-default" not in {lang.lower() for lang, _ in page.hreflangs}
    ),
    "h2_too_long": lambda page: any(len(text) > 70 for text in page.of_level(2)),
    "h1_too_long": lambda page: any(len(text) > 70 for text in page.of_level(1)),
    "open_graph_incomplete": lambda page: (
        0 < sum(_og(page, "title", "type", "url")) < 3
        or (any(_og(page, "image", "description")) and not all(_og(page, "title", "type", "url")))
    ),
    "open_graph_missing": lambda page: not any(_og(page, "title", "type", "image", "url", "description")),
    "open_graph_image_missing": lambda page: (
        any(_og(page, "title", "type", "url", "description"))
        and not any(_og(page, "image", "image:url", "image:secure_url"))
    ),
    "internal_nofollow": lambda page: any(
        "nofollow" in (page.get(node, "rel") or "").lower().split() for node in page.own_links()
    ),
    "h1_multiple": lambda page: len(page.of_level(1)) > 1,
    "h1_missing": lambda page: not page.of_level(1),
    "h2_missing": lambda page: not page.of_level(2),
    "description_missing": lambda page: not page.meta("description"),
    "no_internal_links": lambda page: not any(page.own_links()),
    "canonical_missing": lambda page: not page.canonicals,
    "favicon_missing": lambda page: not page.rel("icon", "apple-touch-icon", "apple-touch-icon-precomposed"),
    "headings_empty": lambda page: any(
        not page.name(node) for _, _, node in page.headings if not page.is_hidden(node)
    ),
    "viewport_blocks_zoom": _scale,
    "viewport_missing": lambda page: not page.meta("viewport"),
    "lang_missing": lambda page: (
        not any((page.get(node, "lang") or "").strip() for node in page.tree.css("html"))
    ),
    "iframes_without_title": lambda page: any(
        not (page.get(node, "title") or page.get(node, "aria-label") or "").strip()
        for node in page.all("iframe")
    ),
    "tabindex_positive": lambda page: any(
        re.fullmatch(r"\s*\+?0*[1-9]\d*.*", page.get(node, "tabindex") or "")
        for node in page.all("[tabindex]")
    ),
    "title_same_as_h1": lambda page: (
        bool(page.of_level(1))
        and bool(page.head("title") or page.all("title"))
        and page.text(page.all("title")[0]).casefold() == page.of_level(1)[0].casefold()
    ),
}


def addressed(folder: Path) -> dict[str, bytes]:
    """Return the pages of a folder by their addresses, made up where they are not known; one an address."""
    pages: dict[str, bytes] = {}
    for file in sorted(file for file in folder.iterdir() if ".html" in file.name):
        name, content = file.name.partition(".")[0], file.read_bytes()
        known = folder.parent / "ground-truth" / f"{name}.json"
        url = (
            json.loads(known.read_text("utf-8"))["url"] if known.exists() else f"https://{name}.example/page"
        )
        if len(pages) < MOST:
            pages.setdefault(url, gzip.decompress(content) if file.suffix == ".gz" else content)
    return pages


def report() -> str:
    """Return the table of the rules that fired, and pages on which the two disagree."""
    pages = addressed(Path(os.environ.get("WEBANALYTICS_PAGES") or "pages"))
    audit = wa.audit(pd.DataFrame({"url": list(pages), "html": list(pages.values())}), progress=False)
    issues, ok = audit.issues, set(audit.raw.loc[audit.raw["status"] == "ok", "url"])
    read = {url: Page(url, html) for url, html in pages.items() if url in ok}
    lines = [
        f"{len(ok):,} pages",
        f"{'rule':30} {'ours':>6} {'lexbor':>7} {'both':>6} {'precision':>9} {'recall':>7}",
    ]
    apart = []
    sums = [0, 0, 0]
    fired = issues["rule"].value_counts()
    for rule in fired.index:
        found = issues.loc[issues["rule"] == rule]
        ours = set(found["url"])
        if rule in QUOTING:
            said = zip(found["url"], found["evidence"], strict=True)
            theirs = {url for url, evidence in said if quoted(read[url], evidence)}
        elif rule in ALL:
            theirs = {url for url, page in read.items() if ALL[rule](page)}
        else:
            continue
        if "/" in "".join(ours) and not any(urlsplit(url).path for url in ours):  # of hosts
            theirs = {"://".join(urlsplit(url)[:2]) for url in theirs}
        both = ours & theirs
        for place, count in enumerate((len(ours), len(theirs), len(both))):
            sums[place] += count
        lines.append(_line(rule, len(ours), len(theirs), len(both)))
        apart += [f"{rule} ours alone {sorted(ours - theirs)[:SHOWN]}"] * bool(ours - theirs)
        apart += [f"{rule} lexbor alone {sorted(theirs - ours)[:SHOWN]}"] * bool(theirs - ours)
    lines.append(_line("all", *sums))
    rest = {rule: int(count) for rule, count in fired.items() if rule not in ALL and rule not in QUOTING}
    return "\n".join([*lines, f"without a detector: {json.dumps(rest)}", *apart])


ALL = DETECTORS | MORE


def _line(rule: str, ours: int, theirs: int, both: int) -> str:
    recall = f"{both / theirs:7.3f}" if theirs else "      -"
    return f"{rule:30} {ours:6,} {theirs:7,} {both:6,} {both / ours:9.3f} {recall}"
