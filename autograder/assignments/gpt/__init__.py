"""The assignment ``gpt``: hidden checks, known mistakes, right solutions in other styles."""
