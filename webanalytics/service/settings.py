"""The settings of the service: one record for each, which also drives the command line and the docs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from webanalytics.errors import ParameterError
from webanalytics.service.plans import PLANS, Plan
from webanalytics.service.setting_kinds import Setting, flag, mask_all, networks, number, numbers, text, url
from webanalytics.settings import USER_AGENT

__all__ = ["LOG_LEVELS", "RECORDS", "ServiceSettings", "Setting", "unknown_key"]

LOG_LEVELS = ("debug", "info", "warning", "error")

_IMAGES_EXPECTS = "a folder or an fsspec URL such as s3://bucket/folder"

RECORDS: dict[str, Setting] = {
    setting.key: setting
    for setting in (
        text("server", "host", "127.0.0.1", "Address to listen on; 0.0.0.0 for all.", r"\S+", "a host"),
        number("server", "port", 8080, 0, 65535, "Port to listen on; 0 for a free one."),
        url(
            "server",
            "database",
            "sqlite:///webanalytics.db",
            "Accounts: sqlite:///FILE or postgresql://...",
            r"(sqlite:///|postgres(ql)?://).+",
            "sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE",
        ),
        number("server", "workers", None, 1, 256, "Worker processes for analysis.", none="one per processor"),
        number("server", "processes", 1, 1, 256, "Server processes that share the port."),
        flag(
            "server",
            "allow_private",
            False,
            "Fetch from private and loopback addresses too: for tests and intranets.",
        ),
        url(
            "server",
            "base_url",
            "",
            "Public address, for download links; else what the request names as host.",
            r"(https?://[^\s/?#]+[^\s?#]*)?",
            "an http or https URL without query",
        ),
        networks("server", "trusted_proxies", (), "Networks whose X-Forwarded-For and -Proto are believed."),
        number(
            "server", "grace_seconds", 30.0, 0, 3600, "Longest wait for requests under way when stopping."
        ),
        url(
            "server",
            "rate_limit_storage",
            "memory://",
            "Where requests a minute are counted: memory:// (by each process) or redis://...",
            r"(async\+)?[a-z][a-z0-9.+]*://.*",
            "memory:// or redis://HOST:PORT/NUMBER",
        ),
        url(
            "server",
            "notice_webhook",
            "",
            "URL that is told when an account reaches 80% and 95% of its credits.",
            r"(https?://\S+)?",
            "an http or https URL",
            shown=mask_all,
        ),
        text(
            "server",
            "log_level",
            "info",
            f"Least severe log lines written: {', '.join(LOG_LEVELS)}.",
            "|".join(LOG_LEVELS),
            f"one of: {', '.join(LOG_LEVELS)}",
        ),
        url(
            "images",
            "images",
            "",
            "fsspec URL of the folder of converted images; else beside the database.",
            ".*",
            _IMAGES_EXPECTS,
        ),
        number(
            "images",
            "image_seconds",
            86_400.0,
            1,
            31_536_000,
            "How long a converted image can be downloaded.",
        ),
        number(
            "fetching", "connect_timeout", 10.0, 0.01, 600, "Seconds for the name look-up and the connection."
        ),
        number("fetching", "fetch_timeout", 30.0, 0.01, 600, "Seconds for a whole fetch."),
        number(
            "fetching", "max_page_bytes", 10_000_000, 1, 1_000_000_000, "Largest page after decompression."
        ),
        number("fetching", "max_redirects", 10, 0, 100, "Redirects followed for one page."),
        number("fetching", "retries", 0, 0, 20, "Further tries after 429, 503 and broken connections."),
        numbers(
            "fetching",
            "ports",
            (80, 443, 8000, 8080, 8443, 8888),
            1,
            65535,
            "Ports of pages that may be fetched; with allow_private any.",
        ),
        number("fetching", "fetch_concurrency", 128, 1, 1000, "Fetches under way at once."),
        number("fetching", "per_host", 16, 1, 100, "Fetches under way at once from one host."),
        flag("fetching", "robots", True, "Respect robots.txt and its crawl-delay."),
        text(
            "fetching",
            "user_agent",
            USER_AGENT,
            "How the service introduces itself.",
            r"[\x20-\x7e]{1,500}",
            "a line of printable ASCII characters",
        ),
        number("fetching", "page_cache_seconds", 60.0, 0, 3600, "How long a page fetched for a key is kept."),
        number("fetching", "page_cache_bytes", 64_000_000, 0, 10_000_000_000, "Most bytes of kept pages."),
        number(
            "analysis",
            "parse_timeout",
            10.0,
            0.1,
            600,
            "Seconds for the analysis of a page; then its worker is ended.",
        ),
        number("analysis", "image_timeout", 20.0, 0.1, 600, "Seconds for the conversion of an image."),
        number(
            "analysis",
            "worker_memory",
            2048,
            256,
            1_000_000,
            "Memory limit of a worker process in MiB (Linux).",
        ),
        number(
            "limits",
            "queue",
            512,
            1,
            100_000,
            "Requests for pages and images under way; further ones get 503.",
        ),
        number("limits", "batch_size", 200, 1, 10_000, "Most inputs of a batch."),
        number("limits", "batch_concurrency", 16, 1, 1000, "Inputs of one batch under way at once."),
        number(
            "limits", "read_timeout", 30.0, 0.1, 3600, "Seconds for the headers, and for a body, to arrive."
        ),
        number(
            "limits", "body_rate", 50_000, 1, 1_000_000_000, "Bytes a second that lengthen a body's time."
        ),
        number(
            "limits",
            "body_bytes",
            5_000_000,
            1_000,
            100_000_000,
            "Largest body of a request that carries no image.",
        ),
        number(
            "limits",
            "body_memory",
            512_000_000,
            1_000_000,
            100_000_000_000,
            "Most bytes of request bodies held at once; one account may hold half of them.",
        ),
        number(
            "limits",
            "answer_bytes",
            32_000_000,
            1_000,
            1_000_000_000,
            "Most bytes of one answer; further inputs of a batch get 503.",
        ),
        number(
            "limits",
            "answer_memory",
            512_000_000,
            1_000_000,
            100_000_000_000,
            "Most bytes of answers held at once; one account may hold half of them.",
        ),
        number(
            "limits",
            "saved_bytes",
            8_000_000,
            1_000,
            100_000_000,
            "Most bytes of an answer that is kept for an Idempotency-Key.",
        ),
        number(
            "limits",
            "connections_per_address",
            512,
            1,
            1_000_000,
            "Open connections to one process from one address, or from one IPv6 /64 network.",
        ),
        number("limits", "keepalive_timeout", 75.0, 1, 3600, "Seconds an idle connection stays open."),
        number(
            "limits",
            "idempotency_seconds",
            86_400.0,
            1,
            31_536_000,
            "How long an Idempotency-Key is remembered.",
        ),
        number(
            "limits",
            "reservation_seconds",
            600.0,
            1,
            86_400,
            "After which the credits of a lost call are returned.",
        ),
        number("limits", "graphql_operations", 200, 1, 10_000, "Most operations of a query."),
        number("limits", "graphql_depth", 16, 2, 200, "Deepest nesting of a query."),
        number("limits", "graphql_tokens", 12_000, 10, 1_000_000, "Most tokens of a query."),
        numbers("limits", "notices", (80, 95), 1, 100, "Percentages of the month's credits that are told."),
    )
}
"""All settings by key."""


class ServiceSettings:
    """The settings of one service as attributes, the plans, and the price of each operation.

    Parameters
    ----------
    given : Mapping
        Settings by key; the defaults stand for the others.
    plans : Mapping of str to Plan
        The plans by name.
    credits : Mapping of str to int
        Prices by name of operation, where they differ from the declaration's.

    Examples
    --------
    >>> ServiceSettings({"port": 0}).port
    0
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
        self.plans = dict(plans)
        self.credits = dict(credits or {})

    def __getattr__(self, key: str) -> Any:
        try:
            return self.__dict__["values"][key]
        except KeyError:
            raise AttributeError(key) from None

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

    def to_mapping(self) -> dict[str, Any]:
        """Return plain values that JSON can hold, passwords included: for another process, not for a log."""
        plans = {name: asdict(plan) for name, plan in self.plans.items()}
        return {"values": dict(self.values), "plans": plans, "credits": self.credits}

    @classmethod
    def from_mapping(cls, content: Mapping[str, Any]) -> ServiceSettings:
        """Return the settings that `to_mapping` described, read back from JSON."""
        values = {
            key: tuple(value) if RECORDS[key].kind is tuple else value
            for key, value in content["values"].items()
        }
        plans = {name: Plan(**plan) for name, plan in content["plans"].items()}
        return cls(values, plans, content["credits"])


def unknown_key(key: str, where: str = "") -> ParameterError:
    """Return the error about a setting that does not exist."""
    known = ", ".join(sorted(RECORDS))
    return ParameterError(f"The `{key}` parameter{where} does not exist; the settings are: {known}.", key)
