"""The explorer: a table of pages with their issues, in the notebook."""
