"""A submission after its run: the cells as they were read, and what each of them printed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.notebooks.reading import Notebook

#: One output of nbformat 4 as a plain dict, already validated.
Output = Mapping[str, Any]


@dataclass(frozen=True)
class ExecutedNotebook:
    """``outputs`` has an entry, perhaps empty, for every cell that ran, by its index in the submission."""

    submission: Notebook
    outputs: Mapping[int, tuple[Output, ...]] = field(default_factory=dict)
