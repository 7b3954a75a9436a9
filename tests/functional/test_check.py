"""``autograder check``: one notebook, no gradebook, nothing left behind."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.functional

WRONG = "def merge_heads(h):\n    B, H, T, d = h.shape\n    return h.reshape(B, T, H * d)\n"


@pytest.fixture
def check(course: Any, program: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """The real command in the course's folder, which it leaves as it was, down to its scratch files."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    def run(*words: str | Path) -> Any:
        before = course.tree()
        done = program("check", *words, cwd=course.folder, TMPDIR=str(scratch))
        assert before == course.tree()
        assert [] == list(scratch.iterdir())
        return done

    return run


def test_a_right_notebook_passes_wherever_it_lies(
    check: Callable[..., Any], notebooks: Any, tmp_path: Path
) -> None:
    path = tmp_path / "my homework.ipynb"
    path.write_text(json.dumps(notebooks.filled(notebooks.variant("loops"))))
    done = check(path)
    assert (0, "") == (done.code, done.err)
    lines = done.out.splitlines()
    assert "multihead, my homework: 20 of 22" == lines[0]
    assert max(map(len, lines)) <= 80
    assert "✗" not in done.out
    assert ["multihead_backward", "9", "/", "9"] in [line.split() for line in lines]
    assert ["one_key", "–", "/", "2", "waits", "for", "a", "person"] in [line.split() for line in lines]
    assert [path] == list(path.parent.glob("*.ipynb"))


def test_a_check_that_fails_is_named_and_the_exit_code_is_1(
    course: Any, check: Callable[..., Any], notebooks: Any
) -> None:
    path = course.hand_in("ada", notebooks.filled(notebooks.right(merge_heads=WRONG)))
    done = check(path.relative_to(course.folder))
    assert (1, "") == (done.code, done.err)
    assert done.out.startswith("multihead, ada: ")
    text = " ".join(done.out.split())
    assert "✓ values 1.4 / 1.4 Every number goes to the right head" in text
    assert "✗ values, dtypes, 0 / 1.4 The answer of merge_heads" in text


def test_the_same_mistakes_cost_the_same_as_in_a_class(
    course: Any, check: Callable[..., Any], notebooks: Any, graded: Any
) -> None:
    for student, code in (("right-stacked", 0), ("zeros", 1), ("killed", 1), ("stray", 0)):
        path = course.hand_in(student, json.loads(graded.course.notebook_of(student).read_bytes()))
        done = check(path, "--json", "-")
        assert (code, "") == (done.code, done.err)
        results = json.loads(done.out)
        assert ("multihead", 1) == (results["assignment"], len(results["submissions"]))
        entry, expected = results["submissions"][0], graded.result(student)
        assert {name: entry[name] for name in ("student", "score", "status", "notes")} == {
            name: expected[name] for name in ("student", "score", "status", "notes")
        }
        assert expected["exercises"][:2] == entry["exercises"][:2]


def test_files_handed_in_count_only_where_students_hand_in(
    course: Any, check: Callable[..., Any], notebooks: Any, tmp_path: Path
) -> None:
    cells = notebooks.filled(notebooks.right(), first="import mine\nprint(mine)")
    path = course.hand_in("ada", cells)
    (path.parent / "mine.py").write_text("import os\nos._exit(1)\n")
    assert "it ended the Python process" in check(path).out
    elsewhere = tmp_path / "elsewhere" / "multihead.ipynb"
    elsewhere.parent.mkdir()
    elsewhere.write_text(json.dumps(cells))
    (elsewhere.parent / "mine.py").write_text("import os\nos._exit(1)\n")
    done = check(elsewhere)
    assert (0, False) == (done.code, "it ended the Python process" in done.out)


def test_the_results_can_be_written_to_a_file_to_a_pipe_or_to_nowhere(
    course: Any, check: Callable[..., Any], notebooks: Any, tmp_path: Path
) -> None:
    path = course.hand_in("ada", notebooks.filled(notebooks.right()))
    done = check(path, "--json", tmp_path / "results.json")
    assert "ada: 20 of 22" in done.out
    assert 20 == json.loads((tmp_path / "results.json").read_text())["submissions"][0]["score"]
    device = Path(os.devnull).stat()
    assert 0 == check(path, "--json", os.devnull).code
    assert device.st_ino == Path(os.devnull).stat().st_ino
    assert check(path, "--json", "/dev/stdout").out.count('"format_version": 1') == 1
    assert Path("/dev/stdout").is_symlink()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "The file that was handed in is empty (0 bytes)."),
        (b"%PDF-1.4", "The file is a PDF document, not a notebook."),
    ],
)
def test_what_cannot_be_read_is_a_result_with_its_reason(
    content: bytes, reason: str, course: Any, check: Callable[..., Any]
) -> None:
    path = course.hand_in("ada", content)
    done = check(path)
    assert (1, "") == (done.code, done.err)
    assert ["multihead, ada: 0 of 22", f"  malformed: {reason}"] == [
        line[: len(reason) + 13].rstrip() for line in done.out.splitlines()[:2]
    ]
    (entry,) = json.loads(check(path, "--json", "-").out)["submissions"]
    assert ("malformed", 0.0) == (entry["status"], entry["score"])
    assert entry["reason"].startswith(reason)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            ["submitted/ada/multihead/multihaed.ipynb"],
            "multihaed.ipynb. Did you mean submitted/ada/multihead/multihead.ipynb?",
        ),
        (["submitted"], "There is no notebook submitted"),
        (["{notebook}", "--assignment", "tokens"], "There is no assignment 'tokens' in "),
        (["{notebook}", "--course", "source"], "source is no course: it has no folder 'source'."),
    ],
)
def test_wrong_use_is_one_message_and_exit_code_2(
    words: list[str], complaint: str, course: Any, check: Callable[..., Any], notebooks: Any
) -> None:
    path = course.hand_in("ada", notebooks.released())
    done = check(*(word.format(notebook=path) for word in words))
    assert (2, "", 1) == (done.code, done.out, done.err.count("\n"))
    assert complaint in done.err
