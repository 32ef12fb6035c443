"""The functions of webanalytics for asynchronous code: await each of them.

`webanalytics.metadata` and the other plain functions are these, each run on its own event loop.
``python -m webanalytics.generate`` writes their types, ``aio.pyi``.

Examples
--------
>>> import asyncio
>>> import webanalytics as wa
>>> frame = asyncio.run(wa.aio.hmac(["one", "two"], secret="key"))
>>> frame.shape
(2, 7)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from webanalytics.runs.boundary import awaited
from webanalytics.runs.functions.homes import HOMES
from webanalytics.runs.functions.source import later_function, later_names

__all__ = sorted(HOMES)


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        return later_function(__name__, name)
    globals()[name] = awaited(getattr(import_module(HOMES[name]), name))
    return globals()[name]


def __dir__() -> list[str]:
    return [*__all__, *later_names(__all__)]
