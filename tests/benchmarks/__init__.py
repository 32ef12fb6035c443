"""Benchmarks: run ``python -m tests.benchmarks`` with WEBANALYTICS_CORPUS set."""
