"""The plans: what an account may use in a month, and how."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """One plan.

    Attributes
    ----------
    name : str
        Its name.
    monthly_credits : int
        Allowance of a calendar month, UTC; what is left of it is not carried over.
    bonus_credits : int
        Credits given once; they are used after the month's and stay until then.
    premium : bool
        Whether Premium fields are present and Premium parameters take effect.
    requests_a_minute : int or None
        Ceiling of requests a minute; None for no throttling.
    upload_bytes : int
        Largest image in bytes; other bodies are also bounded by the setting ``body_bytes``.
    """

    name: str
    monthly_credits: int
    bonus_credits: int
    premium: bool
    requests_a_minute: int | None
    upload_bytes: int


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
