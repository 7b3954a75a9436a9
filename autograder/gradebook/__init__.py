"""The only writer of nbgrader's gradebook and of ``autograded/``."""
