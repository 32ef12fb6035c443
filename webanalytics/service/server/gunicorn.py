"""Several server processes on one port under gunicorn's own command line; they need PostgreSQL.

``gunicorn -k webanalytics.service.server.gunicorn.Worker webanalytics.service.server.gunicorn:app``, with
settings from the environment. aiohttp's own worker would serve without the protections of
`webanalytics.service.server.connection`.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from aiohttp.worker import GunicornWebWorker
from gunicorn.arbiter import Arbiter

from webanalytics.errors import ParameterError, WebAnalyticsError
from webanalytics.service.accounts.base import AccountsError
from webanalytics.service.configuration import read_settings
from webanalytics.service.logs import Log, describe
from webanalytics.service.server.process import announce, open_service, serve_until
from webanalytics.service.settings import ServiceSettings

if TYPE_CHECKING:
    from webanalytics.service.app import Service

GRACE_SHARE = 0.95
"""Share of gunicorn's own grace period in which requests must be finished."""

COUNTED_APART = "each process counts requests a minute by itself: set rate_limit_storage to redis://..."


def app(settings: ServiceSettings) -> AbstractAsyncContextManager[Service]:
    """Open the service: what gunicorn's command line names as the application."""
    return open_service(settings)


class Worker(GunicornWebWorker):
    """One server process: TERM finishes requests in progress; where it cannot start, gunicorn ends, too."""

    async def _run(self) -> None:
        stop = asyncio.Event()
        watching = self.loop.create_task(self._watch(stop))
        log = Log(ServiceSettings(), capture=False)
        try:
            settings = self._read_settings()

            def ready() -> None:
                self.booted = True
                if self.age == 1:
                    announce(self._socks()[0], log)
                    if self.cfg.workers > 1 and settings.rate_limit_storage.startswith("memory:"):
                        log.warning(COUNTED_APART)

            await serve_until(stop, settings, self._socks(), self.wsgi, ready=ready)
        except (WebAnalyticsError, AccountsError) as error:
            sys.stderr.write(f"webanalytics: {error}\n")
            self._failed()
        except Exception as error:  # gunicorn would write its message, which may hold a secret
            log.error("exception", **describe(error))
            self._failed()
        finally:
            watching.cancel()
            log.close()

    def _failed(self) -> None:
        self.exit_code = 1 if self.booted else Arbiter.WORKER_BOOT_ERROR

    def _read_settings(self) -> ServiceSettings:
        if self.cfg.is_ssl:
            raise ParameterError("The `certfile` parameter must be left out; let a proxy do TLS.", "certfile")
        settings = read_settings({}, os.environ)
        grace = min(settings.grace_seconds, GRACE_SHARE * self.cfg.graceful_timeout)
        changes: dict[str, Any] = {"grace_seconds": grace}
        sock = self._socks()[0]
        if sock.family != socket.AF_UNIX:
            changes |= dict(zip(("host", "port"), sock.getsockname(), strict=False))
        return settings.replace(**changes)

    def _socks(self) -> list[socket.socket]:
        return [getattr(sock, "sock", sock) for sock in self.sockets]

    async def _watch(self, stop: asyncio.Event) -> None:
        """Report to gunicorn that the loop is alive; stop on request, or when gunicorn is gone."""
        while self.alive and self.ppid == os.getppid():
            self.notify()
            await self._wait_next_notify()
        stop.set()
        while True:  # stopping takes as long as the grace
            self.notify()
            await asyncio.sleep(1)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Stop gracefully, without waiting for the next second."""
        super().handle_exit(sig, frame)
        self._notify_waiter_done()
