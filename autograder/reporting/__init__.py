"""Results in writing: JSON, tables for the terminal, and the records of earlier gradings."""
