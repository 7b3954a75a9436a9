"""Finds, in a submission's folder, the notebook that stands for each notebook of the source.

The expected name at the top of the folder comes first. Where it is not there, or cannot be read, any other
notebook that is no one else's is tried: the ones that define most of the exercises' functions first.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import SubmissionError
from autograder.files import megabytes, readable
from autograder.notebooks.definitions import Definitions
from autograder.notebooks.reading import MAX_BYTES, Notebook, read_notebook_file
from autograder.notebooks.source import SourceNotebook

SUFFIX = ".ipynb"
DEPTH_LIMIT = 4
CANDIDATES_LIMIT = 20
#: So many bytes of notebooks are read of one submission, the expected one included.
BYTES_LIMIT = 2 * MAX_BYTES
#: Browsers and mail programs like to add an ending of their own.
_NOTEBOOK = re.compile(r".*\.ipynb(?:\.(?:txt|json|download))?", re.IGNORECASE | re.DOTALL)
_SKIPPED = frozenset({".ipynb_checkpoints", "__pycache__", "__MACOSX"})


@dataclass(frozen=True)
class Found:
    """A notebook of the submission and the sentences on how it was found."""

    path: Path
    notebook: Notebook
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lost:
    """Why no notebook stands for one of the source, for the student to act on."""

    reason: str


class _Reader:
    """Reads the notebooks of one submission, as long as they are not too large all in all."""

    def __init__(self) -> None:
        self._room = BYTES_LIMIT

    def read(self, path: Path) -> Notebook:
        """Read a notebook; raises SubmissionError where that cannot be done."""
        try:
            self._room -= path.lstat().st_size
        except OSError:
            self._room -= 1  # reading it will say why
        if self._room < 0:
            raise SubmissionError(
                f"The notebooks together are larger than {megabytes(BYTES_LIMIT)}. Hand in one alone."
            )
        return read_notebook_file(path)


def find_notebooks(folder: Path, sources: Sequence[SourceNotebook]) -> Mapping[str, Found | Lost]:
    """What stands for each source notebook, by its name; raises nothing for anything a folder may hold."""
    paths = list(_notebooks(folder))
    own = {source.name: [path for path in paths if path.name == source.name + SUFFIX] for source in sources}
    claimed = {path for several in own.values() for path in several}
    others = [path for path in paths if path not in claimed][:CANDIDATES_LIMIT]
    found: dict[str, Found | Lost] = {}
    reader = _Reader()
    for source in sources:
        found[source.name] = result = _find(folder, source, own[source.name], others, reader)
        if isinstance(result, Found) and result.path in others:
            others.remove(result.path)
    return found


def _find(
    folder: Path, source: SourceNotebook, own: Iterable[Path], others: Iterable[Path], reader: _Reader
) -> Found | Lost:
    """The expected notebook, else the best of the others."""
    expected = source.name + SUFFIX
    reasons: list[str] = []
    for path in own:
        try:
            notebook = reader.read(path)
        except SubmissionError as error:
            reasons.append(str(error))
            continue
        where = path.relative_to(folder)
        moved = f"{expected} was found in the folder {readable(where.parent)}."
        return Found(path, notebook, () if where == Path(expected) else (moved,))
    ranked = sorted(_candidates(source, others, reader), key=lambda one: -one[0])
    if not ranked:
        missing = f"No notebook was handed in. Hand in {expected}, under exactly this name."
        return Lost(reasons[0] if reasons else missing)
    _, path, notebook = ranked[0]
    why = "could not be read" if reasons else "was not handed in"
    other = readable(path.relative_to(folder))
    note = f"{expected} {why}: {other} was graded instead. Keep the name that was given."
    return Found(path, notebook, (note,))


def _candidates(
    source: SourceNotebook, paths: Iterable[Path], reader: _Reader
) -> Iterator[tuple[int, Path, Notebook]]:
    """Readable notebooks, and how many of the exercises each of them holds."""
    names = {exercise.name for exercise in source.exercises}
    definitions = Definitions(names)
    for path in paths:
        try:
            notebook = reader.read(path)
        except SubmissionError:
            continue  # another notebook may do; if none does, the expected one's reason is told
        defined = {name for cell in notebook.cells for name in definitions.of(cell.source).names}
        marked = {cell.grade_id for cell in notebook.cells} & names
        yield len(defined | marked), path, notebook


def _notebooks(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Regular files with the names of notebooks, those nearest to the top first, links not followed."""
    below: list[Path] = []
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in found:
        try:
            mode = entry.stat(follow_symlinks=False).st_mode
        except OSError:
            continue
        if stat.S_ISDIR(mode) and entry.name not in _SKIPPED:
            below.append(Path(entry.path))
        elif stat.S_ISREG(mode) and _NOTEBOOK.fullmatch(entry.name) and not entry.name.startswith("._"):
            yield Path(entry.path)
    if depth < DEPTH_LIMIT:
        for path in below:
            yield from _notebooks(path, depth + 1)
