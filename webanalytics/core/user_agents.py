"""How requests introduce themselves."""

from __future__ import annotations

from collections.abc import Mapping

from webanalytics._version import __version__

USER_AGENT = f"webanalytics/{__version__}"
_BROWSER = "Mozilla/5.0 ({}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 {}Safari/537.36 {}"
USER_AGENTS: Mapping[str, str] = {
    "desktop": _BROWSER.format("Windows NT 10.0; Win64; x64", "", USER_AGENT),
    "phone": _BROWSER.format("Linux; Android 10; K", "Mobile ", USER_AGENT),
}
"""What words for ``user_agent`` stand for: Chrome of November 2026 in its reduced form, and who asks."""
