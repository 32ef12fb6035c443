"""The phone checker: whether a number is disposable, since when, and what kind of number it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ipywidgets as w
from markupsafe import Markup

from webanalytics import aio
from webanalytics.notebook.widgets.parts import (
    OneAnswer,
    as_text,
    badge,
    button,
    code,
    facts,
    first_row,
    labelled,
    paragraph,
    row,
)
from webanalytics.runs.frames.schema import is_missing

_ANYWHERE = "international (+\u2026)"


class PhoneChecker(OneAnswer):
    """A form for one phone number and what is known about it."""

    def __init__(self, backend: Any = None) -> None:
        from phonenumbers import SUPPORTED_REGIONS

        self.number = w.Text(placeholder="+12085813945", layout=w.Layout(width="260px"))
        regions = [(_ANYWHERE, None), *((region, region) for region in sorted(SUPPORTED_REGIONS))]
        self.region = w.Dropdown(options=regions, value=None, layout=w.Layout(width="180px"))
        start = button("Check")
        start.on_click(lambda _: self.check())
        super().__init__(
            "Phone checker",
            "checks whether a number belongs to a disposable-number service.",
            [row(labelled("Phone number", self.number), labelled("Country", self.region), start)],
            start,
            w.HTML(),
            backend,
        )

    def check(self) -> None:
        """Check the number in the form."""
        self.start(self._check)

    async def _check(self) -> None:
        number = self.number.value.strip()
        if not number:
            self.say("Type a phone number first.", "bad")
            return
        frame = await aio.phones([number], region=self.region.value, **self.options)
        self.show(first_row(frame), description)


def description(answer: Mapping[str, Any]) -> Markup:
    """Return what is known about a number as HTML."""
    disposable = bool(answer["isDisposable"])
    verdict = badge("Disposable", "bad") if disposable else badge("Not known as disposable", "good")
    rows = [("Number (E.164)", code(answer["phone"]))]
    if disposable:
        rows.append(("First seen", as_text(answer["firstSeen"])))
    rows.append(("Country", as_text(answer.get("country"), "none")))
    line = answer.get("line_type")
    rows.append(("Line type", as_text(None if is_missing(line) else str(line).replace("_", " "), "unknown")))
    rows.append(("Carrier", as_text(answer.get("carrier"), "unknown")))
    valid = answer.get("valid")
    if not is_missing(valid):
        rows.append(("In the country's numbering plan", as_text("yes" if valid else "no")))
    return paragraph(verdict) + facts(rows)


def phone_checker(backend: Any = None) -> PhoneChecker:
    """Return a form that checks whether a phone number is disposable.

    Parameters
    ----------
    backend : Hosted, optional
        Where the number is looked up; None for the session's, which is this machine where it was not set.

    Returns
    -------
    PhoneChecker
        A widget; a notebook shows it when it ends a cell.

    Examples
    --------
    >>> checker = phone_checker()
    >>> checker.number.value = "+1 208-581-3945"
    >>> checker.check()
    >>> checker.answer["firstSeen"]
    '2024-01-30'
    """
    return PhoneChecker(backend)
