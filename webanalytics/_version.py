__version__ = "0.1.0"

DOCUMENTATION = "https://webanalytics.readthedocs.io/en/stable/"
"""Where the documentation of a release is: the same address as in the package's metadata."""
