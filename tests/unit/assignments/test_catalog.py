import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.assignments.catalog import (
    KIT,
    assignment_names,
    find_course,
    gradable_names,
    load_assignment,
)
from autograder.errors import CourseError
from autograder.model import Limits


def test_all_parts_of_an_assignment_are_found(toy_course: Path) -> None:
    toy = load_assignment(toy_course, "toy")
    assert ["double"] == [exercise.name for exercise in toy.exercises]
    assert ["why"] == [question.name for question in toy.questions]
    assert ["double", "why"] == [one.name for one in toy.graded]
    assert toy.max_score == 5.0
    assert toy.reference.double(2) == 4
    assert toy.checks.exercises == ("double",)
    assert toy.visible is None
    assert toy.given_files == (Path("given.py"),)
    assert toy.limits == Limits()


def test_visible_checks_are_loaded_where_there_are_any(toy_course: Path) -> None:
    (toy_course / "source/toy/visible_checks.py").write_text(
        "import given\n\n\ndef check_double(double):\n    pass\n"
    )
    toy = load_assignment(toy_course, "toy")
    assert toy.visible is not None
    assert toy.visible.given.two == 2
    assert toy.given_files == (Path("given.py"), Path("visible_checks.py"))


def test_caches_and_notebooks_are_no_given_files(toy_course: Path) -> None:
    for name in ("__pycache__/given.pyc", ".ipynb_checkpoints/toy.ipynb", "pictures/axes.svg"):
        path = toy_course / "source/toy" / name
        path.parent.mkdir()
        path.write_text("")
    assert load_assignment(toy_course, "toy").given_files == (Path("given.py"), Path("pictures/axes.svg"))


def test_the_kits_own_assignment_is_whole() -> None:
    multihead = load_assignment(KIT.parent, "multihead")
    points = {one.name: one.max_points for one in multihead.graded}
    assert points == {
        "split_heads": 3,
        "merge_heads": 2,
        "multihead": 6,
        "multihead_backward": 9,
        "one_key": 2,
    }
    assert multihead.visible is not None


def test_a_course_without_checks_of_its_own_uses_the_kits(tmp_path: Path) -> None:
    shutil.copytree(KIT.parent / "source" / "multihead", tmp_path / "source" / "multihead")
    shutil.copytree(KIT.parent / "solutions", tmp_path / "solutions")
    checks = load_assignment(tmp_path, "multihead").checks
    assert checks is load_assignment(KIT.parent, "multihead").checks


def remove(name: str) -> Callable[[Path], None]:
    return lambda course: (course / name).unlink()


def test_a_current_folder_that_was_removed_is_said_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(CourseError, match="The current folder no longer exists"):
        find_course()


def write(name: str, text: str) -> Callable[[Path], None]:
    return lambda course: (course / name).write_text(text) and None


CHECKS = "autograder/assignments/toy/checks.py"
EMPTY = "from autograder.checking.framework import CheckSet\n\nchecks = CheckSet('toy')\n"


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (remove("solutions/toy.py"), r"has no reference: .*solutions/toy\.py is missing"),
        (remove(CHECKS), r"has no hidden checks: .*toy/checks\.py is missing"),
        (write(CHECKS, ""), r"must define `checks = CheckSet\('toy'\)`"),
        (write(CHECKS, "1 / 0"), r"checks\.py cannot be loaded: ZeroDivisionError"),
        (write(CHECKS, EMPTY), "has no check for the exercise 'double'"),
        (
            write(
                CHECKS,
                f"{EMPTY}checks.value('triple', weight=1)(print)\nchecks.value('double', weight=1)(len)",
            ),
            "checks 'triple', but no notebook",
        ),
        (write("solutions/toy.py", "double = 3"), r"toy\.py does not define 'double'"),
        (write("solutions/toy.py", "import missing"), r"toy\.py cannot be loaded"),
        (write("limits.toml", "x = 1"), "there is no limit 'x'"),
    ],
)
def test_what_is_missing_or_does_not_fit_is_said_in_words(
    toy_course: Path, damage: Callable[[Path], None], sentence: str
) -> None:
    damage(toy_course)
    with pytest.raises(CourseError, match=sentence):
        load_assignment(toy_course, "toy")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("tpy", "Did you mean 'toy'?"),
        ("xyzzy", "It has: toy."),
        ("../source/toy", "There is no assignment"),
        ("", "There is no assignment"),
    ],
)
def test_an_unknown_assignment_is_answered_with_the_nearest_name(
    toy_course: Path, name: str, sentence: str
) -> None:
    with pytest.raises(CourseError) as caught:
        load_assignment(toy_course, name)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        write("source/toy/given.py", "two = 2.0\n"),
        write("source/toy/new.txt", "x"),
        write("solutions/toy.py", "def double(x):\n    return x + x\n"),
        write("autograder/assignments/toy/draws.py", "x = 1"),
        write("limits.toml", "call_seconds = 3"),
    ],
)
def test_the_fingerprint_tells_every_change_on_which_a_grade_depends(
    toy_course: Path, change: Callable[[Path], None]
) -> None:
    before = load_assignment(toy_course, "toy").fingerprint
    assert before == load_assignment(toy_course, "toy").fingerprint
    change(toy_course)
    assert before != load_assignment(toy_course, "toy").fingerprint


def test_the_fingerprint_does_not_depend_on_where_the_course_lies(toy_course: Path, tmp_path: Path) -> None:
    shutil.copytree(toy_course, tmp_path / "copy")
    (tmp_path / "copy/source/toy/__pycache__").mkdir()
    (tmp_path / "copy/source/toy/__pycache__/given.pyc").write_text("x")
    fingerprints = {load_assignment(course, "toy").fingerprint for course in (toy_course, tmp_path / "copy")}
    assert len(fingerprints) == 1


def test_a_course_is_the_named_folder_else_the_current_one_else_the_kit(
    toy_course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(toy_course)
    assert find_course() == toy_course
    assert find_course(KIT.parent) == KIT.parent
    monkeypatch.chdir(tmp_path)
    assert find_course() == KIT.parent
    assert find_course(Path("course")) == toy_course


def test_a_folder_that_is_no_course_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="it has no folder 'source'"):
        find_course(tmp_path)
    with pytest.raises(CourseError, match="There is no course folder"):
        find_course(tmp_path / "nowhere")


def test_only_folders_with_a_notebook_are_assignments(toy_course: Path) -> None:
    (toy_course / "source" / "notes").mkdir()
    (toy_course / "source" / "readme.txt").write_text("")
    assert assignment_names(toy_course) == ("toy",)


def test_without_its_packages_an_assignment_is_not_gradable(toy_course: Path) -> None:
    assert ("toy",) == gradable_names(toy_course)
    declared = toy_course / "autograder/assignments/toy/environment.toml"
    declared.write_text('packages = ["nowhere-to-be-found"]')
    assert () == gradable_names(toy_course)
    assert ("toy",) == assignment_names(toy_course)
