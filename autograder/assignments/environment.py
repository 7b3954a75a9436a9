"""What a notebook of an assignment finds installed: ``environment.toml`` beside its hidden checks.

Without such a file that is what every notebook finds: NumPy, IPython, and matplotlib where it is installed.
Else it names distributions as pip knows them, modules to be imported once for all notebooks, and limits that
fit these::

    packages = ["torch"]        # without these nothing is graded
    optional = ["matplotlib"]   # found where they are installed; this is the default
    warm_up = ["torch"]

    [limits]                    # as in limits.toml, which takes precedence
    memory_bytes = 4294967296
"""

import importlib.metadata
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from autograder.assignments.settings import read_settings
from autograder.errors import CourseError, did_you_mean
from autograder.model import Environment

FILE_NAME = "environment.toml"
LIMITS = "limits"
#: The kit's own name, whose extras bring what only some assignments need.
KIT = "autograder"


def read_environment(folder: Path) -> tuple[Environment, Mapping[str, Any]]:
    """The environment declared in an assignment's hidden folder, and limits to go with it.

    Raises CourseError where the file makes no sense.
    """
    path = folder / FILE_NAME
    content = read_settings(path)
    limits = content.pop(LIMITS, {})
    if not isinstance(limits, Mapping):
        raise CourseError(f"{path}: limits must be a table, [limits].")
    known = [one.name for one in fields(Environment)]
    for key, value in content.items():
        if key not in known:
            suggestion = did_you_mean(key, known) or f" Known are: {', '.join(known)} and [limits]."
            raise CourseError(f"{path}: there is no setting {key!r}.{suggestion}")
        if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
            raise CourseError(f"{path}: {key} must be a list of names, not {value!r}.")
    return Environment(**{key: tuple(value) for key, value in content.items()}), limits


def missing_packages(environment: Environment) -> list[str]:
    """Which of the packages that an environment needs are not installed."""
    return [name for name in environment.packages if not _is_installed(name)]


def expect_installed(assignment: str, environment: Environment) -> None:
    """Raise CourseError where a package that the assignment needs is not installed, with what to do."""
    missing = missing_packages(environment)
    if missing:
        names = " and ".join(missing)
        raise CourseError(
            f"Assignment {assignment!r} needs {names}, not installed here: nothing of it can be graded. "
            f"Install it: {how_to_install(missing)}. All other assignments work without."
        )


def _is_installed(name: str) -> bool:
    try:
        importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def how_to_install(missing: Sequence[str]) -> str:
    """The command that installs packages: by an extra of the kit that brings one, else by its own name.

    An extra is installed from the kit's folder: on package indexes the kit's name is that of another project.
    """
    extras = _extras()
    brought = [extras[name.lower()] for name in missing if name.lower() in extras]
    others = [name for name in missing if name.lower() not in extras]
    wanted = [*([f"-e '.[{','.join(brought)}]'"] if brought else []), *others]
    return f"pip install {' '.join(wanted)}" + (" (in the kit's folder)" if brought else "")


def _extras() -> dict[str, str]:
    """Which extra of the kit brings a package, by the package's name."""
    try:
        required = importlib.metadata.requires(KIT) or []
    except importlib.metadata.PackageNotFoundError:
        required = []
    extras: dict[str, str] = {}
    for line in required:
        found = re.match(r"([\w.-]+).*;.*extra\s*==\s*['\"]([\w.-]+)['\"]", line)
        if found is not None and found[2] != "dev":
            extras.setdefault(found[1].lower(), found[2])
    return extras
