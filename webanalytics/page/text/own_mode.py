"""Whether this package's way through trafilatura's modes may stand for that of the installed version.

It is written against functions and lists of trafilatura that are no public interface. Where one is missing,
or where made-up pages are read differently, trafilatura's public functions do the work, and take twice as
long.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from webanalytics.page.document import Document
from webanalytics.page.tree import parse

if TYPE_CHECKING:
    from webanalytics.page.text.stages import Stages

log = logging.getLogger("webanalytics")

Extractor = Callable[[Document, Any], str | None]
"""What returns the text of a page."""

_SENTENCE = "The leaves of the tea plant are picked by hand, and dried in the sun before they are packed"
_PARAGRAPHS = "".join(f"<p>{_SENTENCE} by {name}.</p>" for name in ("Ada", "Ben", "Cem", "Dora", "Eli"))
_LINKS = "".join(f"<li><a href=/{number}>Chapter {number}</a></li>" for number in range(6))
PROBES = (
    f"""<title>Tea</title><body><div id=nav class=menu>{_LINKS}</div><form><p>Search</p></form>
    <div class=post-content><h1>Tea</h1>Lead<p>Hot <a href=/w>water</a> and <i>leaves</i>.</p>
    {_PARAGRAPHS}<ul>{_LINKS}</ul><ol><li>One<ul><li>Two</li></ul></li><li>Three</li></ol>
    <blockquote><p>He said: <q>tea</q></p></blockquote><pre>let x = {{}}</pre><pre>so <code>x</code></pre>
    <table><caption>Prices</caption><tr><th>Tea<th>Price<tr><td>Green<td rowspan=2><a href=/p>9</a></table>so
    <table role=presentation><tr><td>{_SENTENCE}</table><figure><table><tr><td>Figure</table></figure>
    <figure>Picture</figure><details><summary>More</summary>Details<br>second line</details>
    <div class=share-bar>Share</div><p class=caption>Caption</p><p class=teaser>Teaser</p><p hidden>Hidden</p>
    <p style="display:none">Not shown</p><p>E = <math alttext="mc^2"></math> <del>old</del> x<sub></sub></p>
    <dl><dt>Term<dd>Meaning</dl><div><p>Read also: <a href=/x>Ten things to know about tea</a></p></div></div>
    <section id=comments><p>{_SENTENCE} First!</p></section><footer><p>{_SENTENCE}</p></footer>""",
    f"<body><div class=teaser-box><p>{_SENTENCE}</p></div><div><p>{_SENTENCE}: tea.</p><p>Two</p>"
    f"<table><tr><td>{_SENTENCE}</table><blockquote>{_SENTENCE}!</blockquote><p class=widget>No</p></div>",
    f"<body><main id=main><div>{_SENTENCE}<br>Second line<br><br>{_SENTENCE} again, <b>again</b>"
    f"<br>{_SENTENCE}?</div></main>",
)
"""Pages on which each kind of element is read in its own way."""


@cache
def own_mode(public: Extractor, modes: tuple[Any, ...]) -> type[Stages] | None:
    """Return this package's way through modes, None where the installed trafilatura reads differently.

    Parameters
    ----------
    public : callable
        The same by trafilatura's public functions.
    modes : tuple of trafilatura.settings.Extractor
        Options of each mode.
    """
    reason = "lacks a part that"
    try:
        from webanalytics.page.text.stages import Stages

        reason = "reads a page differently from what"
        for document in map(parse, PROBES):
            stages = Stages(document)
            for options in modes:
                if (text := stages.text(options)) not in (None, public(document, options)):
                    raise ValueError(text)
    except Exception as error:
        log.warning(
            "trafilatura %s %s the faster search for main texts needs (%s): the usual one is used.",
            version("trafilatura"),
            reason,
            type(error).__name__,
        )
        return None
    return Stages
