"""The first screen of an audit, and why pages could not be read."""
