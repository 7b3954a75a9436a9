import os
import subprocess
import sys

import pytest

from autograder.usecases.one_thread import one_thread_each

NAME = "OPENBLAS_NUM_THREADS"


@pytest.mark.parametrize("before", [None, "3"])
def test_programs_that_are_started_have_one_thread_and_ours_stays_as_it_was(
    monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    if before is None:
        monkeypatch.delenv(NAME, raising=False)
    else:
        monkeypatch.setenv(NAME, before)
    with one_thread_each():
        show = f"import os; print(os.environ[{NAME!r}])"
        done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    assert "1\n" == done.stdout
    assert before == os.environ.get(NAME)
