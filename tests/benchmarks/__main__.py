"""Print all benchmark tables, or those named: ``pages``, ``cores``, ``memory``, ``phones``, ``service``, ``hosted``, ``duplicates``, ``report``, ``trips``."""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = ("pages", "cores", "memory", "phones", "service", "hosted", "duplicates", "report", "trips")

for name in sys.argv[1:] or NAMES:
    print(import_module(f"tests.benchmarks.{name}").report(), flush=True)
    print()
