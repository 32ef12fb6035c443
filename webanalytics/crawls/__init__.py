"""Crawls: from start addresses to the pages of a site, as one audit."""
