"""Widgets for notebooks: the audit desk, the explorer of a frame, and four small tools.

Each widget is imported on first use: a script that makes no widget needs none of their packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webanalytics.widgets.converter import image_converter
    from webanalytics.widgets.desk.desk import app
    from webanalytics.widgets.explorer.explorer import explore
    from webanalytics.widgets.phone import phone_checker
    from webanalytics.widgets.signer import hmac_signer
    from webanalytics.widgets.tlsa import tlsa_checker

__all__ = ["app", "explore", "hmac_signer", "image_converter", "phone_checker", "tlsa_checker"]

_HOMES = {
    "app": "desk.desk",
    "explore": "explorer.explorer",
    "hmac_signer": "signer",
    "image_converter": "converter",
    "phone_checker": "phone",
    "tlsa_checker": "tlsa",
}


def __getattr__(name: str) -> Any:
    """Import a widget when it is first used."""
    from importlib import import_module

    if name not in _HOMES:
        from webanalytics.strings import did_you_mean

        hint = "" if name.startswith("_") else did_you_mean(name, __all__)
        raise AttributeError(f"module 'webanalytics.widgets' has no attribute {name!r}{hint}")
    return getattr(import_module(f"webanalytics.widgets.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
