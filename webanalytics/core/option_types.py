"""The options as keyword arguments, for editors and type checkers; left out means the session's value.

Written by ``python -m webanalytics.generate`` from `webanalytics.core.run_options.RECORDS`: change that.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any, TypedDict

from webanalytics.core.access import Access
from webanalytics.core.bot_key import BotKey


class _HostImagePageRecordSite(TypedDict, total=False):
    concurrency: int


class _ImagePageRecordSite(TypedDict, total=False):
    retries: int


class _HostImagePageSite(TypedDict, total=False):
    delay: float
    connect_timeout: float
    allow_private: bool


class _ImagePageSite(TypedDict, total=False):
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


class _ImagePage(TypedDict, total=False):
    max_download: int
    parse_timeout: float
    workers: int | None
    worker_memory: int


class _ImagePageRecord(TypedDict, total=False):
    progress: bool | None
    backend: Any
    budget: int | None
    store: str | os.PathLike[str] | None
    redo: str


class _Page(TypedDict, total=False):
    archive: str | os.PathLike[str] | None
    render: str


class _Session(TypedDict, total=False):
    docs_url: str | None


class PageOptions(
    _HostImagePageRecordSite,
    _ImagePageRecordSite,
    _HostImagePageSite,
    _ImagePageSite,
    _ImagePage,
    _ImagePageRecord,
    _Page,
    total=False,
):
    """Options of those over pages."""


class ImageOptions(
    _HostImagePageRecordSite,
    _ImagePageRecordSite,
    _HostImagePageSite,
    _ImagePageSite,
    _ImagePage,
    _ImagePageRecord,
    total=False,
):
    """Options of those over images."""


class RecordOptions(_HostImagePageRecordSite, _ImagePageRecordSite, _ImagePageRecord, total=False):
    """Options of those over records."""


class SiteOptions(
    _HostImagePageRecordSite, _ImagePageRecordSite, _HostImagePageSite, _ImagePageSite, total=False
):
    """Options of those that read files of sites."""


class HostOptions(_HostImagePageRecordSite, _HostImagePageSite, total=False):
    """Options of those that ask hosts for their certificates."""


class RunOptions(PageOptions, _Session, total=False):
    """Options of all functions."""
