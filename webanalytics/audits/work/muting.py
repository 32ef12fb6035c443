"""Issues that are known and set aside for a reason: which they are, and how that is said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from webanalytics.audits.origin import Mute
from webanalytics.audits.rules import RULES
from webanalytics.core.strings import counted, did_you_mean, one_line
from webanalytics.core.url_patterns import matching
from webanalytics.errors import ParameterError
from webanalytics.runs.frames.schema import make_series

COLUMNS = ("rule", "rule_title", "priority", "url", "evidence")
"""What is shown of a muted issue, before the reason and the last day."""


def new_mute(rule: Any, url: Any, reason: Any, until: Any) -> Mute:
    """Return what a call of `Audit.mute` asks for, or refuse a wrong argument."""
    if not isinstance(reason, str) or not reason.strip():
        raise ParameterError.must_be("reason", "a text that says why these issues are muted")
    if rule is None and url is None:
        raise ParameterError.on(
            "rule", "must name a rule where `url` is not given: not all issues can be muted"
        )
    if rule is not None and rule not in RULES:
        hint = did_you_mean(str(rule), RULES) or "."
        raise ParameterError(f"The `rule` parameter must name a rule; there is no {rule!r}{hint}", "rule")
    last = until.isoformat()[:10] if isinstance(until, date) else until
    return checked(Mute(one_line(reason.strip()), rule, url, last))


def checked(mute: Mute) -> Mute:
    """Return a mute whose address and day are what they must be."""
    if mute.url is not None:
        if not isinstance(mute.url, str) or not mute.url:
            raise ParameterError.must_be("url", "an address, or a pattern of addresses")
        matching(mute.url, "url")
    try:
        _last_day(mute)
    except (TypeError, ValueError):
        raise ParameterError.must_be("until", "a day such as 2026-12-31") from None
    return mute


def _last_day(mute: Mute) -> date:
    return date.max if mute.until is None else date.fromisoformat(mute.until)


def _ended(mutes: Sequence[Mute]) -> list[Mute]:
    today = datetime.now(UTC).date()
    return [mute for mute in mutes if _last_day(mute) < today]


def unmuted(found: pd.DataFrame, mutes: Sequence[Mute]) -> pd.DataFrame:
    """Return the issues that nobody has muted."""
    left = _which(found, mutes) < 0
    return found if left.all() else found[left].reset_index(drop=True)


def muted(found: pd.DataFrame, mutes: Sequence[Mute]) -> pd.DataFrame:
    """Return the issues that are muted, with the reason and the last day of the first mute of each."""
    which = _which(found, mutes)
    shown = found.loc[which >= 0, list(COLUMNS)].reset_index(drop=True)
    of_each = [mutes[place] for place in which[which >= 0].tolist()]
    shown["reason"] = make_series([mute.reason for mute in of_each], "string", shown.index)
    shown["until"] = make_series([mute.until for mute in of_each], "string", shown.index)
    return shown


def _which(found: pd.DataFrame, mutes: Sequence[Mute]) -> npt.NDArray[np.int64]:
    """Return the place of the mute of each issue, -1 for one that counts."""
    places = np.full(len(found), -1)
    over = _ended(mutes)
    current = [(place, mute) for place, mute in enumerate(mutes) if mute not in over]
    if not current or not len(found):
        return places
    codes, urls = pd.factorize(found["url"], use_na_sentinel=False)
    of_host = found["scope"].eq("host").to_numpy(bool)
    for place, mute in reversed(current):
        mask = np.ones(len(found), bool) if mute.rule is None else found["rule"].eq(mute.rule).to_numpy(bool)
        if mute.url is not None:
            is_meant = matching(mute.url, "url")
            mask = mask & np.array([is_meant(url) for url in urls], bool)[codes]
            if "/" in mute.url[8:]:  # a page, not what is of its host
                mask = mask & ~of_host
        places[mask] = place
    return places


def notes(found: pd.DataFrame, mutes: Sequence[Mute]) -> list[str]:
    r"""Return sentences on what is muted, and on what is not any more.

    Examples
    --------
    >>> found = pd.DataFrame({"reason": ["Closed shop"], "until": ["2100-12-31"]})
    >>> print(*notes(found, [Mute("Old menu", "content_low", None, "2020-01-31")]), sep="\n")
    1 issue is muted: Closed shop (1, until 2100-12-31).
    Muted until 2020-01-31, and not any more: Old menu.
    """
    said = []
    if len(found):
        counts = Counter(zip(found["reason"].tolist(), found["until"].fillna("").tolist(), strict=True))
        parts = [
            f"{one_line(reason)} ({count:,}{f', until {last}' * bool(last)})"
            for (reason, last), count in counts.most_common()
        ]
        verb = "is" if len(found) == 1 else "are"
        said.append(f"{counted(len(found), 'issue')} {verb} muted: {'; '.join(parts)}.")
    over = (f"{mute.until}, and not any more: {one_line(mute.reason)}" for mute in _ended(mutes))
    return said + [f"Muted until {text.rstrip('.')}." for text in over]
