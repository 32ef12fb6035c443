"""What an audit asks besides its pages: sitemaps, robots.txt, resources, links to other sites."""
