"""Everything that belongs to one assignment of one course, found and checked for consistency.

One name in every place: ``source/<name>/`` holds the notebooks and the files that travel with them,
``solutions/<name>.py`` the reference, ``autograder/assignments/<name>/checks.py`` the hidden checks. The
checks are looked for in the course first, then in the kit.
"""

import hashlib
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np

import autograder
from autograder.assignments import environment as environments
from autograder.assignments.limits import default_limits, read_limits
from autograder.assignments.loading import load_checks, load_module
from autograder.checking.framework import CheckSet
from autograder.errors import CourseError, did_you_mean
from autograder.files import did_you_mean_path
from autograder.model import Environment, Limits
from autograder.notebooks.source import Exercise, Question, SourceNotebook, read_source_folder

VISIBLE_CHECKS = "visible_checks.py"
KIT = Path(autograder.__file__).resolve().parent
#: The parts of the kit on which a grade depends; the rest only shows grades.
_JUDGING = tuple(
    f"usecases/{name}.py" for name in ("assessing", "diagnosing", "examining", "following", "judging")
)
_ENGINE = ("checking", "notebooks", "sandbox", "assignments/attention_layer", *_JUDGING, "model.py")
_IGNORED = frozenset({"__pycache__", ".ipynb_checkpoints"})


@dataclass(frozen=True)
class Assignment:
    """One assignment; ``given_files`` are the paths, relative to ``source_dir``, that travel along.

    ``fingerprint`` changes whenever something changes on which a grade depends: source folder, reference,
    hidden checks, the judging code, limits, Python, NumPy. ``visible`` is None without visible checks.
    ``hidden_dir`` holds ``checks.py`` and, beside it, ``mistakes``, ``variants`` and ``environment.toml``.
    """

    name: str
    course: Path
    source_dir: Path
    hidden_dir: Path
    notebooks: tuple[SourceNotebook, ...]
    reference: ModuleType
    checks: CheckSet
    visible: ModuleType | None
    given_files: tuple[Path, ...]
    environment: Environment
    limits: Limits
    fingerprint: str

    @property
    def exercises(self) -> tuple[Exercise, ...]:
        """All exercises, notebook by notebook."""
        return tuple(one for notebook in self.notebooks for one in notebook.exercises)

    @property
    def questions(self) -> tuple[Question, ...]:
        """All questions that a person grades."""
        return tuple(one for notebook in self.notebooks for one in notebook.questions)

    @property
    def graded(self) -> tuple[Exercise | Question, ...]:
        """Exercises and questions in the order in which results list them."""
        return tuple(one for notebook in self.notebooks for one in notebook.graded)

    @property
    def max_score(self) -> float:
        """All points, manual ones included."""
        return sum(one.max_points for one in self.graded)


def find_course(path: Path | None = None) -> Path:
    """The course's folder: the one that was named, else the current one, else the kit's own.

    Raises CourseError where it holds no ``source`` folder.
    """
    if path is not None:
        course = path.expanduser().resolve()
        if not course.is_dir():
            raise CourseError(f"There is no course folder {course}.{did_you_mean_path(course)}")
        if not (course / "source").is_dir():
            raise CourseError(f"{course} is no course: it has no folder 'source'.")
        return course
    try:
        current = Path.cwd()
    except FileNotFoundError as error:
        raise CourseError("The current folder no longer exists: go to another one.") from error
    for candidate in (current, KIT.parent):
        if (candidate / "source").is_dir():
            return candidate.resolve()
    raise CourseError("The current folder is no course: it has no folder 'source'. Name one with --course.")


def assignment_names(course: Path) -> tuple[str, ...]:
    """The names of all assignments of a course, sorted: the folders in ``source`` that hold a notebook."""
    return tuple(sorted(path.name for path in (course / "source").iterdir() if any(path.glob("*.ipynb"))))


def gradable_names(course: Path) -> tuple[str, ...]:
    """The names of those assignments of a course for which all packages that they need are installed."""
    declared = {
        name: environments.read_environment(_checks_dir(course, name))[0] for name in assignment_names(course)
    }
    return tuple(name for name, one in declared.items() if not environments.missing_packages(one))


def load_assignment(course: Path, name: str) -> Assignment:
    """Find, load and check one assignment; raises CourseError naming what is missing or does not fit."""
    source_dir = find_source(course, name)
    notebooks = read_source_folder(source_dir)
    given = tuple(path for path in _files(source_dir) if path.suffix != ".ipynb")
    reference_path = course / "solutions" / f"{name}.py"
    if not reference_path.is_file():
        raise CourseError(
            f"Assignment {name!r} has no reference: {reference_path} is missing. A course has a folder "
            "solutions/ of its own: for an assignment of the kit, copy the kit's."
        )
    checks_dir = _checks_dir(course, name)
    environment, limits = _environment(course, name, checks_dir)
    checks = getattr(load_checks(checks_dir, helpers=source_dir), "checks", None)
    if not isinstance(checks, CheckSet):
        raise CourseError(f"{checks_dir / 'checks.py'} must define `checks = CheckSet({name!r})`.")
    reference = load_module(reference_path, helpers=source_dir)
    has_visible = (source_dir / VISIBLE_CHECKS).is_file()
    assignment = Assignment(
        name=name,
        course=course,
        source_dir=source_dir,
        hidden_dir=checks_dir,
        notebooks=notebooks,
        reference=reference,
        checks=checks,
        visible=load_module(source_dir / VISIBLE_CHECKS, helpers=source_dir) if has_visible else None,
        given_files=given,
        environment=environment,
        limits=limits,
        fingerprint=_fingerprint([source_dir, reference_path, checks_dir], limits),
    )
    _check_names(assignment, reference_path, checks_dir / "checks.py")
    return assignment


def find_source(course: Path, name: str) -> Path:
    """The source folder of an assignment; raises CourseError that suggests the nearest name."""
    names = assignment_names(course)
    if name in names:
        return course / "source" / name
    has = f"has: {', '.join(names)}." if names else "has none yet: no folder in source/ holds a notebook."
    raise CourseError(
        f"There is no assignment {name!r} in {course}.{did_you_mean(name, names) or f' It {has}'}"
    )


def _checks_dir(course: Path, name: str) -> Path:
    places = [base / "assignments" / name for base in (course / "autograder", KIT)]
    for folder in places:
        if (folder / "checks.py").is_file():
            return folder
    raise CourseError(f"Assignment {name!r} has no hidden checks: {places[0] / 'checks.py'} is missing.")


def _environment(course: Path, name: str, checks_dir: Path) -> tuple[Environment, Limits]:
    """What is installed for the assignment's notebooks, and what they may use; checked to be there."""
    environment, own = environments.read_environment(checks_dir)
    environments.expect_installed(name, environment)
    default = default_limits(own, f"{checks_dir / environments.FILE_NAME}, [{environments.LIMITS}]")
    return environment, read_limits(course, name, default)


def _check_names(assignment: Assignment, reference_path: Path, checks_path: Path) -> None:
    """One name in every place: source, reference and checks must speak of the same exercises."""
    in_source = {exercise.name for exercise in assignment.exercises}
    in_checks = set(assignment.checks.exercises)
    where = assignment.source_dir
    for name in sorted(in_source - in_checks):
        raise CourseError(f"{checks_path} has no check for the exercise {name!r} of {where}.")
    for name in sorted(in_checks - in_source):
        raise CourseError(f"{checks_path} checks {name!r}, but no notebook in {where} has that exercise.")
    for name in sorted(in_source):
        if not callable(getattr(assignment.reference, name, None)):
            raise CourseError(f"{reference_path} does not define {name!r}, an exercise of {where}.")


def _files(folder: Path) -> Iterable[Path]:
    """The files below a folder, relative to it, sorted; caches are left out."""
    paths = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return (path for path in paths if not _IGNORED.intersection(path.parts) and path.suffix != ".pyc")


def _fingerprint(parts: Iterable[Path], limits: Limits) -> str:
    """A digest of file names and contents below ``parts`` and of the kit's judging code."""
    digest = hashlib.sha256()
    for part in [*parts, *(KIT / name for name in _ENGINE)]:
        files = [part / path for path in _files(part)] if part.is_dir() else [part]
        for path in files:
            if path.is_file():
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                digest.update(
                    f"{part.name}/{path.relative_to(part)} {content}\n".encode("utf-8", "surrogateescape")
                )
    digest.update(f"{limits} Python {platform.python_version()} NumPy {np.__version__}".encode())
    return digest.hexdigest()
