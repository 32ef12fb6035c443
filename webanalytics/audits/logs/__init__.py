"""What servers wrote down: files of access logs, the crawlers in them, and what pages these asked for."""
