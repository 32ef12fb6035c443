"""Hosts as they are now: their certificates, and whether their TLSA records match them."""
