"""DANE/TLSA records: parsed, rated and explained."""
