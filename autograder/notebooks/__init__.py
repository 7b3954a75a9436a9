"""Notebooks as data: source notebooks, submissions of any shape, and the plan of a run."""
