"""What pages, headers and robots.txt tell machines: robots directives, languages, alternates."""
