"""The settings of the service, one record for each, which also drives command line and docs; the plans."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from webanalytics._version import USER_AGENT
from webanalytics.core.run_options import Setting, flag, integer, seconds
from webanalytics.errors import ParameterError
from webanalytics.service.addresses import read_networks

__all__ = ["LOG_LEVELS", "RECORDS", "ServiceSettings", "Setting", "unknown_key"]


@dataclass(frozen=True, slots=True)
class Plan:
    """One plan."""

    name: str  # its name
    monthly_credits: int  # allowance of a calendar month, UTC; what is left of it is not carried over
    bonus_credits: int  # credits given once; they are used after the month's and stay until then
    premium: bool  # whether Premium fields are present and Premium parameters take effect
    requests_a_minute: int | None  # ceiling of requests a minute; None for no throttling
    upload_bytes: int  # largest image in bytes; other bodies are also bounded by the setting ``body_bytes``


PLANS: dict[str, Plan] = {
    plan.name: plan
    for plan in (
        Plan("free", 1_000, 500, False, 60, 10_000_000),
        Plan("starter", 25_000, 0, True, None, 25_000_000),
        Plan("pro", 250_000, 0, True, None, 50_000_000),
        Plan("mega", 2_500_000, 0, True, None, 100_000_000),
    )
}
"""The default plans, which a configuration file may change."""

LOG_LEVELS = ("debug", "info", "warning", "error")
MAX_TEXT_LENGTH = 2000

# scheme://user:password@rest?query, where nothing is ambiguous
_PLAIN_URL = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*:/*)((?P<user>[^:@/?#]*)(?P<password>:[^@/?#]*)?@)?"
    r"(?P<rest>[^@?#]*)(?P<query>\?[^@#]*)?",
    re.IGNORECASE,
)


def mask(url: str) -> str:
    """Return a URL as it may be shown: no password, no query.

    >>> mask("postgresql://shop:hunter2@db.example/credits")
    'postgresql://shop:***@db.example/credits'
    >>> mask("postgresql://shop:hunter@2@db.example/credits")
    'postgresql://***'
    """
    match = _PLAIN_URL.fullmatch(url)
    if match is None:
        return mask_all(url) if "@" in url or "://" in url else url
    user = match["user"]
    login = "" if user is None else f"{user}{':***' if match['password'] else ''}@"
    return f"{match['scheme']}{login}{match['rest']}{'?***' if match['query'] else ''}"


def mask_all(url: str) -> str:
    """Return only the scheme of a URL: the path of a webhook is a secret too."""
    scheme, separator, _ = url.partition("://")
    if not url:
        return ""
    return f"{scheme}://***" if separator and scheme.isalnum() else "***"


def _is_line(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable() and len(value) <= MAX_TEXT_LENGTH


def text(
    key: str, default: str, meaning: str, pattern: str = ".*", expects: str = "a line of text"
) -> Setting:
    """Return a setting that is a line of text matching a pattern."""
    allowed = re.compile(pattern)

    def accepts(value: Any) -> bool:
        return _is_line(value) and allowed.fullmatch(value) is not None

    return Setting(key, default, meaning, expects, accepts)


def url(
    key: str,
    default: str,
    meaning: str,
    pattern: str,
    expects: str,
    shown: Callable[[str], str] = mask,
) -> Setting:
    """Return a setting that is a URL, shown without its password."""
    return replace(text(key, default, meaning, f"(?i:{pattern})", expects), shown=shown)


def integers(key: str, default: tuple[int, ...], low: int, high: int, meaning: str) -> Setting:
    """Return a setting that is a list of integers."""

    def accepts(value: Any) -> bool:
        return isinstance(value, tuple) and all(type(item) is int and low <= item <= high for item in value)

    expects = f"a list of integers from {low} to {high}"
    return Setting(key, default, meaning, expects, accepts, kind=tuple, item=int)


def _is_network(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(read_networks([value]))
    except ValueError:
        return False


def networks(key: str, default: tuple[str, ...], meaning: str) -> Setting:
    """Return a setting that is a list of IP networks."""

    def accepts(value: Any) -> bool:
        return isinstance(value, tuple) and all(map(_is_network, value))

    expects = "a list of IP addresses or networks such as 10.0.0.0/8"
    return Setting(key, default, meaning, expects, accepts, kind=tuple)


_GROUPS: dict[str, tuple[Setting, ...]] = {
    "server": (
        text("host", "127.0.0.1", "Address to listen on; 0.0.0.0 for all.", r"\S+", "a host"),
        integer("port", 8080, 0, 65535, "Port to listen on; 0 for a free one."),
        url(
            "database",
            "sqlite:///webanalytics.db",
            "Accounts: sqlite:///FILE or postgresql://...",
            r"(sqlite:///|postgres(ql)?://).+",
            "sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE",
        ),
        integer(
            "workers",
            None,
            1,
            256,
            "Worker processes for analysis.",
            none="one per processor",
            absent="left out",
        ),
        url(
            "docs_url",
            "",
            "Address of the built documentation, which the service's own pages link to; none if empty.",
            r"(https?://[^\s\"'<>]{1,500})?",
            "an address that begins with http:// or https://",
        ),
        flag(
            "allow_private",
            False,
            "Fetch from private and loopback addresses too: for tests and intranets.",
            words="true or false",
        ),
        url(
            "base_url",
            "",
            "Public address, for download links; else what the request names as host.",
            r"(https?://[^\s/?#]+[^\s?#]*)?",
            "an http or https URL without query",
        ),
        networks("trusted_proxies", (), "Networks whose X-Forwarded-For and -Proto are believed."),
        seconds("grace_seconds", 30.0, 0, 3600, "Longest wait for requests under way when stopping."),
        url(
            "rate_limit_storage",
            "memory://",
            "Where requests a minute are counted: memory:// (by each process) or redis://...",
            r"(async\+)?[a-z][a-z0-9.+]*://.*",
            "memory:// or redis://HOST:PORT/NUMBER",
        ),
        url(
            "notice_webhook",
            "",
            "URL that is notified when an account reaches 80% and 95% of its credits.",
            r"(https?://\S+)?",
            "an http or https URL",
            shown=mask_all,
        ),
        text(
            "log_level",
            "info",
            f"Least severe log lines written: {', '.join(LOG_LEVELS)}.",
            "|".join(LOG_LEVELS),
            f"one of: {', '.join(LOG_LEVELS)}",
        ),
    ),
    "images": (
        url(
            "images",
            "",
            "fsspec URL of the folder of converted images; else beside the database.",
            ".*",
            "a folder or an fsspec URL such as s3://bucket/folder",
        ),
        seconds("image_seconds", 86_400.0, 1, 31_536_000, "How long a converted image can be downloaded."),
    ),
    "fetching": (
        seconds("connect_timeout", 10.0, 0.01, 600, "Seconds for the name look-up and the connection."),
        seconds("fetch_timeout", 30.0, 0.01, 600, "Seconds for a whole fetch."),
        integer("max_page_bytes", 10_000_000, 1, 1_000_000_000, "Largest page after decompression."),
        integer("max_redirects", 10, 0, 100, "Redirects followed for one page."),
        integer("retries", 0, 0, 20, "Further tries after 429, 503 and broken connections."),
        integers(
            "ports",
            (80, 443, 8000, 8080, 8443, 8888),
            1,
            65535,
            "Ports of pages that may be fetched; with allow_private any.",
        ),
        integer("fetch_concurrency", 128, 1, 1000, "Fetches under way at once."),
        integer("per_host", 16, 1, 100, "Fetches under way at once from one host."),
        flag("robots", True, "Respect robots.txt and its crawl-delay.", words="true or false"),
        text(
            "user_agent",
            USER_AGENT,
            "How the service introduces itself.",
            r"[\x20-\x7e]{1,500}",
            "a line of printable ASCII characters",
        ),
        seconds("page_cache_seconds", 60.0, 0, 3600, "How long a page fetched for a key is kept."),
        integer("page_cache_bytes", 64_000_000, 0, 10_000_000_000, "Most bytes of kept pages."),
    ),
    "analysis": (
        seconds(
            "parse_timeout", 10.0, 0.1, 600, "Seconds for the analysis of a page; then its worker is ended."
        ),
        seconds("image_timeout", 20.0, 0.1, 600, "Seconds for the conversion of an image."),
        integer("worker_memory", 2048, 256, 1_000_000, "Memory limit of a worker process in MiB (Linux)."),
    ),
    "limits": (
        integer("queue", 512, 1, 100_000, "Requests for pages and images under way; further ones get 503."),
        integer("batch_size", 200, 1, 10_000, "Most inputs of a batch."),
        integer("batch_concurrency", 16, 1, 1000, "Inputs of one batch under way at once."),
        seconds("read_timeout", 30.0, 0.1, 3600, "Seconds for the headers, and for a body, to arrive."),
        integer("body_rate", 50_000, 1, 1_000_000_000, "Bytes a second that lengthen a body's time."),
        integer(
            "body_bytes", 5_000_000, 1_000, 100_000_000, "Largest body of a request that carries no image."
        ),
        integer(
            "body_memory",
            512_000_000,
            1_000_000,
            100_000_000_000,
            "Most bytes of request bodies held at once; one account may hold half of them.",
        ),
        integer(
            "answer_bytes",
            32_000_000,
            1_000,
            1_000_000_000,
            "Most bytes of one answer; further inputs of a batch get 503.",
        ),
        integer(
            "answer_memory",
            512_000_000,
            1_000_000,
            100_000_000_000,
            "Most bytes of answers held at once; one account may hold half of them.",
        ),
        integer(
            "saved_bytes",
            8_000_000,
            1_000,
            100_000_000,
            "Most bytes of an answer that is kept for an Idempotency-Key.",
        ),
        integer(
            "connections_per_address",
            512,
            1,
            1_000_000,
            "Open connections to one process from one address, or from one IPv6 /64 network.",
        ),
        seconds("keepalive_timeout", 75.0, 1, 3600, "Seconds an idle connection stays open."),
        seconds("idempotency_seconds", 86_400.0, 1, 31_536_000, "How long an Idempotency-Key is remembered."),
        seconds(
            "reservation_seconds", 600.0, 1, 86_400, "After which the credits of a lost call are returned."
        ),
        integer("graphql_operations", 200, 1, 10_000, "Most operations of a query."),
        integer("graphql_depth", 16, 2, 200, "Deepest nesting of a query."),
        integer("graphql_tokens", 12_000, 10, 1_000_000, "Most tokens of a query."),
        integers("notices", (80, 95), 1, 100, "Percentages of the month's credits to notify at."),
    ),
}

RECORDS: dict[str, Setting] = {
    setting.key: replace(setting, group=group) for group, settings in _GROUPS.items() for setting in settings
}
"""All settings by key."""


class ServiceSettings:
    """The settings of one service as attributes, the plans, and the price of each operation.

    ``credits`` holds prices by name of operation, where they differ from the declaration's.
    """

    def __init__(
        self,
        given: Mapping[str, Any] | None = None,
        plans: Mapping[str, Plan] = PLANS,
        credits: Mapping[str, int] | None = None,  # noqa: A002 - the field's own word
    ) -> None:
        given = dict(given or {})
        for key in given:
            if key not in RECORDS:
                raise unknown_key(key)
        self.values: Mapping[str, Any] = {
            key: record.check(given[key]) if key in given else record.default
            for key, record in RECORDS.items()
        }
        vars(self).update(self.values)
        self.plans = dict(plans)
        self.credits = dict(credits or {})

    if TYPE_CHECKING:

        def __getattr__(self, key: str) -> Any: ...

    def __repr__(self) -> str:
        changed = (
            f"{key}={RECORDS[key].shown(value) if isinstance(value, str) else value!r}"
            for key, value in self.values.items()
            if value != RECORDS[key].default
        )
        return f"ServiceSettings({', '.join(changed)})"

    def replace(self, **changes: Any) -> ServiceSettings:
        """Return the same settings with some of them changed."""
        return ServiceSettings({**self.values, **changes}, self.plans, self.credits)


def unknown_key(key: str, where: str = "") -> ParameterError:
    """Return the error about a setting that does not exist."""
    known = ", ".join(sorted(RECORDS))
    return ParameterError(f"The `{key}` parameter{where} does not exist; the settings are: {known}.", key)
