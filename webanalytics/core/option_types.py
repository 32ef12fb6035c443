"""The options as keyword arguments, for editors and type checkers; left out means the session's value.

Written by ``python -m webanalytics.generate`` from `webanalytics.core.run_options.RECORDS`: change that.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any, TypedDict

from webanalytics.core.access import Access
from webanalytics.core.bot_key import BotKey


class _HIPRS(TypedDict, total=False):
    concurrency: int
    retries: int


class _HIPS(TypedDict, total=False):
    delay: float
    connect_timeout: float
    allow_private: bool


class _IPS(TypedDict, total=False):
    per_host: int
    timeout: float
    max_redirects: int
    robots: bool
    user_agent: str
    accept_language: str | None
    ports: Collection[int] | None
    access: Mapping[str, Access] | None
    bot_key: BotKey | None
    proxy: str | None


class _IP(TypedDict, total=False):
    max_download: int
    parse_timeout: float
    workers: int | None
    worker_memory: int


class _IPR(TypedDict, total=False):
    progress: bool | None
    backend: Any
    budget: int | None
    store: str | os.PathLike[str] | None
    redo: str


class _P(TypedDict, total=False):
    archive: str | os.PathLike[str] | None
    render: str


class _S(TypedDict, total=False):
    docs_url: str | None
    theme: str


class PageOptions(_HIPRS, _HIPS, _IPS, _IP, _IPR, _P, total=False):
    """Options of those over pages."""


class ImageOptions(_HIPRS, _HIPS, _IPS, _IP, _IPR, total=False):
    """Options of those over images."""


class RecordOptions(_HIPRS, _IPR, total=False):
    """Options of those over records."""


class SiteOptions(_HIPRS, _HIPS, _IPS, total=False):
    """Options of those that read files of sites."""


class HostOptions(_HIPRS, _HIPS, total=False):
    """Options of those that ask hosts for their certificates."""


class RunOptions(PageOptions, _S, total=False):
    """Options of all functions."""
