"""`write_report`: the frames of an audit -> one HTML file, written whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
from markupsafe import Markup

from webanalytics._version import __version__
from webanalytics.audits.overview.failures import failures as why_not_read
from webanalytics.audits.overview.failures import refusal_warning
from webanalytics.audits.report import charts, gaps, parts, site, work
from webanalytics.audits.report.brand import Brand
from webanalytics.audits.report.cells import Cells, Scalar, table
from webanalytics.audits.report.chapters import chapters, over_time
from webanalytics.audits.report.content import FACTS, IN_WORDS, Content, read
from webanalytics.audits.report.large import note, packed
from webanalytics.audits.report.movement import movement
from webanalytics.audits.report.pdf import printed
from webanalytics.audits.report.site import CrawlParts
from webanalytics.audits.report.tables import Chapter
from webanalytics.audits.score import COUNTED
from webanalytics.audits.words import (
    catalogue,
    day,
    number,
    percent,
    phrase,
    points,
    say,
    several,
    speaking,
    spoken,
)
from webanalytics.core import templates
from webanalytics.errors import ParameterError
from webanalytics.files import written_whole
from webanalytics.thresholds import PRIORITIES

SCRIPTS = ("data.js", "filter.js", "lists.js", "card.js", "pages.js", "report.js")
"""Parts of the one script, in order."""

STYLES = ("report.css", "lists.css", "chapters.css", "media.css")
"""Parts of the one style sheet, in order."""

MOST_CHANGES = 20_000
"""Most rows of a table of changes in the report."""

_SENTENCES = re.compile(r"(?<=[.?!]) (?=[A-Z])")
_PLAIN = Brand()
_SCRIPT = '"use strict";\n(() => {\n{}})();\n'
_IN_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
_STATIC = resources.files("webanalytics.audits.report").joinpath("static")


@dataclass(frozen=True)
class Besides:
    """What a report shows besides pages, issues and rules."""

    changes: Mapping[str, pd.DataFrame] = field(default_factory=dict)  # as `webanalytics.Comparison` has them
    notes: Sequence[str] = ()  # sentences on the whole site
    score: float | None = None
    score_before: float | None = None
    audited_at: datetime | None = None
    audited_before: datetime | None = None
    failures: pd.DataFrame | None = None  # by default, what is known of the pages
    keywords: pd.DataFrame | None = None
    cannibalisation: pd.DataFrame | None = None
    crawl: CrawlParts | None = None
    causes: pd.DataFrame | None = None  # what to fix first, the most points first
    alarm: str = ""  # why pages cannot be found
    work: Mapping[str, pd.DataFrame] = field(default_factory=dict)  # segments, search results, logs, advice
    history: pd.DataFrame | None = None  # scores of the audits before and of this one, by date


def write_report(
    path: str | os.PathLike[str],
    pages: pd.DataFrame,
    issues: pd.DataFrame,
    summary: pd.DataFrame,
    *,
    title: str | None = None,
    brand: Brand | None = None,
    **besides: Any,  # fields of `Besides`
) -> Path:
    """Write one self-contained file that shows an audit without a network, whole or not at all: HTML, or PDF.

    Content from pages is written as data and shown as text: a content-security policy
    (https://www.w3.org/TR/CSP3/) allows no script but the report's own, and no loading at all.

    Examples
    --------
    >>> import tempfile
    >>> pages = pd.DataFrame({"url": ["https://example.org/"], "status": ["ok"], "title": ["<b>Lamps</b>"]})
    >>> issues = pd.DataFrame({"url": pages["url"], "rule": ["title_too_short"], "priority": ["medium"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_report(Path(folder, "report.html"), pages, issues, pd.DataFrame())
    ...     "<b>Lamps</b>" in file.read_text("utf-8")
    False
    """
    file, known = Path(path), Besides(**besides)
    brand = brand or Brand.of(file)
    notes = [gaps.plain(note) for note in (refusal_warning(pages), *known.notes) if note]
    failures = why_not_read(pages) if known.failures is None else known.failures
    with speaking(brand.language):
        spoken_notes = [" ".join(map(phrase, _SENTENCES.split(note))) for note in notes]
        known = replace(known, notes=spoken_notes, failures=failures)
        document = render(read(pages, issues, summary), known, title=title, brand=brand).encode()
    written = printed(document, brand.browser) if brand.browser else document
    try:
        with written_whole(file) as temporary:
            temporary.write_bytes(written)
    except OSError as error:
        raise ParameterError.must_be("path", f"a file that can be written: {error.strerror}") from None
    return file


def render(
    content: Content, besides: Besides = Besides(), *, title: str | None = None, brand: Brand = _PLAIN
) -> str:
    """Return the report as HTML."""
    moved = movement(content, {str(name): frame for name, frame in besides.changes.items()})
    of_site = {} if besides.crawl is None else site.lists(besides.crawl)
    lists = [*moved.lists.items(), *of_site.items()]
    script, style = _all(SCRIPTS, _SCRIPT), _all(STYLES, "{}") + brand.style
    return templates.render(
        "audits/report/static/report.html",
        category_label=charts.category_label,
        say=say,
        several=several,
        number=number,
        percent=percent,
        language=spoken(),
        brand=brand,
        reach=parts.reach,
        link=partial(quote, safe="", errors="replace"),
        content=content,
        policy=policy(script, style),
        title=title or _title(content, besides),
        made=day(datetime.now(UTC)),
        audited_at=besides.audited_at and day(besides.audited_at),
        audited_before=besides.audited_before and day(besides.audited_before),
        version=__version__,
        score=besides.score,
        points=points,
        score_before=besides.score_before,
        formula=parts.formula(),
        alarm=besides.alarm,
        causes=[] if besides.causes is None else parts.causes(besides.causes),
        figures=parts.figures(content),
        notes=[*besides.notes, *([] if content.detailed is None else [note(content.size)])],
        failures=[] if besides.failures is None else gaps.failures(besides.failures),
        chapters=[
            *over_time(besides.history),
            *_of_site(content, besides.crawl, of_site, len(moved.lists)),
            *work.chapters(content, besides.work, besides.causes),
            *chapters(content, besides.keywords, besides.cannibalisation),
        ],
        charts={
            "first": charts.first(content),
            "statuses": charts.statuses(content),
            "titles": charts.titles(content),
            "types": charts.types(content),
            "matrix": charts.matrix(content),
        },
        movement=moved,
        changes=[(_named(name), _rows(frame)) for name, frame in moved.lists.items()],
        priorities=PRIORITIES,
        groups=parts.groups(content),
        passed=parts.passed(content),
        sections=parts.sections(content),
        languages=parts.languages(content),
        rules=parts.rules(content),
        statuses=parts.statuses(content),
        data=_data(content, besides.crawl, lists, _spoken() | {"appendix": brand.appendix}),
        script=Markup(script),  # noqa: S704 - files of this package
        style=Markup(style),  # noqa: S704
    )


def _spoken() -> dict[str, Any]:
    texts: dict[str, list[str]] = {}
    for key, text in getattr(catalogue(spoken()), "_catalog", {}).items():
        source, place = key if isinstance(key, tuple) else (key, 0)
        texts.setdefault(source, ["", ""])[place] = text
    return {"language": spoken(), "words": texts}


def _data(
    content: Content,
    crawl: CrawlParts | None,
    lists: Sequence[tuple[str, pd.DataFrame]],
    more: Mapping[str, Any],
) -> Markup:
    """Return what the script reads; the numbers of all issues are let go before the page is rendered."""
    cells = Cells()
    data = {**more, **payload(content, cells)} | {"changes": [_change(cells, *item) for item in lists]}
    if crawl is not None:
        data["links"] = site.around(content, crawl.neighbours, cells.places)
    return script_data(data | {"cells": cells.values})


def _of_site(
    content: Content, crawl: CrawlParts | None, lists: Mapping[str, pd.DataFrame], before: int
) -> Iterator[Chapter]:
    """Yield the chapter of the site, with its lists after those of changes."""
    if crawl is not None:
        shown = [
            (before + place, _named(name), _rows(frame)) for place, (name, frame) in enumerate(lists.items())
        ]
        yield replace(site.site(content, crawl), lists=shown)


def _title(content: Content, besides: Besides) -> str:
    named = say("Comparison of {host}" if besides.changes else "Audit of {host}", host=content.host).rstrip()
    if not content.host:
        named = say("Comparison" if besides.changes else "Audit")
    if not besides.changes or besides.audited_before is None or besides.audited_at is None:
        return named
    both = besides.audited_before, besides.audited_at
    first, last = (day(moment, both[0].date() == both[1].date()) for moment in both)
    return say("{title}: {period}", title=named, period=f"{first} → {last}")


def payload(content: Content, cells: Cells) -> dict[str, Any]:
    """Return the script's data except the cells: columns are positions among them."""
    keep = [fact for fact in FACTS if fact.name in content.pages]
    shared = ("value", "threshold", "evidence")
    return {
        "size": content.size,
        "missing": content.missing,
        "cut": say(content.kind.capitalize()),
        "pages": {
            name: packed(cells.places(map(_in_words, values) if name in IN_WORDS else values))
            for name, values in content.pages.items()
        },
        "issues": {name: packed(content.issues[name]) for name in ("page", "rule")}
        | {name: packed(cells.places(content.issues[name])) for name in shared}
        | {"url": packed(cells.places(_strangers(content)))},
        "detailed": content.detailed,
        "rules": [
            {"name": r.name, "title": r.title, "category": r.category, "priority": r.priority}
            | {"counted": r.type in COUNTED, "fix": r.fix, "unit": r.unit}
            for r in content.rules
        ],
        "facts": [{"name": fact.name, "label": say(fact.label), "unit": say(fact.unit)} for fact in keep],
    }


def _in_words(value: Scalar) -> Scalar:
    return say(phrase(value)) if isinstance(value, str) else value


def _strangers(content: Content) -> list[Any]:
    both = zip(content.issues["page"], content.issues["url"], strict=True)
    return [url if page < 0 else None for page, url in both]


def _change(cells: Cells, name: str, frame: pd.DataFrame) -> dict[str, Any]:
    shown = frame.head(MOST_CHANGES)
    names = [str(column) for column in shown.columns]
    if "evidence" in names:
        said = [phrase(e) if isinstance(e, str) else e for e in shown["evidence"]]
        shown = shown.assign(evidence=pd.Series(said, shown.index, object))  # lone surrogates too
    found = table(cells, shown.set_axis(names, axis=1), names)
    filled = {column: places for column, places in found.items() if any(places) or not places}
    return {"name": _named(name), "rows": len(shown), "columns": filled}


def _named(name: str) -> str:
    return say(name.replace("_", " ").capitalize())


def _rows(frame: pd.DataFrame) -> str:
    cut = len(frame) > MOST_CHANGES
    shown = {"part": number(MOST_CHANGES), "whole": number(len(frame))}
    return say("{part} of {whole}", **shown) if cut else shown["whole"]


def script_data(parts: Mapping[str, Any]) -> Markup:
    r"""Return JSON for a script element: without any character that could end it or open a comment.

    Invisible characters and lone surrogates, which no encoding can hold, are escaped.

    Examples
    --------
    >>> print(script_data({"tea": "</script><!--"}))
    {"tea":"\u003c/script\u003e\u003c!--"}
    """
    # part by part: one sign of four bytes in a text makes every sign of that text take four
    members = (f"{_escaped(name)}:{_escaped(value)}" for name, value in parts.items())
    return Markup(f"{{{','.join(members)}}}")  # noqa: S704 - nothing in it can end the element


def _escaped(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return templates.UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text.translate(_IN_SCRIPT))


def policy(script: str, style: str) -> str:
    """Return the content-security policy of a report with this script and this style sheet."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _text(name: str) -> str:
    return _STATIC.joinpath(name).read_text("utf-8").replace("\r\n", "\n")


def _all(names: Sequence[str], form: str) -> str:
    return form.replace("{}", "\n".join(map(_text, names)))
