"""Readability scores of a text, with syllables and hyphenation."""
