"""The main text of a page as the other analyses read it: its content as plain text."""

from __future__ import annotations

from webanalytics.page.content.content import content
from webanalytics.page.page import Page, once_per_page

PROSE_LINE = 80
"""Characters from which on a line of a text counts as prose, not as a label or a menu entry."""


@once_per_page
def main_text(page: Page) -> str:
    """Return the main text of a page; of a text, all of it."""
    return page.visible_text if page.is_text else content(page).text


def prose(visible: str, shortest: int = PROSE_LINE) -> str:
    r"""Return the lines of a visible text that are long enough to be sentences.

    Examples
    --------
    >>> prose("Menu\nThis is a sentence.", shortest=10)
    'This is a sentence.'
    """
    return "\n".join(line for line in visible.split("\n") if len(line) >= shortest)
