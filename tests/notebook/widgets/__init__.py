"""Tests of the widgets by their Python state, without a browser."""
