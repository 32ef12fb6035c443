"""`webanalytics.check_redirects`: where old addresses lead after the launch, beside the plan."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Unpack
from urllib.parse import urlsplit, urlunsplit

import pandas as pd

from webanalytics.audits.function import audit
from webanalytics.audits.graph.site_links import normal, origin
from webanalytics.audits.moves.plan import RedirectMap
from webanalytics.audits.moves.sources import normal_address, pages_of
from webanalytics.audits.overview.display import Block, Overview, as_html
from webanalytics.core.operations.model import Dtype
from webanalytics.core.option_types import PageOptions
from webanalytics.core.strings import one_line, shortened
from webanalytics.errors import ParameterError
from webanalytics.runs.frames.foreign import as_pandas
from webanalytics.runs.frames.input_files import read_frame
from webanalytics.runs.frames.output_files import new_file
from webanalytics.runs.frames.schema import frame_of

__all__ = ["check_redirects"]

COLUMNS: Final[dict[str, Dtype]] = {
    **{"old": "string", "planned": "string", "verdict": "string", "lands": "string"},
    **{"http_status": "integer", "hops": "integer", "kinds": "object"},
    **{"noindex": "boolean", "canonical": "string", "note": "string"},
}
LASTING: Final = frozenset(("301", "308"))
TITLE: Final = "Redirects after the launch"
SHOWN: Final = ("verdict", "old", "planned", "lands", "note")
"""Columns of the report."""
GOOD: Final = ("as planned", "gone")
ORDER: Final = ("fails", "not redirected", "elsewhere", "not in the plan", *GOOD)


async def check_redirects(
    plan: Any,
    *,
    site: str | None = None,
    old: Any = None,
    report: str | os.PathLike[str] | None = None,
    **options: Unpack[PageOptions],
) -> pd.DataFrame:
    """Ask each old address where it leads now, and say whether that is where the plan says.

    Parameters
    ----------
    plan : RedirectMap, DataFrame or path
        What `webanalytics.redirect_map` returned, or a table of it (CSV, Excel, ...) with ``old`` and
        ``new``; rows without ``new`` are pages that are gone.
    site : str, optional
        Where the old addresses are asked instead of their own hosts: ``"https://staging.example.org"``.
    old : Audit, path, DataFrame, iterable of str or str, optional
        All that the old site had, as for `webanalytics.redirect_map`: what the plan forgot is asked too.
    report : path, optional
        An HTML file to write for those who mend it: how many of each verdict, and each address with a fault.
    **options
        Options of this call: those of `webanalytics.core.option_types.PageOptions`.

    Returns
    -------
    pandas.DataFrame
        One row for each old address, the worst first: ``old``, ``planned``, ``verdict`` ("as planned";
        "elsewhere": it leads to another page; "not redirected": it answers itself; "fails"; "gone": it
        answers 404 or 410 as planned; "not in the plan"), ``lands`` (where it ends), ``http_status``,
        ``hops``, ``kinds`` (the status of each redirect), ``noindex`` and ``canonical`` of the page at the
        end, and ``note``: a chain, a temporary redirect, a page that may not be indexed, or why it fails.

    Raises
    ------
    ParameterError
        For a wrong argument, before any work.

    Notes
    -----
    Each old address is asked once, politely and as an audit asks. Addresses are compared in normal form; a
    fragment is no part of them. A redirect that lasts is 301 or 308 (RFC 9110 section 15.4).

    Examples
    --------
    >>> import pandas as pd
    >>> import webanalytics as wa
    >>> moved = wa.testing.Reply(302, {"Location": "/new"})
    >>> with wa.testing.SiteServer({"/old": moved, "/new": b"<title>New</title>"}) as server:
    ...     plan = pd.DataFrame({"old": [f"{server.url}/old"], "new": [f"{server.url}/new"]})
    ...     found = wa.check_redirects(plan, allow_private=True)
    >>> found[["verdict", "note"]].values.tolist()
    [['as planned', 'A temporary redirect (302): search engines may keep the old address.']]
    """
    if report is not None and Path(report).suffix.lower() not in {".html", ".htm"}:
        raise ParameterError.must_be("report", "a file that ends in .html")
    planned = planned_in(plan)
    base = origin(site)
    if site is not None and base is None:
        raise ParameterError.must_be("site", "an http or https address")
    rest = [] if old is None else (await pages_of(old, "old", dict(options)))["url"].tolist()
    forgotten = [url for url in rest if url not in planned]
    asked = [url if base is None else _at(url, base) for url in (*planned, *forgotten)]
    if not asked:
        raise ParameterError.on("plan", "has no old address")
    names = ["final_url", "status", "http_status", "redirect_kinds", "noindex", "canonical_url", "error"]
    pages: list[Any] = (await audit(asked, **options)).pages[names].to_dict("records")
    rows = [
        _judged(url, planned.get(url), url in planned, source, page, base)
        for url, source, page in zip((*planned, *forgotten), asked, pages, strict=True)
    ]
    rows.sort(key=lambda row: ORDER.index(row["verdict"]))
    found = frame_of(COLUMNS, rows)
    if report is not None:
        _write_report(found, Path(report))
    return found


def _write_report(found: pd.DataFrame, path: Path) -> None:
    """Write a page with the verdicts and every address with a fault, everything escaped."""
    counts = found["verdict"].value_counts(sort=False).items()
    figures = [("old addresses", f"{len(found):,}"), *((str(name), f"{count:,}") for name, count in counts)]
    planned = found["verdict"].isin(GOOD)
    faults = found[~planned | (found["note"].notna() & found["verdict"].eq("as planned"))]
    rows = faults[list(SHOWN)].fillna("").to_numpy().tolist()
    blocks = [Block("To mend", SHOWN, rows)] * bool(rows)
    overview = Overview(TITLE, figures, blocks=blocks, notes=["All lead where the plan says."] * (not rows))
    head = f"<!doctype html><html lang=en><meta charset=utf-8><title>{TITLE}</title>"
    with new_file(path, "report") as temporary:
        temporary.write_text(
            f"{head}<body style='margin:2em;font:1em system-ui,sans-serif'>{as_html(overview)}", "utf-8"
        )


def planned_in(plan: Any) -> dict[str, str]:
    """Return the new address of each old one, '' for none; raises `ParameterError` for what is no plan."""
    given = _table(plan)
    olds, news = (_addresses(given[name]) for name in ("old", "new"))
    planned: dict[str, str] = {}
    for url, new in zip(olds, news, strict=True):
        if url and (other := planned.setdefault(url, new)) != new:
            said = " and ".join(target or "no address" for target in (other, new))
            raise ParameterError.on("plan", f"leads {url} to two places: {said}")
    return planned


def _table(plan: Any) -> pd.DataFrame:
    if isinstance(plan, RedirectMap):
        return plan.table
    try:
        is_file = isinstance(plan, (str, os.PathLike))
        frame = read_frame(os.fspath(plan)) if is_file else as_pandas(plan, "plan")
    except ParameterError as error:
        raise error.of("plan") from None
    if not isinstance(frame, pd.DataFrame) or any([*frame].count(name) != 1 for name in ("old", "new")):
        raise ParameterError.must_be(
            "plan", "what redirect_map returned, or a table with the columns old and new"
        )
    return frame


def _addresses(cells: pd.Series[Any]) -> list[str]:
    """Return addresses in normal form, '' for an empty cell; raises `ParameterError` for another text."""
    found = cells.map(normal_address)
    for cell in cells[found == ""]:
        if isinstance(cell, str) and cell.strip():
            raise ParameterError.on("plan", f"names {shortened(one_line(cell), 100)!r}, which is no address")
    return found.tolist()


def _at(url: str, base: str) -> str:
    """Return an address on another host."""
    scheme, host = urlsplit(base)[:2]
    return urlunsplit((scheme, host, *urlsplit(url)[2:4], ""))


def _judged(
    url: str, wanted: str | None, known: bool, source: str, page: Mapping[str, Any], base: str | None
) -> dict[str, Any]:
    """Return the row of an old address."""
    lands = normal_address(page["final_url"]) or source
    kinds = page["redirect_kinds"] if isinstance(page["redirect_kinds"], list) else []
    failed = page["status"] == "error"
    if not known:
        verdict = "not in the plan"
    elif failed:
        verdict = "gone" if not wanted and page["http_status"] in (404, 410) else "fails"
    elif wanted and _plain(lands) in (_plain(wanted), base and _plain(_at(wanted, base))):
        verdict = "as planned"
    elif lands == source:
        verdict = "not redirected"
    else:
        verdict = "elsewhere"
    noindex = page["noindex"]
    return {
        **{"old": url, "planned": wanted or None, "verdict": verdict, "lands": lands},
        **{"http_status": None if pd.isna(page["http_status"]) else int(page["http_status"])},
        **{"hops": len(kinds), "kinds": kinds, "noindex": None if pd.isna(noindex) else bool(noindex)},
        **{"canonical": _text(page["canonical_url"]), "note": _note(page, kinds, lands, failed)},
    }


def _note(page: Mapping[str, Any], kinds: list[str], lands: str, failed: bool) -> str | None:
    """Return what else is wrong with a redirect."""
    if failed:
        return _text(page["error"])
    notes, canonical = [], normal_address(page["canonical_url"])
    if len(kinds) > 1:
        notes.append(f"A chain of {len(kinds)} redirects ({', '.join(kinds)}).")
    elif not LASTING.issuperset(kinds):
        notes.append(f"A temporary redirect ({kinds[0]}): search engines may keep the old address.")
    if canonical and normal(canonical) != normal(lands):
        notes.append(f"The page at the end names another one as canonical: {canonical}")
    if not pd.isna(page["noindex"]) and page["noindex"]:
        notes.append("The page at the end may not be indexed: noindex.")
    return " ".join(notes) or None


def _plain(url: str) -> str | None:
    return normal(url.replace("%24", "$"))  # nginx has no way to write a dollar


def _text(cell: object) -> str | None:
    return cell if isinstance(cell, str) and cell else None
