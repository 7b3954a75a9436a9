"""What can be said of wrong numbers that no known mistake explains: only what was seen, never a guess."""
