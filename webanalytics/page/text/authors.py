"""The authors of a page: from its structured data, its meta elements, its markup and its byline."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from typing import Any

from webanalytics.page.document import Element
from webanalytics.page.page import Page, fold
from webanalytics.page.structured.jsonld import jsonld
from webanalytics.page.structured.offer import types_of
from webanalytics.page.text.publisher import (
    OF_OTHERS,
    headline_place,
    identified_items,
    main_items,
    named_objects,
    page_publisher,
    plain_name,
)
from webanalytics.page.visible_text import visible_text
from webanalytics.urls import address, registrable_domain

MOST_AUTHORS = 20
"""Most authors that are given of a page."""

_MOST_ELEMENTS = 200
_LONGEST_NAME, _LONGEST_BYLINE, _LONGEST_READ = 60, 160, 640
_MOST_WORDS = 6
_LINES_AFTER = 12
# fmt: off
_CARD = "twitter:data1"
_METAS = (
    "author", "parsely-author", "sailthru.author", "article:author", "article:author_name",
    "og:article:author", "citation_author", "dc.creator", "dcterms.creator", "dc.creator.personalname", "byl",
    "cxenseparse:author", "shareaholic:article_author_name", "rbauthors", _CARD,
)
_CATALOGUE = frozenset({"citation_author", "dc.creator", "dcterms.creator", "dc.creator.personalname"})
_NOT_PLACES = frozenset({
    "nav", "aside", "footer", "form", "blockquote", "th", "script", "style", "noscript", "template",
})
_NOBODY = frozenset({
    "about", "about the author", "admin", "administrador", "administrator", "all posts", "anonymous",
    "author", "author name", "authors", "by", "comments", "contributor", "default", "editor", "follow",
    "get in touch", "guest", "hi", "home", "member", "members", "moderator", "more", "n/a", "name",
    "name not set", "new member", "none", "null", "op", "person", "posted by", "posts", "profile",
    "quote", "read more", "reply", "root", "share", "staff", "super user", "team", "the author", "undefined",
    "unknown", "us", "user", "view", "webmaster", "website", "wordpress", "written by",
})
# fmt: on
_FAMILY_FIRST = re.compile(r"^([^,;]+),\s*([^,;]+)$")
_BY_CLASS = re.compile(
    r"(?:^|[\s_-])(?:byline|authors?|writer|writtenby)(?:$|[\s_-])|author[-_]*(?:name|link)"
    r"|byline[-_]*(?:name|author)|(?:^|\s)(?:vcard|h-card|(?:n|url) fn|fn (?:n|url))(?:$|\s)",
    re.IGNORECASE,
)
_NOT_A_BYLINE = re.compile(
    r"comment|reply|related|recommend|sidebar|widget|testimonial|review|avatar|image|photo|social|follow"
    r"|categor|descri|pricing"
    r"|(?:^|[\s_-])(?:bio|date|title|role|job)(?:$|[\s_-])",
    re.IGNORECASE,
)
_WHOLE = ("html", "body", "main", "article", "svg")
_AUTHOR_PAGE = re.compile(
    r"/(?:authors?|writers?|people|profile|staff|contributors?|by|experts?)/"
    r"(?!(?:log|sign)[-_]?(?:in|on|out|up)\b|register|account|\d\.\d)[^/?#]+"
)
_DONE = "written|posted|published|words|story|article|authored|added|submitted"
_BY = (
    rf"(?:(?:{_DONE}|reviewed|text|created)?\s*by|auth?or(?:in)?|auteur|von|por|par|di|door|av|af|(?-i:oleh)|penulis"
    r"|författare|forfatter|kirjoittaja|tekijä|szerző|autors|yazar|tác giả|bởi|από|автор|аутор|от|од|від|מאת"
    r"|بواسطة|نویسنده|توسط|โดย|ผู้เขียน|作者|著者|投稿者|글쓴이)"
)
# Or any label with a colon.
_LEAD = re.compile(
    rf"^(?:(?:[^.]{{1,40}}\.\s+)?{_BY}(?:\s*[:\-–—|]\s*|\s+)|[^\W\d_]{{2,20}}\s?[:：]\s*)", re.IGNORECASE
)
_OF_CARD = re.compile(rf"(?:{_BY}|\b(?:da|przez))\W*$", re.IGNORECASE)
_USER = frozenset({"username", "bigusername"})
_ALONE = frozenset({"by", "written by", "posted by", "author"})
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
# A name of several words begins with no small letter: "By default, ..." is none, nor is "By using ...".
# A name of one word may: "Written by annlee on 4 May 2022".
_BYLINE = re.compile(
    rf"(?i:(?:(?:{_DONE})\s+)?(?:on\s+)?"
    rf"(?:(?:{_MONTH}\s+\d\d?,?|\d\d?\.?\s+{_MONTH},?)\s+\d{{4}}\W{{1,3}})?by:?\s+)"
    rf"((?![a-z])\S.+|\S+(?:$|\s+on\s+(?:(?i:{_MONTH})\s+\d|\d).*))"
)
# Where a name ends in a byline: a mark, a date, a duration, or what comes next there.
_CUT = re.compile(
    rf"\s*(?:[|•·–—»(]|\s-\s|\bon\s+(?={_MONTH}|\d|\w+day)|\b{_MONTH}\s+\d|\b\d{{1,2}}\s+{_MONTH}\b"
    r"|\b\d+\s+(?:min|hour|day|week|month|year|comment)|\b\d{1,4}[./-]\d{1,2}[./-]\d{2,4}"
    r"|\b(?:published|posted|updated|last|medically|reviewed|fact|edited|in:|read more|follow|view|about"
    r"|leave a)\b).*",
    re.IGNORECASE | re.DOTALL,
)
_PERSON = re.compile(r"[A-Z][\w.'’-]+(?:\s+[A-Z][\w.'’-]*){1,3}")
_BETWEEN = re.compile(r"\s*(?:[,;/&+]|[\s,](?:and|und|et|y|e|en|och|og|with)\s)\s*")
_AND = re.compile(r"^(?:and|und|et|och|og|with)\s")
_LINK = re.compile(r"\S*(?:://|\bwww\.)\S*")
_NO_NAME = re.compile(
    r"[@\[\]{}]|\.(?:html?|php)\b|\b(?:19|20)\d\d\b|testimonial|\b(?:from|of|with|for)$"
    r"|^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?$",
    re.IGNORECASE,
)
_DEGREE = re.compile(
    r"(?:[A-Z]{1,3}\.)+[A-Z]?\.?|Ph\.?\s?D\.?|MD|RN|BSN|MSN|MPH|MBA|MS|MA|BA|BS|JD|Esq\.?|RDN?|LD|CFP®?|CEPF®?"
    r"|CPA|DVM|DDS|DO|PT|DPT|LMFT|LCSW|PsyD|NP|PA-C|[A-Z]{2,5}®|CFA|CPT|FACLM|FNP|MSc|BSc|EdD|PharmD|CSCS|[IVX]+"
    r"|[JS]r\.?"
)
_ROLE = re.compile(
    r"\b(?:editors?|writers?|reporters?|correspondents?|contributors?|columnists?|journalists?|director|manager"
    r"|officer|president|founder|ceo|cto|cfo|cmo|specialist|dietitian|consultant|analyst|producer|head of"
    r"|chief|strategist|coach|attorney|lawyer|engineer|expert|professor|redaktion|redakteur(?:in)?|authors?|staff"
    r"|freelance|senior|associate|assistant|vp|partner)\b",
    re.IGNORECASE,
)


def page_authors(page: Page) -> list[str]:
    """Return the names of who wrote a page, in the order in which the page names them.

    The first source that names somebody counts: JSON-LD, meta elements, the first user of a forum, microdata
    and ``rel=author``, elements with the class of a byline, links to the page of an author, a line "By ..."
    below the headline. Addresses, dates, roles and the publisher are no names. On products, services and
    lists only the first two count: what else names somebody there is of a review, a quote or an entry.

    Examples
    --------
    >>> page_authors(Page('<meta name="author" content="By Ann Lee and Bo Wu, Editor">'))
    ['Ann Lee', 'Bo Wu']
    >>> page_authors(Page("<h1>Tea</h1><p>By Ann Lee | 4 May 2022</p>"))
    ['Ann Lee']
    """
    nobody = _NOBODY | _publishers(page)
    for source in (_declared, _metas, _user, _marked, _classed, _linked, _spoken):
        found = list(dict.fromkeys(name for text in source(page) for name in names_in(text, nobody)))
        if found:
            is_own = source in (_declared, _metas) or not _shows_others(page)
            return found[:MOST_AUTHORS] if is_own else []
    return []


def _shows_others(page: Page) -> bool:
    """Return whether a page is one of those that show other things, by more than a few words."""
    from webanalytics.page.content.content import content  # heavy
    from webanalytics.page.content.kinds import LITTLE_CONTENT

    return len(page.visible_text) >= LITTLE_CONTENT and content(page).page_type in OF_OTHERS


def _publishers(page: Page) -> set[str]:
    """Return the name of the publisher, unless the page says that it is a person."""
    name = (page_publisher(page) or {}).get("name")
    people = {plain_name(item.get("name")) for item in _people(page)} if name else set()
    return {name.casefold()} if name and name not in people else set()


def _people(page: Page) -> Iterator[dict[str, Any]]:
    """Yield the people that the page's structured data names as author or publisher."""
    identified = identified_items(page)
    for item in jsonld(page):
        named = (named_objects(item.get(key), identified) for key in ("author", "publisher"))
        yield from (thing for things in ([item], *named) for thing in things if "Person" in types_of(thing))


def names_in(text: str, nobody: frozenset[str] = _NOBODY) -> Iterator[str]:
    """Yield the names in a byline, without what stands around them.

    Examples
    --------
    >>> list(names_in("By Ann Lee, Ph.D., and Bo Wu on May 4, 2022"))
    ['Ann Lee', 'Bo Wu']
    >>> list(names_in("ann@example.org, Editor"))
    []
    """
    text = _LEAD.sub("", fold(_LINK.sub("", text[:_LONGEST_READ])))
    for number, part in enumerate(_BETWEEN.split(_CUT.sub("", text))):
        name = _LEAD.sub("", _AND.sub("", part)).strip(" .:-–—\"'’“”*")
        if _is_name(name, nobody) and not (_ROLE.search(name) if number else _ROLE.fullmatch(name)):
            yield name


def _is_name(name: str, nobody: frozenset[str]) -> bool:
    return (
        1 < len(name) <= _LONGEST_NAME
        and len(name.split()) <= _MOST_WORDS
        and any(map(str.isalpha, name))
        and not _NO_NAME.search(name)
        and not _DEGREE.fullmatch(name)
        and name.casefold() not in nobody
    )


def _has_name(text: str) -> bool:
    return next(names_in(text), None) is not None


def _declared(page: Page) -> Iterator[str]:
    """Yield the authors of the first JSON-LD item that names any."""
    identified = identified_items(page)
    items = main_items(page)
    # Ghost names the first author alone as one, and the others as contributors.
    others = ("contributor",) if any(made.startswith("Ghost ") for made in page.metas("generator")) else ()
    entities = (thing for item in items for thing in named_objects(item.get("mainEntity"), identified))
    for item in (*items, *entities):
        for key in ("author", "creator"):
            people = (part for name in (key, *others) for part in named_objects(item.get(name), identified))
            names = [plain_name(person.get("name")) for person in people]
            if any(names):
                yield from names
                return


def _metas(page: Page) -> Iterator[str]:
    """Yield the contents of the meta elements of the first name that names anybody."""
    for name in _METAS:
        found = page.metas(name)
        if name == _CARD and not all(map(_OF_CARD.search, page.metas("twitter:label1"))):
            continue  # it is of the price, or of the time that it takes to read
        if any(map(_has_name, found)):
            yield from (_FAMILY_FIRST.sub(r"\2 \1", text) if name in _CATALOGUE else text for text in found)
            return


def _user(page: Page) -> Iterator[str]:
    """Yield the first name of a user: who wrote the first post of a forum."""
    if "username" not in page.html:
        return
    users = (part for part in page.document.elements if _USER & {*(part.get("class") or "").split()})
    names = (_text(page, element) for element in islice(users, _MOST_ELEMENTS) if _in_place(element))
    yield from islice(filter(None, names), 1)


def _marked(page: Page) -> Iterator[str]:
    """Yield the texts of the first author in microdata, else of the links with ``rel=author``."""
    for element in page.having("itemprop")[:_MOST_ELEMENTS]:
        if "author" in _properties(element) and _in_place(element):
            inner = [part for part in page.document.inside(element) if "name" in _properties(part)]
            yield from (part.get("content") or _text(page, part) for part in inner[:1] or [element])
            return
    yield from _links(page, lambda link: "author" in (link.get("rel") or "").lower().split())


def _properties(element: Element) -> list[str]:
    return (element.get("itemprop") or "").split()


def _links(page: Page, wanted: Callable[[Element], Any]) -> Iterator[str]:
    """Yield the text of the first wanted link with a name, and of the wanted ones beside it."""
    beside: Element | None = None
    links = (element for element in page.document.tagged["a"] if wanted(element))
    for element in islice(links, _MOST_ELEMENTS):
        if beside is not None and element.parent is not beside:
            return
        if _in_place(element) and _has_name(text := _text(page, element)):
            beside = element.parent
            yield text


def _classed(page: Page) -> Iterator[str]:
    """Yield the names in the first element whose class is that of a byline."""
    for element in islice(_bylines(page), _MOST_ELEMENTS):
        if _in_place(element) and any(map(_has_name, texts := _byline(page, element))):
            yield from texts
            return


def _bylines(page: Page) -> Iterator[Element]:
    judged: dict[str, bool] = {}
    for element in page.document.elements:
        if classes := element.get("class"):
            if classes not in judged:
                judged[classes] = bool(_BY_CLASS.search(classes)) and not _NOT_A_BYLINE.search(classes)
            if judged[classes] and element.tag not in _WHOLE:
                yield element


def _byline(page: Page, element: Element) -> list[str]:
    """Return the names linked in a byline, else its first line that has one."""
    links = [part for part in page.document.inside(element)[:_MOST_ELEMENTS] if _leads_to_author(part)]
    names = [_text(page, link) for link in links]
    if any(names):
        return names
    text = visible_text(page.document, element)
    lines = text.split("\n")
    if len(text) > _LONGEST_BYLINE:
        return lines[:1] if _PERSON.fullmatch(lines[0]) else []
    return next(([line] for line in lines if _has_name(line)), [])


def _leads_to_author(element: Element) -> bool:
    return element.tag == "a" and bool(_AUTHOR_PAGE.search(element.get("href") or ""))


def _linked(page: Page) -> Iterator[str]:
    """Yield the texts of links to the page of an author on the same site."""
    own = ("", _site(page.final_url))
    return _links(
        page, lambda link: _leads_to_author(link) and _site(page.urljoin(link.get("href") or "")) in own
    )


def _site(url: str) -> str:
    found = address(url)
    return registrable_domain(found.host) if found else ""


def _spoken(page: Page) -> Iterator[str]:
    """Yield what follows "By" in the lines below the headline, or above what is told of an author."""
    lines, place = headline_place(page)
    below = lines[place + 1 : place + _LINES_AFTER] if place is not None else []
    told = (_text(page, one) for one in page.document.elements if "author-title" in (one.get("class") or ""))
    for line, following in pairwise((*below, "", *told, "")):
        match = _BYLINE.match(line) if len(line) <= _LONGEST_BYLINE else None
        if match or line.strip(" :").casefold() in _ALONE:
            yield match[1] if match else following
            return


def _text(page: Page, element: Element) -> str:
    return fold(visible_text(page.document, element))[:_LONGEST_READ]


def _in_place(element: Element) -> bool:
    """Return whether an element is no part of a comment, a menu or a list of other pages."""
    return not any(
        around.tag in _NOT_PLACES or _is_comment(around) for around in (element, *element.iterancestors())
    )


def _is_comment(element: Element) -> bool:
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    return element.tag not in ("html", "body") and "comment" in names.lower()
