"""What students get: ``assignments/multihead`` as committed, and ``autograder release``, which makes it."""

import ast
import json
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.assignments.catalog import assignment_names
from autograder.notebooks.source import read_source_folder

pytestmark = pytest.mark.functional

PROGRAM = Path(sys.executable).with_name("autograder")
ROOT = Path(__file__).parents[2]
RELEASED = ROOT / "assignments" / "multihead"
SOURCE = ROOT / "source" / "multihead"
GIVEN = {"attention", "layer_examples", "outcomes", "pictures", "visible_checks", "worked_examples"}
OPTIONAL = {"matplotlib"}
EACH = pytest.mark.parametrize("name", assignment_names(ROOT))
SENTENCE = "This function is waiting for you: replace this line with your own code."
BLOCKER = Path(__file__).with_name("only_numpy_and_ipython.py")


def autograder(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)


def make_course(folder: Path) -> Path:
    """A course of its own with the source of ``multihead`` and the release that is committed."""
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    shutil.copytree(SOURCE, folder / "source" / "multihead", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(RELEASED, folder / "assignments" / "multihead")
    shutil.copy(RELEASED.with_suffix(".sha256"), folder / "assignments")
    return folder


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course that a test may change."""
    return make_course(tmp_path)


@dataclass(frozen=True)
class Done:
    """A course in which the release was made once more, with what was there before and what was said."""

    course: Path
    before: dict[Path, int]
    output: str


#: Two given files of which the course has links, as two assignments that share a file do.
LINKED = ("worked_examples.py", "figures/growth.svg")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    course = make_course(tmp_path_factory.mktemp("course"))
    for name in LINKED:
        path = course / "source" / "multihead" / name
        path.rename(course / path.name)
        path.symlink_to(course / path.name)
    before = times(course / "assignments")
    process = autograder("release", "multihead", "--course", str(course))
    assert (0, "") == (process.returncode, process.stderr)
    return Done(course, before, process.stdout)


def times(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


@pytest.fixture
def hand_out(tmp_path: Path) -> Path:
    """The folder as a student has it."""
    return Path(shutil.copytree(RELEASED, tmp_path / "multihead"))


def code_cells(notebook: Path) -> list[Any]:
    return [cell for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"]


def grade_id(cell: Any) -> str | None:
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def hidden_lines(source: str) -> Iterator[str]:
    """The lines between nbgrader's markers, markers included."""
    hidden = False
    for line in source.splitlines():
        hidden = hidden or "### BEGIN" in line
        if hidden:
            yield line.strip()
        hidden = hidden and "### END" not in line


# The committed release.


@EACH
def test_the_committed_release_is_fresh(name: str) -> None:
    done = autograder("release", name, "--check", "--course", str(ROOT))
    assert (0, "", f"assignments/{name}: fresh\n") == (done.returncode, done.stderr, done.stdout)


@EACH
def test_what_is_released_are_plain_files_whatever_links_the_source_has(name: str) -> None:
    for folder in (ROOT / "assignments" / name, ROOT / "solutions" / name):
        assert [] == [path for path in folder.rglob("*") if path.is_symlink()]


@EACH
def test_no_line_of_a_solution_or_a_hidden_test_is_released(name: str) -> None:
    source = "\n".join(cell.source for cell in code_cells(ROOT / "source" / name / f"{name}.ipynb"))
    secret = {line for line in hidden_lines(source) if len(line) > len(") from None")}
    released = "\n".join(cell.source for cell in code_cells(ROOT / "assignments" / name / f"{name}.ipynb"))
    assert len(secret) > 25
    assert set() == {line for line in released.splitlines() if line.strip() in secret}


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("name", files_below(RELEASED))
def test_no_released_file_speaks_of_what_is_hidden(name: str) -> None:
    text = (RELEASED / name).read_text(encoding="utf-8")
    words = ("### BEGIN", "### END", "HIDDEN TESTS", "in_kernel", "autograder", "solutions", "__import__")
    assert [] == [word for word in words if word in text]


def test_everything_that_is_imported_is_in_the_folder_the_standard_library_or_numpy() -> None:
    texts = [path.read_text(encoding="utf-8") for path in RELEASED.glob("*.py")]
    texts += [cell.source for cell in code_cells(RELEASED / "multihead.ipynb")]
    modules: set[str] = set()
    for node in (node for text in texts for node in ast.walk(ast.parse(text))):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add((node.module or "").partition(".")[0])
    assert "numpy" in modules
    assert set() == modules - sys.stdlib_module_names - {"numpy"} - GIVEN - OPTIONAL


def run_blocked(folder: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, BLOCKER, "multihead.ipynb"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (0, "") == (done.returncode, done.stderr)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def test_it_runs_with_numpy_and_ipython_alone(hand_out: Path) -> None:
    ended = run_blocked(hand_out)
    exercises = [one.name for one in read_source_folder(SOURCE)[0].exercises]
    expected = {f"test_{name}": f"NotImplementedError: {SENTENCE}" for name in exercises}
    assert expected == {cell: error for cell, error in ended.items() if error is not None}
    assert {"split_heads", "multihead_backward"} <= ended.keys()


def test_a_module_that_students_need_not_have_would_be_noticed(hand_out: Path) -> None:
    with (hand_out / "attention.py").open("a", encoding="utf-8") as file:
        file.write("\nimport nbformat\n")
    assert "ModuleNotFoundError: nbformat.py is not beside this notebook" in str(run_blocked(hand_out))


@pytest.mark.parametrize("missing", sorted(GIVEN - {"pictures"}))
def test_a_file_that_is_missing_is_named_in_a_friendly_sentence(missing: str, hand_out: Path) -> None:
    (hand_out / f"{missing}.py").unlink()
    first_error = next(error for error in run_blocked(hand_out).values() if error)
    assert f"{missing}.py is not beside this notebook: put it into the same folder" in first_error


def test_jupyter_opens_it_and_runs_every_cell(hand_out: Path) -> None:
    notebook = nbformat.read(hand_out / "multihead.ipynb", as_version=4)
    nbformat.validate(notebook)
    NotebookClient(
        notebook, allow_errors=True, resources={"metadata": {"path": str(hand_out)}}, timeout=60
    ).execute()
    errors = {
        grade_id(cell): output.evalue
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    }
    assert 4 == len(errors)
    assert {SENTENCE} == set(errors.values())


# The verb that makes it.


def test_a_release_that_is_up_to_date_is_left_alone(done: Done) -> None:
    assert f"{done.course}/assignments/multihead: 14 files, nothing changed" == done.output.splitlines()[0]
    assert done.before == times(done.course / "assignments")


def test_the_zip_holds_the_folder(done: Done) -> None:
    with zipfile.ZipFile(done.course / "dist" / "multihead.zip") as archive:
        unpacked = {name: archive.read(name) for name in archive.namelist()}
    assert {f"multihead/{name}": data for name, data in files_below(RELEASED).items()} == unpacked
    assert sorted(unpacked) == list(unpacked)


def test_links_in_the_source_become_plain_files(done: Done) -> None:
    with zipfile.ZipFile(done.course / "dist/multihead.zip") as archive:
        for name in LINKED:
            entry = archive.getinfo(f"multihead/{name}")
            assert not stat.S_ISLNK(entry.external_attr >> 16)
            assert (SOURCE / name).read_bytes() == archive.read(entry)


def test_the_zip_is_the_same_each_time(done: Done) -> None:
    archive = done.course / "dist" / "multihead.zip"
    first = archive.read_bytes()
    archive.unlink()
    autograder("release", "multihead", "--course", str(done.course))
    assert first == archive.read_bytes()


def test_the_assignment_is_in_the_gradebook_afterwards(done: Done) -> None:
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{done.course}/gradebook.db") as gradebook:
        assert 22 == gradebook.find_assignment("multihead").max_score


def test_a_stale_release_is_noticed_and_made_anew_without_questions(course: Path) -> None:
    (course / "source/multihead/README.md").write_text("New.\n", encoding="utf-8")
    (course / "source/multihead/requirements.txt").unlink()
    (course / "source/multihead/masks.py").write_text("MASK = None\n", encoding="utf-8")
    before = times(course)
    done = autograder("release", "multihead", "--check", "--course", str(course))
    assert 1 == done.returncode
    assert before == times(course)
    assert [
        "assignments/multihead.sha256: out of date",
        "assignments/multihead/README.md: out of date",
        "assignments/multihead/masks.py: missing",
        "assignments/multihead/requirements.txt: no longer in the source",
        "The release of multihead is stale. Make it anew: autograder release multihead",
    ] == done.stdout.splitlines()
    assert 0 == autograder("release", "multihead", "--course", str(course)).returncode
    assert "New.\n" == (course / "assignments/multihead/README.md").read_text(encoding="utf-8")
    assert not (course / "assignments/multihead/requirements.txt").exists()
    assert (course / "assignments/multihead/masks.py").exists()


def test_what_was_edited_by_hand_is_overwritten_only_by_force(course: Path) -> None:
    mine = course / "assignments/multihead/mine.md"
    mine.write_text("notes\n", encoding="utf-8")
    readme = course / "assignments/multihead/README.md"
    readme.write_text("Edited.\n", encoding="utf-8")
    done = autograder("release", "multihead", "--course", str(course))
    assert (2, "") == (done.returncode, done.stdout)
    assert "edited or added by hand: multihead/README.md, multihead/mine.md." in done.stderr
    assert not (course / "gradebook.db").exists()
    assert "Edited.\n" == readme.read_text(encoding="utf-8")
    assert 0 == autograder("release", "multihead", "--force", "--course", str(course)).returncode
    assert not mine.exists()
    assert (RELEASED / "README.md").read_bytes() == readme.read_bytes()


def test_a_source_that_nbgrader_refuses_leaves_the_old_release(course: Path) -> None:
    notebook = course / "source/multihead/multihead.ipynb"
    notebook.write_text(
        notebook.read_text(encoding="utf-8").replace("### END SOLUTION", ""), encoding="utf-8"
    )
    done = autograder("release", "multihead", "--course", str(course))
    assert 2 == done.returncode
    assert "No end solution statement found" in done.stderr
    assert "Traceback" not in done.stderr
    assert (RELEASED / "multihead.ipynb").read_bytes() == (
        course / "assignments/multihead/multihead.ipynb"
    ).read_bytes()


def test_nbgraders_own_command_makes_the_same_release(course: Path) -> None:
    shutil.rmtree(course / "assignments")
    environment = {"PATH": f"{PROGRAM.parent}:/usr/bin:/bin", "HOME": str(course)}
    subprocess.run(
        ["nbgrader", "generate_assignment", "multihead"],
        cwd=course,
        env=environment,
        check=True,
        capture_output=True,
    )
    assert files_below(RELEASED) == files_below(course / "assignments/multihead")


def test_a_course_without_configuration_is_released_with_the_kits(course: Path) -> None:
    (course / "nbgrader_config.py").unlink()
    assert 0 == autograder("release", "multihead", "--check", "--course", str(course)).returncode
