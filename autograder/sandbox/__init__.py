"""Runs student code in another process and talks to it; knows no answers."""
