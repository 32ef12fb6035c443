"""HMAC signing: its declaration, the signature (RFC 2104), and the widget."""
