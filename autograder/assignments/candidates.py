"""Wrong and right solutions that a course keeps of its assignments, to try its checks on.

Beside an assignment's ``checks.py``, both as data:

``mistakes/<exercise>.py``   the known mistakes of one exercise, ``mistakes = MistakeSet("<exercise>")``
``variants/<name>.py``       a right solution of all exercises in another style, as a student would write it
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from autograder.assignments.catalog import Assignment
from autograder.assignments.loading import load_module, load_neighbour
from autograder.checking.mistakes import MistakeSet
from autograder.errors import CourseError


@dataclass(frozen=True)
class Variant:
    """A right solution. One that says ``SLOW = True`` takes seconds and is tried on few inputs."""

    name: str
    path: Path
    module: ModuleType

    @property
    def style(self) -> str:
        """What is different about it: the first line of its docstring."""
        return (self.module.__doc__ or self.name).splitlines()[0]

    @property
    def slow(self) -> bool:
        """Whether it takes seconds."""
        return bool(getattr(self.module, "SLOW", False))


def known_mistakes(assignment: Assignment) -> Mapping[str, MistakeSet]:
    """The known mistakes by exercise; an exercise of which none is kept has an empty set.

    Raises CourseError where a file holds no ``MistakeSet`` of its exercise.
    """
    folder = assignment.hidden_dir / "mistakes"
    found = {one.name: MistakeSet(one.name) for one in assignment.exercises}
    for name in found:
        path = folder / f"{name}.py"
        if not path.is_file():
            continue
        module = load_neighbour(assignment.hidden_dir, f"mistakes.{name}", helpers=assignment.source_dir)
        mistakes = getattr(module, "mistakes", None)
        if not isinstance(mistakes, MistakeSet) or mistakes.exercise != name:
            raise CourseError(f"{path} must define `mistakes = MistakeSet({name!r})`.")
        found[name] = mistakes
    return found


def right_variants(assignment: Assignment) -> tuple[Variant, ...]:
    """The right solutions in other styles than the reference's, by name.

    Raises CourseError where one does not run or lacks an exercise.
    """
    paths = sorted((assignment.hidden_dir / "variants").glob("*.py"))
    variants = tuple(
        Variant(path.stem, path, load_module(path, helpers=assignment.source_dir))
        for path in paths
        if path.stem != "__init__"
    )
    for variant in variants:
        for exercise in assignment.exercises:
            if not callable(getattr(variant.module, exercise.name, None)):
                raise CourseError(f"{variant.path} does not define {exercise.name!r}.")
    return variants
