"""The blind trial on all that was written anew (``tests/rewritten``): what figures of diagnosis rest on."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.functional, pytest.mark.slow]

TESTS = Path(__file__).parents[1]
WRITTEN = TESTS / "rewritten"


def trial(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, TESTS / "blind_trial.py", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def headings(text: str) -> set[str]:
    return {line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")}


def test_nearly_all_mistakes_that_somebody_wrote_anew_are_named_and_none_is_taken_for_another() -> None:
    done = trial(WRITTEN, "--seeds", "1")
    assert (0, "") == (done.returncode, done.stderr)
    *lines, last = done.stdout.splitlines()
    ends = [line.split()[0] for line in lines]
    assert {"named", "missed"} >= set(ends)
    assert f"{ends.count('named')} of {len(ends)} named" in last
    assert ends.count("named") >= 0.98 * len(ends) > 200


def test_of_what_was_written_by_somebody_who_knew_nothing_else_most_is_named() -> None:
    done = trial(WRITTEN / "blind", "--seeds", "1")
    assert (0, "") == (done.returncode, done.stderr)  # at least 95 %
    assert len(headings(trial("--beliefs").stdout)) == len(done.stdout.splitlines()) - 1


def test_every_sentence_has_been_written_anew() -> None:
    written = set().union(*(headings(path.read_text(encoding="utf-8")) for path in WRITTEN.glob("*.md")))
    assert headings(trial("--beliefs").stdout) == written


def test_what_was_written_for_another_sentence_does_not_count(tmp_path: Path) -> None:
    known = min(headings(trial("--beliefs").stdout))
    section = f"## {known}\n\nNobody believes this.\n\n```python\npass\n```\n"
    (tmp_path / "some.md").write_text(section, encoding="utf-8")
    done = trial(tmp_path)
    assert done.returncode == 1
    assert f"{known}: there is no such belief any more" in done.stderr
