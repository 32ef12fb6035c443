"""What the package is called: its version, how it is installed, and how it introduces itself."""

from __future__ import annotations

from collections.abc import Mapping

__version__ = "0.1.0"

DISTRIBUTION = "webanalytics-notebook"
"""Name under which the package is installed; it is imported as `webanalytics`."""

RELEASED = False
"""Whether the package index has it; until then it is installed from a clone."""


def how_to_install(extra: str) -> str:
    """Return how an extra is installed, as the end of a sentence.

    Examples
    --------
    >>> how_to_install("excel")
    'in the clone, pip install ".[excel]"'
    """
    name = DISTRIBUTION if RELEASED else "."
    return f'{"" if RELEASED else "in the clone, "}pip install "{name}[{extra}]"'


USER_AGENT = f"webanalytics/{__version__}"
_BROWSER = "Mozilla/5.0 ({}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 {}Safari/537.36 {}"
USER_AGENTS: Mapping[str, str] = {
    "desktop": _BROWSER.format("Windows NT 10.0; Win64; x64", "", USER_AGENT),
    "phone": _BROWSER.format("Linux; Android 10; K", "Mobile ", USER_AGENT),
}
"""What words for ``user_agent`` stand for: Chrome of November 2026 in its reduced form, and who asks."""
