"""``python -m webanalytics`` is the command line."""

import sys

from webanalytics.cli import main

if __name__ == "__main__":
    sys.exit(main())
