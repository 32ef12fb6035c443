"""Writes what advertools finds on the made-up site for crawlers; run by hand in an environment that has it.

``python -m tests.peers.record PYTHON`` with the Python of that environment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from webanalytics.fetching.testing import crawl_site

FILE = Path(__file__).parent / "advertools_crawl_site.json"
TRAPS = r"/calendar/|/session/|/tour/|/news/page/(?:[4-9]|\d\d)|/lamps/\?"
CODE = """
import json, sys, os, tempfile, importlib.metadata, advertools as adv
file = os.path.join(tempfile.mkdtemp(), "crawl.jl")
adv.crawl([sys.argv[1]], file, follow_links=True, allowed_domains=["127.0.0.1"], exclude_url_regex=sys.argv[2],
          custom_settings={"LOG_LEVEL": "ERROR"})
rows = [json.loads(line) for line in open(file)]
versions = {name: importlib.metadata.version(name) for name in ("advertools", "scrapy")}
print(json.dumps({"versions": versions, "rows": rows}))
"""


def path_of(url: str, own: str) -> str:
    """The path of a page of the site; of another port of this machine there is one."""
    return url.removeprefix(own) if url.startswith(own) else "(a port that is closed)"


def main() -> None:
    python = sys.argv[1]
    path = f"{Path(python).parent}:{os.environ['PATH']}"
    with crawl_site(slow=0.0) as site, tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [python, "-c", CODE, site.start_url, TRAPS],
            capture_output=True,
            text=True,
            check=True,
            cwd=folder,
            env={**os.environ, "PATH": path},
        )
        found = json.loads(done.stdout.splitlines()[-1])
        pages = sorted(
            [
                path_of(row["url"], site.url),
                row.get("status"),
                row.get("depth"),
                [url.removeprefix(site.url) for url in (row.get("redirect_urls") or "").split("@@") if url],
            ]
            for row in found["rows"]
        )
    record = {
        "versions": found["versions"],
        "date": datetime.now(UTC).date().isoformat(),
        "call": f'advertools.crawl([start], file, follow_links=True, allowed_domains=["127.0.0.1"], exclude_url_regex={TRAPS!r})',
        "columns": ["path", "status", "depth", "redirected_from"],
    }
    lines = ",\n  ".join(json.dumps(page) for page in pages)
    head = json.dumps(record, indent=1)[:-2]
    FILE.write_text(f'{head},\n "pages": [\n  {lines}\n ]\n}}\n', "utf-8")


if __name__ == "__main__":
    main()
