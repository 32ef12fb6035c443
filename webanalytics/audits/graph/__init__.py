"""The link graph of a site: arrays of integers in `metrics`, joined to the pages of an audit in `links`."""
