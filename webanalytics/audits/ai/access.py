"""Which crawlers may read which pages, by which line of robots.txt, and what is said about using them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from webanalytics.audits.ai.roster import PURPOSES, Crawler
from webanalytics.audits.directives.robots import every_directive
from webanalytics.audits.graph.site_links import origin
from webanalytics.audits.site import Site
from webanalytics.core.operations.model import Dtype
from webanalytics.fetching.robots import RobotsCopy
from webanalytics.fetching.robots_rules import RuleSet, path_of
from webanalytics.runs.frames.schema import frame_of, make_columns

ACCESS: Mapping[str, Dtype] = {
    **{"url": "string", "section": "string", "crawler": "string", "operator": "string", "purpose": "string"},
    **{"allowed": "boolean", "group": "string", "line": "integer", "rule": "string", "obeys": "string"},
}
"""Columns of `access_frame`."""

SECTIONS: Mapping[str, Dtype] = {
    **{"section": "string", "crawler": "string", "operator": "string", "purpose": "string"},
    **{"pages": "integer", "allowed": "integer", "share": "float"},
}
"""Columns of `section_frame`."""

USES: Mapping[str, Dtype] = {
    **{"url": "string", "noai": "boolean", "noimageai": "boolean", "content_signal": "string"},
    **{"content_usage": "string", "signal_faults": "string", "text_characters": "integer"},
    **{"text_tokens": "integer", "script_only": "boolean"},
}
"""Columns of `use_frame`."""

_SIGNAL = re.compile(r"([a-z][a-z-]{0,30})\s*=\s*([a-z]{1,20})", re.IGNORECASE)
_SIGNAL_VALUES: Mapping[str, frozenset[str]] = {
    "search": frozenset(("yes", "no")),
    "ai-input": frozenset(("yes", "no")),
    "ai-train": frozenset(("yes", "no")),
    "use": frozenset(("immediate", "reference", "full")),
}
"""contentsignals.org, read on 2026-11-22: a proposal of one company."""
_USAGE_VALUES = {name: frozenset("yn") for name in ("train-ai", "search", "bots", "train-genai", "ai-use")}
"""draft-ietf-aipref-vocab and draft-ietf-aipref-attach: internet drafts, whose names still change."""
CHARACTERS_A_TOKEN = 4.0
"""A rule of thumb for English: "What are tokens and how to count them?", help.openai.com."""
FEWEST_WORDS = 20
"""Words of a main text below which a page with scripts has its content from them."""


class Verdict(NamedTuple):
    """Whether a crawler may read a page: the group of robots.txt that speaks to it, and what decides."""

    allowed: bool | None
    group: str = ""
    line: int | None = None
    rule: str = ""


UNKNOWN = Verdict(None)


class _Judge:
    """Judges addresses of one site; the groups of a file are read once for each crawler."""

    def __init__(self, files: Mapping[str, RobotsCopy]) -> None:
        self._files = files
        self._rules: dict[tuple[str, str], tuple[str, RuleSet]] = {}
        self._known: dict[tuple[int, str], Verdict] = {}

    def verdict(self, place: str | None, path: str, token: str) -> Verdict:
        """Return whether a crawler may read a path of an origin."""
        copy = None if place is None else self._files.get(place)
        if place is None or copy is None or not copy.is_known:
            return UNKNOWN
        chosen = self._rules.get((place, token))
        if chosen is None:
            chosen = self._rules[place, token] = (copy.file.chosen(token) or "", copy.file.rules(token))
        group, rules = chosen
        key = (id(rules), path)
        if key not in self._known:
            decision = rules.decide_path(path) if rules else None
            if decision is None or decision.rule is None:
                decided = True if decision is None or decision.decided else None
                self._known[key] = Verdict(decided)
            else:
                found = decision.rule
                self._known[key] = Verdict(decision.allowed, "", found.line, str(found).partition(": ")[2])
        return self._known[key]._replace(group=group)


def origins_of(files: Mapping[str, RobotsCopy]) -> dict[str, RobotsCopy]:
    """Return the files by origins in normal form."""
    return {origin(name) or name: copy for name, copy in files.items()}


def verdicts(site: Site, tokens: Sequence[str]) -> Iterator[tuple[int, str, list[Verdict]]]:
    """Yield row, address and a verdict for each crawler, of each page whose robots.txt is known, once."""
    judge = _Judge(origins_of(site.robots_files))
    seen: set[str] = set()
    for row, url in enumerate(site.addresses.final):
        if url is None or url in seen:
            continue
        seen.add(url)
        place = origin(url)
        path = path_of(url)
        yield row, url, [judge.verdict(place, path, token) for token in tokens]


def verdicts_for(site: Site, token: str) -> Mapping[int, Verdict]:
    """Return the verdict for a crawler by row of `verdicts`, found once: several rules ask for it."""
    known: Mapping[int, Verdict] = site.once(
        ("verdicts", token), lambda: {row: one for row, _, (one,) in verdicts(site, (token,))}
    )
    return known


def blocked(site: Site, token: str) -> Iterator[tuple[int, Verdict]]:
    """Yield the rows that a crawler may not read, with the line that says so."""
    return (one for one in verdicts_for(site, token).items() if one[1].allowed is False)


def may_read(site: Site, token: str, urls: Iterable[str]) -> Iterator[tuple[str, Verdict]]:
    """Yield the verdict of each address whose robots.txt is known."""
    judge = _Judge(origins_of(site.robots_files))
    for url in urls:
        verdict = judge.verdict(origin(url), path_of(url), token)
        if verdict.allowed is not None:
            yield url, verdict


def access_frame(site: Site, crawlers: Sequence[Crawler]) -> pd.DataFrame:
    """Return one row for each page and crawler; see `webanalytics.Audit.ai_access`."""
    sections = site.values("section")
    cells: dict[str, list[Any]] = {name: [] for name in ACCESS}
    for row, url, found in verdicts(site, [crawler.token for crawler in crawlers]):
        for crawler, verdict in zip(crawlers, found, strict=True):
            values = (
                *(url, sections[row] or "", crawler.token, crawler.operator, crawler.purpose),
                *(verdict.allowed, verdict.group, verdict.line, verdict.rule, crawler.robots),
            )
            for column, value in zip(cells.values(), values, strict=True):
                column.append(value)
    return pd.DataFrame(make_columns(cells, ACCESS))


def section_frame(access: pd.DataFrame) -> pd.DataFrame:
    """Return the share of pages that each crawler may read, by section of the site."""
    known = access[access["allowed"].notna()]
    rows = []
    order = {token: place for place, token in enumerate(dict.fromkeys(access["crawler"]))}
    names = ["section", "crawler", "operator", "purpose"]
    for keys, group in known.groupby(names, sort=False):
        allowed = int(group["allowed"].sum())
        rows.append((*keys, len(group), allowed, allowed / len(group)))
    rows.sort(key=lambda row: (row[0] != "", row[0], PURPOSES.index(row[3]), order[row[1]]))
    return frame_of(SECTIONS, (dict(zip(SECTIONS, row, strict=True)) for row in rows))


def use_frame(site: Site) -> pd.DataFrame:
    """Return what each page says about its use by AI, and what there is to use; see `Audit.ai_use`."""
    files = origins_of(site.robots_files)
    names = ("robots", "x_robots_tag", "headers", "text", "language", "wordCount", "scripts")
    rows = (
        (site.addresses.final[row], dict(zip(names, said, strict=True))) for row, *said in site.read(*names)
    )
    return frame_of(USES, (_use(url, files.get(origin(url) or ""), known) for url, known in rows))


def _use(url: str | None, copy: RobotsCopy | None, known: Mapping[str, Any]) -> dict[str, Any]:
    texts = (known[name] for name in ("robots", "x_robots_tag"))
    said = [every_directive(text) for text in texts if isinstance(text, str)]
    signals, usage, faults = _signals(copy, known["headers"])
    length = len(known["text"]) if isinstance(known["text"], str) else None
    scripts, words = known["scripts"], known["wordCount"]
    row: dict[str, Any] = {"url": url, "signal_faults": faults}
    row |= {"content_signal": signals, "content_usage": usage}
    if said:
        row |= {name: any(name in directives for directives in said) for name in ("noai", "noimageai")}
    if length is not None:
        tokens = round(length / CHARACTERS_A_TOKEN) if known["language"] == "en" else None
        row |= {"text_characters": length, "text_tokens": tokens}
    if scripts is not None and words is not None:
        row["script_only"] = bool(scripts) and words < FEWEST_WORDS
    return row


def _signals(copy: RobotsCopy | None, headers: Any) -> tuple[str | None, str | None, str]:
    """Return Content-Signal and Content-Usage for all crawlers, and what is wrong with them."""
    if copy is None and not isinstance(headers, str):
        return None, None, ""
    found: dict[str, list[str]] = {"content-signal": [], "content-usage": []}
    for signal in copy.file.signals() if copy is not None else ():
        found[signal.name].append(signal.value)
    for line in headers.splitlines() if isinstance(headers, str) else ():
        name, _, value = line.partition(":")
        if name.strip().lower() in found:
            found[name.strip().lower()].append(value.strip())
    faults = [
        *(fault for value in found["content-signal"] for fault in signal_faults(value, _SIGNAL_VALUES)),
        *(fault for value in found["content-usage"] for fault in signal_faults(value, _USAGE_VALUES)),
    ]
    texts = [", ".join(values)[:500] for values in found.values()]
    return texts[0], texts[1], "; ".join(dict.fromkeys(faults))[:500]


def signal_faults(value: str, known: Mapping[str, frozenset[str]] = _SIGNAL_VALUES) -> list[str]:
    """Return what is wrong with a line of ``Content-Signal``, or of ``Content-Usage`` by its own words.

    Examples
    --------
    >>> signal_faults("search=yes, ai-train=no"), signal_faults("ai-train=maybe, bots=no, search")
    ([], ['"ai-train=maybe" has an unknown value', '"bots" is unknown', '"search" has no value'])
    """
    faults = []
    said: dict[str, str] = {}
    path, space, rest = value.partition(" ")
    if space and path.startswith("/"):  # a path that the preference is restricted to
        value = rest
    for part in filter(None, (part.strip() for part in value.split(","))):
        found = _SIGNAL.fullmatch(part)
        name = (found[1] if found else part).lower()
        if found is None:
            faults.append(f'"{part[:40]}" has no value')
        elif name not in known:
            faults.append(f'"{name}" is unknown')
        elif found[2].lower() not in known[name]:
            faults.append(f'"{part[:40]}" has an unknown value')
        elif said.setdefault(name, found[2].lower()) != found[2].lower():
            faults.append(f'"{name}" has two values')
    return faults
