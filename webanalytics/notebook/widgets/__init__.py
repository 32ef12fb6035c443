"""Widgets for notebooks: the audit desk, the explorer of a frame, and four small tools.

Each widget is imported on first use: a script that makes no widget needs none of their packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webanalytics.notebook.desk.desk import app
    from webanalytics.notebook.explorer.explorer import explore
    from webanalytics.records.dane.widget import tlsa_checker
    from webanalytics.records.hmac.widget import hmac_signer
    from webanalytics.records.images.widget import image_converter
    from webanalytics.records.phones.widget import phone_checker

__all__ = ["app", "explore", "hmac_signer", "image_converter", "phone_checker", "tlsa_checker"]

_HOMES = {
    "app": "notebook.desk.desk",
    "explore": "notebook.explorer.explorer",
    "hmac_signer": "records.hmac.widget",
    "image_converter": "records.images.widget",
    "phone_checker": "records.phones.widget",
    "tlsa_checker": "records.dane.widget",
}


def __getattr__(name: str) -> Any:
    """Import a widget when it is first used."""
    from importlib import import_module

    if name not in _HOMES:
        from webanalytics.core.strings import did_you_mean

        hint = "" if name.startswith("_") else did_you_mean(name, __all__)
        raise AttributeError(f"module 'webanalytics.widgets' has no attribute {name!r}{hint}")
    return getattr(import_module(f"webanalytics.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
