"""When a submission came, and what coming late costs: nbgrader's ``timestamp.txt`` and penalty plugins."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.utils import parse_utc

from autograder.errors import CourseError
from autograder.files import read_plain_file
from autograder.gradebook.configuration import CourseConfiguration

TIMESTAMP = "timestamp.txt"
MAX_TIMESTAMP_BYTES = 200


def read_timestamp(submitted: Path | None) -> datetime | None:
    """When a submission was handed in, in UTC; None where its ``timestamp.txt`` does not say."""
    if submitted is None:
        return None
    try:
        text = read_plain_file(submitted / TIMESTAMP, max_bytes=MAX_TIMESTAMP_BYTES).decode("utf-8").strip()
        moment = parse_utc(text) if text else None
    except (OSError, ValueError, OverflowError):
        return None
    return moment if isinstance(moment, datetime) else None


def apply_late_penalty(submission: Any, session: Any, configuration: CourseConfiguration) -> None:
    """Let the course's plugin set the late penalty of a submission.

    The scores must have been flushed; nothing is committed. Raises CourseError where the plugin fails.
    """
    seconds = submission.total_seconds_late
    for notebook in submission.notebooks:
        notebook.late_submission_penalty = None
        if seconds > 0:
            session.expire(notebook, ["score"])
            notebook.late_submission_penalty = _penalty(notebook, submission, seconds, configuration)


def late_note(submission: Any) -> str | None:
    """A sentence on the late penalty, or None where there is none."""
    total = sum(notebook.late_submission_penalty or 0.0 for notebook in submission.notebooks)
    if total == 0.0:
        return None
    late = _duration(submission.total_seconds_late)
    return f"Handed in {late} late: this costs {total:g} points, which are not taken off here."


def _penalty(
    notebook: Any, submission: Any, seconds: float, configuration: CourseConfiguration
) -> float | None:
    """What the plugin says, kept between 0 and the notebook's score as nbgrader keeps it."""
    # Imported late: this takes a second, and hardly any submission is late.
    from nbgrader.preprocessors import AssignLatePenalties  # noqa: PLC0415

    try:
        with _importable(configuration.course):
            preprocessor = AssignLatePenalties(config=configuration.config)
            preprocessor.init_plugin()
            score = notebook.score
            penalty = preprocessor.plugin_inst.late_submission_penalty(submission.student_id, score, seconds)
        return None if penalty is None else min(max(0.0, float(penalty)), score)
    except Exception as error:
        raise CourseError(
            f"The late-penalty plugin failed on {submission.student_id}: {type(error).__name__}: {error}. "
            "Mend it, or take it out of nbgrader_config.py."
        ) from error


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let a plugin be named by its module in the course's folder, as nbgrader does."""
    entry = str(folder)
    sys.path.append(entry)
    try:
        yield
    finally:
        sys.path.remove(entry)


def _duration(seconds: float) -> str:
    """A duration in words.

    >>> _duration(90), _duration(5400), _duration(200000)
    ('2 minutes', '1.5 hours', '2.3 days')
    """
    if seconds < 3600:
        return f"{max(1, round(seconds / 60))} minutes"
    if seconds < 86400:
        return f"{seconds / 3600:.2g} hours"
    return f"{seconds / 86400:.2g} days"
