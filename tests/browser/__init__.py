"""Tests in a real browser; they run in a pytest process of their own: ``pytest tests/browser -m browser``."""
