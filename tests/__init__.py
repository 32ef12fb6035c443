"""Tests of webanalytics."""
