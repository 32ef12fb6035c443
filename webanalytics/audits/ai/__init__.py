"""What AI services may read of a site, and what it says to them: facts, of which nothing is scored."""
