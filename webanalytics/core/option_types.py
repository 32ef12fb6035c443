"""The options as keyword arguments, for editors and type checkers; left out means the session's value.

Written by ``python -m webanalytics.generate`` from `webanalytics.core.run_options.RECORDS`: change that.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any, TypedDict

from webanalytics.core.access import Access
from webanalytics.core.bot_key import BotKey


class PageOptions(TypedDict, total=False):
    """Options of those over pages."""

    concurrency: int
    retries: int
    per_host: int
    delay: float
    connect_timeout: float
    timeout: float
    max_redirects: int
    robots: bool
    user_agent: str
    accept_language: str | None
    allow_private: bool
    ports: Collection[int] | None
    access: Mapping[str, Access] | None
    bot_key: BotKey | None
    proxy: str | None
    max_download: int
    parse_timeout: float
    workers: int | None
    worker_memory: int
    progress: bool | None
    backend: Any
    budget: int | None
    store: str | os.PathLike[str] | None
    redo: str
    archive: str | os.PathLike[str] | None


class ImageOptions(TypedDict, total=False):
    """Options of those over images."""

    concurrency: int
    retries: int
    per_host: int
    delay: float
    connect_timeout: float
    timeout: float
    max_redirects: int
    robots: bool
    user_agent: str
    accept_language: str | None
    allow_private: bool
    ports: Collection[int] | None
    access: Mapping[str, Access] | None
    bot_key: BotKey | None
    proxy: str | None
    max_download: int
    parse_timeout: float
    workers: int | None
    worker_memory: int
    progress: bool | None
    backend: Any
    budget: int | None
    store: str | os.PathLike[str] | None
    redo: str


class RecordOptions(TypedDict, total=False):
    """Options of those over records."""

    concurrency: int
    retries: int
    progress: bool | None
    backend: Any
    budget: int | None
    store: str | os.PathLike[str] | None
    redo: str


class SiteOptions(TypedDict, total=False):
    """Options of those that read files of sites."""

    concurrency: int
    retries: int
    per_host: int
    delay: float
    connect_timeout: float
    timeout: float
    max_redirects: int
    robots: bool
    user_agent: str
    accept_language: str | None
    allow_private: bool
    ports: Collection[int] | None
    access: Mapping[str, Access] | None
    bot_key: BotKey | None
    proxy: str | None


class RunOptions(TypedDict, total=False):
    """Options of all functions."""

    concurrency: int
    retries: int
    per_host: int
    delay: float
    connect_timeout: float
    timeout: float
    max_redirects: int
    robots: bool
    user_agent: str
    accept_language: str | None
    allow_private: bool
    ports: Collection[int] | None
    access: Mapping[str, Access] | None
    bot_key: BotKey | None
    proxy: str | None
    max_download: int
    parse_timeout: float
    workers: int | None
    worker_memory: int
    progress: bool | None
    backend: Any
    budget: int | None
    store: str | os.PathLike[str] | None
    redo: str
    archive: str | os.PathLike[str] | None
    docs_url: str | None
