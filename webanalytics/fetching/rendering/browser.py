"""The browser: found on this machine, started with all ways but one closed, ended with what it started."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from webanalytics.errors import MissingExtraError, ParameterError
from webanalytics.fetching.rendering.proxy import BrowserProxy

VARIABLE = "WEBANALYTICS_BROWSER"
"""Environment variable that names the file of the browser."""
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
ARGUMENTS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-quic",
    "--dns-prefetch-disable",
    # names are for the proxy to look up, and nothing else is dialled
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--blink-settings=imagesEnabled=false",
    "--js-flags=--max-old-space-size=512",
)
CLOSING = 5.0
"""Seconds that a browser has to end by itself."""


def program() -> str | None:
    """Return the file of Chromium or Chrome on this machine, None where there is none."""
    named = os.environ.get(VARIABLE)
    found = [shutil.which(named)] if named else [*map(shutil.which, _NAMES), *filter(os.path.isfile, _PLACES)]
    return next(filter(None, found), None)


def executable() -> str:
    """Return the file of the browser; raises `MissingExtraError` or `ParameterError` where there is none."""
    for package in ("playwright", "cryptography"):
        if find_spec(package) is None:
            raise MissingExtraError("render", package, "rendering")
    if place := program():
        return place
    said = f"{VARIABLE} names no program" if os.environ.get(VARIABLE) else "none was found on this machine"
    raise ParameterError.must_be(
        "render",
        f'"off" without Chromium or Chrome, and {said}: install one (such as `apt install chromium`), or '
        f"name its file in the environment variable {VARIABLE}",
    )


class Browser:
    """One browser and what drives it; all that it started ends with it."""

    def __init__(self, proxy: BrowserProxy) -> None:
        self._proxy = proxy
        self.password = secrets.token_urlsafe(24)
        self.pages = 0
        self._driver: Any = None
        self._browser: Any = None

    @property
    def alive(self) -> bool:
        """Whether it can be asked for a page."""
        return self._browser is not None and self._browser.is_connected()

    async def start(self) -> None:
        """Start it."""
        from playwright.async_api import async_playwright  # an extra

        server, word = self._proxy.address, self.password
        self._driver = await async_playwright().start()
        self._browser = await self._driver.chromium.launch(
            executable_path=executable(),
            chromium_sandbox=not (hasattr(os, "geteuid") and os.geteuid() == 0),  # root can have none
            proxy={"server": server, "bypass": "<-loopback>", "username": "browser", "password": word},
            args=[*ARGUMENTS, f"--ignore-certificate-errors-spki-list={self._proxy.key}"],
            handle_sigint=False,  # where all are told to end, what drives it does, and its profile goes too
        )

    async def context(self, **settings: Any) -> Any:
        """Return a profile without a past, for one page."""
        self.pages += 1
        return await self._browser.new_context(**settings)

    async def close(self) -> None:
        """End it; what drives it ends the browser that does not."""
        self._proxy.visits(self.password, None)
        for stop in (self._browser and self._browser.close, self._driver and self._driver.stop):
            if stop is not None:
                with suppress(Exception):
                    async with asyncio.timeout(CLOSING):
                        await stop()
        self._browser = self._driver = None
