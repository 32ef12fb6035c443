"""Phone numbers: E.164, details, and the list of disposable ones."""
