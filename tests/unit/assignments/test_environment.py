import importlib.metadata
import re
from pathlib import Path

import pytest

from autograder.assignments.catalog import KIT, load_assignment
from autograder.assignments.environment import expect_installed, read_environment
from autograder.cli.main import main
from autograder.errors import CourseError
from autograder.model import Environment, Limits

HIDDEN = "autograder/assignments/toy"


def declare(course: Path, text: str) -> Path:
    (course / HIDDEN / "environment.toml").write_text(text)
    return course


def test_without_a_file_it_is_what_every_notebook_finds(tmp_path: Path) -> None:
    assert (Environment(), {}) == read_environment(tmp_path)


def test_the_declaration_is_part_of_the_assignment(toy_course: Path) -> None:
    text = 'packages = ["numpy"]\noptional = ["rich"]\nwarm_up = ["json", "csv"]\n'
    assert load_assignment(declare(toy_course, text), "toy").environment == Environment(
        ("numpy",), ("rich",), ("json", "csv")
    )


def test_its_limits_are_defaults_that_a_course_can_change(toy_course: Path) -> None:
    declare(toy_course, "[limits]\nmemory_bytes = 7000000000\nprocesses = 9\nopen_files = 99\n")
    (toy_course / "limits.toml").write_text("processes = 8\n[toy]\nopen_files = 98\n")
    expected = Limits(memory_bytes=7_000_000_000, processes=8, open_files=98)
    assert expected == load_assignment(toy_course, "toy").limits


def test_a_change_of_it_has_submissions_graded_again(toy_course: Path) -> None:
    before = load_assignment(toy_course, "toy").fingerprint
    assert before != load_assignment(declare(toy_course, 'optional = ["rich"]'), "toy").fingerprint


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("package = []", "there is no setting 'package'. Did you mean 'packages'?"),
        ("xyzzy = []", "Known are: packages, optional, warm_up and [limits]."),
        ("packages = 'torch'", "packages must be a list of names, not 'torch'"),
        ("warm_up = [1]", "warm_up must be a list of names, not [1]"),
        ("limits = 3", "limits must be a table"),
        ("[limits]\ncall_second = 3", "[limits]: there is no limit 'call_second'"),
        ("packages", "is not valid TOML"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(toy_course: Path, text: str, sentence: str) -> None:
    with pytest.raises(CourseError, match=r"environment\.toml") as caught:
        load_assignment(declare(toy_course, text), "toy")
    assert sentence in str(caught.value)


def test_a_package_that_is_missing_is_named_with_the_remedy(toy_course: Path) -> None:
    (toy_course / "solutions" / "toy.py").write_text("import nowhere_to_be_found")
    with pytest.raises(CourseError) as caught:
        load_assignment(declare(toy_course, 'packages = ["nowhere-to-be-found", "numpy"]'), "toy")
    assert str(caught.value) == (
        "Assignment 'toy' needs nowhere-to-be-found, not installed here: nothing of it can be graded. "
        "Install it: pip install nowhere-to-be-found. All other assignments work without."
    )


def test_the_remedy_is_an_extra_of_the_kit_where_one_brings_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    distribution = importlib.metadata.distribution

    def missing(name: str) -> importlib.metadata.Distribution:
        if name == "torch":
            raise importlib.metadata.PackageNotFoundError(name)
        return distribution(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    with pytest.raises(CourseError, match=r"pip install -e '\.\[torch\]' \(in the kit's folder\)\."):
        expect_installed("torch_multihead", Environment(("torch",)))


def test_the_lab_on_pytorch_declares_it_and_the_others_do_not() -> None:
    declared = {
        path.parent.name: read_environment(path.parent)[0].packages
        for path in (KIT / "assignments").glob("*/checks.py")
    }
    assert {"multihead", "weighted_attention"} <= declared.keys()
    lab, _ = read_environment(KIT / "assignments" / "torch_multihead")
    assert ("torch",) == lab.packages
    assert "torch" == lab.warm_up[0]
    assert {()} == {packages for name, packages in declared.items() if name != "torch_multihead"}


@pytest.mark.parametrize("verb", ["grade", "certify"])
def test_the_command_line_says_so_once_and_grades_nothing(
    toy_course: Path, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    declare(toy_course, 'packages = ["nowhere-to-be-found"]')
    assert 2 == main([verb, "toy", "--course", str(toy_course)])
    told = capsys.readouterr()
    assert 1 == " ".join((told.out + told.err).split()).count("pip install nowhere-to-be-found")
    assert [] == list(toy_course.glob("gradebook.db"))


def test_students_are_told_to_install_what_is_declared() -> None:
    for path in (KIT / "assignments").glob("*/checks.py"):
        environment, _ = read_environment(path.parent)
        told = KIT.parent / "source" / path.parent.name / "requirements.txt"
        required = {re.split(r"[<>=~! ;]", line)[0] for line in told.read_text().splitlines()}
        assert {"numpy", *environment.packages} <= required
