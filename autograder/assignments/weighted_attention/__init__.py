"""The assignment ``weighted_attention``: hidden checks, known mistakes, right solutions in other styles."""
