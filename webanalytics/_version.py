__version__ = "0.1.0"

DISTRIBUTION = "webanalytics-notebook"
"""Name under which the package is installed; it is imported as `webanalytics`."""

RELEASED = False
"""Whether the package index has it; until then it is installed from a clone."""


def how_to_install(extra: str) -> str:
    """Return how an extra is installed, as the end of a sentence.

    Examples
    --------
    >>> how_to_install("excel")
    'in the clone, pip install ".[excel]"'
    """
    name = DISTRIBUTION if RELEASED else "."
    return f'{"" if RELEASED else "in the clone, "}pip install "{name}[{extra}]"'
