"""The command line before any sub-command is imported: its summary and its light commands."""

from __future__ import annotations

DESCRIPTION = "Page metadata, text, keywords, readability and more: as tables, or as a service."

SERVICE_COMMANDS = {
    "serve": "Run the hosted API.",
    "keys": "Create, list, rotate, revoke and restrict the API keys of the hosted API, and change plans.",
}
"""Sub-commands that import neither pandas nor charts, with their summaries."""
