"""What a user says of a hosted API: where it is, with which key, and how patient to be."""

from __future__ import annotations

import getpass
import ipaddress
import os
import re
import sys
import warnings
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from webanalytics.backends.base import Answer, Job, Task
from webanalytics.backends.hosted.rules import BATCH_SIZE
from webanalytics.errors import ParameterError
from webanalytics.operations import OPERATIONS, Operation
from webanalytics.operations.secret import MASK, Secret

KEY_VARIABLE = "WEBANALYTICS_API_KEY"

_HOST = re.compile(r"[\w.:%-]+")
SHORT_KEY = 8
_SPACE = re.compile(r"[\t\r\n]+")
_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that change how a terminal shows a sentence."""

_prompted: dict[str, Secret] = {}


class Hosted:
    """A hosted API as the backend of every function.

    Parameters
    ----------
    base_url : str
        Address of the API, such as ``https://api.example.com``; its operations are below ``/v1/``.
    api_key : str, optional
        The API key; else the environment variable ``WEBANALYTICS_API_KEY``, else a prompt where somebody
        can answer it (once per address and process). It is shown nowhere.
    concurrency : int, default 8
        Requests under way at once; ``concurrency=`` of a call goes first.
    batch_size : int, default 200
        Most inputs of a request.
    timeout : float, default 900
        Seconds for one request; a batch of slow pages takes its time.
    patience : float, default 120
        Seconds to go on after broken connections and the answers 429, 500 and 503, before giving up; an
        API that asks to wait longer is given up at once.
    prices : mapping of str to int, optional
        Credits of one success by operation, where the API's differ from the published ones; ``budget=`` of
        a call is counted with them, and not with what the API takes.

    Raises
    ------
    ParameterError
        For a wrong argument.

    Notes
    -----
    Retried are 500 and 503 (exponential backoff with jitter), 429 with credits left (after
    ``retry-after``) and broken connections, all under one ``Idempotency-Key``, so that an answer that was
    lost on its way is not paid for twice. 400, 401, 403, 404 and a 429 without credits are never retried.

    Examples
    --------
    >>> backend = Hosted("https://api.example.com", "22bce1bb-4929-4c08-a13f-6061b2c16adc")
    >>> backend
    Hosted('https://api.example.com', api_key='**********', concurrency=8)
    """

    paid = True
    base_url = ""
    concurrency = 0  # shown, with the address, where an error is raised before they are known

    def __init__(
        self,
        base_url: str,
        api_key: str | Secret | None = None,
        *,
        concurrency: int = 8,
        batch_size: int = BATCH_SIZE,
        timeout: float = 900.0,
        patience: float = 120.0,
        prices: Mapping[str, int] | None = None,
    ) -> None:
        # masked first: the frame of a call that fails further down may be shown with its variables
        api_key = None if api_key is None else _masked(api_key)
        self.base_url = _base_url(base_url)
        self.concurrency = _number("concurrency", concurrency, 1, 1000)
        self.batch_size = _number("batch_size", batch_size, 1, 10_000)
        self.timeout = _seconds("timeout", timeout)
        self.patience = _seconds("patience", patience)
        self._prices = _checked_prices(prices or {})
        self._api_key = _checked_key(api_key) if api_key is not None else _found_key(self.base_url)
        self.without_batch: set[str] = set()
        self.name = f"hosted {self.base_url}"
        import webanalytics.backends.hosted.run  # noqa: F401 - takes a while: now, and not on an event loop

    def __repr__(self) -> str:
        return f"Hosted({self.base_url!r}, api_key={MASK!r}, concurrency={self.concurrency})"

    def price(self, operation: Operation) -> int:
        """Return the credits of one success."""
        return self._prices.get(operation.name, operation.credits)

    def key_header(self) -> str:
        """Return the API key for a request."""
        return self._api_key.reveal().decode("ascii")

    def cleaned(self, text: str) -> str:
        """Return text of an answer without control characters, and without the API key."""
        text = _UNSHOWN.sub("", _SPACE.sub(" ", text))
        key = re.escape(self.key_header().strip())
        if len(key) < SHORT_KEY:  # as a part of words it would be anywhere
            key = rf"(?<!\w){key}(?!\w)"
        return re.sub(key, MASK, text, flags=re.IGNORECASE)

    def check(self, task: Task) -> None:
        """Raise `ParameterError` for settings that only this machine knows, or that no JSON can carry."""
        for operation in task.operations:
            for item in operation.settings:
                value = task.settings[operation.name][item.keyword]
                if isinstance(value, Secret) and not _is_text(value):
                    raise ParameterError(
                        f"The `{item.keyword}` parameter must be text for a hosted backend.", item.keyword
                    )
                if (
                    item.local
                    and value not in (item.default, item.service_value)
                    and item.keyword != "region"
                ):
                    raise ParameterError(
                        f"The `{item.keyword}` parameter must be left out with a hosted backend, which does "
                        "not know it.",
                        item.keyword,
                    )

    async def run(self, task: Task, jobs: Sequence[Job]) -> AsyncGenerator[Sequence[Answer], None]:
        """Yield the answers in groups, one for each request."""
        from webanalytics.backends.hosted.run import HostedRun

        async with aclosing(HostedRun(self, task).answers(jobs)) as groups:
            async for answers in groups:
                yield answers


def _masked(value: Any) -> Any:
    """Return the text of a key as a secret, and what is none as it is."""
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogatepass")
    return Secret(value.strip() or b" ") if isinstance(value, bytes) else value


def _is_text(value: Secret) -> bool:
    try:
        return bool(value.reveal().decode())
    except UnicodeDecodeError:
        return False


def _is_key(value: Secret) -> bool:
    text = value.reveal()
    return text.isascii() and text.decode().isprintable() and 0 < len(text.strip()) <= 500


def _checked_key(value: Any) -> Secret:
    if isinstance(value, Secret) and _is_key(value):  # judged in there: this frame may be shown
        return value
    raise ParameterError("The `api_key` parameter must be the text of an API key.", "api_key")


def _found_key(base_url: str) -> Secret:
    """Return the key of the environment, else ask for it where somebody can answer."""
    if os.environ.get(KEY_VARIABLE, "").strip():
        return _checked_key(_masked(os.environ[KEY_VARIABLE]))
    if base_url not in _prompted:
        if not _can_ask():
            raise ParameterError(
                f"The `api_key` parameter is required where the variable {KEY_VARIABLE} is not set.",
                "api_key",
            )
        _prompted[base_url] = _checked_key(_masked(getpass.getpass(f"API key of {base_url}: ")))
    return _prompted[base_url]


def _can_ask() -> bool:
    shell = sys.modules.get("IPython")
    ipython = shell.get_ipython() if shell is not None else None
    if ipython is not None and hasattr(ipython, "kernel"):
        return bool(getattr(ipython.kernel, "_allow_stdin", True))  # False where a notebook is only executed
    return sys.stdin is not None and sys.stdin.isatty()


def _base_url(url: str) -> str:
    """Return the address without a trailing slash or version."""
    wrong = ParameterError(
        "The `base_url` parameter must be an address such as https://api.example.com, without user, query "
        "and fragment.",
        "base_url",
    )
    if not isinstance(url, str):
        raise wrong
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in ("http", "https") or not host or port == 0 or not _HOST.fullmatch(host):
        raise wrong
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise wrong
    if parts.scheme == "http" and not is_this_machine(host):
        warnings.warn(
            f"{parts.scheme}://{parts.netloc} is not encrypted: the API key can be read on its way",
            stacklevel=3,
        )
    path = parts.path.rstrip("/").removesuffix("/v1")
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def is_this_machine(host: str) -> bool:
    """Tell whether a host is the loopback."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _number(name: str, value: Any, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ParameterError(f"The `{name}` parameter must be an integer from {low} to {high}.", name)
    return value


def _seconds(name: str, value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value <= 86_400:
        raise ParameterError(f"The `{name}` parameter must be a number of seconds up to 86400.", name)
    return float(value)


def _checked_prices(prices: Mapping[str, int]) -> dict[str, int]:
    for name, price in prices.items():
        if name not in OPERATIONS:
            raise ParameterError.one_of("prices", OPERATIONS)
        _number("prices", price, 0, 10**9)
    return dict(prices)
