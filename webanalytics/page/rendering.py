"""A page as it was sent beside the page as a browser rendered it: whether scripts must run, and what they do.

A worker calls `look` on what was fetched, and `analyse` on what the rules of an audit see.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from webanalytics.page.document import Element
from webanalytics.page.facts import facts
from webanalytics.page.facts.head import script_type
from webanalytics.page.metadata import analyse as metadata
from webanalytics.page.page import Page, fold

FEW, SOME = 25, 300
"""Words up to which a page with scripts looks empty: of any page, and of one with a place to fill."""
ROOTS = frozenset(
    (
        *("root", "app", "__next", "__nuxt", "__layout", "___gatsby", "app-root", "svelte", "react-root"),
        *("ember-application", "q-app", "vue-app", "ng-app"),
    )
)
"""Ids of elements that React, Vue, Angular, Svelte and what is built on them fill."""
FILLED = frozenset(("app-root", "ng-app", "ion-app", "my-app"))
"""Tags of such elements."""
MOST, LONGEST = 200, 300
"""Entries of one kind that are kept, and one more that says how many others there are; characters of each."""
_ASKS = re.compile(r"<noscript\b(?:(?!</noscript).){0,1000}?java\s?script", re.IGNORECASE | re.DOTALL)
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


def words_of(text: str) -> int:
    """Return the words of a text; in scripts without spaces between words each character is one.

    Examples
    --------
    >>> words_of("Storm lantern - 30 hours"), words_of("灯台の光")
    (4, 4)
    """
    return sum(len(_UNSPACED.findall(piece)) or any(map(str.isalnum, piece)) for piece in text.split())


def needs_scripts(page: Page) -> bool:
    """Return whether a page looks as if its content came by scripts.

    Examples
    --------
    >>> script = "<script src=/app.js></script>"
    >>> [needs_scripts(Page(html + script)) for html in ("<div id=root></div>", "<p>" + "Tea. " * 30)]
    [True, False]
    """
    if page.is_text or not any(map(_runs, page.document.elements)):
        return False
    text = page.visible_text
    words = words_of(text)
    if words >= SOME:
        return False
    if words == 0 or any(_is_empty_root(page, element) for element in page.document.elements):
        return True
    return words < FEW and _ASKS.search(page.html) is not None


def _runs(element: Element) -> bool:
    kind = script_type(element)
    kinds = ("", "module", "text/javascript", "application/javascript", "text/babel")
    return element.tag == "script" and kind in kinds


def _is_empty_root(page: Page, element: Element) -> bool:
    named = (element.get("id") or "").lower() in ROOTS or element.tag in FILLED
    return named and words_of(page.document.text_of(element)[:5_000]) < FEW


def look(page: Page, whole: bool = False) -> dict[str, Any]:
    """Return how a page looks without scripts: its words, whether it needs scripts, and what it says.

    The last is there where it does, or with ``whole``.
    """
    needs = needs_scripts(page)
    found: dict[str, Any] = {"words": words_of(page.visible_text), "needs_scripts": needs}
    return {**found, **(_said(page) if needs or whole else {})}


def _said(page: Page) -> dict[str, Any]:
    meta, known = metadata(page), facts.analyse(page)
    robots = ", ".join(filter(None, (meta["robots"], known["googlebot"])))
    canonicals = ", ".join(dict.fromkeys(entry["url"] for entry in known["canonicals"]))
    return {
        "title": page.title,
        "description": page.description,
        "canonical": canonicals,
        "robots": robots,
        "heading": [f"{entry['level']} {fold(entry['text'])}" for entry in meta["headings"]],
        "link": known["links"],
        "structured": known["structured_types"],
        "text": [line for line in known["visible_text"].split("\n") if line.strip()],
    }


_ONE = ("title", "description", "canonical", "robots")
_MANY = ("heading", "link", "structured", "text")


def analyse(
    page: Page, sent: Mapping[str, Any] | None = None, seen: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the fields of `page.declarations.unserved.RENDERING`.

    ``sent`` is what `look` returned of the page as it was sent; ``seen`` may have ``rendered``, ``note``,
    ``errors``, ``failed``, ``url`` (where its scripts have led) and ``html`` (as it was sent).

    Examples
    --------
    >>> before = look(Page("<title>Tea</title><div id=root></div><script src=a.js></script>"))
    >>> after = analyse(Page("<title>Tea</title><h1>Green tea</h1>"), before, {"rendered": True})
    >>> after["words_without_scripts"], after["rendered_words"], after["rendering"][0]
    (0, 2, {'what': 'heading', 'sent': '', 'rendered': 'h1 Green tea'})
    """
    before, seen = sent or look(page), seen or {}
    rendered = bool(seen.get("rendered"))
    entries = list(_differences(before, _said(page))) if rendered else []
    if rendered and seen.get("url"):
        entries.append(_entry("address", "", seen["url"]))
    entries += _bounded("console", [("", text) for text in seen.get("errors", ())])
    entries += _bounded("failed", [(url, why) for url, why in seen.get("failed", ())])
    return {
        "rendered": rendered,
        "rendered_words": words_of(page.visible_text) if rendered else None,
        "words_without_scripts": before["words"],
        "render_note": seen.get("note", ""),
        "sent_html": seen.get("html", ""),
        "rendering": entries,
    }


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for what in _ONE:
        if before[what] != after[what]:
            yield _entry(what, before[what], after[what])
    for what in _MANY:
        had, has = dict.fromkeys(before[what]), dict.fromkeys(after[what])
        gone = [(text, "") for text in had if text not in has]
        yield from _bounded(what, [*gone, *(("", text) for text in has if text not in had)])


def _bounded(what: str, pairs: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    pairs = list(pairs)
    more = len(pairs) - MOST
    cut = [_entry(what, "", f"and {more:,} more")] if more > 0 else []
    return [*(_entry(what, *pair) for pair in pairs[:MOST]), *cut]


def _entry(what: str, sent: str, rendered: str) -> dict[str, str]:
    return {"what": what, "sent": sent[:LONGEST], "rendered": rendered[:LONGEST]}
