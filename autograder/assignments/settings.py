"""Reading the files of settings that courses write by hand."""

import tomllib
from pathlib import Path
from typing import Any

from autograder.errors import CourseError


def read_settings(path: Path) -> dict[str, Any]:
    """What a TOML file says, nothing where there is none; raises CourseError where it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise CourseError(f"{path} is not valid TOML: {error}.") from error
