"""Room that a month of daily audits takes beside one: ``python -m tests.benchmarks.history_storage [pages] [days]``.

Each day 3 % of the pages get another title, paragraph or link; the time of each answer and the `Date` and `ETag`
headers always differ. 5,000 pages on 30 days: 17 MB for one audit, 1.9 times as much for the history.
"""

from __future__ import annotations

import dataclasses
import random
import sys
import tempfile
from pathlib import Path

import pandas as pd

import webanalytics as wa

SHARE = 0.03
RANDOM = random.Random(7)
WORDS = [
    "".join(RANDOM.choice("abcdefghiklmnoprstuvw") for _ in range(RANDOM.randint(3, 9))) for _ in range(6_000)
]


def text(words: int) -> str:
    return " ".join(RANDOM.choice(WORDS) for _ in range(words))


MENU = "".join(f'<a href="/s{number}">{text(2)}</a>' for number in range(40))


def html(page: list[str]) -> str:
    return f"<html lang=en><title>{page[0]}</title><nav>{MENU}</nav><h1>{page[0]}</h1>" + "".join(page[1:])


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def main(count: int = 5_000, days: int = 30) -> None:
    def part(kind: int) -> str:
        return (
            text(7)
            if not kind
            else f"<p>{text(60)}"
            if kind < 9
            else f'<a href="/p{RANDOM.randrange(count)}">x</a> '
        )

    pages = [[part(kind) for kind in range(34)] for _ in range(count)]
    history, one = wa.history(tempfile.mkdtemp()), Path(tempfile.mkdtemp())
    raw, changed = pd.DataFrame(), list(range(count))
    for day in range(days):
        given = {
            "url": [f"https://a.example/p{row}" for row in changed],
            "html": [html(pages[row]) for row in changed],
        }
        audit = wa.audit(pd.DataFrame(given), progress=False)
        new = audit.raw.astype(object).set_axis(changed)
        raw = new if not day else pd.concat([raw.drop(index=changed), new]).sort_index()
        dated = {name: raw[name].astype(dtype) for name, dtype in audit.raw.dtypes.items()}
        frame = pd.DataFrame(dated).assign(
            elapsed=[RANDOM.random() for _ in range(count)],
            headers=[
                f"Date: {RANDOM.randrange(60):02}:{RANDOM.randrange(60):02}\r\nETag: {RANDOM.getrandbits(64):x}"
                for _ in range(count)
            ],
        )
        frame.attrs = dict(audit.raw.attrs)
        date = f"{pd.Timestamp('2026-09-01', tz='UTC') + pd.Timedelta(days=day):%Y-%m-%dT%H:%M:%S+00:00}"
        audit = wa.Audit(frame, dataclasses.replace(audit.origin, date=date))
        audit.save(*([one] if not day else []), history=history.folder)
        print(
            f"day {day + 1}: {size(history.folder) / size(one):.2f} times one audit of {size(one):,} bytes",
            flush=True,
        )
        changed = sorted(RANDOM.sample(range(count), int(count * SHARE)))
        for row in changed:
            kind = RANDOM.choice((0, RANDOM.randrange(1, 9), RANDOM.randrange(9, 34)))
            pages[row][kind] = part(kind)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
