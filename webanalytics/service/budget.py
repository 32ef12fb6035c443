"""Memory that requests share."""

from __future__ import annotations


class ByteBudget:
    """Bytes that requests of one process hold together: of bodies that came in, or of answers to go out.

    One account may hold half of them: what it sends or takes slowly must not keep others out.

    Parameters
    ----------
    limit : int
        Bytes.

    Examples
    --------
    >>> budget = ByteBudget(100)
    >>> budget.take(1, 50), budget.take(1, 1), budget.take(2, 49)
    (True, False, True)
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self._of_account: dict[int, int] = {}

    def take(self, account: int, size: int) -> bool:
        """Count bytes of an account; False where there is no room for them."""
        own = self._of_account.get(account, 0) + size
        if self.held + size > self.limit or own > self.limit // 2:
            return False
        self.held += size
        self._of_account[account] = own
        return True

    def give(self, account: int, size: int) -> None:
        """Give bytes back."""
        self.held -= size
        left = self._of_account.get(account, 0) - size
        if left > 0:
            self._of_account[account] = left
        else:
            self._of_account.pop(account, None)
