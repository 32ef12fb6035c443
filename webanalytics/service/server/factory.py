"""A service from its settings, for `process`: its resources are opened, and closed in reverse order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from webanalytics.service.accounts import SQLITE, open_accounts
from webanalytics.service.admission import Admission, RateLimiter
from webanalytics.service.app import Service
from webanalytics.service.billing.calls import Calls
from webanalytics.service.billing.payment import Notices
from webanalytics.service.config.settings import ServiceSettings
from webanalytics.service.engine import Engine
from webanalytics.service.graphql.endpoint import GraphQLEndpoint, Queries
from webanalytics.service.images import ImageStore
from webanalytics.service.logs import Log
from webanalytics.service.metrics import Metrics
from webanalytics.service.public_routes import PublicPages

IMAGES_FOLDER = "webanalytics-images"


def images_url(settings: ServiceSettings) -> str:
    """Return where converted images are kept: as configured, else in a folder next to the database.

    Examples
    --------
    >>> images_url(ServiceSettings({"database": "sqlite:////var/lib/accounts.db"}))
    '/var/lib/webanalytics-images'
    """
    if settings.images:
        return str(settings.images)
    database: str = settings.database
    folder = Path(database.removeprefix(SQLITE)).parent if database.startswith(SQLITE) else Path()
    return str(folder / IMAGES_FOLDER)


@asynccontextmanager
async def open_service(settings: ServiceSettings) -> AsyncIterator[Service]:
    """Open a service for the length of an ``async with`` block."""
    log = Log(settings)
    metrics = Metrics()
    try:
        accounts = await open_accounts(settings.database, settings, server=True)
    except BaseException:
        log.close()
        raise
    notices = Notices(settings.notice_webhook, log)
    try:
        limiter = RateLimiter(settings.rate_limit_storage)
        async with (
            ImageStore(images_url(settings), settings.image_seconds) as images,
            Engine(settings, images, metrics=metrics) as engine,
        ):
            calls = Calls(
                settings, accounts, engine, Admission(settings.queue, on_change=metrics.queue), notices.notify
            )
            queries = Queries(calls, GraphQLEndpoint(settings))
            public = PublicPages(settings, accounts, images, metrics)
            try:
                yield Service(settings, accounts, calls, queries, limiter, public, log, metrics)
            finally:
                await limiter.close()
    finally:
        await notices.close()
        await accounts.close()
        log.close()
