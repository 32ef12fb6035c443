"""The blocking functions: those of `webanalytics.aio`, each run on its own event loop.

They are imported when they are called; ``python -m webanalytics.generate`` writes their types, ``sync.pyi``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from webanalytics.runs.functions.homes import BLOCKING, HOMES
from webanalytics.runs.functions.plain import PlainFunction

__all__ = sorted([*HOMES, *BLOCKING])
globals().update({name: PlainFunction(name, home) for name, home in HOMES.items()})


def __getattr__(name: str) -> Any:
    if name in BLOCKING:
        return getattr(import_module(BLOCKING[name]), name)
    from webanalytics.runs.functions.source import later_function

    return later_function(__name__, name, blocking=True)


def __dir__() -> list[str]:
    from webanalytics.runs.functions.source import later_names

    return [*__all__, *later_names(__all__)]
