"""The seconds that a user waits after the pages are read: issues, report, workbook, keywords; and for a first call.

``--pages N`` says of how many pages; ``--folder DIR`` names further saved pages (.html or .html.gz). What the steps
need is made once and kept in the folder that ``WEBANALYTICS_WAITING`` names: an audit whose rows are those of real
pages, each time with three quarters of its lines and a title of its own, and a crawl of a made-up site of so many pages.
Each step is a process of its own over those folders: it prints seconds on the clock, of processor, and the peak in MB.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from zlib import crc32

import pandas as pd

from tests.benchmarks.corpus import corpus_pages, folder_pages

_ONE = (
    "import pandas as pd, webanalytics as wa\n"
    "if __name__ == '__main__':\n"
    "    wa.audit(pd.DataFrame({'url': ['https://a.example/'], 'html': ['<title>Tea</title><p>Tea.']}))\n"
)
_SAVED = "import sys, webanalytics as wa\nif __name__ == '__main__':\n    wa.audit(sys.argv[1])\n"
SITE = Path(__file__).parents[2] / "data" / "site"
FRESH = {
    "python alone": ["-c", "pass"],
    "import webanalytics": ["-c", "import webanalytics"],
    "webanalytics --help": ["-m", "webanalytics", "--help"],
    "import pandas": ["-c", "import pandas"],
    "import webanalytics after it": ["-c", "import pandas, webanalytics"],
    "first call, one page": ["-c", _ONE],
    "first call, a saved page": ["-c", _SAVED, str(SITE / "about.html")],
}
SHOWN = "shown = audit._repr_html_()"
STEPS = {
    "the audit": {
        "first display": SHOWN,
        "report without keywords": "audit.report(file + '.html', keywords=None, cannibalisation=None)",
        "report, all": "audit.report(file + '.html')",
        "report, again": "audit.report(file + '.html')",
    },
    "its keywords": {
        "keywords": "audit.keywords()",
        "keywords, again": "audit.keywords()",
        "keywords of the site": "audit.keywords('site')",
        "cannibalisation": "audit.cannibalisation()",
    },
    "its workbook": {"first display": SHOWN, "to_excel": "audit.to_excel(file + '.xlsx')"},
    "its charts": {
        "first display": SHOWN,
        "first chart": "audit.plot.issues_by_priority().figure.canvas.draw()",
        "explorer": "wa.explore(audit)",
    },
    "a crawl": {"first issues": "audit.issues"},
}
"""By what is loaded in one process: what is done there, one after the other."""


def _times() -> tuple[float, float]:
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return time.perf_counter(), own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _peak() -> float:
    """Return the most memory of this process in MB; `getrusage` would count that of the one that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1e3


def steps() -> None:
    """Do the steps of one group, and print what each took; in a process of its own."""
    import webanalytics as wa

    names = {"audit": wa.load(sys.argv[2]), "wa": wa, "file": f"{sys.argv[3]}/waiting"}
    for name, code in STEPS[sys.argv[1]].items():
        before = _times()
        exec(code, names)
        wall, processor = (after - start for start, after in zip(before, _times(), strict=True))
        peak = _peak()
        print(json.dumps((name, wall, processor, peak)), flush=True)


def real(folder: Path) -> pd.DataFrame:
    """Return the rows of real pages, which are analysed once."""
    import webanalytics as wa

    if not (folder / "audit.json").exists():
        more = os.environ.get("WEBANALYTICS_PAGES")
        saved = corpus_pages() | (folder_pages(more) if more else {})
        html = [page.decode("utf-8", "replace") for page in saved.values()]
        frame = pd.DataFrame({"url": [f"https://site.example/{name}" for name in saved], "html": html})
        wa.audit(frame, progress=False).save(folder)
    raw = wa.load(folder).raw
    return raw[(raw["status"] == "ok").to_numpy()].reset_index(drop=True)


def _many(pages: int, rows: pd.DataFrame, folder: Path) -> None:
    """Save an audit of so many pages: what was read of real ones, each time with other lines left out."""
    import webanalytics as wa

    def some(text: Any, time_of: int) -> Any:
        if not isinstance(text, str) or not time_of:
            return text
        kept = [line for line in text.split("\n") if crc32(f"{time_of}{line}".encode(errors="replace")) % 4]
        return "\n".join(kept or text.split("\n")[:1])

    parts = []
    for number in range(-(-pages // len(rows))):
        part = rows.iloc[: pages - number * len(rows)].copy()
        for name in ("url", "final_url", "canonical"):
            part[name] = [f"https://site.example/{place % 40}/{number}-{place}" for place in range(len(part))]
        part["canonicals"] = [[{"href": url, "url": url, "place": "head"}] for url in part["url"]]
        for name in ("text", "visible_text"):
            part[name] = [some(text, number) for text in part[name]]
        part["title"] = [f"{title} {number}" if number else title for title in part["title"]]
        parts.append(part.astype(rows.dtypes))
    whole = pd.concat(parts, ignore_index=True)
    whole.attrs = rows.attrs
    wa.Audit(whole).save(folder)


def _crawled(pages: int, folder: Path) -> None:
    import webanalytics as wa
    from tests.benchmarks.crawl import served

    with served(False, count=pages + 100, delay=0.0, largest=150_000) as start:
        wa.crawl(start, max_pages=pages, allow_private=True, robots=False, progress=False).save(folder)


def _fresh(name: str, arguments: list[str]) -> str:
    found = []
    compiled = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(4):  # the first one compiles what an installation has compiled
        before = _times()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=compiled)
        found.append([after - start for start, after in zip(before, _times(), strict=True)])
    wall, processor = (sorted(values)[1] for values in zip(*found[1:], strict=True))
    return f"  {name:26} {wall:7.2f} s {processor:7.2f} s"


def made(pages: int, kept: Path) -> tuple[Path, Path]:
    """Return the folders of an audit and of a crawl of so many pages, which are made if they are not there."""
    audit, crawl = kept / f"audit-{pages}", kept / f"crawl-{pages}"
    if not (audit / "audit.json").exists():
        _many(pages, real(kept / "real"), audit)
    if not (crawl / "audit.json").exists():
        _crawled(pages, crawl)
    return audit, crawl


def report() -> str:
    """Print the table line by line, and return its end."""
    pages = int(os.environ.get("WEBANALYTICS_PAGES_OF_FLAT", "2000"))
    with tempfile.TemporaryDirectory() as scratch:
        audit, crawl = made(pages, Path(os.environ.get("WEBANALYTICS_WAITING") or scratch))
        print(f"{pages:,} pages: on the clock, of processor, most memory until then")
        for item in FRESH.items():
            print(_fresh(*item), flush=True)
        for group in STEPS:
            print(f"{group}, loaded from its folder", flush=True)
            code = "from tests.benchmarks.waiting import steps; steps()"
            folder = str(crawl if group == "a crawl" else audit)
            command = [sys.executable, "-W", "ignore", "-c", code, group, folder, scratch]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
            for name, wall, processor, peak in map(json.loads, done.splitlines()):
                print(f"  {name:26} {wall:7.2f} s {processor:7.2f} s {peak:6.0f} MB", flush=True)
    return "of processor: with all processes that were started"
