"""Structured data of a page: JSON-LD, microdata and offers."""
