"""Processes, sockets and HTTP connections of the service."""
