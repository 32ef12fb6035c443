"""Web archives: pages read from WARC and ARC files, and written to them as they were received."""
