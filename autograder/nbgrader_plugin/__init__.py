"""The judge inside nbgrader: preprocessors for `nbgrader autograde` and formgrader's Autograde button."""
