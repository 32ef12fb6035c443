"""Bulk SEO audits."""
