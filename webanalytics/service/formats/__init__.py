"""Formats of answers: which one a request asks for, and how each is written."""
