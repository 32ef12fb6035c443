"""Tests of the declarations."""
