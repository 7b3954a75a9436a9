"""A small library that differentiates by itself, in NumPy: start reading in ``tensor.py``."""
