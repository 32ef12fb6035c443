"""The example is another package: collecting it for doctests would register its rule here."""

collect_ignore = ["example"]
