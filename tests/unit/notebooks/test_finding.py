import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from autograder.notebooks import finding
from autograder.notebooks.finding import CANDIDATES_LIMIT, DEPTH_LIMIT, Found, Lost, find_notebooks
from autograder.notebooks.source import SourceNotebook, read_source_folder

EXPECTED = "toy.ipynb"


@pytest.fixture
def toy(toy_course: Path) -> Sequence[SourceNotebook]:
    return read_source_folder(toy_course / "source" / "toy")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "submission"
    folder.mkdir()
    return folder


def write(build: Any, path: Path, code: str = "def double(x):\n    return 2 * x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(build.bytes(build.code(code)))
    return path


def found(folder: Path, toy: Sequence[SourceNotebook]) -> Found:
    result = find_notebooks(folder, toy)["toy"]
    assert isinstance(result, Found), result
    return result


def reason(folder: Path, toy: Sequence[SourceNotebook]) -> str:
    result = find_notebooks(folder, toy)["toy"]
    assert isinstance(result, Lost), result
    return result.reason


def test_the_notebook_with_the_expected_name_is_it_without_a_word(
    folder: Path, toy: Sequence[SourceNotebook], build: Any
) -> None:
    path = write(build, folder / EXPECTED, "pass")
    write(build, folder / "better.ipynb")
    assert Found(path, found(folder, toy).notebook) == found(folder, toy)


def test_in_another_folder_it_is_found_and_the_folder_named(
    folder: Path, toy: Sequence[SourceNotebook], build: Any
) -> None:
    path = write(build, folder / "hand in" / "week 1" / EXPECTED)
    assert path == found(folder, toy).path
    assert ("toy.ipynb was found in the folder hand in/week 1.",) == found(folder, toy).notes


def test_the_nearest_to_the_top_counts(folder: Path, toy: Sequence[SourceNotebook], build: Any) -> None:
    write(build, folder / "a" / EXPECTED)
    assert write(build, folder / EXPECTED) == found(folder, toy).path


def test_one_that_was_renamed_is_graded_instead(
    folder: Path, toy: Sequence[SourceNotebook], build: Any
) -> None:
    path = write(build, folder / "toy (1).ipynb")
    assert path == found(folder, toy).path
    assert (
        "toy.ipynb was not handed in: toy (1).ipynb was graded instead. Keep the name that was given.",
    ) == found(folder, toy).notes


@pytest.mark.parametrize("name", ["toy.IPYNB", "toy.ipynb.txt", "Toy.ipynb.json", "toy (1).ipynb"])
def test_endings_that_browsers_add_are_no_obstacle(
    name: str, folder: Path, toy: Sequence[SourceNotebook], build: Any
) -> None:
    path = write(build, folder / name)
    result = found(folder, toy)
    assert path == result.path
    assert (f"toy.ipynb was not handed in: {name} was graded instead. Keep the name that was given.",) == (
        result.notes
    )


def test_only_so_much_is_read_of_one_submission(
    folder: Path, toy: Sequence[SourceNotebook], build: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "BYTES_LIMIT", 2000)
    (folder / EXPECTED).write_bytes(b"x" * 2001)
    write(build, folder / "other.ipynb")
    assert "The notebooks together are larger than" in reason(folder, toy)


def test_of_several_others_the_one_that_defines_most_is_taken(
    folder: Path, toy: Sequence[SourceNotebook], build: Any
) -> None:
    write(build, folder / "a.ipynb", "print('scratch')")
    path = write(build, folder / "b.ipynb")
    write(build, folder / "c.ipynb", "double = None or 3\n1 +")
    assert path == found(folder, toy).path


def test_a_grade_id_counts_like_a_definition(folder: Path, toy: Sequence[SourceNotebook], build: Any) -> None:
    write(build, folder / "a.ipynb", "pass")
    (folder / "b.ipynb").write_bytes(build.bytes(build.solution("double", "...")))
    assert folder / "b.ipynb" == found(folder, toy).path


def test_where_the_expected_one_cannot_be_read_another_may_do(
    folder: Path, toy: Sequence[SourceNotebook], build: Any
) -> None:
    (folder / EXPECTED).write_bytes(b"")
    assert reason(folder, toy).startswith("The file that was handed in is empty (0 bytes).")
    path = write(build, folder / "copy.ipynb")
    assert path == found(folder, toy).path
    assert "toy.ipynb could not be read: copy.ipynb was graded" in found(folder, toy).notes[0]
    lower = write(build, folder / "below" / EXPECTED)
    assert lower == found(folder, toy).path


def test_where_nothing_can_be_read_the_expected_ones_reason_is_told(
    folder: Path, toy: Sequence[SourceNotebook]
) -> None:
    (folder / EXPECTED).write_bytes(b"PK\x03\x04")
    (folder / "other.ipynb").write_bytes(b"")
    assert reason(folder, toy).startswith("The file is a zip archive")


@pytest.mark.parametrize("names", [[], ["toy.py", "toy.ipynb.zip", "toy.txt"]])
def test_without_any_notebook_the_expected_name_is_told(
    names: list[str], folder: Path, toy: Sequence[SourceNotebook]
) -> None:
    for name in names:
        (folder / name).write_text("{}")
    expected = "No notebook was handed in. Hand in toy.ipynb, under exactly this name."
    assert expected == reason(folder, toy)


@pytest.mark.parametrize("place", [".ipynb_checkpoints", "__MACOSX", "__pycache__"])
def test_what_programs_leave_behind_is_no_submission(
    place: str, folder: Path, toy: Sequence[SourceNotebook], build: Any
) -> None:
    write(build, folder / place / EXPECTED)
    write(build, folder / "._toy.ipynb")
    assert reason(folder, toy).startswith("No notebook was handed in.")


def test_links_fifos_and_folders_are_no_notebooks_and_nothing_waits(
    folder: Path, toy: Sequence[SourceNotebook], build: Any, tmp_path: Path
) -> None:
    write(build, tmp_path / "elsewhere" / EXPECTED)
    (folder / EXPECTED).symlink_to(tmp_path / "elsewhere" / EXPECTED)
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(folder / "fifo.ipynb")
    (folder / "folder.ipynb").mkdir()
    assert reason(folder, toy).startswith("No notebook was handed in.")
    assert reason(tmp_path / "nowhere", toy).startswith("No notebook was handed in.")


def test_names_that_are_no_text_are_told_in_text(
    folder: Path, toy: Sequence[SourceNotebook], build: Any
) -> None:
    write(build, folder / os.fsdecode(b"caf\xe9.ipynb"))
    (note,) = found(folder, toy).notes
    assert b"caf\xef\xbf\xbd.ipynb was graded instead" in note.encode()


def test_the_search_has_its_limits(folder: Path, toy: Sequence[SourceNotebook], build: Any) -> None:
    deep = folder.joinpath(*"x" * (DEPTH_LIMIT + 1))
    write(build, deep / EXPECTED)
    assert reason(folder, toy).startswith("No notebook was handed in.")
    for number in range(CANDIDATES_LIMIT):
        write(build, folder / f"{number:02}.ipynb", "pass")
    write(build, folder / "99.ipynb")
    assert folder / "00.ipynb" == found(folder, toy).path


# Several notebooks in one source folder.


@pytest.fixture
def pair(tmp_path: Path, build: Any) -> Sequence[SourceNotebook]:
    source = tmp_path / "source" / "pair"
    source.mkdir(parents=True)
    for file, name in (("one", "double"), ("two", "triple")):
        cells = [build.solution(name, f"def {name}(x):\n    return x"), build.test(name, 3)]
        (source / f"{file}.ipynb").write_bytes(build.bytes(*cells))
    return read_source_folder(source)


def paths(folder: Path, pair: Sequence[SourceNotebook]) -> dict[str, str | None]:
    results = find_notebooks(folder, pair)
    return {name: one.path.name if isinstance(one, Found) else None for name, one in results.items()}


def test_each_notebook_is_found_under_its_own_name(
    folder: Path, pair: Sequence[SourceNotebook], build: Any
) -> None:
    write(build, folder / "one.ipynb", "def triple(x): ...")
    write(build, folder / "two.ipynb", "def double(x): ...")
    assert {"one": "one.ipynb", "two": "two.ipynb"} == paths(folder, pair)


def test_one_that_is_missing_is_not_taken_from_its_neighbour(
    folder: Path, pair: Sequence[SourceNotebook], build: Any
) -> None:
    write(build, folder / "one.ipynb", "def double(x): ...\ndef triple(x): ...")
    assert {"one": "one.ipynb", "two": None} == paths(folder, pair)


def test_two_that_were_renamed_find_their_places(
    folder: Path, pair: Sequence[SourceNotebook], build: Any
) -> None:
    write(build, folder / "a.ipynb", "def triple(x): ...")
    write(build, folder / "b.ipynb", "def double(x): ...")
    assert {"one": "b.ipynb", "two": "a.ipynb"} == paths(folder, pair)


def test_one_notebook_never_stands_for_two(folder: Path, pair: Sequence[SourceNotebook], build: Any) -> None:
    write(build, folder / "all.ipynb", "def double(x): ...\ndef triple(x): ...")
    assert {"one": "all.ipynb", "two": None} == paths(folder, pair)
