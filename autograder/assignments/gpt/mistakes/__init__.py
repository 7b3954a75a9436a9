"""Known mistakes, one module an exercise."""
