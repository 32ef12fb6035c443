"""Dates of a page: when it was published and when it was changed, for its text.

What the page declares comes first (JSON-LD, meta elements, microdata), then what its reader sees: a dateline
beside the headline. Only then is htmldate asked, and then any short line with a day; a video comes last. A
line such as "Last updated 4 May 2022" names the day of the last change, never that of publication.
"""

from __future__ import annotations

import copy
import importlib
import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from email.utils import parsedate
from functools import lru_cache
from itertools import chain, islice

from lxml import etree

from webanalytics.page.page import Page, once_per_page
from webanalytics.page.structured.jsonld import jsonld
from webanalytics.page.structured.offer import types_of
from webanalytics.page.text.language import primary_subtag
from webanalytics.page.text.main import main_language
from webanalytics.page.text.publisher import OF_OTHERS, headline_place, main_items
from webanalytics.page.visible_text import visible_text

EARLIEST = date(1990, 1, 1)
"""Earlier dates are older than the web: a page's subject may have them, but not the page."""

MAX_ELEMENTS = 10_000
"""Elements up to which the text of a page is searched for a date."""

# fmt: off
_PUBLISHED = {
    "jsonld": ("datePublished", "dateCreated", "datePosted"),
    "meta": (
        "article:published_time", "og:article:published_time", "og:published_time", "datepublished",
        "article.published", "date", "dc.date.issued", "dcterms.issued", "dc.date", "dcterms.date",
        "dc.date.created", "dcterms.created", "citation_publication_date", "citation_date",
        "parsely-pub-date", "sailthru.date", "publication_date", "publish_date", "publishdate", "pubdate",
        "published_time", "datecreated",
    ),
    "itemprop": ("datePublished", "dateCreated"),
}
_MODIFIED = {
    "jsonld": ("dateModified",),
    "meta": (
        "article:modified_time", "og:article:modified_time", "og:updated_time", "og:modified_time",
        "datemodified", "article.updated", "last-modified", "lastmod", "dc.date.modified", "dcterms.modified",
        "revised", "modified_time",
    ),
    "itemprop": ("dateModified",),
}
# fmt: on
_YEAR_FIRST = re.compile(r"\s*(\d{4})(?:([-/.])(\d{1,2})\2(\d{1,2})|(\d\d)(\d\d))(?!\d)")
_LONGEST_STAMP = 40
_SAME_MOMENT = timedelta(minutes=1)
# A dateline stands alone: who wrote it, where and when, in the lines around the headline.
_LONGEST_LINE = 80
_LINES_BEFORE, _LINES_AFTER = 4, 10
_MOST_LINES = 500
_YEAR = re.compile(r"(?:19|20|25)\d\d")
_CHANGED = re.compile(
    r"updated|modified|revised|last (?:edited|changed|update)|edited on|generated (?:on|at|by)"
    r"|aktualisiert|geändert|bearbeitet|stand:|mise? à jour|modifié"
    r"|(?:dernière|[uú]ltim[ae]|darrera) modific|modifica[dt](?!ion)|última vez|per l'ultima volta"
    r"|ultima editare|a[ck]tuali(?:z|tz)|aggiornat|bijgewerkt|gewijzigd|laatst bewerkt|ostatnio"
    r"|opdateret|redigeret|ændret|uppdatera|redigera|ändrad|oppdatert|redigert|endret|uppfært"
    r"|síðast breytt|päivitetty|muutettu|muokattu|viima(?:ne|ti) muut|uuendat|atjaun|labota|atnaujin"
    r"|keista|naposledy|posled\w+ úprav|upraven|(?:zadnj|posledn)\w+ (?:izmj?en|sprememb)|ažurira"
    r"|uređivan|posodobljen|utolsó módosítás|módosítva|frissít|güncell|değiştiril|redaktuar"
    r"|redaktə edil|son dəyişik|azken aldaketa|eguneratu|sửa đổi lần cuối|cập nhật|diubah|diperbaru"
    r"|disunting|dikemas kini|τελευταία τροποπο|τροποποιήθηκε|ενημερώθηκε|обновл?ен|изменен|изменета"
    r"|отредактирован|востаннє|змінено|оновлено|апошнія змены|последна(?:та)? пром[яе]на"
    r"|последњ\w+ (?:пут мењано|измен)|რედაქტ|მოდიფ|փոփոխվ|آخر تعديل|تحديث|آخرین ویرایش|ویرایش شده"
    r"|روزرسانی|ترمیم کی|נערך לאחרונה|שינוי האחרון|עודכן|עדכון אחרון|पिछला बदलाव|बार संशोधित|अपडेट"
    r"|সম্পাদিত|পরিমার্জিত|更新|修订|修訂|最[后後](?:编辑|編輯|修改|更改)|上一次變更"
    r"|편집|수정됨|수정일|최종 ?수정|업데이트|แก้ไขครั้งล่าสุด|แก้ไขล่าสุด|อัปเดต|อัพเดต",
    re.IGNORECASE,
)
_BUILD = re.compile(r"\b[0-9a-f]{7,40}\s+\d{4}-\d\d-\d\d")  # "1.60.0 (7737e0b5c 2022-04-04)"
# "(rev 1), modified 2022-05-04 21:26 by Ann", "generated in 0.006s by Fossil 2.21 [3b14a1a09f] 2022-05-04"
_STAMPED = re.compile(
    rf"{_BUILD.pattern}|(?:{_CHANGED.pattern}|generated in).{{0,60}}?\d{{4}}-\d\d-\d\d", re.I | re.S
)
_LETTERS = r"[^\W\d_](?:[^\s\d.,()/|]|\.(?=[ก-ຮ]))*+"  # vowels of Hindi are marks; Thai has "เม.ย."
_LINK = r"(?:\s+(?:d'|(?:de|del|di|do|of|da|ta'|[คพ]\.ศ\.)(?!\w)))?"  # "December" begins with one
_NAME, _DAY, _IN_YEAR = rf"(?P<name>{_LETTERS})\.?", r"(?P<day>\d{1,2})", r"(?P<year>(?:19|20)\d\d)"
_NAMED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\d){_DAY}(?:\.|º|ª|°|er|st|nd|rd|th|:e|-)?{_LINK}\s*{_NAME},?{_LINK}\s+{_IN_YEAR}(?!\d)",
        rf"{_NAME}\s+{_DAY}(?:st|nd|rd|th)?,?\s+{_IN_YEAR}(?!\d)",
        rf"(?<!\d){_IN_YEAR}(?:\.|\s[mթ]\.)?\s+{_NAME}\s+{_DAY}(?!\d)",
        rf"(?<!\d){_IN_YEAR}(?:\.\sgada|\s?ж\.|-ж\.,)\s+{_DAY}[.-]?\s*{_NAME}",
    )
)
_NUMBERS = re.compile(r"(?<![\d./-])(\d{1,2})([./-])\s?(\d{1,2})\2\s?((?:19|20)\d\d)(?![\d/]|\.\d)")
_BY_SIZE = re.compile(r"(?<![\d./-])((?:19|20)\d\d)(?:[-/.]|\. )(\d{1,2})(?:[-/.]|\. )(\d{1,2})(?!\d)")
_VIETNAMESE = re.compile(r"(?<=\d)\s+(?:tháng|thg)\s+(\d{1,2}),?\s+(?:năm\s+)?(?=\d)", re.IGNORECASE)
_BUDDHIST = re.compile(r"(?<!\d)25\d\d(?!\d)")
_CHARACTERS = re.compile(r"((?:19|20)\d\d)\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
# Digits of Arabic, Persian, Hindi and Bengali, and marks that say which way letters run.
_PLAIN = {first + n: str(n) for first in (0x660, 0x6F0, 0x966, 0x9E6) for n in range(10)} | {0x200F: None}
_PLAIN |= {ord("،"): ",", ord("’"): "'"}


def parse_date(value: object) -> date | None:
    """Return the day that a machine-readable date names, in the time zone it is written in.

    It reads ISO 8601, and RFC 5322 as in HTTP headers and feeds. None for anything else, for days before
    1990, and for days later than tomorrow (a page published now may stand in a time zone where tomorrow
    has begun).

    Examples
    --------
    >>> parse_date("2022-05-04T23:30:00-04:00"), parse_date("Wed, 04 May 2022 12:00:00 GMT")
    (datetime.date(2022, 5, 4), datetime.date(2022, 5, 4))
    >>> parse_date("yesterday"), parse_date("2022-02-30"), parse_date("1789-07-14"), parse_date("9999-01-01")
    (None, None, None, None)
    """
    if not isinstance(value, str):
        return None
    if found := _YEAR_FIRST.match(value):
        return _day(int(found[1]), int(found[3] or found[5]), int(found[4] or found[6]))
    fields = parsedate(value[:64])
    return _day(*fields[:3]) if fields else None


def _day(year: int, month: int, day: int) -> date | None:
    try:
        found = date(year, month, day)
    except (ValueError, OverflowError):
        return None
    return found if EARLIEST <= found <= date.today() + timedelta(days=1) else None


def page_dates(page: Page, page_type: str = "other") -> dict[str, str | None] | None:
    """Return ``published`` and ``modified`` as ``YYYY-MM-DD`` or None; None when the page has neither.

    Structured data takes precedence: JSON-LD, then meta elements, then microdata. Where none of these gives
    a date of publication, the dateline beside the main heading does, then the first time element or the only
    day that is shown, then htmldate, which reads URLs, canonical links and marked dates, then the first short
    line with a day; that of a video on the page comes last. A page that shows the day of its last change, and
    declares none, was changed then; other days on it are not looked for. Days that products, services and
    lists show, and those of their microdata, are of offers, reviews and entries: there what JSON-LD and meta
    elements declare counts alone, and in documentation a dateline or time element besides, as other days
    there are of versions and examples. A stamp in UTC names the day of the page's own time zone where another
    stamp of the page shows it.

    Examples
    --------
    >>> page_dates(Page('<meta property="article:published_time" content="2022-05-04T01:10:21-04:00">'))
    {'published': '2022-05-04', 'modified': None}
    >>> page_dates(Page("<html lang=es><h1>El té</h1><div>Publicado el 4 de mayo de 2022</div>"))
    {'published': '2022-05-04', 'modified': None}
    """
    is_text = page_type not in OF_OTHERS
    modified = _first_date(page, _date_values(page, _MODIFIED, microdata=is_text))
    published = _as_shown(page, _first_date(page, _date_values(page, _PUBLISHED, microdata=is_text)))
    if is_text:
        published = published or dateline(page)
    shown, changed = list[set[date]](), set[date]()
    if published is None or modified is None:
        shown, changed = _shown_days(page, only_changes=published is not None)
    if is_text and published is None:
        searched = None if changed else _searched_date(page, shown, modified, page_type)
        published = searched or _first_date(page, _video_dates(page))
    if modified is None and len(changed) == 1 and (published is None or published <= min(changed)):
        modified = min(changed)
    if published is None and modified is None:
        return None
    days = {"published": published, "modified": modified}
    return {name: day.isoformat() if day else None for name, day in days.items()}


def _as_shown(page: Page, declared: date | None) -> date | None:
    """Return the declared day, or the one before or behind it where the dateline says so."""
    if declared is None:
        return None
    shown = dateline(page)
    return shown if shown is not None and abs(shown - declared) == timedelta(days=1) else declared


def _first_date(page: Page, values: Iterable[object]) -> date | None:
    return next(filter(None, (_local_day(page, value) for value in values)), None)


@once_per_page
def _stamps(page: Page) -> list[datetime]:
    """Return the moments that a page names with an offset from UTC."""
    values = chain(_date_values(page, _PUBLISHED), _date_values(page, _MODIFIED))
    return [stamp for value in values if (stamp := _stamp(value)) is not None and stamp.utcoffset()]


def _stamp(value: object) -> datetime | None:
    """Return the moment that a value names with its offset from UTC."""
    if not isinstance(value, str) or len(value) > _LONGEST_STAMP or "T" not in value:
        return None
    try:
        stamp = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    return stamp if stamp.tzinfo is not None and EARLIEST.year <= stamp.year < 9_999 else None


def _local_day(page: Page, value: object) -> date | None:
    """Return the day that a value names, of a moment in UTC by the offset of the page's nearest other stamp.

    Many pages write UTC as ``+00:00`` and many British ones their own winter time: that is converted only
    where another stamp names the same moment.
    """
    day, stamp = parse_date(value), _stamp(value)
    if day is None or stamp is None or stamp.utcoffset():
        return day
    nearest = min(_stamps(page), key=lambda other: abs(other - stamp), default=None)
    if nearest is None or not (str(value).strip()[-1] in "zZ" or abs(nearest - stamp) < _SAME_MOMENT):
        return day
    return stamp.astimezone(nearest.tzinfo).date()


def _video_dates(page: Page) -> Iterator[object]:
    """Yield the dates of a page's videos."""
    videos = [item for item in jsonld(page) if "VideoObject" in types_of(item)]
    yield from (item.get(name) for item in videos for name in ("uploadDate", "datePublished"))
    yield from page.metas("video:release_date")
    yield from (item.get("uploadDate") for item in jsonld(page))


def dateline(page: Page) -> date | None:
    """Return the day that a short line beside the headline names, None where several days stand there.

    Examples
    --------
    >>> dateline(Page("<p>Berlin, 4 May 2022</p><h1>Tea</h1>"))
    datetime.date(2022, 5, 4)
    >>> dateline(Page("<h1>Tea</h1><p>4 May 2022</p><p>Coffee</p><p>5 May 2022</p>")) is None
    True
    """
    lines, place = headline_place(page)
    if place is None:
        return None
    near = (*lines[max(0, place - _LINES_BEFORE) : place], *lines[place + 1 : place + _LINES_AFTER])
    days = set[date]().union(*(named for named, _ in _told_apart(page, near)))
    return days.pop() if len(days) == 1 else None


def _told_apart(
    page: Page, lines: Iterable[str], only_changes: bool = False
) -> Iterator[tuple[set[date], set[date]]]:
    """Yield the days that each short line names, and those of a change.

    >>> next(_told_apart(Page("<html lang=en>"), ["4 May 2022, updated 6 May 2022"]))
    ({datetime.date(2022, 5, 4)}, {datetime.date(2022, 5, 6)})
    """
    label = ""
    for shown in lines:
        line, label = label + shown, f"{shown} " if shown.endswith(":") and _CHANGED.search(shown) else ""
        if len(line) > _LONGEST_LINE or not _YEAR.search(line.translate(_PLAIN)):
            continue
        if shown in _printed(page) or _BUILD.search(line):
            continue
        found = _CHANGED.search(line)
        if found or not only_changes:
            language = main_language(page) or primary_subtag(page.lang)  # of the names of months
            named = days_in(line[: found.start()] if found else line, language) - _of_events(page)
            changed = days_in(line[found.end() :], language) if found else set[date]()
            if found and not changed and not line[: found.start()].endswith("("):
                named, changed = changed, named  # "2022年5月4日 更新"
            yield named, changed


@once_per_page
def _of_events(page: Page) -> set[date | None]:
    """Return the days on which that begins and ends which a page tells of: it was published before."""
    return {parse_date(item.get(name)) for item in jsonld(page) for name in ("startDate", "endDate")}


@once_per_page
def _printed(page: Page) -> set[str]:
    """Return the lines of samples of code and of what programs print, which are dated by themselves."""
    lines, end = set[str](), 0
    for element in page.document.tagged["pre"]:
        if element.position >= end:
            lines.update(visible_text(page.document, element).split("\n"))
            end = element.end
    return lines


def _shown_days(page: Page, only_changes: bool) -> tuple[list[set[date]], set[date]]:
    """Return the days that each short line of a page names, and those of changes."""
    told = [*islice(_told_apart(page, page.visible_text.split("\n"), only_changes), _MOST_LINES)]
    changed = set[date]().union(*(changed for _, changed in told))
    for element in page.document.tagged["time"]:  # "Updated: <time datetime=2022-05-04></time>", for a script
        label = page.document.elements[element.position - 1].text or ""
        if _CHANGED.search(label) and not element.text and (day := parse_date(element.get("datetime"))):
            changed.add(day)
    return [days for days, _ in told if days], changed


def days_in(line: str, language: str) -> set[date]:
    """Return the days that a line of text names in words, in English or the given language, or in numbers.

    Two numbers up to twelve with slashes name no day in English, which is written in two ways.

    Examples
    --------
    >>> sorted(days_in("5 maja 2022, 06.05.2022", "pl"))
    [datetime.date(2022, 5, 5), datetime.date(2022, 5, 6)]
    >>> days_in("04/05/2022", "en"), days_in("May 4th, 2022", "en")
    (set(), {datetime.date(2022, 5, 4)})
    """
    line = _VIETNAMESE.sub(r".\1.", line.translate(_PLAIN))
    if language == "th":
        line = _BUDDHIST.sub(lambda year: str(int(year[0]) - 543), line)
    found, months = list[tuple[int, int, int]](), month_names(language)
    for said in chain.from_iterable(pattern.finditer(line) for pattern in _NAMED):
        name = said["name"].lower().replace(".", "")
        found.append((int(said["year"]), months.get(name, 0), int(said["day"])))
    for first, sign, second, year in _NUMBERS.findall(line):
        day, month = int(first), int(second)
        if month > 12 >= day:
            day, month = month, day
        elif sign == "/" and language == "en" and day <= 12 and day != month:
            continue
        found.append((int(year), month, day))
    for year, month, day in chain(_BY_SIZE.findall(line), _CHARACTERS.findall(line)):
        found.append((int(year), int(month), int(day)))
    return set(filter(None, (_day(*parts) for parts in found)))


@lru_cache(maxsize=64)
def month_names(language: str) -> dict[str, int]:
    """Return the names of the months in a language, and in English, by dateparser's data (Unicode's CLDR).

    Examples
    --------
    >>> month_names("fr")["août"], month_names("xx")["may"]
    (8, 5)
    """
    names: dict[str, int] = {}
    for code in ("en", language):
        try:
            data = importlib.import_module(f"dateparser.data.date_translation_data.{code}")
        except ImportError:
            continue
        for number, month in enumerate(_MONTHS, 1):
            names.update((name.lower(), number) for name in data.info[month])
    return names


def _date_values(
    page: Page, names: dict[str, tuple[str, ...]], *, microdata: bool = True
) -> Iterator[object]:
    for key in names["jsonld"]:
        yield from (item.get(key) for item in main_items(page))
    yield from page.metas(*names["meta"])
    for element in page.having("itemprop") if microdata else ():  # a question is created, answers published
        if not set(names["itemprop"]).isdisjoint((element.get("itemprop") or "").split()):
            yield element.get("content") or element.get("datetime") or element.text


def _searched_date(page: Page, days: list[set[date]], modified: date | None, kind: str) -> date | None:
    """Return the day that a page shows somewhere; that of the last change says nothing new.

    The first time element comes first, then the only day in short lines, then what htmldate finds, then the
    first short line with one day. htmldate's extensive search finds no more where the day is known, at the
    cost of patterns of 205 locales.
    """
    times = (parse_date(element.get("datetime")) for element in page.document.tagged["time"])
    shown = set[date]().union(*days)
    found = next(filter(None, times), None)
    if kind != "documentation":
        found = found or (shown.pop() if len(shown) == 1 else None)
        found = found or _by_htmldate(page) or next((min(one) for one in days if len(one) == 1), None)
    return found if found != modified and found not in _of_events(page) else None


def _by_htmldate(page: Page) -> date | None:
    if page.size > MAX_ELEMENTS:
        return None
    from htmldate import find_date  # takes time to load, and many pages declare their dates

    # What programs print is dated by itself, scripts name the days of builds, of videos and of requests.
    tree = copy.deepcopy(page.tree)
    etree.strip_elements(tree, "pre", "code", "script", "style", with_tail=False)
    for text in filter(_YEAR.search, tree.xpath("//text()")):
        place = "tail" if text.is_tail else "text"
        setattr(text.getparent(), place, _STAMPED.sub("", text))
    found = find_date(tree, extensive_search=False, original_date=True, url=page.final_url or None)
    # It takes 1.1.13 for the first of January 2013.
    searched = f"{page.final_url} {etree.tostring(tree, encoding='unicode')}"
    return parse_date(found) if found and found[:4] in searched else None
