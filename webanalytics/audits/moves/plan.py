"""`webanalytics.redirect_map`: which page of a new site takes the place of each page of an old one."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, Unpack

import numpy as np
import pandas as pd

from webanalytics.audits.content.nearest import Described, Embed, Near, Vocabulary, nearest
from webanalytics.audits.graph.site_links import listed
from webanalytics.audits.moves import server_files
from webanalytics.audits.moves.sources import normal_address, pages_of
from webanalytics.audits.overview.display import Block, Overview, as_html, as_text
from webanalytics.core.operations.model import Dtype
from webanalytics.core.option_types import PageOptions
from webanalytics.errors import ParameterError, path_of
from webanalytics.runs.frames.output_files import write_frame
from webanalytics.runs.frames.schema import frame_of
from webanalytics.urls import behind_host

__all__ = ["redirect_map"]

SURE: Final = 0.6
"""Score from which on a target is sure."""
SURE_WHEN_THIN: Final = 0.8
"""The same, for pages of few words."""
MARGIN: Final = 0.05
"""Lead over the second choice from which on a target is sure."""
CLEAR, BEHIND = 0.45, 0.4
"""A target is sure from this score on, too, where the second choice has at most this share of it."""
SHARED: Final = 2
"""Words, of the strongest eight, that two parts of one page may both have of it."""
LOOK: Final = 0.2
"""Score below which a page has no counterpart."""
DECISIONS: Final = ("sure", "look", "gone")
HINT: Final = "See .table; .fix({old: new}) corrects it, .write(path) writes it."
HEADINGS: Final = ("look at", "leads to", "score", "note")
COLUMNS: Final[dict[str, Dtype]] = {
    **{"old": "string", "new": "string", "decision": "string", "score": "float", "margin": "float"},
    **{"method": "string", "words": "object", "second": "string", "second_score": "float"},
    **{"inlinks": "integer", "clicks": "float", "note": "string"},
}
SHOWN: Final = 10
_MERGED: Final = re.compile(r"one of [\d,]+ old pages that lead here(?:; )?")
_PROGRAM: Final = re.compile(r"(?:/(?:index|default))?(?:\.(?:html?|php|aspx?|jsp))?$")


class RedirectMap:
    """Where the pages of an old site lead to on a new one.

    Attributes
    ----------
    table : pandas.DataFrame
        One row for each old page: ``old``, ``new`` (missing where nothing takes its place), ``decision``
        ("sure", "look": somebody should look, "gone"), ``score`` (0 to 1), ``margin`` (its lead over the
        second choice), ``method`` ("same address", "canonical", "text", "title and address", "by hand"),
        ``words`` (which both pages share, the strongest first), ``second`` and ``second_score`` (for a page
        that is gone: the nearest of those that are too far), ``inlinks`` and ``clicks`` where the old side
        has them, and ``note``.
    """

    def __init__(self, table: pd.DataFrame) -> None:
        self.table = table

    def fix(self, targets: Mapping[str, str | None]) -> RedirectMap:
        """Return a map in which some old pages lead where you say; None for one without a successor.

        Parameters
        ----------
        targets : mapping of str to str or None
            Old address to new address.

        Raises
        ------
        ParameterError
            For an old address that the map has not, or a new one that is no address.
        """
        rows = {url: place for place, url in enumerate(self.table["old"])}
        made = self.table.copy()
        if not isinstance(targets, Mapping):
            raise ParameterError.must_be("targets", "a mapping of old addresses to new ones")
        for old, new in targets.items():
            place, target = rows.get(normal_address(old)), "" if new is None else normal_address(new)
            if place is None:
                raise ParameterError.on("targets", f"names {old!r}, which the map has not")
            if new is not None and not target:
                raise ParameterError.on("targets", f"names {new!r}, which is no address")
            change = {
                **{"new": target or None, "decision": "sure" if target else "gone", "method": "by hand"},
                **{"score": np.nan, "margin": np.nan, "note": None},
            }
            for name, value in change.items():
                made.at[place, name] = value
        notes = [None if pd.isna(note) else str(note) for note in made["note"]]
        made["note"] = pd.Series(_counted(made["new"].tolist(), notes), made.index, made["note"].dtype)
        return RedirectMap(made)

    def summary(self) -> pd.DataFrame:
        """Return how many old pages there are of each decision and method."""
        groups = self.table.fillna({"method": ""}).groupby(["decision", "method"], sort=False)
        counts = groups.size().rename("pages").reset_index()
        order = np.lexsort((-counts["pages"], counts["decision"].map(DECISIONS.index)))
        return counts.iloc[order].reset_index(drop=True)

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        server: str | None = None,
        decisions: Collection[str] = ("sure",),
    ) -> Path:
        """Write the map for a server, or as a table to look through.

        Parameters
        ----------
        path : str or path
            The file. Its name says the form: ``.map`` (nginx), ``.htaccess`` (Apache), ``_redirects``
            (Netlify, Cloudflare Pages), ``Caddyfile`` or ``.caddy``, ``web.config`` (IIS); tables are
            ``.csv``, ``.xlsx`` and the other suffixes of tables, with all rows.
        server : {"nginx", "apache", "redirects", "caddy", "iis"}, optional
            The form, for another name.
        decisions : collection of str, default ("sure",)
            Rows that are written for a server: "look" too once somebody has looked.

        Returns
        -------
        pathlib.Path
            The path.

        Raises
        ------
        ParameterError
            For a wrong argument, a name that tells no form, paths that lead elsewhere on another of the old
            hosts (files for servers know no host), or a new address that another row leads on.
        """
        path = path_of(path)
        if not isinstance(decisions, Collection) or not decisions or not {*decisions} <= {"sure", "look"}:
            raise ParameterError.must_be("decisions", "some of 'sure' and 'look'")
        form = server or server_files.form_of(path)
        if form is None:
            return write_frame(self.table, path)
        chosen = self.table[self.table["decision"].isin(list(decisions)) & self.table["new"].notna()]
        pairs = list(zip(chosen["old"], chosen["new"], strict=True))
        return server_files.write(pairs, path, form)

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return as_text(self._overview(behind_host))

    def _repr_html_(self) -> str:
        return as_html(self._overview(str))

    def _overview(self, shown: Callable[[str], str]) -> Overview:
        """Return how many rows there are of each decision, and the first of those to look at."""
        counts = Counter(self.table["decision"])
        first = self.table[self.table["decision"] == "look"].head(SHOWN)
        cells = zip(first["old"], first["new"], first["score"], first["note"].fillna(""), strict=True)
        rows = [
            (shown(old), shown(new), "" if pd.isna(score) else f"{score:.2f}", note)
            for old, new, score, note in cells
        ]
        left = f"and {counts['look'] - SHOWN:,} more to look at: .table" if counts["look"] > SHOWN else ""
        block = Block("Somebody should look", HEADINGS, rows, left)
        figures = [(name, f"{counts[name]:,}") for name in DECISIONS]
        title = f"Redirects of {len(self):,} old pages"
        return Overview(title, figures, blocks=[block] * bool(rows), hint=HINT)


async def redirect_map(
    old: Any, new: Any, *, embed: Embed | None = None, sure: float = SURE, **options: Unpack[PageOptions]
) -> RedirectMap:
    """Say for each page of an old site which page of the new one takes its place.

    Parameters
    ----------
    old, new : Audit, path, DataFrame, iterable of str or str
        Audits or crawls, folders of saved ones, web archives, frames with ``url`` (and ``text``, ``title``,
        ``headings``, ``language``, ``clicks``, or ``html``), lists of addresses, or the address of a
        sitemap. Of lists and sitemaps the addresses alone are known: to compare texts, audit them first.
    embed : callable, optional
        Takes a list of texts and returns one row of numbers for each, such as the ``encode`` of a model for
        embeddings: then the cosine of these rows takes the place of that of the words.
    sure : float, default 0.6
        Score from which on a target is sure, if it leads by 0.05.
    **options
        Options of this call: those of `webanalytics.core.option_types.PageOptions`.

    Returns
    -------
    RedirectMap
        Its ``table`` has a row for each old page; ``fix`` takes corrections, and ``write`` makes files for
        servers.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work.

    Notes
    -----
    In this order: an address that the new site has too; the canonical address or the end of the redirects of
    the old page, if the new site has it; the nearest page in the same language by distinctive words (see
    `webanalytics.audits.content.nearest`). Texts of less than 30 words are compared with titles, headings and
    addresses, and are sure from 0.8, or where nothing else is near. Below 0.2 a page is gone: nothing takes
    its place, and least of all the home page. A new page that names another one as canonical
    takes the place of the old page of its address alone.

    Examples
    --------
    >>> import pandas as pd
    >>> import webanalytics as wa
    >>> lamps, tea = "Brass lamps need oil and a wick. " * 9, "Green tea needs hot water and a pot. " * 9
    >>> old = pd.DataFrame({"url": ["https://a.example/lamps.html", "https://a.example/jobs"]})
    >>> old["text"] = [lamps, "We look for a carpenter who likes wood and travelling. " * 9]
    >>> new = pd.DataFrame({"url": ["https://b.example/light", "https://b.example/tea"]})
    >>> new["text"] = [lamps, tea]
    >>> wa.redirect_map(old, new).table[["new", "decision"]].fillna("").values.tolist()
    [['https://b.example/light', 'sure'], ['', 'gone']]
    """
    if not isinstance(sure, (int, float)) or not 0 < sure <= 1:
        raise ParameterError.must_be("sure", "a number above 0, and at most 1")
    if embed is not None and not callable(embed):
        raise ParameterError.must_be("embed", "a function, or None")
    before, after = await pages_of(old, "old", dict(options)), await pages_of(new, "new", dict(options))
    after = _that_answer(after)
    known = Vocabulary()
    pages, targets = known.described(before), known.described(after)
    backwards = list(enumerate(targets))[::-1]
    paths = {form(page.url): place for form in (_step, behind_host) for place, page in backwards}
    copies = _copies(after, paths)
    near = nearest(known, pages, targets, 2, embed, [*copies])
    said = before.get("canonical_url"), before.get("final_url")
    rows = []
    for place, (page, found) in enumerate(zip(pages, near, strict=True)):
        choice = _declared(page, [None if cells is None else cells.iloc[place] for cells in said], paths)
        if choice is not None and (named := copies.get(choice.place)) is not None:
            found = [one._replace(place=choice.place) if one.place == named else one for one in found]
        rows.append(_row(page, found, choice, targets, sure))
    own = [page for place, page in enumerate(targets) if place not in copies]
    _tell_splits(rows, own, nearest(known, own, pages, 1))
    counted = _counted([row["new"] for row in rows], [row["note"] for row in rows])
    rows = [row | {"note": note} for row, note in zip(rows, counted, strict=True)]
    for name in before.columns.intersection(["inlinks", "clicks"]):
        for row, value in zip(rows, before[name].tolist(), strict=True):
            row[name] = None if pd.isna(value) else value
    return RedirectMap(frame_of(COLUMNS, rows))


def _that_answer(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the new pages by the addresses at which they end, without those that are not there.

    One that failed otherwise than with 404 or 410 is there for the old page of its address.
    """
    failed = frame["status"].eq("error").fillna(False) if "status" in frame else pd.Series(False, frame.index)
    there = ~frame["http_status"].isin((404, 410)) if "http_status" in frame else ~failed
    frame = frame[~failed if failed.all() else ~failed | there]
    if "final_url" in frame:
        ends = [normal_address(end) or url for url, end in zip(frame["url"], frame["final_url"], strict=True)]
        frame = frame.assign(url=frame["url"].where(failed, ends)).drop_duplicates("url")
    if not len(frame):
        raise ParameterError.on("new", "has no page that could be read")
    return frame.reset_index(drop=True)


def _copies(frame: pd.DataFrame, paths: Mapping[str, int]) -> dict[int, int]:
    """Return which pages name another one of them as canonical, other than the home page, and its place."""
    said = [behind_host(normal_address(url)) for url in frame.get("canonical_url", ())]
    named = enumerate(zip(said, map(behind_host, frame["url"]), strict=False))
    found = {row: paths[end] for row, (end, own) in named if end in paths and end not in ("/", own)}
    return {row: other for row, other in found.items() if other not in found}


def _step(url: str) -> str:
    """Return the same in lower case, without what tells the program that makes a page.

    >>> _step("https://a.example/Tea/Index.php"), _step("https://a.example/tea.html?id=7")
    ('/tea', '/tea?id=7')
    """
    path, *query = behind_host(url).lower().split("?", 1)
    return "?".join([_PROGRAM.sub("", path) or "/", *query])


class _Choice(NamedTuple):
    """A target that addresses tell, and how."""

    place: int
    method: str


def _declared(page: Described, said: list[object], paths: Mapping[str, int]) -> _Choice | None:
    """Return the target that a page has by its own address, its canonical one or its redirects."""
    own = paths.get(behind_host(page.url), paths.get(_step(page.url)))
    if own is not None:
        return _Choice(own, "same address")
    for other in map(normal_address, said):
        place = paths.get(behind_host(other)) if other and behind_host(other) != "/" else None
        if place is not None:
            return _Choice(place, "canonical")
    return None


def _row(
    page: Described, found: list[Near], choice: _Choice | None, targets: list[Described], sure: float
) -> dict[str, Any]:
    """Return the row of an old page."""
    first = found[0] if found else None
    second = found[1] if len(found) > 1 else None
    row: dict[str, Any] = dict.fromkeys(COLUMNS) | {"old": page.url, "decision": "gone", "words": []}
    if choice is not None:
        near = next((item for item in found if item.place == choice.place), None)
        other = next((item for item in found if item.place != choice.place), None)
        row |= _target(targets, choice.place, near, other)
        row |= {"method": choice.method, "decision": "sure"}
        elsewhere = other is not None and not page.thin and other.score >= sure
        if elsewhere and row["second_score"] - (row["score"] or 0.0) >= MARGIN:
            row |= {"decision": "look", "note": "another page has this text: see `second`"}
        return row
    if first is None or first.score < LOOK:
        if first is not None:
            row |= {"second": targets[first.place].url, "second_score": first.score, "words": first.words}
        return row
    thin = page.thin or targets[first.place].thin
    row |= _target(targets, first.place, first, second)
    row["method"] = "title and address" if thin else "text"
    home = behind_host(targets[first.place].url) == "/" and behind_host(page.url) != "/"
    enough = max(sure, SURE_WHEN_THIN) if thin else sure
    alone = second is None or second.score <= BEHIND * first.score
    alike = first.score >= (min(enough, CLEAR * sure / SURE) if alone else enough)
    row["decision"] = "sure" if alike and row["margin"] >= MARGIN and not home else "look"
    if home:
        row["note"] = "the home page stands for no other page"
    elif row["margin"] < MARGIN:
        row["note"] = "two pages are as near: see `second`"
    return row


def _target(targets: list[Described], place: int, near: Near | None, other: Near | None) -> dict[str, Any]:
    score = None if near is None else near.score
    behind = 0.0 if other is None else other.score
    return {
        **{"new": targets[place].url, "score": score, "words": [] if near is None else near.words},
        **{"margin": None if score is None else score - behind},
        **{"second": None if other is None else targets[other.place].url},
        **{"second_score": None if other is None else other.score},
    }


def _counted(targets: list[Any], notes: list[str | None]) -> list[str | None]:
    """Return the notes, with how many old pages lead where these do, if several do so."""
    times = Counter(target for target in targets if isinstance(target, str))
    said = {target: f"one of {count:,} old pages that lead here" for target, count in times.items()}
    plain = [_MERGED.sub("", note or "") for note in notes]
    return [
        "; ".join(filter(None, [said[target] if times[target] > 1 else "", note])) or None
        for target, note in zip(targets, plain, strict=True)
    ]


def _tell_splits(rows: list[dict[str, Any]], targets: list[Described], near: list[list[Near]]) -> None:
    """Note on old pages which new ones, where none leads, have another part of their text."""
    parts: dict[int, list[str]] = {}
    led = {row["new"] for row in rows}
    for page, found in zip(targets, near, strict=True):
        for old in found if page.url not in led and not page.thin else ():
            known = rows[old.place]["words"] if rows[old.place]["new"] else []
            if old.score >= CLEAR and known and len({*old.words} & {*known}) <= SHARED:
                parts.setdefault(old.place, []).append(page.url)
    for place, urls in parts.items():
        told = [*filter(None, [rows[place]["note"]]), f"another part of it is on {listed(urls)}"]
        rows[place]["note"] = "; ".join(told)
