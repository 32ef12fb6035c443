"""What is known of a host, as it travels: its pace and the rules of its robots.txt.

A run that asks one host from several machines in turn hands it on, `Fetcher.known_of` and `Fetcher.take`: so
the delay between two requests holds from one machine to the next, and robots.txt is asked for once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from webanalytics.errors import BackendError
from webanalytics.fetching.pace import Pace
from webanalytics.fetching.robots import Rules


@dataclass(frozen=True)
class HostKnown:
    """What is known of one host."""

    pace: Pace  # how it is asked; its moments are seconds from now, since clocks of machines differ
    # by origin the rules of its robots.txt, and for how many seconds they hold
    rules: Mapping[str, tuple[Rules, float]] = field(default_factory=dict)


class Elsewhere(BackendError):  # noqa: N818 - it never reaches a user
    """A page leads to a host that this fetcher may not ask."""

    def __init__(self, host: str) -> None:
        super().__init__("a page leads to a host that is asked from elsewhere")
        self.host = host  # which one, see `webanalytics.fetching.guard.host_key`
