"""Rows on disk: Parquet parts, folders of them, checkpoints, and columns that are read when asked for."""
