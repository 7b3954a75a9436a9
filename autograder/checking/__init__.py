"""The check framework and its numerics: what a check is, how it fails, how it is scored."""
