"""Whether the values of structured data can be read: dates, prices, currencies, ratings, enumerations.

Sources: schema.org for the values of each property; the documentation of Google Search for ratings (5 and 1
where ``bestRating`` and ``worstRating`` are not given; a dot for decimals), for prices of merchant listings
(above 0), for employment types and for dates that end an offer or a posting; ISO 8601 for dates and
durations; ISO 4217 for the form of currencies.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from webanalytics.page.structured.items import Graph, Node, kinds_of, parts
from webanalytics.page.structured.offer import local_name
from webanalytics.page.structured.requirements import closest, vocabulary

_SHOWN = 60
_MOST = 50
DEFAULT_BEST = 5.0
DEFAULT_WORST = 1.0

_DATE = re.compile(r"[+-]?(\d{4,6})(?:-(\d\d)(?:-(\d\d)(?:[T ](.+))?)?)?")
_BASIC_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(.+))?")
_TIME = re.compile(
    r"([01]\d|2[0-4])(?::?([0-5]\d)(?::?([0-5]\d|60)(?:[.,]\d{1,9})?)?)?\s?(?:Z|z|[+-]\d\d(?::?[0-5]\d)?)?"
)
_DURATION = re.compile(
    r"P(?=.)(?:\d+(?:\.\d+)?Y)?(?:\d+(?:\.\d+)?M)?(?:\d+(?:\.\d+)?W)?(?:\d+(?:\.\d+)?D)?"
    r"(?:T(?=.)(?:\d+(?:\.\d+)?H)?(?:\d+(?:\.\d+)?M)?(?:\d+(?:\.\d+)?S)?)?"
)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)")
_CURRENCY = re.compile(r"[A-Z]{3}")
_EMPLOYMENT = frozenset(
    ("FULL_TIME", "PART_TIME", "CONTRACTOR", "TEMPORARY", "INTERN", "VOLUNTEER", "PER_DIEM", "OTHER")
)
_DATES = (
    *("datePublished", "dateModified", "dateCreated", "uploadDate", "datePosted", "startDate", "endDate"),
    *("validFrom", "validThrough", "priceValidUntil", "expires", "doorTime", "previousStartDate"),
)
_ENUMERATIONS = {
    "availability": "ItemAvailability",
    "eventAttendanceMode": "EventAttendanceModeEnumeration",
    "eventStatus": "EventStatusType",
    "itemCondition": "OfferItemCondition",
    "priceType": "PriceTypeEnumeration",
    "refundType": "RefundTypeEnumeration",
    "returnFees": "ReturnFeesEnumeration",
    "returnMethod": "ReturnMethodEnumeration",
    "returnPolicyCategory": "MerchantReturnEnumeration",
}


def date_of(value: str) -> dt.date | None:
    """Return the day of an ISO 8601 date or date and time, the first one of a month or a year; None for none.

    >>> date_of("2026-11-22T10:00:00+01:00"), date_of("2026-02"), date_of("22.11.2026"), date_of("2026-02-30")
    (datetime.date(2026, 11, 22), datetime.date(2026, 2, 1), None, None)
    """
    match = _DATE.fullmatch(value) or _BASIC_DATE.fullmatch(value)
    if match is None or (match[4] and not _TIME.fullmatch(match[4])):
        return None
    try:
        return dt.date(int(match[1]), int(match[2] or 1), int(match[3] or 1))
    except ValueError:
        return None


def number_of(value: Any) -> float | None:
    """Return a number, or what a text with nothing but a number says."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value) if abs(value) < 1e300 else None
    text = value.strip() if isinstance(value, str) else ""
    return float(text) if len(text) < 40 and _NUMBER.fullmatch(text) else None


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    text = " ".join(text[: 4 * _SHOWN].split())
    return f'"{text[:_SHOWN]}…"' if len(text) > _SHOWN else f'"{text}"'


def _date(value: Any) -> str:
    if isinstance(value, str):
        good = date_of(value.strip()) is not None
    else:
        good = isinstance(value, int) and 1000 <= value <= 9999
    return "" if good else "is not an ISO 8601 date"


def _duration(value: Any) -> str:
    good = isinstance(value, str) and _DURATION.fullmatch(value.strip().upper())
    return "" if good else "is not an ISO 8601 duration"


def _amount(value: Any) -> str:
    number = number_of(value)
    if number is None:
        comma = isinstance(value, str) and "," in value
        return f"is not a number{': decimals take a dot, thousands nothing' if comma else ''}"
    return "is negative" if number < 0 else ""


def _currency(value: Any) -> str:
    good = isinstance(value, str) and _CURRENCY.fullmatch(value.strip())
    return "" if good else "is not three capitals of ISO 4217"


def _count(value: Any) -> str:
    number = number_of(value)
    return (
        "" if number is not None and number > 0 and number == int(number) else "is not a whole number above 0"
    )


def _position(value: Any) -> str:
    number = number_of(value)
    return "" if number is not None and number >= 0 and number == int(number) else "is not a whole number"


def _boolean(value: Any) -> str:
    good = isinstance(value, bool) or local_name(value).casefold() in ("true", "false")
    return "" if good else "is neither true nor false"


def _url(value: Any) -> str:
    good = isinstance(value, str) and value.strip().lower().startswith(("http://", "https://"))
    return "" if good else "is not the address of a web page"


@cache
def _members(name: str) -> dict[str, str]:
    known = _EMPLOYMENT if name == "employmentType" else vocabulary().members[_ENUMERATIONS[name]]
    return {member.casefold(): member for member in sorted(known)}


def _member(name: str, value: Any) -> str:
    """Return what is wrong with a member of an enumeration."""
    member = value.strip() if name == "employmentType" and isinstance(value, str) else local_name(value)
    members = _members(name)
    if members.get(member.casefold()) == member:
        return ""
    near = closest(re.sub(r"[\s_-]+", "" if name != "employmentType" else "_", member), members)
    return f"is not a value of {_ENUMERATIONS.get(name, name)}{f': did you mean {near}?' if near else ''}"


_CHECKS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(_DATES, _date),
    **dict.fromkeys(("duration", "totalTime", "cookTime", "prepTime", "performTime"), _duration),
    **dict.fromkeys(("price", "lowPrice", "highPrice", "minPrice", "maxPrice"), _amount),
    **dict.fromkeys(("priceCurrency", "salaryCurrency"), _currency),
    **dict.fromkeys(("ratingCount", "reviewCount"), _count),
    **dict.fromkeys(("isAccessibleForFree", "directApply", "isLiveBroadcast"), _boolean),
    "sameAs": _url,
    "position": _position,
}
# Properties of these names take other values in other types.
_ONLY_IN = {
    "duration": frozenset(("VideoObject", "AudioObject", "Clip", "MusicRecording", "Movie", "Event")),
    "position": frozenset(("ListItem",)),
    "doorTime": frozenset(("Event",)),
}
LOOKED_AT = frozenset(
    (*_CHECKS, *_ENUMERATIONS, "employmentType", "ratingValue", "bestRating", "worstRating")
)
"""The properties whose values are judged."""

_RATINGS = frozenset(("Rating", "AggregateRating", "EmployerAggregateRating"))
_ENDS = {
    "JobPosting": ("validThrough", "the posting has expired"),
    "Offer": ("priceValidUntil", "the offer has ended"),
}


def wrong_values(graph: Graph, node: Node, kinds: list[str], within: str, today: dt.date) -> Iterator[str]:
    """Yield what is wrong with the values of an item, as sentences without an end.

    >>> offer = {"price": "19,90", "priceCurrency": "EUR", "availability": "https://schema.org/Instock"}
    >>> for problem in wrong_values(Graph([]), offer, ["Offer"], "offers", dt.date(2026, 11, 22)):
    ...     print(problem)
    price "19,90" is not a number: decimals take a dot, thousands nothing
    availability "https://schema.org/Instock" is not a value of ItemAvailability: did you mean InStock?
    """
    for name, given in node.items():
        check = _CHECKS.get(name)
        enumerated = name in _ENUMERATIONS or (name == "employmentType" and "JobPosting" in kinds)
        if (check is None and not enumerated) or (name in _ONLY_IN and _ONLY_IN[name].isdisjoint(kinds)):
            continue
        for value in parts(given)[:_MOST]:
            if isinstance(value, (dict, list)):
                continue
            problem = check(value) if check else _member(name, value)
            if problem:
                yield f"{name} {_shown(value)} {problem}"
    if not _RATINGS.isdisjoint(kinds):
        yield from _rating(node)
    yield from _times(node, kinds, within, today)
    if "Product" in kinds and not within:
        yield from _free(graph, node)


def _text(node: Node, name: str) -> Any:
    found = parts(node.get(name))
    return found[0] if found and not isinstance(found[0], (dict, list)) else None


def _rating(node: Node) -> Iterator[str]:
    """Yield what is wrong with the value of a rating; a part of ten and a percentage are allowed."""
    value = _text(node, "ratingValue")
    if value is None:
        return
    text = str(value).strip()
    if text.endswith("%") or "/" in text:
        pieces = [number_of(piece) for piece in text.rstrip("%").split("/")]
        if None in pieces or len(pieces) > 2:
            yield f"ratingValue {_shown(value)} is not a number"
        return
    number = number_of(value)
    if number is None:
        yield f"ratingValue {_shown(value)} is not a number{': decimals take a dot' if ',' in text else ''}"
        return
    for name, default, over in (("bestRating", DEFAULT_BEST, True), ("worstRating", DEFAULT_WORST, False)):
        given = number_of(_text(node, name))
        limit = default if given is None else given
        if (number > limit) if over else (number < limit):
            note = "" if given is not None else ", which counts where none is given"
            yield f"ratingValue {_shown(value)} is {'above' if over else 'below'} the {name} {limit:g}{note}"


def _times(node: Node, kinds: list[str], within: str, today: dt.date) -> Iterator[str]:
    """Yield what is wrong with the order of an item's dates, and with those that are over."""
    start, end = _text(node, "startDate"), _text(node, "endDate")
    first, last = _day(start), _day(end)
    # A year or a month that ends something is not its first day.
    if first and last and last < first and len(end.strip()) >= len("20260101"):
        yield f"endDate {_shown(end)} is before startDate {_shown(start)}"
    for kind, (name, meaning) in _ENDS.items():
        if kind in kinds and (kind != "Offer" or within == "offers"):
            text = _text(node, name)
            day = _day(text)
            if day and day < today and len(text.strip()) >= len("20260101"):
                yield f"{name} {_shown(text)} is past: {meaning}"


def _day(value: Any) -> dt.date | None:
    return date_of(value.strip()) if isinstance(value, str) else None


def _free(graph: Graph, node: Node) -> Iterator[str]:
    for offer in graph.values(node, "offers")[:_MOST]:
        if isinstance(offer, dict) and kinds_of(offer) in ([], ["Offer"]):
            value = _text(offer, "price")
            if number_of(value) == 0:
                yield f"offers.price {_shown(value)} is not above 0, as merchant listings require"
