"""The declarations of the operations on pages."""
