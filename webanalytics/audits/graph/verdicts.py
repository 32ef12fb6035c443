"""What became of a request, in one word: what is gone is told from what only refused us."""

from __future__ import annotations

from typing import Literal, TypeAlias

from webanalytics.core.messages import REFUSALS

Verdict: TypeAlias = Literal["ok", "redirected", "gone", "refused", "blocked", "failed", "soft 404"]

BROKEN: tuple[Verdict, ...] = ("gone", "soft 404", "failed", "blocked")
"""Verdicts on what does not answer as it should, the surest first."""

GONE = frozenset((404, 410))


def verdict(
    status: int | None, error_type: str | None = None, key: str | None = None, *, redirected: bool = False
) -> Verdict:
    """Return what became of a request, or of one that was led elsewhere.

    Notes
    -----
    ``gone`` is HTTP 404 and 410 (RFC 9110, sections 15.5.5 and 15.5.11) and a host that does not exist; a
    look-up that failed for another reason says nothing of the host.
    ``refused`` is what a visitor may well be able to see: 401, 403, 407, 429, 451, 999 and challenges; it is
    not broken. ``blocked`` is a time limit, and what robots.txt closes. Everything else that is no answer is
    ``failed``.

    Examples
    --------
    >>> verdict(200), verdict(404), verdict(429), verdict(503), verdict(None, "timeout")
    ('ok', 'gone', 'refused', 'failed', 'blocked')
    >>> verdict(None, "dns", "unknown_host"), verdict(None, "dns", "lookup_failed")
    ('gone', 'failed')
    """
    if error_type == "robots":
        return "blocked"
    if status in REFUSALS or error_type == "refused":
        return "refused"
    if status is not None and status >= 400:
        return "gone" if status in GONE else "failed"
    if key == "unknown_host":
        return "gone"
    if error_type == "timeout":
        return "blocked"
    if error_type in (None, "not_html", "too_large") and status is not None:
        return "redirected" if redirected else "ok"
    return "failed"
