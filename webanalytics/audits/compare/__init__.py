"""What changed between two audits of one site."""
