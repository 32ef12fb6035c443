"""The TLSA checker: paste a record, read what it means and how good it is."""

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
    heading,
    labelled,
    paragraph,
    row,
    text_area,
)
from webanalytics.runs.frames.schema import is_missing

EXAMPLE = "_443._tcp.www.example.com. 3600 IN TLSA 3 1 1 4916105f8ce829ba5a39a73a00bc2e3a\u2026"
_TONES = {"Recommended": "good", "Good": "good", "Acceptable": "fair", "Weak": "warning", "Invalid": "bad"}


class TlsaChecker(OneAnswer):
    """A form for one DANE/TLSA record and its explanation."""

    def __init__(self, backend: Any = None) -> None:
        self.record = text_area(3, EXAMPLE)
        start = button("Check")
        start.on_click(lambda _: self.check())
        super().__init__(
            "TLSA checker",
            "explains a DANE/TLSA record, checks it and says how good it is.",
            [labelled("TLSA record, as a zone file has it", self.record), row(start)],
            start,
            w.HTML(),
            backend,
        )

    def check(self) -> None:
        """Check the record in the form."""
        self.start(self._check)

    async def _check(self) -> None:
        record = self.record.value.strip()
        if not record:
            self.say("Paste a TLSA record first.", "bad")
            return
        self.show(first_row(await aio.dane([record], **self.options)), explanation)


def explanation(answer: Mapping[str, Any]) -> Markup:
    """Return the explanation of a record as HTML."""
    return _verdict(answer) + _codes(answer) + _parts(answer)


def _verdict(answer: Mapping[str, Any]) -> Markup:
    meaning = answer["interpretation"]
    valid = "The record is valid." if answer["validation"]["is_valid"] else "The record is not valid."
    if is_missing(meaning):  # a service includes this for some accounts only
        return paragraph(as_text(valid), "font-weight:600")
    level = meaning["security_level"]
    verdict = Markup("{} &nbsp;{}").format(badge(level, _TONES.get(level, "plain")), as_text(valid))
    return paragraph(verdict) + paragraph(as_text(meaning["recommendation"]))


def _codes(answer: Mapping[str, Any]) -> Markup:
    meaning, parsed = answer["interpretation"], answer["parsed"]
    if is_missing(meaning):
        numbers = ((name.capitalize(), as_text(parsed[name])) for name in ("usage", "selector", "matching"))
        note = paragraph(as_text("What they mean is not part of this account's answers."))
        return heading("The three codes") + facts(numbers) + note
    rows = []
    for name, label in (("usage", "Usage"), ("selector", "Selector"), ("matching", "Matching type")):
        known = meaning[name]
        texts = (as_text(known[part]) for part in ("name", "description", "full_description"))
        meaning_of = Markup("<strong>{}</strong>, {}<br>{}").format(*texts)
        rows.append((f"{label} {parsed[name]}", meaning_of))
    return heading("What its three codes mean") + facts(rows)


def _parts(answer: Mapping[str, Any]) -> Markup:
    parsed, checks = answer["parsed"], answer["validation"]
    fits = "fits" if checks["certificate_data_length_valid"] else "does not fit"
    length = f"{parsed['certificate_data_length']:,} characters, which {fits} the matching type"
    rows = [
        ("Host", as_text(parsed["hostname"])),
        ("Service", as_text(_service(parsed))),
        ("TTL", as_text(None if parsed["ttl"] is None else f"{parsed['ttl']:,} seconds", "not given")),
        ("Class", as_text(parsed["class"])),
        ("Data", code(parsed["certificate_data"])),
        ("", as_text(f"{checks['certificate_data_format']}, {length}")),
    ]
    return heading("Its parts") + facts(rows)


def _service(parsed: Mapping[str, Any]) -> str | None:
    if parsed["port"] is None and parsed["protocol"] is None:
        return None
    return f"port {parsed['port'] or 'unknown'}, {parsed['protocol'] or 'unknown protocol'}"


def tlsa_checker(backend: Any = None) -> TlsaChecker:
    """Return a form that explains and checks a DANE/TLSA record.

    Parameters
    ----------
    backend : Hosted, optional
        Where the record is checked; None for the session's, which is this machine where it was not set.

    Returns
    -------
    TlsaChecker
        A widget; a notebook shows it when it ends a cell.

    Examples
    --------
    >>> checker = tlsa_checker()
    >>> checker.record.value = "_443._tcp.www.example.com. IN TLSA 3 1 1 " + "ab" * 32
    >>> checker.check()
    >>> checker.answer["security_level"]
    'Recommended'
    """
    return TlsaChecker(backend)
