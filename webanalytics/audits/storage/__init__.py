"""Audits in folders: saved, loaded, compared."""
