"""The grading package: judges student notebooks from outside the student's process."""
