"""Endless families of addresses are closed, and large regular sites lose nothing."""

from __future__ import annotations

import re
from calendar import month_name
from itertools import product

import pytest

from tests.crawls.simulated import Made, Write, crawl, words

REAL = [f"/page-{number}" for number in range(10)]
HOME = ["/", *REAL]


def with_home(extra: list[str], trap: Write) -> Write:
    """Return a site of ten real pages and a trap."""

    def write(path: str) -> Made | None:
        if path == "/":
            return Made([*REAL, *extra], words("home"))
        if path in REAL:
            return Made(["/", *extra[:1]], words(path))
        return trap(path)

    return write


def calendar(path: str) -> Made | None:
    found = re.fullmatch(r"/calendar/(\d+)/(\d+)", path)
    if not found:
        return None
    month = int(found[1]) * 12 + int(found[2]) - 1
    links = [f"/calendar/{at // 12}/{at % 12 + 1}" for at in (month - 1, month + 1)]
    return Made(["/", *links], f"Calendar {found[2]} {found[1]}\nno events\nearlier\nlater")


MONTHS = [name.lower() for name in month_name[1:]]


def by_name(path: str) -> Made | None:
    """Return a calendar whose months have names."""
    found = re.fullmatch(r"/diary/(\d+)-([a-z]+)", path)
    if not found or found[2] not in MONTHS:
        return None
    month = int(found[1]) * 12 + MONTHS.index(found[2])
    links = [f"/diary/{at // 12}-{MONTHS[at % 12]}" for at in (month - 1, month + 1)]
    return Made(["/", *links], f"Diary of {found[2]} {found[1]}\nnothing\nearlier\nlater")


TABS = ("team", "jobs", "press", "history", "partners", "awards")


def relative(path: str) -> Made | None:
    """Return a folder whose links lack their first slash; the server goes by the last part of an address."""
    found = re.fullmatch(rf"/about(?:/({'|'.join(TABS)}))*", path)
    if not found:
        return None
    return Made(["/", *(f"{path}/{tab}" for tab in TABS)], f"About us\n{words(found[1] or 'us')}")


def by_day(path: str) -> Made | None:
    found = re.fullmatch(r"/events\?day=(\d+)", path)
    if not found:
        return None
    day = int(found[1])
    return Made(["/", f"/events?day={day + 1}", f"/events?day={day - 1}"], "Events of the day\nnothing")


def session(path: str) -> Made | None:
    found = re.fullmatch(r"(/(?:s\d)?)\?sid=(\w+)", path)
    if not found:
        return None
    number = abs(hash(path)) % 10**12
    return Made([f"/s{place}?sid={number + place}" for place in range(3)], words(found[1]))


def deeper(path: str) -> Made | None:
    return Made([f"{path}a/b/", "/"], "The same page") if re.fullmatch(r"/loop/(a/b/)*", path) else None


def pages(path: str) -> Made | None:
    found = re.fullmatch(r"/list\?page=(\d+)", path)
    if not found:
        return None
    return Made([f"/list?page={int(found[1]) + 1}", "/"], "List\nno more entries")


@pytest.mark.parametrize(
    ("first", "trap", "kind", "most"),
    [
        ("/calendar/2026/11", calendar, "calendar", 60),
        ("/events?day=1", by_day, "calendar", 60),
        ("/diary/2026-may", by_name, "endless", 60),
        ("/about", relative, "repeating path", 120),
        ("/?sid=1", session, "session", 40),
        ("/loop/", deeper, "repeating path", 5),
        ("/list?page=1", pages, "pagination", 60),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_ten_real_pages_and_an_endless_trap(first: str, trap: Write, kind: str, most: int, seed: int) -> None:
    found = crawl(with_home([first], trap), seed=seed)
    assert set(HOME) <= set(found.rows)
    assert len(found.rows) - len(HOME) <= most
    assert kind in {row["kind"] for row in found.traps}
    # what repeats in a path is refused before any is fetched, other links below themselves after some
    repeating = [row["fetched"] for row in found.traps if row["kind"] == "repeating path"]
    assert all(row["fetched"] > 0 for row in found.traps if row["kind"] != "repeating path"), found.traps
    assert max(repeating, default=0) == (24 if trap is relative else 0)
    assert found.reasons("trap")
    assert {detail for reason, detail, *_ in found.skipped.values() if reason == "trap"} <= {
        row["pattern"] for row in found.traps
    }


FACETS = {"brand": "abcdef", "color": "ghijkl", "size": "mnopqr", "sort": "stuvwx"}


def faceted(path: str) -> Made | None:
    """Return a shop's list under any combination of filters, and its products."""
    where, _, query = path.partition("?")
    if where != "/shop":
        return None
    chosen = dict(part.split("=") for part in query.split("&")) if query else {}
    links = []
    for name, values in FACETS.items():
        for value in values:
            asked = {**chosen, name: value}
            links.append(f"/shop?{'&'.join(f'{key}={asked[key]}' for key in sorted(asked))}")
    shown = [number for number in range(40) if not chosen or number % (len(chosen) + 1) == 0]
    text = "\n".join(
        ["Shop", *(f"Filter {value}" for value in chosen.values()), *(words(n, 6) for n in shown)]
    )
    return Made([*links, *(f"/product/{number}" for number in shown)], text)


def test_two_thousand_pages_with_a_calendar_and_four_filters() -> None:
    real = {f"/a/{number}" for number in range(2_000)}

    def write(path: str) -> Made | None:
        if path == "/":
            return Made(["/shop", "/calendar/2026/1", "/a/0"], words("home"))
        if path in real:
            number = int(path[3:])
            below = [f"/a/{10 * number + place}" for place in range(10)]
            return Made(["/", "/shop", *(one for one in below if one in real)], words(path))
        if path.startswith("/product/"):
            return Made(["/shop"], words(int(path[9:]), 6) + words(path))
        return faceted(path) or calendar(path)

    found = crawl(write)
    assert real <= set(found.rows)
    assert {f"/product/{number}" for number in range(40)} <= set(found.rows)
    wasted = found.fetched - len(real) - 42
    assert wasted < 0.05 * found.fetched
    assert {row["kind"] for row in found.traps} == {"filters", "calendar"}


# ---------------------------------------------------------------- near misses: nothing may be lost


def shop(path: str) -> Made | None:
    """Return a shop of 5,000 products with a text of numbers alone, in lists of 50."""
    found = re.fullmatch(r"/(?:list/(\d+)|p/(\d+)|)", path)
    if not found:
        return None
    if found[1]:
        number = int(found[1])
        further = [f"/list/{number + 1}"] if number < 99 else []
        return Made([*further, *(f"/p/{number * 50 + place}" for place in range(50))], f"List {number}")
    if found[2]:
        number = int(found[2])
        return Made(
            [f"/p/{(number + step) % 5_000}" for step in (1, 2, 3)], f"Product {number}\nPrice {number}"
        )
    return Made(["/list/0"], "Shop")


def blog(path: str) -> Made | None:
    """Return a blog of ten years in months, whose posts lead to the next one."""
    found = re.fullmatch(r"/blog/(\d+)(?:/(\d+)(?:/post-(\d+))?)?", path)
    if path == "/":
        return Made([f"/blog/{year}" for year in range(2010, 2020)], words("home"))
    if not found:
        return None
    year, month, post = found.groups()
    if post:
        further = f"/blog/{year}/{month}/post-{int(post) + 1}"
        return Made([further] if int(post) < 9 else [], words(path))
    if month:
        return Made([f"{path}/post-0"], words(path, 10))
    return Made([f"{path}/{number:02}" for number in range(1, 13)], f"The year {year}")


def listed(path: str) -> Made | None:
    """Return forty pages of a list, each of which leads to the next one and to ten posts."""
    found = re.fullmatch(r"/news(?:\?page=(\d+))?|/post/(\d+)|/", path)
    if not found:
        return None
    if found[2]:
        return Made(["/news"], words(path))
    number = int(found[1] or 1)
    further = [f"/news?page={number + 1}"] if number < 40 else []
    posts = [f"/post/{number * 10 + place}" for place in range(10)]
    return Made([*further, *posts, "/news"], "\n".join(["News", *(words(post, 5) for post in posts)]))


def versions(path: str) -> Made | None:
    """Return the same forty chapters in twenty versions, each of which leads to the next and to all versions."""
    found = re.fullmatch(r"/docs/(?:v1\.)?(\d+)/chapter-([a-z]+)", path)
    names = [f"{a}{b}" for a, b in product("abcdefgh", "vwxyz")]
    if path == "/":
        return Made([f"/docs/{style}{number}/chapter-av" for style in ("v1.", "") for number in range(20)])
    if not found or found[2] not in names:
        return None
    style = "v1." if "v1." in path else ""
    place = names.index(found[2])
    links = [f"/docs/{style}{number}/chapter-{found[2]}" for number in range(20)]
    further = [path.replace(found[2], names[place + 1])] if place < 39 else []
    return Made([*further, *links], words(found[2]))


def gallery(path: str) -> Made | None:
    """Return photographs one after the other, without any text."""
    found = re.fullmatch(r"/photo/(\d+)", path)
    number = int(found[1]) if found else 0
    further = [f"/photo/{number + 1}"] if number < 300 else []
    return (
        Made([*further, (f"/files/{number}.jpg", "image", 0)], "Next photo") if found or path == "/" else None
    )


def albums(path: str) -> Made | None:
    """Return albums in albums, with pictures of their own and no other text."""
    if path == "/":
        return Made(["/gallery"], words("home"))
    found = re.fullmatch(r"/gallery(/[a-e](?:/[f-j](?:/[k-o])?)?)?", path)
    if not found:
        return None
    below = [f"{path}/{name}" for name in ("abcde", "fghij", "klmno", "")[path.count("/") - 1]]
    return Made([*below, (f"/files{path}.jpg", "image", 0)], words("gallery"))


def by_query(path: str) -> Made | None:
    """Return a site whose pages are all one script with two parameters."""
    found = re.fullmatch(r"/index\.php\?id=(\d+)&lang=(de|en)|/", path)
    if not found:
        return None
    number = int(found[1] or 0)
    links = [f"/index.php?id={2 * number + step}&lang={lang}" for step in (1, 2) for lang in ("de", "en")]
    return Made(links if number < 400 else [], words(path))


def tokens(path: str) -> Made | None:
    """Return documents that are known by tokens."""
    names = [f"{number:032x}" for number in range(3**35, 3**35 + 200)]
    if path == "/":
        return Made([f"/d/{name}?key={name}" for name in names], words("home"))
    return Made(["/"], words(path)) if path.startswith("/d/") else None


def parts(path: str) -> Made | None:
    """Return five hundred parts that only the one before and the one after lead to."""
    found = re.fullmatch(r"/part/(\d+)|/", path)
    if not found:
        return None
    number = int(found[1] or 0)
    around = [f"/part/{at}" for at in (number - 1, number + 1) if 1 <= at <= 500]
    return Made(around, f"Part {number}\nPrice {number * 7 % 100}")


def orders(next_page: str) -> Write:
    """Return three hundred pages of a list of orders, numbers alone, each of which leads to the next one."""

    def write(path: str) -> Made | None:
        found = re.fullmatch(re.escape(next_page).replace("N", r"(\d+)") + "|/", path)
        number = int((found and found[1]) or 1)
        if not found or number > 300:
            return None
        lines = [f"{number * 10 + place} {number * place % 97}.50" for place in range(10)]
        further = [next_page.replace("N", str(number + 1))] if number < 300 else []
        return Made(further, "\n".join(["Orders", *lines]))

    return write


def branches(path: str) -> Made | None:
    """Return four hundred branches, of which the home page names one in the middle, linked to their neighbours."""
    found = re.fullmatch(r"/branch-(\d+)\.html|/", path)
    if not found:
        return None
    if not found[1]:
        return Made(["/branch-200.html"], words("home"))
    number = int(found[1])
    around = [
        f"/branch-{at}.html" for at in (number - 2, number - 1, number + 1, number + 2) if 1 <= at <= 400
    ]
    return Made(around, f"Branch {number}\nTelephone {number * 7_919}")


def manual(path: str) -> Made | None:
    """Return thirty chapters of twelve sections, numbers alone, each of which leads to the next one."""
    found = re.fullmatch(r"/manual/(\d+)/(\d+)|/", path)
    if not found:
        return None
    place = (int(found[1]) - 1) * 12 + int(found[2]) if found[1] else 0
    further = [f"/manual/{place // 12 + 1}/{place % 12 + 1}"] if place < 360 else []
    return Made(further, f"Section {place}")


def categories(path: str) -> Made | None:
    """Return three hundred lists of twenty pages each, numbers alone."""
    found = re.fullmatch(r"/category/(\d+)/(?:page/(\d+)/)?|/", path)
    if not found:
        return None
    if not found[1]:
        return Made([f"/category/{number}/" for number in range(300)], words("home"))
    category, number = int(found[1]), int(found[2] or 1)
    further = [f"/category/{category}/page/{number + 1}/"] if number < 20 else []
    return Made(further, f"Category {category}\n" + "\n".join(str(number * place) for place in range(20)))


@pytest.mark.parametrize(
    ("site", "count"),
    [
        (parts, 501),
        (orders("/orders?page=N"), 300),
        (orders("/orders/page/N/"), 300),
        (orders("/orders?state=open&page=N"), 300),
        (orders("/archive/page/N/"), 300),
        (branches, 401),
        (manual, 361),
        (categories, 6_001),
        (shop, 5_101),
        (blog, 1 + 10 + 120 + 1_200),
        (listed, 1 + 1 + 39 + 400),
        (versions, 1 + 2 * 20 * 40),
        (gallery, 301),
        (albums, 1 + 1 + 5 + 25 + 125),
        (by_query, 1 + 2 * 800),
        (tokens, 201),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_large_regular_sites_lose_nothing(site: Write, count: int) -> None:
    found = crawl(site)
    assert found.reasons("trap") == set()
    assert len(found.rows) == count
    assert found.traps == []


def endless(path: str) -> Made | None:
    """Return parts without an end, each of which leads to the next one."""
    number = int(path[6:]) if re.fullmatch(r"/part/\d+", path) else 0
    return Made([f"/part/{number + 1}"], f"Part {number}\nPrice {number * 7 % 100}")


def grid(path: str) -> Made | None:
    """Return tiles of a map without an end, each of which leads to the four around it."""
    found = re.fullmatch(r"/tile/(\d+)/(\d+)|/", path)
    if not found:
        return None
    x, y = (int(text or 500) for text in found.groups())
    around = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
    return Made([f"/tile/{a}/{b}" for a, b in around], f"Tile {x} {y}")


def randoms(path: str) -> Made | None:
    """Return pages of numbers at random, each of which leads to two more."""
    number = int(path[3:]) if re.fullmatch(r"/r/\d+", path) else 1
    further = [number * step % 1_000_003 for step in (75_641, 998_001)]
    return Made([f"/r/{at}" for at in further], f"Number {number}")


@pytest.mark.parametrize(
    ("site", "options", "most", "far"),
    [
        (endless, {}, 5_050, "it went from 1 to 5,001"),
        (endless, {"max_sequence": 200}, 250, "it went from 1 to 201"),
        (grid, {"max_pages": 50_000}, 6_500, ""),
        (randoms, {}, 60, ""),
    ],
)
def test_a_sequence_is_left_when_it_has_shown_that_it_does_not_end(
    site: Write, options: dict[str, int], most: int, far: str
) -> None:
    found = crawl(site, **options)
    (trap,) = found.traps
    assert len(found.rows) <= most
    assert far in trap["evidence"]


def test_traps_are_reported_only_or_not_looked_for() -> None:
    def write(path: str) -> Made | None:
        return with_home(["/calendar/2026/11", "/loop/"], lambda path: calendar(path) or deeper(path))(path)

    stopped, told, off = (crawl(write, traps=way, max_pages=400) for way in ("stop", "report", "off"))
    assert len(stopped.rows) < 80
    assert stopped.stopped == ""
    assert len(told.rows) == len(off.rows) == 400
    assert {row["kind"] for row in told.traps} == {row["kind"] for row in stopped.traps}
    assert sum(row["fetched"] for row in told.traps if row["kind"] == "calendar") > 50
    assert sum(row["fetched"] for row in told.traps if row["kind"] == "repeating path") > 50
    assert told.reasons("trap") == off.reasons("trap") == set()
    assert off.traps == []
