"""Facts of a page that the rules of an audit examine."""
