"""The audit desk: choose pages, run an audit, look at the result."""
