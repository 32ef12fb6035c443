"""Print all benchmark tables, or those named: each is a module of this folder, such as ``pages`` or ``service``.

``--peers PYTHON`` names the Python of an environment with other crawlers, ``--folder DIR`` a folder of other pages
for ``pages`` and ``waiting``, ``--pages N`` how many ``flat``, ``flat_crawl``, ``waiting`` and ``explorer`` take, ``--minutes N`` how
long ``soak`` takes. ``picture`` makes the table and the picture of docs/measurements/speed.md.
"""

from __future__ import annotations

import argparse
import os
from importlib import import_module

NAMES = (
    "pages",
    "whole",
    "cores",
    "memory",
    "phones",
    "service",
    "hosted",
    "duplicates",
    "report",
    "trips",
    "crawl",
    "fetching",
    "languages",
    "waiting",
    "explorer",
    "scale",
)

parser = argparse.ArgumentParser()
parser.add_argument("names", nargs="*")
parser.add_argument("--peers", default=os.environ.get("WEBANALYTICS_PEERS", ""))
parser.add_argument("--folder", default=os.environ.get("WEBANALYTICS_PAGES", ""))
parser.add_argument("--pages", type=int, default=2_000, help="pages of the benchmark `flat`")
parser.add_argument("--minutes", default="60", help="minutes of the benchmark `soak`")
arguments = parser.parse_args()
os.environ["WEBANALYTICS_PAGES"] = arguments.folder
os.environ["WEBANALYTICS_PAGES_OF_FLAT"] = str(arguments.pages)
os.environ["WEBANALYTICS_MINUTES"] = arguments.minutes
os.environ["WEBANALYTICS_PEERS"] = arguments.peers

for name in arguments.names or NAMES:
    print(import_module(f"tests.benchmarks.{name}").report(), flush=True)
    print()
