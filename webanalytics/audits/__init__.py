"""Bulk SEO audits: what the pages of a site need, rule by rule, and what changed since."""
