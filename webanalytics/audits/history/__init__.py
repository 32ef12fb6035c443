"""Saved audits of one site by date, and what to tell of a new one."""
