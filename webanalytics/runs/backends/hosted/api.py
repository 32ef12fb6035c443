"""What every request to a hosted API needs: address, key, patience and prices."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from webanalytics.core.messages.visible import UNSEEN
from webanalytics.core.operations.secret import MASK, Secret
from webanalytics.operations import Operation

SHORT_KEY = 8
_SPACE = re.compile(r"[\t\r\n\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Api:
    """A user's settings for a hosted API, checked.

    Attributes
    ----------
    patience : float
        Seconds to go on after broken connections and the answers 429, 500 and 503.
    prices : Mapping
        Credits of one success by operation, where they differ from the published ones.
    without_batch : set of str
        Operations found to have no batch path; the only mutable part.
    """

    base_url: str
    api_key: Secret = field(repr=False)
    batch_size: int
    timeout: float
    patience: float
    prices: Mapping[str, int]
    without_batch: set[str] = field(default_factory=set, repr=False, compare=False)

    def price(self, operation: Operation) -> int:
        """Return the credits of one success."""
        return self.prices.get(operation.name, operation.credits)

    def key_header(self) -> str:
        """Return the API key for a request."""
        return self.api_key.reveal().decode("ascii")

    def cleaned(self, text: str) -> str:
        """Return text of an answer without control characters, and without the API key."""
        text = UNSEEN.sub("", _SPACE.sub(" ", text))
        key = re.escape(self.key_header().strip())
        if len(key) < SHORT_KEY:  # a short key would match parts of words
            key = rf"(?<!\w){key}(?!\w)"
        return re.sub(key, MASK, text, flags=re.IGNORECASE)


def is_this_machine(host: str) -> bool:
    """Return whether a host is the loopback."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
