"""From findings to work: the sitemap that a site should have."""
