"""What a million, a hundred million and a billion pages take: the tables of docs/guides/past-one-machine.md.

Computed, not measured: everything follows from `FIGURES`, each of which says where and when it was measured.
A figure that is measured anew is changed here and there; then print the tables and put them into the guide.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

PAGES = {"1 million": 1e6, "100 million": 1e8, "1 billion": 1e9}
HOSTS = (1, 100, 10_000, 1_000_000)
DELAY = 1.0
"""Seconds between two requests to a host."""
CORE_SHARE = 0.9
"""How much of a core is counted on."""
ARCHIVE_PAGES = 1_000
"""Pages of an archive that is one task."""
MEMORY = 64.0
"""GB of a machine that judges."""
WORKERS = 200


class Figure(NamedTuple):
    """A measured figure.

    Attributes
    ----------
    value : float
    unit, what : str
    said : str
        How the file words it, as a test checks.
    where : str
        The file, from the root of the repository.
    day : str
        When it was measured.
    """

    value: float
    unit: str
    what: str
    said: str
    where: str
    day: str


DAY, BEFORE = "2026-11-25", "by 2026-11-23"
SCALE = "docs/measurements/scale.md"
SIZES = "docs/guides/any-size.md"
FIGURES = {
    "worker": Figure(
        22.3,
        "ms",
        "a page's analysis, a worker and its analysis process",
        "| workers of a cluster | 22.3 ms |",
        SCALE,
        DAY,
    ),
    "parent": Figure(
        2.7,
        "ms",
        "a page in the process of a call without a cluster",
        "| parent, without a cluster | 2.7 ms |",
        SCALE,
        DAY,
    ),
    "client": Figure(
        1.24,
        "ms",
        "a page in the client of `wa.Dask`",
        "| `wa.Dask`, 25 pages a task | 1.24 ms | 0.38 ms |",
        SCALE,
        DAY,
    ),
    "client, stored": Figure(
        3.04, "ms", "the same with a folder", "| the same with `store=` | 3.04 ms | 0.67 ms |", SCALE, DAY
    ),
    "scheduler": Figure(
        0.38,
        "ms",
        "a page in the scheduler",
        "| `wa.Dask`, 25 pages a task | 1.24 ms | 0.38 ms |",
        SCALE,
        DAY,
    ),
    "scheduler, stored": Figure(
        0.67, "ms", "the same with a folder", "| the same with `store=` | 3.04 ms | 0.67 ms |", SCALE, DAY
    ),
    "client of a task": Figure(
        0.13,
        "ms",
        "a task in the client",
        "| a call for each archive, each call | 0.13 ms | 0.92 ms |",
        SCALE,
        DAY,
    ),
    "scheduler of a task": Figure(
        0.92,
        "ms",
        "a task in the scheduler",
        "| a call for each archive, each call | 0.13 ms | 0.92 ms |",
        SCALE,
        DAY,
    ),
    "scheduler, idle": Figure(
        59,
        "ms",
        "a second of the scheduler for 200 workers that do nothing",
        "59 ms of each second",
        SCALE,
        DAY,
    ),
    "compressed": Figure(
        27.5, "kB", "a page over the network, compressed", "| compressed by gzip | 27.5 |", SCALE, DAY
    ),
    "archive": Figure(
        28.7, "kB", "a page in an archive", "| in an archive (`.warc.gz`) | 28.7 |", SCALE, DAY
    ),
    "folder": Figure(14.3, "kB", "a page's row in a folder", "| in a folder of rows | 14.3 |", SCALE, DAY),
    "database": Figure(319, "us", "a charge in PostgreSQL", "319 us of PostgreSQL", SCALE, DAY),
    "memory": Figure(652, "MB", "a parent with two workers", "never took more than 652 MB", SIZES, BEFORE),
    "judging": Figure(
        53.6,
        "s",
        "issues, summary and score of 100,000 pages",
        "| 6.0 s, 326 MB | 53.6 s, 814 MB |",
        SIZES,
        BEFORE,
    ),
    "memory of 1,000": Figure(
        282, "MB", "a process that judged and reported 1,000 pages", "| 3.1 s, 282 MB |", SIZES, BEFORE
    ),
    "memory of 100,000": Figure(
        1_075, "MB", "one that judged and reported 100,000 pages", "| 8.3 s, 1,075 MB |", SIZES, BEFORE
    ),
}


def of(name: str) -> float:
    """Return the value of a figure."""
    return FIGURES[name].value


def rate(milliseconds: float) -> float:
    """Return how many things a second one process does that take so long."""
    return CORE_SHARE * 1_000 / milliseconds


def tasks() -> float:
    """Return how many tasks a second a scheduler does that keeps `WORKERS` besides."""
    return (CORE_SHARE * 1_000 - of("scheduler, idle")) / of("scheduler of a task")


def judged() -> float:
    """Return the kB of memory that each page adds while a stored audit is judged and reported."""
    return (of("memory of 100,000") - of("memory of 1,000")) * 1_000 / 99_000


def number(value: float) -> str:
    """Return a number as people write it: two digits that count.

    >>> [number(value) for value in (0.0278, 2.83, 27.8, 566.7, 231_481.5)]
    ['0.03', '2.8', '28', '570', '230,000']
    """
    if value < 1:
        return f"{value:.2f}"
    if value < 10:
        return f"{value:.1f}".removesuffix(".0")
    digits = len(str(int(value)))
    return f"{round(value, 2 - digits):,.0f}"


def lasting(seconds: float) -> str:
    """Return a time in the unit that suits it.

    >>> [lasting(value) for value in (40, 1_000, 40_000, 1e6, 1e9)]
    ['40 s', '17 min', '11 h', '12 days', '32 years']
    """
    units = ((365 * 86_400, "years"), (2 * 86_400, "days"), (3_600, "h"), (60, "min"))
    for size, name in units:
        if seconds >= size:
            return f"{number(seconds / (86_400 if name == 'days' else size))} {name}"
    return f"{number(seconds)} s"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    titles = list(head)
    lines = [titles, ["---"] * len(titles), *rows]
    return (
        "\n".join("| " + " | ".join(line) + " |" for line in lines)
        .replace("| --- ", "|---")
        .replace("--- |", "---|")
    )


def takes() -> str:
    """Return what so many pages take, whoever does it."""

    def row(title: str, each: float) -> list[str]:
        return [title, *(number(pages * each) for pages in PAGES.values())]

    day = 86_400.0
    return table(
        ["", *PAGES],
        [
            row("analysis, hours of one core", of("worker") / 3.6e6),
            row("cores for a day of it", 1 / (rate(of("worker")) * day)),
            row("memory of those cores, GB", of("memory") / 2_000 / (rate(of("worker")) * day)),
            row("over the network, GB", of("compressed") / 1e6),
            row("the same in a day, Mbit/s", of("compressed") * 8 / 1_000 / day),
            row("archives, GB", of("archive") / 1e6),
            row("folders of rows, GB", of("folder") / 1e6),
            row("judging, hours of one core", of("judging") / 1e5 / 3_600),
        ],
    )


def politeness() -> str:
    """Return how long hosts are asked at a delay, pages spread evenly."""
    return table(
        ["hosts", *PAGES],
        [
            [f"{hosts:,}", *(lasting(pages / hosts * DELAY) for pages in PAGES.values() if pages >= hosts)]
            for hosts in HOSTS
        ],
    )


def limits() -> str:
    """Return what each part does a second, how long a billion pages take if only that part counts, and what is next."""
    last = PAGES["1 billion"]
    archives = "a call for each archive, or a Dask DataFrame"
    parts = [
        (
            f"a host with {DELAY:.0f} s between requests",
            1 / DELAY,
            "nothing: a shorter delay, or the owner's dump as an archive",
        ),
        ("a core that analyses", rate(of("worker")), "more cores"),
        ("the client of `wa.Dask`, with `store=`", rate(of("client, stored")), archives),
        ("the client of `wa.Dask`", rate(of("client")), archives),
        (
            "one process without a cluster",
            rate(of("parent")),
            "several such processes: Dask on archives",
        ),
        ("the scheduler of `wa.Dask`, with `store=`", rate(of("scheduler, stored")), archives),
        (f"{WORKERS} cores that analyse", WORKERS * rate(of("worker")), "more cores"),
        (
            f"the scheduler, a task for each archive of {ARCHIVE_PAGES:,} pages",
            tasks() * ARCHIVE_PAGES,
            "larger archives; several calls, a cluster each",
        ),
        (
            "a core of PostgreSQL that charges for pages of the service",
            1e6 * CORE_SHARE / of("database"),
            "more cores",
        ),
    ]
    rows = [
        [part, f"{number(speed)} a second", lasting(last / speed), after]
        for part, speed, after in sorted(parts, key=lambda part: part[1])
    ]
    held = f"{number(MEMORY * 1e6 / judged() / 1e6)} million pages in {MEMORY:.0f} GB"
    rows.append(
        ["a folder, while it is judged and reported", held, "", "a folder for each site, judged by itself"]
    )
    return table(["part", "pages", "1 billion, by this part alone", "what goes on from there"], rows)


def simulated() -> str:
    """Return what the simulated workers ask for in a second, and what scheduler and client carry of it."""
    asked = WORKERS * rate(of("worker"))
    ways = {
        "`wa.Dask`, rows come to the client": (rate(of("client")), rate(of("scheduler"))),
        "the same with `store=`": (rate(of("client, stored")), rate(of("scheduler, stored"))),
        f"a call for each archive of {ARCHIVE_PAGES:,} pages": (
            rate(of("client of a task")) * ARCHIVE_PAGES,
            tasks() * ARCHIVE_PAGES,
        ),
    }
    return table(
        ["pages a second", f"{WORKERS} workers analyse", "client carries", "scheduler carries", "carried"],
        [
            [way, *map(number, (asked, *carried)), "yes" if min(carried) > asked else "no"]
            for way, carried in ways.items()
        ],
    )


def tables() -> dict[str, str]:
    """Return the tables of the guide, title to Markdown."""
    return {"takes": takes(), "politeness": politeness(), "limits": limits(), "simulated": simulated()}


def report() -> str:
    """Return the tables, and what they are computed from."""
    found = "\n".join(
        f"  {figure.what}: {figure.value:g} {figure.unit} ({figure.day}, {figure.where})"
        for figure in FIGURES.values()
    )
    return "\n\n".join(
        [*(f"{title}\n\n{made}" for title, made in tables().items()), f"Computed from\n{found}"]
    )
