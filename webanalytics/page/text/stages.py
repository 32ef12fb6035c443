"""The stages of trafilatura's extraction, of which the search for the main text is this package's own.

What follows where a search finds little, or is to be compared with other extractors, is the work of
trafilatura's own functions.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from lxml.html import HtmlElement
from trafilatura.baseline import baseline
from trafilatura.external import compare_extraction
from trafilatura.htmlprocessing import prune_unwanted_nodes, tree_cleaning
from trafilatura.xml import xmltotxt
from trafilatura.xpaths import RAW_TREE_PRUNE_XPATH, REMOVE_COMMENTS_AND_LISTS_XPATH

from webanalytics.page.document import Document
from webanalytics.page.text.fast_text import Content, content, is_wide
from webanalytics.page.text.working_copy import working_copy


class Stages:
    """trafilatura's modes on one page; the standard mode goes on from what the fast one has found.

    Parameters
    ----------
    source : Document
        The page, which is not modified.
    forum : bool
        Whether comments are what the page is about.
    """

    def __init__(self, source: Document, forum: bool = False) -> None:
        self._source = source
        self._forum = forum
        self._found: Content | None = None

    def text(self, options: Any) -> str | None:
        """Return the text that a mode finds, None where it would undo what was left out of the page.

        Its options are without comments, links, images and formatting.
        """
        found = self._content(options)
        if found is None:
            return None
        body, text, _ = found
        if not options.fast:
            tree = self._pruned()
            body, text = compare_extraction(tree_cleaning(copy(tree), options), tree, body, text, options)
        if len(text) < options.min_extracted_size:
            everything, all_text, length = baseline(self._pruned())
            if length > len(text):
                body, text = everything, all_text
        return str(xmltotxt(body, False)) if len(text) >= options.min_output_size else ""

    def _content(self, options: Any) -> Content | None:
        """Return what a mode's search finds: it is the same in two modes unless it takes all of the page."""
        found = self._found
        if found is None or found.recovered or is_wide(options):
            found = content(self._source, options, self._forum)
        if not is_wide(options):
            self._found = found
        return found

    def _pruned(self) -> HtmlElement:
        """Return a copy of the page without appended pages and comments."""
        tree = prune_unwanted_nodes(working_copy(self._source), RAW_TREE_PRUNE_XPATH)
        return tree if self._forum else prune_unwanted_nodes(tree, REMOVE_COMMENTS_AND_LISTS_XPATH)
