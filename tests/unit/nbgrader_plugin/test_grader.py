import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.errors import JudgeError
from autograder.nbgrader_plugin import grader as grader_module
from autograder.nbgrader_plugin.grader import Grader

Fake = Callable[[str], Grader]

ANSWERING = """
import json, os, sys
order = json.loads(sys.stdin.readline())
for line in sys.stdin:
    student = json.loads(line)["student"]
    answer = {
        "status": "graded", "score": 1.5, "max_score": 3.0, "reason": None, "trace": None,
    }
    answer["notes"] = [student, order["course"], order["assignment"], order["directory"]["db_url"]]
    answer["notes"].append(str(os.getpid()))
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    """A grader whose process runs this code in place of the real one."""
    made: list[Grader] = []

    def make(code: str) -> Grader:
        (tmp_path / "fake_process.py").write_text(textwrap.dedent(code))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setattr(grader_module, "MODULE", "fake_process")
        made.append(Grader(tmp_path, "toy", {"db_url": "sqlite:///x.db"}))
        return made[-1]

    yield make
    for grader in made:
        grader.close()


def is_running(pid: str) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_one_process_grades_everybody_and_ends_when_told(fake: Fake, tmp_path: Path) -> None:
    grader = fake(ANSWERING)
    first, second = grader.grade("Zoë"), grader.grade("caf\udce9")
    assert (1.5, 3.0, None, None) == (first.score, first.max_score, first.reason, first.trace)
    *words, pid = first.notes
    assert ["Zoë", str(tmp_path), "toy", "sqlite:///x.db"] == words
    assert ("caf\udce9", pid) == (second.notes[0], second.notes[-1])
    assert is_running(pid)
    grader.close()
    assert not is_running(pid)
    grader.close()


def test_a_process_that_ended_since_it_had_nothing_to_do_is_started_anew(fake: Fake) -> None:
    grader = fake(ANSWERING + "    break\n")
    pids = {grader.grade("s01").notes[-1] for _ in range(3)}
    assert 3 == len(pids)


def test_a_process_that_does_not_even_start_is_not_tried_for_ever(fake: Fake) -> None:
    grader = fake("import sys; sys.exit('I do not feel well.')")
    with pytest.raises(JudgeError, match=r"ended without an answer\. Its last words: I do not feel well\."):
        grader.grade("s01")


def test_what_the_process_could_not_grade_is_told_with_the_cause(fake: Fake) -> None:
    grader = fake("""
        import sys
        sys.stdin.readline(), sys.stdin.readline()
        print('{"fault": "No checks.", "trace": "line 7"}')
    """)
    with pytest.raises(JudgeError, match=r"No checks\.\nline 7"):
        grader.grade("s01")


@pytest.mark.parametrize(
    "answer", ["hello", "[]", "{}", "3", '{"status": 1, "notes": null}', '{"notes": []}']
)
def test_an_answer_that_makes_no_sense_is_a_fault_of_ours(fake: Fake, answer: str) -> None:
    grader = fake(f"import sys; sys.stdin.readline(), sys.stdin.readline(); print({answer!r})")
    with pytest.raises(JudgeError, match="no answer that makes sense"):
        grader.grade("s01")


def test_a_process_that_says_nothing_is_given_up_and_ended(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(grader_module, "ANSWER_SECONDS", 3.0)
    monkeypatch.setattr(grader_module, "END_SECONDS", 0.1)
    grader = fake("""
        import os, pathlib, signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        pathlib.Path("pid").write_text(str(os.getpid()))
        while True:
            time.sleep(1)
    """)
    with pytest.raises(JudgeError, match=r"was silent for 3 seconds"):
        grader.grade("s01")
    assert not is_running((tmp_path / "pid").read_text())


def test_the_process_does_not_look_for_modules_in_the_course(fake: Fake, tmp_path: Path) -> None:
    course = tmp_path / "course"
    (course / "autograder").mkdir(parents=True)
    fake("import autograder.model; print('hi')")
    grader = Grader(course, "toy", {})
    with pytest.raises(JudgeError, match="no answer that makes sense: b'hi"):
        grader.grade("s01")
    grader.close()
    assert [course / "autograder"] == list(course.iterdir())
