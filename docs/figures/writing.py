"""Writes figures as static SVG files: what the programs beside this one have in common.

The standard library is all that is needed, and the same call always writes the same bytes. The alternative
text of a figure is the description inside the file and stands in the notebook, too.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from drawing import Drawing


@dataclass(frozen=True)
class Figure:
    """One picture; ``alt`` is what it says to those who do not see it."""

    name: str
    height: int
    title: str
    alt: str
    draw: Callable[[Drawing], None]


def files(figures: Sequence[Figure]) -> dict[str, str]:
    """The content of each file by its name."""
    written = {}
    for figure in figures:
        drawing = Drawing(figure.name)
        figure.draw(drawing)
        written[f"{figure.name}.svg"] = drawing.svg(figure.height, figure.title, figure.alt)
    return written


def main(figures: Sequence[Figure], program: str) -> None:
    """Write the files into the folder that the command line names; it must exist."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: python docs/figures/{program}.py FOLDER")
    for name, text in files(figures).items():
        (Path(sys.argv[1]) / name).write_text(text, encoding="utf-8", newline="\n")
