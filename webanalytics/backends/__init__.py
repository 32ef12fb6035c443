"""Where the work is done: one protocol, one form of answer."""
