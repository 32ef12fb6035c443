"""Dates of a page."""

from __future__ import annotations

import time
from datetime import date

import pytest

from tests.effort import effort_since
from webanalytics.page.page import Page
from webanalytics.page.text import dates
from webanalytics.page.text.dates import dateline, page_dates, parse_date

DAY = date(2022, 5, 4)


def jsonld(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


@pytest.mark.parametrize(
    ("markup", "published", "modified"),
    [
        (jsonld('{"@type":"NewsArticle","datePublished":"2022-05-04T01:00:00Z","dateModified":"2022-05-06"}'),
         "2022-05-04", "2022-05-06"),
        # The article goes before the page around it, and what is not the page has no say.
        (jsonld('[{"@type":"WebPage","datePublished":"2021-01-01"},{"@type":["Thing","BlogPosting"],"datePublished":"2022-05-04"}]'),
         "2022-05-04", None),
        (jsonld('[{"@type":"Review","datePublished":"2021-01-01"},{"@type":"Recipe","datePublished":"2022-05-04"}]'),
         "2022-05-04", None),
        (jsonld('{"@type":"VideoObject","uploadDate":"2022-05-04"}'), "2022-05-04", None),
        (jsonld('{"@type":"Article","datePublished":"soon"}') + '<meta name=date content="2022-05-04">', "2022-05-04", None),
        ('<meta property="article:published_time" content="2022-05-04T01:00:00+00:00">'
         '<meta property="og:updated_time" content="2022-05-05">', "2022-05-04", "2022-05-05"),
        ('<meta name="DC.date.issued" content="2022-05-04">', "2022-05-04", None),
        ('<meta itemprop=datePublished content="2022-05-04">', "2022-05-04", None),
        ('<time itemprop="datePublished dateModified" datetime="2022-05-04">4 May</time>', "2022-05-04", "2022-05-04"),
        ("<span itemprop=dateModified>2022-05-04</span><p>x", None, "2022-05-04"),
        # A question was created (Stack Exchange), its answers were published.
        ("<time itemprop=dateCreated datetime=2014-02-04></time><time itemprop=datePublished datetime=2018-05-21></time>",
         "2014-02-04", None),
    ],
)  # fmt: skip
def test_sources(markup: str, published: str | None, modified: str | None) -> None:
    assert page_dates(Page(markup)) == {"published": published, "modified": modified}


VIDEO = '{"@type":"VideoObject","uploadDate":"2019-01-01","datePublished":"2019-01-02"}'


@pytest.mark.parametrize(
    "own",
    [
        jsonld('{"@type":"Article","datePublished":"2022-05-04"}'),
        '<meta property="article:published_time" content="2022-05-04">',
        "<time itemprop=datePublished datetime=2022-05-04>4 May</time>",
        "<h1>Tea</h1><p>4 May 2022</p>",
        "<time datetime=2022-05-04 pubdate>4 May</time>",
        jsonld('{"@type":"WebPage","uploadDate":"2019-02-02","dateCreated":"2022-05-04"}'),
    ],
)
def test_a_videos_day_does_not_outrank_the_pages_own(own: str) -> None:
    assert (page_dates(Page(jsonld(VIDEO) + own)) or {})["published"] == "2022-05-04"


def test_a_page_with_nothing_but_a_video_has_its_day() -> None:
    page = Page(jsonld('{"@type":"VideoObject","uploadDate":"2019-01-01"}') + "<p>x")
    assert (page_dates(page) or {})["published"] == "2019-01-01"


@pytest.mark.parametrize(
    ("markup", "published", "modified"),
    [
        # Near midnight UTC is another day than the page's own, which its other stamps show.
        (jsonld('{"@type":"Article","datePublished":"2022-05-04T22:30:00Z","dateModified":"2022-05-06T10:00:00+02:00"}'),
         "2022-05-05", "2022-05-06"),
        ('<meta property=article:published_time content="2022-05-04T02:30:00Z">'
         '<time itemprop=dateModified datetime="2022-05-04T09:00:00-05:00">', "2022-05-03", "2022-05-04"),
        # Summer and winter time: the nearest stamp counts.
        (jsonld('[{"@type":"Article","datePublished":"2022-01-04T22:30:00Z","dateModified":"2022-07-01T10:00:00+02:00"},'
                '{"@type":"WebPage","datePublished":"2022-01-04T23:30:00+01:00"}]'), "2022-01-04", "2022-07-01"),
        # British winter time is no UTC, unless the same moment is written in another way.
        (jsonld('{"@type":"Article","datePublished":"2022-01-04T23:30:00+00:00","dateModified":"2022-07-01T10:00:00+01:00"}'),
         "2022-01-04", "2022-07-01"),
        (jsonld('{"@type":"Article","datePublished":"2022-01-04T23:30:00+00:00","dateModified":"2022-01-05T00:30:00+01:00"}'),
         "2022-01-05", "2022-01-05"),
        (jsonld('{"@type":"Article","datePublished":"2022-05-04T23:30:00Z"}'), "2022-05-04", None),
        (jsonld('{"@type":"Article","datePublished":"9999-12-31T23:30:00Z","dateModified":"2022-05-04T23:30:00+14:00"}'),
         None, "2022-05-04"),
    ],
)  # fmt: skip
def test_the_day_is_that_of_the_pages_own_time_zone(
    markup: str, published: str | None, modified: str | None
) -> None:
    assert page_dates(Page(markup)) == {"published": published, "modified": modified}


PROSE = (
    "<p>Tea is made of leaves and of hot water, and it is drunk from cups all over the world, every day.</p>"
)


@pytest.mark.parametrize(
    ("html", "day"),
    [
        (f"<title>Tea | Times</title><h1>Tea</h1><div>By Ann</div><div>4 May 2022</div>{PROSE}", DAY),
        (f"<title>All about tea | Times</title><h1>Times</h1><div>4 May 2022</div><div>All about tea</div>{PROSE}", DAY),
        # The line stands beside the article's headline, not beside the same one in a list of news.
        (f"<title>Tea</title><li>Tea<li>3 May 2022<li>x<li>x<li>x<li>x<li>x<li>x<h1>Tea</h1><p>4 May 2022{PROSE}", DAY),
        (f"<h1>Tea</h1><p>Updated 5 May 2022</p><p>4 May 2022</p>{PROSE}", DAY),
        (f"<h1>Tea</h1><p>4 May 2022</p><p>5 May 2022</p>{PROSE}", None),
        (f"<h1>Tea</h1>{PROSE}<p>{'It was on 4 May 2022 that ' * 4}</p>", None),
        (f"{PROSE}<p>4 May 2022", None),
    ],
)  # fmt: skip
def test_datelines_stand_beside_the_headline(html: str, day: date | None) -> None:
    assert dateline(Page(html)) == day


CHANGES = [
    ("en", "Last updated 2022-05-04 06:29:55 UTC"),
    ("en", "This page was last edited on 4 May 2022, at 12:00."),
    ("en", "This page was last modified on May 4, 2022 by Ann."),
    ("en", "<b>Last update:</b><p>May 04, 2022"),
    ("de", "Diese Seite wurde zuletzt am 4. Mai 2022 um 12:00 Uhr bearbeitet."),
    ("fr", "La dernière modification de cette page a été faite le 4 mai 2022 à 12:00."),
    ("es", "Esta página se editó por última vez el 4 mayo 2022 a las 12:00."),
    ("it", "Questa pagina è stata modificata per l'ultima volta il 4 maggio 2022"),
    ("pt", "Esta página foi editada pela última vez em 4 de maio de 2022."),
    ("nl", "Deze pagina is voor het laatst bewerkt op 4 mei 2022 om 12:00."),
    ("pl", "Tę stronę ostatnio edytowano 4 maja 2022, 12:00."),
    ("ru", "Эта страница в последний раз была отредактирована 4 мая 2022 в 12:00."),
    ("en", "Generated on Wed May 4 2022 12:00:00 for Lamps by doxygen 1.9.1"),
    ("en", "API Documentation for Lamps, generated by pydoctor at 2022-05-04 12:00:00."),
    ("ja", "2022年5月4日 更新"),
    ("zh", "本页面最后修订于2022年5月4日"),
    # What DokuWiki and MediaWiki call it in other languages.
    *(("cs", "Poslední úprava: 2022/05/04 12:30"), ("hu", "Utolsó módosítás: 2022/05/04"), ("ro", "Ultima modificare: 2022/05/04")),
    *(("ko", "마지막으로 수정됨: 2022/05/04 12:30"), ("th", "แก้ไขครั้งล่าสุด: 2022/05/04"), ("vi", "Sửa đổi lần cuối: 2022/05/04")),
    *(("ar", "آخر تعديل: 2022/05/04"), ("he", "מועד השינוי האחרון: 2022/05/04"), ("fa", "آخرین ویرایش: 2022/05/04")),
    *(("uk", "Востаннє змінено: 2022/05/04"), ("bg", "Последна промяна: 2022/05/04"), ("el", "Τελευταία τροποποίηση: 2022/05/04")),
    *(("sl", "Zadnja sprememba: 2022/05/04"), ("et", "Viimati muutnud: 2022/05/04"), ("lv", "Labota: 2022/05/04"), ("lt", "Keista: 2022/05/04")),
    *(("fi", "Viimeksi muutettu: 2022/05/04"), ("nb", "Sist endret: 2022/05/04"), ("is", "Síðast breytt: 2022/05/04")),
    *(("tr", "Son değiştirilme: 2022/05/04"), ("id", "Terakhir diubah: 2022/05/04"), ("hi", "अंतिम बार संशोधित: 2022/05/04")),
]  # fmt: skip


@pytest.mark.parametrize(("language", "line"), CHANGES)
def test_the_day_of_the_last_change_is_not_that_of_publication(language: str, line: str) -> None:
    """The lines are those that MediaWiki, AsciiDoc, Sphinx and others write below a page."""
    retrieved = "<p>Retrieved 2010-01-25</p>"
    html = (
        f"<html lang={language}><title>Tea</title><h1>Tea</h1>{'<p>x' * 12}{retrieved}<footer>{line}</footer>"
    )
    assert page_dates(Page(html)) == {"published": None, "modified": "2022-05-04"}


@pytest.mark.parametrize(
    "line",
    [
        "How to Pack Books, Plates and Lamps (rev 1), modified 2022-05-04 21:26:11z by 127.0.0.1, tags: tea.",
        "This page was generated in about\n0.006s by\nFossil 2.21 [3b14a1a09f] 2022-05-04 11:31:17",
        "Version 1.60.0 (7737e0b5c 2022-05-04)",
    ],
)
def test_a_long_line_of_a_change_or_of_a_build_names_no_day_of_publication(line: str) -> None:
    """The lines are those that MoinMoin, Fossil and rustdoc write on each page."""
    html = f"<html lang=en><title>Tea</title><h1>Tea</h1>{PROSE}{{}}<div class=footer><p>{line}</div>"
    assert page_dates(Page(html.format(""))) is None
    written = page_dates(Page(html.format(f"<p>It was written by Ann on 2021-03-02. {PROSE}")))
    assert written == {"published": "2021-03-02", "modified": None}


@pytest.mark.parametrize(
    ("lines", "published", "modified"),
    [
        ("<p>3 May 2022, updated 4 May 2022", "2022-05-03", "2022-05-04"),
        ("<p>Posted 3 May 2022 (edited)", "2022-05-03", None),
        # A change before publication is that of something else, and several are of several things.
        ("<p>4 May 2022<p>x<p>Tea prices updated 3 May 2022", "2022-05-04", None),
        ("<p>3 May 2022<p>x<p>Updated 4 May 2022<p>Updated 5 May 2022", "2022-05-03", None),
    ],
)
def test_publication_and_change_beside_each_other(lines: str, published: str, modified: str | None) -> None:
    assert page_dates(Page(f"<h1>Tea</h1>{lines}{PROSE}")) == {"published": published, "modified": modified}


def test_datelines_are_the_days_that_pages_declare(corpus_pages: dict[str, bytes]) -> None:
    """What saved pages show is what they declare: the day of publication, or of the last change."""
    shown = {name: day for name, content in corpus_pages.items() if (day := dateline(Page(content)))}
    declared = {name: (page_dates(Page(corpus_pages[name])) or {}).values() for name in shown}
    others = [name for name, day in shown.items() if day.isoformat() not in declared[name]]
    assert len(shown) >= 48
    assert others == ["deutscheweine.de-riesling.html"]


@pytest.mark.parametrize(
    ("shown", "published"),
    [
        ("<p><time datetime=2022-05-09>9 May 2022</time>", None),
        ("<p>Ends: 10 May 2022", None),
        ("<p>9 May 2022<p>Posted 4 May 2022", "2022-05-04"),
    ],
)
def test_an_event_was_not_published_when_it_begins_or_ends(shown: str, published: str | None) -> None:
    event = jsonld('{"@type": "Event", "startDate": "2022-05-09T20:00:00+00:00", "endDate": "2022-05-10"}')
    assert (page_dates(Page(f"{event}<h1>Tea</h1>{shown}{PROSE}")) or {}).get("published") == published


def test_address() -> None:
    page = Page("<p>Tea", "https://example.org/2022/05/04/tea.html")
    assert page_dates(page) == {"published": "2022-05-04", "modified": None}


@pytest.mark.parametrize(
    "markup",
    [
        *("<p>Tea", "<p>Tea in 1848", jsonld("[]"), "<meta name=date content=never>"),
        "<style>p::after { content: url(data:,%202013) }</style><h2 id=1113-play-time>1.1.13. Play time</h2><p>Tea",
        '<p>Tea<script>page({"file": {"mtime": "2022-05-04T10:47:09.701Z"}, "built": "2022-05-04T11:00:00Z"})</script>',
    ],
)
def test_no_date_is_made_up(markup: str) -> None:
    assert page_dates(Page(markup)) is None


LISTING = "<pre><b>$ uname -v</b>\n#1 SMP Debian 5.10.28-1 (2021-04-09) and more of what the program printed there</pre>"


@pytest.mark.parametrize(
    ("markup", "found"),
    [
        (LISTING, None),
        ("<pre><code><div>$ nmap lamp.example</div><div>Starting at 2021-04-29 14:41 CEST</div></code></pre>", None),
        ("<p>Partitions such as <code>FROM ('2016-07-01') TO ('2016-08-01')</code> are made by hand, each of them", None),
        (f"{LISTING}<link rel=canonical href=https://example.org/2022/05/04/tea.html>",
         {"published": "2022-05-04", "modified": None}),
    ],
)  # fmt: skip
def test_what_programs_print_is_no_date_of_the_page(markup: str, found: dict[str, str | None] | None) -> None:
    assert page_dates(Page(f"<title>Shells</title><h1>Shells</h1>{PROSE}{markup}{PROSE}")) == found


def test_large_pages_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page("<p>Tea", "https://example.org/2022/05/04/tea.html")
    monkeypatch.setattr(dates, "MAX_ELEMENTS", 1)
    assert page_dates(page) is None


# Read by eye on the saved pages: the line under the headline, or the page's own declaration.
KNOWN = {
    "bayrische-bembel.de.504.html": "2015-08-25",
    "tomshardware.com.rtx.html": "2020-11-04",
    "oekonomenstimme.org.keynes.html": "2015-01-21",
    "focus.de.leasen.html": "2018-07-06",
    "hss.de-Regierung.html": "2021-11-03",
    "nnz-online.de-Quantensprung.html": "2023-11-06",
    "spox.com-corona-fealle.html": "2022-02-04",
}


def test_corpus(corpus_pages: dict[str, bytes]) -> None:
    found = {name: page_dates(Page(content)) for name, content in corpus_pages.items()}
    for name, day in KNOWN.items():
        assert (found[name] or {})["published"] == day
    assert sum(dates is not None for dates in found.values()) >= 80
    today = date.today().isoformat()
    days = [day for dates in found.values() if dates for day in dates.values() if day]
    assert all("1990-01-01" <= day < today for day in days)


def test_a_stamp_of_huge_numbers_is_no_date() -> None:
    stamp = "Wed, 99999999999999999999 May 2022 12:00:00 GMT"
    assert parse_date(stamp) is None
    assert page_dates(Page(f"<meta name=date content='{stamp}'><h1>Tea</h1>")) is None


def test_many_microdata_take_time_in_proportion() -> None:
    page = Page("<h1>Tea</h1>" + "<time itemprop='date'>x</time>" * 100_000)
    started = time.process_time()
    assert page_dates(page) is None
    assert effort_since(started) < 5


@pytest.mark.parametrize(
    ("stamp", "shown", "published"),
    [
        ("2022-05-04T01:10:00Z", "3 May 2022", "2022-05-03"),
        ("2022-05-04T01:10:00Z", "5 May 2022", "2022-05-05"),
        ("2022-05-04T01:10:00Z", "1 May 2022", "2022-05-04"),
        ("2022-05-04T01:10:00Z", "", "2022-05-04"),
    ],
)
def test_a_day_beside_the_declared_one_is_that_of_the_dateline(
    stamp: str, shown: str, published: str
) -> None:
    html = f'<meta property="article:published_time" content="{stamp}"><h1>Tea</h1><p>{shown}</p><p>Leaves'
    assert page_dates(Page(html)) == {"published": published, "modified": None}


def test_a_day_far_from_the_headline_is_that_of_the_first_line_with_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def search(*_: object, extensive_search: bool, **__: object) -> None:
        assert not extensive_search, "it compiles the patterns of 205 locales"

    monkeypatch.setattr("htmldate.find_date", search)
    seen = (
        "<h1>Tea</h1>"
        + "<p>Leaves</p>" * 20
        + "<p>From 1 to 2 May 2020, 3 May 2020</p><p>Printed on 9 March 2021</p>"
    )
    assert page_dates(Page(seen)) == {"published": "2021-03-09", "modified": None}
    assert page_dates(Page(seen.replace("Printed", "Leaves are green. " * 5 + "Printed"))) is None


@pytest.mark.parametrize("page_type", ["collection", "listing", "product", "service"])
def test_what_shows_days_of_other_things_was_published_when_it_says_so(page_type: str) -> None:
    review = (
        "<h1>Tea</h1><p>4 May 2022</p><p>Ann, <time datetime=2022-05-04>May 4, 2022</time>: Green and mild."
    )
    assert page_dates(Page(review)) == {"published": "2022-05-04", "modified": None}
    assert page_dates(Page(review), page_type) is None
    assert page_dates(Page("<p itemprop=datePublished>2022-05-04</p><p>x"), page_type) is None
    changed = f"{review}<footer>Last updated 6 May 2022</footer>"
    assert page_dates(Page(changed), page_type) == {"published": None, "modified": "2022-05-06"}
    declared = f"<meta property=article:published_time content=2021-03-02>{review}"
    assert page_dates(Page(declared), page_type) == {"published": "2021-03-02", "modified": None}


def test_a_day_that_a_script_will_show_as_that_of_a_change_is_one() -> None:
    """As VitePress writes it, which leaves the form of the day to the browser."""
    page = Page(
        '<h1>Tea</h1><p>Leaves</p><p>Last updated: <time datetime="2022-05-04T10:00:00.000Z"></time></p>'
    )
    for page_type in ("article", "documentation"):
        assert page_dates(page, page_type) == {"published": None, "modified": "2022-05-04"}
    both = (
        f'<h1>Tea</h1><time datetime="2021-03-02">2 March 2021</time>{page.html.removeprefix("<h1>Tea</h1>")}'
    )
    assert page_dates(Page(both)) == {"published": "2021-03-02", "modified": "2022-05-04"}
