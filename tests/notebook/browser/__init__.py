"""Tests in a real browser; they run in a pytest process of their own: ``pytest tests/notebook/browser -m browser``."""
