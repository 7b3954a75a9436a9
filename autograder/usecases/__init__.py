"""What the kit is for: each module carries out one use case with the parts below it."""
