"""The grading of ``multihead``, in this process."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(scope="session")
def grading(grading_of: Callable[[str], Any]) -> Any:
    return grading_of("multihead")
