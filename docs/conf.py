"""Sphinx: the site of the documentation, with tables made from the package's own records."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from webanalytics import __version__
from webanalytics.audits.rules import BUILT_IN

project = "webanalytics"
author = "The webanalytics developers"
copyright = author  # noqa: A001 - Sphinx asks for this name
version = release = __version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "tables"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["build", "_build", "_templates"]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_js_files = ["names.js"]
nitpicky = False
default_role = "code"
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "substitution"]
myst_substitutions = {"rules": str(len(BUILT_IN))}
suppress_warnings = ["myst.header"]

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = "webanalytics"
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}
