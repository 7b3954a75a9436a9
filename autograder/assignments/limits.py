"""What a course allows its students' code: ``limits.toml`` in the course's folder.

Keys at the top hold for every assignment, a table named like an assignment for that one alone; what is not
named keeps the assignment's own default (``environment.toml``), else that of ``autograder.model.Limits``::

    call_seconds = 2.0

    [multihead]
    notebook_seconds = 60
"""

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from autograder.assignments.settings import read_settings
from autograder.errors import CourseError, did_you_mean
from autograder.model import Limits

FILE_NAME = "limits.toml"


def default_limits(values: Mapping[str, Any], where: str) -> Limits:
    """An assignment's limits where its course sets none; raises CourseError where they make no sense."""
    return _with(Limits(), values, where)


def read_limits(course: Path, assignment: str, default: Limits | None = None) -> Limits:
    """The limits of one assignment; raises CourseError where the file makes no sense."""
    path = course / FILE_NAME
    limits = default or Limits()
    content = read_settings(path)
    common = {key: value for key, value in content.items() if not isinstance(value, Mapping)}
    own = content.get(assignment, {})
    if not isinstance(own, Mapping):
        raise CourseError(f"{path}: {assignment!r} names an assignment and must be a table, [{assignment}].")
    return _with(_with(limits, common, f"{path}"), own, f"{path}, [{assignment}]")


def _with(limits: Limits, values: Mapping[str, Any], where: str) -> Limits:
    kinds = {field.name: type(field.default) for field in fields(Limits)}
    checked: dict[str, float | int] = {}
    for key, value in values.items():
        if key not in kinds:
            known = f" Known are: {', '.join(kinds)}."
            raise CourseError(f"{where}: there is no limit {key!r}.{did_you_mean(key, kinds) or known}")
        whole = kinds[key] is int
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            raise CourseError(f"{where}: {key} must be a {'whole ' if whole else ''}number, not {value!r}.")
        if not (math.isfinite(value) and value > 0):
            raise CourseError(f"{where}: {key} must be greater than 0, not {value!r}.")
        checked[key] = value if whole else float(value)
    return replace(limits, **checked)  # type: ignore[arg-type]
