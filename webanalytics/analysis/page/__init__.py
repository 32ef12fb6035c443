"""One page: bytes to text to tree, parsed once and shared by all page operations."""
