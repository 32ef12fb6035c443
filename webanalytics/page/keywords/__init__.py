"""Keyword frequency: words of a text, stop words, segmentation."""
