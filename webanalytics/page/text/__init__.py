"""Main text of a page, with its language, dates and publisher."""
