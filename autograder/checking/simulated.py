"""Simulated students: what each writes into the stubs, and what each does to the notebook.

An assignment's ``demo.py`` defines ``students``, a tuple of ``SimulatedStudent``; ``autograder demo`` makes
a class of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SimulatedStudent:
    """One student of a simulated class.

    ``cells`` holds the text of solution cells by grade id: code, or the answer to a question. Cells that
    are not named keep what was handed out. ``deleted`` names cells, by grade id, that are gone.
    ``extra_cells`` are code cells at the end. ``file_name`` is that of the notebook, None for the expected
    one.
    """

    id: str
    story: str
    cells: Mapping[str, str] = field(default_factory=dict)
    deleted: tuple[str, ...] = ()
    extra_cells: tuple[str, ...] = ()
    file_name: str | None = None
