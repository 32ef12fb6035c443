"""What the pages of a site write about: their terms, duplicates, and pages that compete."""
