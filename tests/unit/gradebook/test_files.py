import os
import stat
from pathlib import Path
from typing import Any

import pytest

from autograder.assignments.catalog import Assignment, load_assignment
from autograder.errors import CourseError
from autograder.gradebook.files import read_autograded, write_autograded

NOTEBOOK: dict[str, Any] = {"cells": []}


@pytest.fixture
def toy(toy_course: Path) -> Assignment:
    return load_assignment(toy_course, "toy")


@pytest.fixture
def submitted(tmp_path: Path) -> Path:
    folder = tmp_path / "submitted"
    folder.mkdir()
    return folder


def listed(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_the_students_files_are_there_with_the_given_ones_over_them(
    toy: Assignment, submitted: Path, tmp_path: Path
) -> None:
    (submitted / "given.py").write_text("two = 3\n")
    (submitted / "mine").mkdir()
    (submitted / "mine" / "notes.txt").write_text("notes")
    folder = tmp_path / "autograded"
    write_autograded(folder, toy, {"toy": NOTEBOOK}, submitted)
    assert ["given.py", "mine", "mine/notes.txt", "toy.ipynb"] == listed(folder)
    assert (folder / "given.py").read_text() == "two = 2\n"
    assert stat.S_IMODE((folder / "toy.ipynb").stat().st_mode) == 0o444


def test_a_given_file_that_is_a_link_in_the_source_is_there_as_a_plain_file(
    toy: Assignment, submitted: Path, tmp_path: Path
) -> None:
    linked = toy.source_dir / "given.py"
    linked.rename(tmp_path / "elsewhere.py")
    linked.symlink_to(tmp_path / "elsewhere.py")
    folder = tmp_path / "autograded"
    write_autograded(folder, toy, {"toy": {"cells": []}}, submitted)
    assert not (folder / "given.py").is_symlink()
    assert (folder / "given.py").read_text() == "two = 2\n"


def test_links_fifos_caches_and_other_notebooks_are_not_copied(
    toy: Assignment, submitted: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("secret")
    (submitted / "link.txt").symlink_to(tmp_path / "secret")
    (submitted / "folder").symlink_to(tmp_path)
    os.mkfifo(submitted / "fifo")
    for name in ("other.ipynb", "a.pyc"):
        (submitted / name).write_text("x")
    (submitted / "__pycache__").mkdir()
    (submitted / "__pycache__" / "x.txt").write_text("x")
    folder = tmp_path / "autograded"
    write_autograded(folder, toy, {"toy": NOTEBOOK}, submitted)
    assert ["given.py", "toy.ipynb"] == listed(folder)


def test_links_in_the_autograded_folder_are_replaced_not_written_through(
    toy: Assignment, submitted: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "autograded"
    folder.mkdir()
    (tmp_path / "target").write_text("two = 2\n")
    (folder / "given.py").symlink_to(tmp_path / "target")
    write_autograded(folder, toy, {"toy": NOTEBOOK}, submitted)
    assert not (folder / "given.py").is_symlink()
    assert (tmp_path / "target").read_text() == "two = 2\n"


def test_what_an_earlier_grading_left_is_removed(toy: Assignment, submitted: Path, tmp_path: Path) -> None:
    folder = tmp_path / "autograded"
    (submitted / "old").mkdir()
    (submitted / "old" / "notes.txt").write_text("notes")
    write_autograded(folder, toy, {"toy": NOTEBOOK}, submitted)
    (submitted / "old" / "notes.txt").unlink()
    write_autograded(folder, toy, {"toy": NOTEBOOK}, submitted)
    assert ["given.py", "toy.ipynb"] == listed(folder)


def test_names_that_stand_in_the_way_of_our_files_stop_nothing(
    toy_course: Path, submitted: Path, tmp_path: Path
) -> None:
    (toy_course / "source/toy/pictures").mkdir()
    (toy_course / "source/toy/pictures/axes.svg").write_text("axes")
    toy = load_assignment(toy_course, "toy")
    for folder in (submitted, tmp_path / "autograded"):
        for name in ("given.py", "toy.ipynb"):
            (folder / name).mkdir(parents=True)
            (folder / name / "x.txt").write_text("x")
        (folder / "pictures").write_text("a file")
    write_autograded(tmp_path / "autograded", toy, {"toy": NOTEBOOK}, submitted)
    assert ["given.py", "pictures", "pictures/axes.svg", "toy.ipynb"] == listed(tmp_path / "autograded")
    assert read_autograded(tmp_path / "autograded", "toy") == NOTEBOOK


def test_a_submission_that_cannot_be_listed_still_gets_its_notebook(toy: Assignment, tmp_path: Path) -> None:
    folder = tmp_path / "autograded"
    write_autograded(folder, toy, {"toy": NOTEBOOK}, tmp_path / "nowhere")
    assert ["given.py", "toy.ipynb"] == listed(folder)


def test_a_folder_that_cannot_be_written_is_said_in_words(toy: Assignment, tmp_path: Path) -> None:
    (tmp_path / "autograded").write_text("in the way")
    with pytest.raises(CourseError, match=r"autograded cannot be written"):
        write_autograded(tmp_path / "autograded", toy, {"toy": NOTEBOOK}, None)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"cells": 3}', "[" * 100_000])
def test_an_autograded_notebook_that_is_damaged_counts_as_none(tmp_path: Path, content: str) -> None:
    assert read_autograded(tmp_path, "toy") == {}
    (tmp_path / "toy.ipynb").write_text(content)
    assert read_autograded(tmp_path, "toy") == {}
