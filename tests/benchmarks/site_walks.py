"""Eight real sites, crawled and walked: rows that differ from an own walk, processor time, memory, score.

The walk is that of `tests.peers.walk`. Every crawler runs in a process of its own, and so does the server. With
``--peers PYTHON`` advertools crawls the sites too. Three sites are crawled twice and compared. ``WEBANALYTICS_SITES`` is a
part of the names of those that are wanted.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from tests.benchmarks.crawl import served_apart
from tests.peers.walk import SITES, walk

TWICE = ("gnuplot-doc", "debian-handbook en-US", "postgresql-doc-15")
COLUMNS = (
    *("http_status", "title", "crawl_depth", "inlinks", "inlinks_all", "outlinks", "pagerank"),
    "external",
)
OURS = """
import json, sys, webanalytics as wa
if __name__ == "__main__":
    audit = wa.crawl(sys.argv[1], max_pages=20_000, allow_private=True, progress=False, timeout=120, parse_timeout=120)
    names = ["url", "http_status", "title", "crawl_depth", "inlinks", "inlinks_all", "outlinks", "pagerank"]
    rows = audit.pages[names].astype(object)
    skipped = audit.skipped
    said = {"rows": rows.where(rows.notna(), None).values.tolist(), "stopped": audit.origin.incomplete}
    said["external"] = skipped.loc[skipped["reason"] == "external", "url"].tolist()
    if sys.argv[2] == "judge":
        said["score"] = audit.score
    if sys.argv[2] == "twice":
        other = wa.crawl(sys.argv[1], max_pages=20_000, allow_private=True, progress=False, timeout=120, parse_timeout=120)
        compared = wa.compare(audit, other)
        said["changes"] = len(compared.changes)
        said["issues"] = compared.issues["change"].value_counts().to_dict()
    print(json.dumps(said))
"""
ADVERTOOLS = """
import json, sys, tempfile, os, advertools as adv
file = os.path.join(tempfile.mkdtemp(), "crawl.jl")
adv.crawl([sys.argv[1]], file, follow_links=True, allowed_domains=["127.0.0.1"], custom_settings={"LOG_LEVEL": "ERROR"})
names = ("url", "status", "title", "depth")
rows = [[row.get(name) for name in names] for row in map(json.loads, open(file))]
print(json.dumps({"rows": rows}))
"""


def served(start: str) -> AbstractContextManager[str]:
    """Serve a site from a process of its own; give the address of its start page."""
    return served_apart(
        "import sys; from pathlib import Path; from tests.peers.walk import served\n"
        f"with served(Path({start!r})) as url: print(url, flush=True); sys.stdin.read()"
    )


def run(python: str, code: str, *arguments: str) -> tuple[dict[str, Any], float, float]:
    """Run a crawler; return what it says, the processor seconds of all its processes, and the peak of one in MB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        script, output = Path(folder) / "crawler.py", Path(folder) / "output"
        script.write_text(code)
        env = {
            **os.environ,
            "PATH": f"{Path(python).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(Path.cwd()),
        }
        command = f'{python} -W ignore {script} "$@" > {output}; echo $?'
        timed = f"import resource, subprocess, sys; subprocess.run(['sh', '-c', {command!r}, 'sh', *sys.argv[1:]]); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        done = subprocess.run(
            [sys.executable, "-c", timed, *arguments],
            capture_output=True,
            text=True,
            check=True,
            env=env,
            cwd=folder,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if not output.read_text():
            raise RuntimeError(done.stderr)
        return json.loads(output.read_text().splitlines()[-1]), spent, int(done.stdout.split()[-1]) / 1024


def row_of(name: str, start: str) -> list[str]:
    """Return the lines of a site."""
    with served(start) as url:
        said, spent, peak = run(sys.executable, OURS, url, "judge")
        truth = walk(url)
        twice = run(sys.executable, OURS, url, "twice")[0] if name in TWICE else None
        peer = os.environ.get("WEBANALYTICS_PEERS")
        other = run(peer, ADVERTOOLS, url) if peer else None
    ours = {cells[0]: cells[1:] for cells in said["rows"]}
    wrong = dict.fromkeys(COLUMNS, 0)
    for page, seen in truth.seen.items():
        told = (
            *(seen.status, seen.title, truth.depth[page], truth.inlinks[page], truth.inlinks_all[page]),
            *(truth.outlinks[page], truth.pagerank.get(page)),
        )
        for column, value, own in zip(COLUMNS, told, ours.get(page, (None,) * 7), strict=False):
            is_judged = column not in ("title", "outlinks") or seen.status == 200
            same = value == own or (column == "pagerank" and value and own and abs(value - own) < 1e-8)
            wrong[column] += is_judged and not same
    wrong["external"] = len(truth.external ^ set(said["external"]))
    missed, invented = truth.seen.keys() - ours.keys(), ours.keys() - truth.seen.keys()
    line = f"{name:22} {len(truth.seen):6,} {len(ours):6,} {len(missed):6} {len(invented):8}"
    line += "".join(f" {wrong[column] or '=':>11}" for column in COLUMNS)
    lines = [f"{line} {spent:6.1f} {peak:6.0f} {said['score']:6.1f} {said['stopped']}"]
    if twice is not None:
        lines.append(f"{'':22} crawled again: {twice['changes']} fields changed, issues {twice['issues']}")
    if other is not None:
        rows, peer_spent, peer_peak = other
        pages = {cells[0]: cells for cells in rows["rows"]}
        both = pages.keys() & truth.seen.keys()
        depths = sum(pages[page][3] == truth.depth[page] for page in both)
        lines.append(
            f"{'':22} advertools: {len(rows['rows']):,} rows, {len(both):,} of these addresses, depth of {depths:,} "
            f"equal; {peer_spent:.1f} s, {peer_peak:.0f} MB, without any judgement"
        )
    return lines


def report() -> str:
    """Return the table of all sites."""
    head = f"{'site':22} {'truth':>6} {'ours':>6} {'missed':>6} {'invented':>8}"
    head += "".join(f" {column:>11}" for column in COLUMNS)
    lines = [f"{head} {'CPU s':>6} {'MB':>6} {'score':>6}"]
    wanted = os.environ.get("WEBANALYTICS_SITES", "")
    for name, start in SITES.items():
        if wanted not in name:
            continue
        if not Path(start).exists():
            lines.append(f"{name:22} not installed")
            continue
        lines += (made := row_of(name, start))
        print("\n".join(made), file=sys.stderr, flush=True)
    return "\n".join([*lines, "(of the columns: addresses whose value differs; = is none)"])
