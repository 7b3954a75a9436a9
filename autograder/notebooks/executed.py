"""A submission after its run: the cells as they were read, and what each of them printed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.notebooks.matching import Match, match
from autograder.notebooks.reading import Notebook
from autograder.notebooks.source import SourceNotebook

#: One output of nbformat 4 as a plain dict, already validated.
Output = Mapping[str, Any]


@dataclass(frozen=True)
class ExecutedNotebook:
    """``outputs`` has an entry, perhaps empty, for every cell that ran, by its index in the submission.

    ``known_fit`` is how the submission fits its source, where that has been found out.
    """

    submission: Notebook
    outputs: Mapping[int, tuple[Output, ...]] = field(default_factory=dict)
    known_fit: Match | None = field(default=None, compare=False)

    def fit(self, source: SourceNotebook) -> Match:
        """How the submission fits its source."""
        return match(self.submission, source) if self.known_fit is None else self.known_fit
