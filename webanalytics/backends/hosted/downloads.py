"""Converted images, fetched from where the hosted API offers them."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from webanalytics.backends.hosted.client import Hosted, is_this_machine
from webanalytics.errors import RowError
from webanalytics.fetching import Fetcher, FetchError, FetchSettings
from webanalytics.fetching.retry import backoff
from webanalytics.operations import CONVERT

MOST_BYTES = 500_000_000
PAUSE_SECONDS = 0.5
LONGEST_PAUSE = 15.0

_EXTRA = {field.name: None for field in CONVERT.fields if field.extra}
_FORMATS = CONVERT.parameter("output_format").choices
_IN_PILLOW = {"jpg": "JPEG"}
_PORTS = {"http": 80, "https": 443}


class Downloads:
    """Fetches images by their links, without the API key.

    Parameters
    ----------
    backend : Hosted
        The API.
    session : aiohttp.ClientSession
        For links to the API's own host.
    options : Mapping
        The run's options, for links to other hosts: they go through the guarded fetcher.
    """

    def __init__(self, backend: Hosted, session: aiohttp.ClientSession, options: Mapping[str, Any]) -> None:
        self._own_origin = _origin(backend.base_url)
        self._cleaned = backend.cleaned
        self._patience = backend.patience
        self._session = session
        self._options = options
        self._stack = AsyncExitStack()
        self._fetcher: Fetcher | None = None

    async def image(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the image's bytes and size, all None where it cannot be had: the link stays.

        What an answer says of the columns that are this machine's own, or of an unknown format, is not taken.

        Raises
        ------
        RowError
            For content that is no image of the format that the answer says.
        """
        link, made = data.get("downloadURL"), data.get("outputFormat")
        content = await self._content(link) if isinstance(link, str) else None
        made = made if made in _FORMATS else None
        known = {**_EXTRA, "outputFormat": made, "content": content}
        if content is None:
            return known
        seen = await asyncio.to_thread(_looked_at, content, made)
        if seen is None:
            host = self._cleaned(urlsplit(str(link)).hostname or "")
            raise RowError(
                f"The `downloadURL` of the answer leads to no image of its format on {host}.", "service"
            )
        return known | seen

    async def _content(self, link: str) -> bytes | None:
        try:
            parts = urlsplit(link)
            if parts.scheme not in ("http", "https") or "@" in parts.netloc:
                return None
            if self._is_own(link):
                return await self._own(link)
            return (await (await self._guarded()).fetch(link, "image", "image")).content
        except (ValueError, FetchError):
            return None

    def _is_own(self, link: str) -> bool:
        """Tell whether a link leads to the API itself, or beside it where that is on this machine."""
        origin = _origin(link)
        host = origin[1]
        return origin == self._own_origin or (host == self._own_origin[1] and is_this_machine(host))

    async def _own(self, link: str) -> bytes | None:
        clock = asyncio.get_running_loop().time
        began, tries = clock(), 0
        while True:
            with suppress(aiohttp.ClientError, TimeoutError, OSError):
                async with self._session.get(link, allow_redirects=False) as response:
                    if response.status == 200:
                        return await _bounded(response)
                    if response.status not in (429, 500, 503):
                        return None
            if clock() - began > self._patience:
                return None
            await asyncio.sleep(backoff(tries, PAUSE_SECONDS, LONGEST_PAUSE))
            tries = min(tries + 1, 20)

    async def _guarded(self) -> Fetcher:
        if self._fetcher is None:
            settings = FetchSettings(
                robots=False, max_bytes=MOST_BYTES, allow_private=self._options["allow_private"]
            )
            self._fetcher = await self._stack.enter_async_context(Fetcher(settings))
        return self._fetcher

    async def close(self) -> None:
        """Close what was opened."""
        await self._stack.aclose()


async def _bounded(response: aiohttp.ClientResponse) -> bytes | None:
    pieces, size = [], 0
    async for piece in response.content.iter_chunked(262_144):
        pieces.append(piece)
        size += len(piece)
        if size > MOST_BYTES:
            return None
    return b"".join(pieces)


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme)


def _looked_at(content: bytes, made: str | None) -> dict[str, Any] | None:
    """Return width, height and frames of an image, None where it is none of the format."""
    from PIL import Image

    if made is None:
        return None
    try:
        with Image.open(io.BytesIO(content), formats=(_IN_PILLOW.get(made, made.upper()),)) as image:
            return {"width": image.width, "height": image.height, "frames": getattr(image, "n_frames", 1)}
    except Image.DecompressionBombError:  # of the format, and larger than anybody would look at
        return {}
    except (OSError, ValueError, SyntaxError):
        return None
