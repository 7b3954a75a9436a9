"""``autograder grade``: what becomes of everything that a class may hand in."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.functional

#: An answer to the question waits for a person; where there is none, it counts 0.
ALL = {"split_heads": 3.0, "merge_heads": 2.0, "multihead": 6.0, "multihead_backward": 9.0, "one_key": None}
NOTHING = dict.fromkeys(ALL, 0.0)
KEYS: dict[str, Any] = {
    "format_version": int,
    "assignment": str,
    "submissions": {
        "student": str,
        "score": float,
        "max_score": float,
        "status": str,
        "reason": str | None,
        "notes": str,
        "sandboxed": bool,
        "exercises": {
            "name": str,
            "score": float | None,
            "max_score": float,
            "waits": bool,
            "error": str | None,
            "checks": {
                "name": str,
                "verdict": str,
                "points": float,
                "max_points": float,
                "message": str,
                "hint": str | None,
                "diagnosis": dict | None,
            },
        },
    },
}


def fits(data: Any, form: Any) -> bool:
    """Whether data has exactly these keys, and values of these types; lists hold what their form says."""
    if isinstance(form, dict):
        objects = data if isinstance(data, list) else [data]
        return all(
            set(one) == set(form) and all(fits(one[key], part) for key, part in form.items())
            for one in objects
        )
    values = data if isinstance(data, list) else [data]
    return all(isinstance(value, form) for value in values)


def notes(graded: Any, student: str) -> str:
    return " ".join(graded.result(student)["notes"])


# A class, graded in a course that had no gradebook and no release.


def test_everybody_who_handed_in_has_an_entry(graded: Any) -> None:
    folders = sorted(path.name for path in (graded.course.folder / "submitted").iterdir())
    assert folders == [one["student"] for one in graded.results["submissions"]]
    assert (0, "") == (graded.done.code, graded.done.err)


def test_the_results_have_exactly_the_documented_form(graded: Any) -> None:
    assert (1, "multihead") == (graded.results["format_version"], graded.results["assignment"])
    assert fits(graded.results, KEYS)
    for one in graded.results["submissions"]:
        assert one["status"] == ("malformed" if one["reason"] else "graded")
        assert one["score"] == pytest.approx(sum(row["score"] or 0 for row in one["exercises"]))
        assert list(ALL) == [row["name"] for row in one["exercises"]]
        assert 22 == one["max_score"]
        for row in one["exercises"]:
            assert row["score"] in (None, pytest.approx(sum(check["points"] for check in row["checks"])))


@pytest.mark.parametrize("style", ["einsum", "loops", "stacked"])
def test_right_solutions_earn_everything_whatever_their_style(graded: Any, style: str) -> None:
    result = graded.result(f"right-{style}")
    checks = [check for row in result["exercises"] for check in row["checks"]]
    assert {"passed"} == {check["verdict"] for check in checks}
    assert len(checks) > 30
    assert [] == result["notes"]
    assert {**ALL, "one_key": 0.0} == graded.points(f"right-{style}")


@pytest.mark.parametrize("student", ["released", "zeros", "raising"])
def test_nothing_is_earned_by_stubs_by_zeros_or_by_raising(graded: Any, student: str) -> None:
    assert NOTHING == graded.points(student)
    assert ("graded", 0.0) == (graded.result(student)["status"], graded.result(student)["score"])


def test_a_stub_is_told_that_it_waits(graded: Any) -> None:
    messages = {check["message"] for row in graded.result("released")["exercises"] for check in row["checks"]}
    assert "split_heads is not written yet, or calls a function that is not." in messages


def test_warnings_prints_magics_errors_and_more_cells_change_nothing(graded: Any) -> None:
    assert ALL == graded.points("noisy")
    assert [] == graded.result("noisy")["notes"]


@pytest.mark.parametrize("student", ["endless", "killed"])
def test_an_endless_loop_or_the_end_of_python_costs_one_exercise(graded: Any, student: str) -> None:
    assert {**ALL, "multihead_backward": 0.0} == graded.points(student)


def test_a_hang_and_a_crash_have_verdicts_of_their_own(graded: Any) -> None:
    verdicts = {
        student: {
            check["verdict"]
            for check in graded.result(student)["exercises"][3]["checks"]
            if check["max_points"]
        }
        for student in ("endless", "killed")
    }
    assert {"endless": {"timed_out"}, "killed": {"missing"}} == verdicts
    assert "was left out when the notebook was run: it ended the Python process." in notes(graded, "killed")


def test_cells_that_hang_or_kill_the_interpreter_are_left_out(graded: Any) -> None:
    assert ALL == graded.points("stray")
    assert "it did not come to an end" in notes(graded, "stray")
    assert "it ended the Python process" in notes(graded, "stray")


def test_what_cannot_be_read_is_malformed_and_says_why(graded: Any) -> None:
    for student, reason in (
        ("empty", "The file that was handed in is empty (0 bytes)."),
        ("nothing", "No notebook was handed in."),
        ("link", "No notebook was handed in."),
    ):
        result = graded.result(student)
        assert ("malformed", 0.0) == (result["status"], result["score"])
        assert result["reason"].startswith(reason)
        assert NOTHING == graded.points(student)


def test_a_renamed_notebook_is_graded_and_said(graded: Any) -> None:
    assert ALL == graded.points("renamed")
    assert "my work.ipynb was graded instead" in notes(graded, "renamed")


def test_the_table_has_a_line_for_everybody_and_fits_80_columns(graded: Any) -> None:
    lines = graded.done.out.splitlines()
    assert "multihead: 15 submissions" == lines[0]
    assert max(map(len, lines)) <= 80
    for one in graded.results["submissions"]:
        (line,) = (line for line in lines if re.match(rf" {one['student']} +[\d–]", line))
        assert f"{one['score']:g}" == line.split()[-1]
    assert "15 graded, 0 unchanged since their last grading." == lines[-1]


# What nbgrader gets.


def test_the_gradebook_has_the_scores_and_the_answers_that_a_person_must_read(graded: Any) -> None:
    from nbgrader.api import Gradebook

    answered = {"noisy", "endless", "killed", "stray", "recorder", "renamed"}
    with Gradebook(f"sqlite:///{graded.course.folder}/gradebook.db") as gradebook:
        assert 22 == gradebook.find_assignment("multihead").max_score
        for one in graded.results["submissions"]:
            submission = gradebook.find_submission("multihead", one["student"])
            assert one["score"] == pytest.approx(submission.score)
            assert (one["student"] in answered) == submission.needs_manual_grade
            assert submission.needs_manual_grade == any(row["waits"] for row in one["exercises"])


def test_everybody_has_an_autograded_notebook_with_the_given_files(graded: Any) -> None:
    source = graded.course.folder / "source" / "multihead"
    given = {path.name: path.read_bytes() for path in source.glob("*.py")}
    for one in graded.results["submissions"]:
        folder = graded.course.folder / "autograded" / one["student"] / "multihead"
        notebook = json.loads((folder / "multihead.ipynb").read_text(encoding="utf-8"))
        marked = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in notebook["cells"]]
        assert {f"test_{name}" for name in list(ALL)[:4]} <= set(marked)
        assert given.items() <= {path.name: path.read_bytes() for path in folder.glob("*.py")}.items()


def test_a_malformed_submission_has_its_reason_on_top_of_its_page(graded: Any) -> None:
    path = graded.course.folder / "autograded" / "empty" / "multihead" / "multihead.ipynb"
    assert "The file that was handed in is empty" in json.loads(path.read_text())["cells"][0]["source"]


def test_the_submissions_are_as_they_were(graded: Any, notebooks: Any) -> None:
    assert notebooks.released() == json.loads(graded.course.notebook_of("released").read_bytes())
    assert b"" == graded.course.notebook_of("empty").read_bytes()
    handed_in = {path.name for path in graded.course.notebook_of("recorder").parent.iterdir()}
    assert {"multihead.ipynb"} == handed_in


# The command itself.


def test_what_has_not_changed_is_not_graded_again(graded: Any, program: Callable[..., Any]) -> None:
    done = program("grade", "multihead", "--json", "-", cwd=graded.course.folder)
    assert (0, "") == (done.code, done.err)
    assert graded.results == json.loads(done.out)


def test_one_student_can_be_graded_again_by_force(graded_copy: Any, autograder: Callable[..., Any]) -> None:
    page = graded_copy.folder / "autograded" / "zeros" / "multihead" / "multihead.ipynb"
    page.unlink()
    page.with_name("stale.txt").touch()
    words = ("grade", "multihead", "--course", graded_copy.folder, "--student", "zeros")
    done = autograder(*words, "--student", "right-loops", "--force")
    assert (0, "") == (done.code, done.err)
    assert "2 graded, 0 unchanged" in done.out
    assert page.is_file()
    assert not page.with_name("stale.txt").exists()
    assert "0 graded, 1 unchanged" in autograder(*words).out


def test_a_student_nobody_knows_gets_the_nearest_suggested(
    graded: Any, autograder: Callable[..., Any]
) -> None:
    done = autograder("grade", "multihead", "--course", graded.course.folder, "--student", "right-loop")
    assert (2, "") == (done.code, done.out)
    assert 1 == done.err.count("\n")
    assert "'right-loop' has not handed in 'multihead'" in done.err
    assert "Did you mean 'right-loops'?" in done.err


def test_a_submission_that_changed_is_graded_again(
    graded_copy: Any, notebooks: Any, autograder: Callable[..., Any]
) -> None:
    graded_copy.hand_in("zeros", notebooks.filled(notebooks.right()))
    graded_copy.hand_in("newcomer", notebooks.released())
    done = autograder("grade", "multihead", "--course", graded_copy.folder)
    assert "2 graded, 14 unchanged since their last grading." in done.out
    assert "  zeros: 0 → 20 (split_heads 0 → 3, " in done.out


@pytest.mark.parametrize("part", ["limits.toml", "solutions/multihead.py", "source/multihead/attention.py"])
def test_whatever_grades_depend_on_is_a_reason_to_grade_again(
    part: str, graded_copy: Any, autograder: Callable[..., Any]
) -> None:
    with (graded_copy.folder / part).open("a") as file:
        file.write("\n# One more line.\n" if part.endswith(".py") else "memory_bytes = 1073741824\n")
    words = ("--student", "released", "--student", "right-loops", "--course", graded_copy.folder)
    assert "2 graded, 0 unchanged" in autograder("grade", "multihead", *words).out
    assert "0 graded, 2 unchanged" in autograder("grade", "multihead", *words).out


def test_what_people_gave_survives_a_regrade(
    graded_copy: Any, notebooks: Any, autograder: Callable[..., Any]
) -> None:
    from nbgrader.api import Gradebook

    url = f"sqlite:///{graded_copy.folder}/gradebook.db"
    with Gradebook(url) as gradebook:
        grade = gradebook.find_grade("one_key", "multihead", "multihead", "noisy")
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        gradebook.find_comment("one_key", "multihead", "multihead", "noisy").manual_comment = "Nearly."
        gradebook.db.commit()
    words = ("grade", "multihead", "--course", graded_copy.folder, "--student", "noisy", "--json", "-")
    for more in ([], ["--force"]):
        (entry,) = json.loads(autograder(*words, *more).out)["submissions"]
        assert (21.5, 1.5) == (entry["score"], entry["exercises"][4]["score"])
    graded_copy.hand_in("noisy", notebooks.filled(notebooks.right(one_key="Another answer.")))
    assert 21.5 == json.loads(autograder(*words).out)["submissions"][0]["score"]
    with Gradebook(url) as gradebook:
        grade = gradebook.find_grade("one_key", "multihead", "multihead", "noisy")
        assert (1.5, True) == (grade.manual_score, grade.needs_manual_grade)
        assert "Nearly." == gradebook.find_comment("one_key", "multihead", "multihead", "noisy").comment


def test_json_goes_to_a_file_beside_the_table(
    graded: Any, autograder: Callable[..., Any], tmp_path: Any
) -> None:
    words = ("grade", "multihead", "--course", graded.course.folder, "--json")
    assert "15 submissions" in autograder(*words, tmp_path / "r.json").out
    assert graded.results == json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    done = autograder(*words, tmp_path / "nowhere" / "r.json")
    assert 2 == done.code
    assert "results cannot be written" in done.err
    assert "15 submissions" in done.out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["multihaed"], "There is no assignment 'multihaed' in {course}. Did you mean 'multihead'?"),
        (["multihead"], "Nobody has handed in 'multihead': put the notebooks into {course}/submitted/"),
        (["multihead", "--student", "ada"], "'ada' has not handed in 'multihead': there is no folder"),
        (["multihead", "--json"], "argument --json: expected one argument"),
    ],
)
def test_wrong_use_is_one_message_and_exit_code_2(
    words: list[str], complaint: str, course: Any, autograder: Callable[..., Any]
) -> None:
    done = autograder("grade", "--course", course.folder, *words)
    assert (2, "") == (done.code, done.out)
    assert complaint.format(course=course.folder) in done.err
    assert 1 == done.err.count("\n")
    assert not (course.folder / ".autograder").exists()
