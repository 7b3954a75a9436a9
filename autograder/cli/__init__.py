"""The command line: one module a verb, each with ``add_parser`` and ``run``."""
