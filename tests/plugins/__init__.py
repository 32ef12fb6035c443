"""Packages from elsewhere that bring operations, rules and backends."""
