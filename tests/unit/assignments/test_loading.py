import sys
from pathlib import Path

import pytest

from autograder.assignments.loading import load_checks, load_module, load_modules, load_neighbour
from autograder.errors import CourseError


def course(folder: Path, value: int) -> tuple[Path, Path]:
    """A helper called ``neighbour`` and a module that imports it by its bare name."""
    helpers = folder / "source"
    helpers.mkdir(parents=True)
    (helpers / "neighbour.py").write_text(f"value = {value}\n")
    (folder / "reference.py").write_text("import neighbour\n\nvalue = neighbour.value\n")
    return folder / "reference.py", helpers


def test_two_courses_with_the_same_names_do_not_mix(tmp_path: Path) -> None:
    first, second = (
        load_module(p, helpers=h) for p, h in (course(tmp_path / n, i) for i, n in enumerate("ab"))
    )
    assert [0, 1] == [first.value, second.value]
    assert first.__name__ != second.__name__


def test_modules_that_are_loaded_together_share_what_they_import(tmp_path: Path) -> None:
    path, helpers = course(tmp_path, 1)
    (helpers / "neighbour.py").write_text("class Shape:\n    pass\n")
    for name in ("reference.py", "experiment.py"):
        path.with_name(name).write_text("from neighbour import Shape\n")
    first, second = load_modules([path, path.with_name("experiment.py")], helpers=helpers)
    assert first.Shape is second.Shape
    assert first.Shape is not load_module(path, helpers=helpers).Shape
    with pytest.raises(CourseError, match=r"gone\.py is missing"):
        load_modules([path, tmp_path / "gone.py"], helpers=helpers)
    assert "neighbour" not in sys.modules


def test_loading_leaves_path_and_bare_names_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, helpers = course(tmp_path, 1)
    mine = type(sys)("neighbour")
    monkeypatch.setitem(sys.modules, "neighbour", mine)
    before = list(sys.path)
    assert load_module(path, helpers=helpers).value == 1
    assert sys.modules["neighbour"] is mine
    assert before == sys.path
    assert not list(tmp_path.rglob("__pycache__"))


def test_a_module_is_run_anew_each_time_it_is_loaded(tmp_path: Path) -> None:
    path, helpers = course(tmp_path, 1)
    load_module(path, helpers=helpers)
    (helpers / "neighbour.py").write_text("value = 2\n")
    assert load_module(path, helpers=helpers).value == 2


def test_a_module_may_define_dataclasses(tmp_path: Path) -> None:
    path = tmp_path / "reference.py"
    path.write_text("from dataclasses import dataclass\n\n\n@dataclass\nclass A:\n    x: 'int'\n")
    assert load_module(path, helpers=tmp_path).A(1).x == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import nothing_such", "ModuleNotFoundError: No module named 'nothing_such'"),
        ("def f(", "SyntaxError"),
    ],
)
def test_a_module_that_does_not_run_is_named_and_forgotten(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "reference.py").write_text(text)
    before = set(sys.modules)
    with pytest.raises(CourseError, match=rf"reference\.py cannot be loaded: .*{sentence}"):
        load_module(tmp_path / "reference.py", helpers=tmp_path)
    assert before == set(sys.modules)


def test_a_missing_module_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"reference\.py is missing"):
        load_module(tmp_path / "reference.py", helpers=tmp_path)


def test_checks_of_a_course_may_import_their_neighbours(tmp_path: Path) -> None:
    _, helpers = course(tmp_path, 3)
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "checks.py").write_text(
        "import neighbour\nfrom .draws import draw\n\nchecks = draw + neighbour.value\n"
    )
    (folder / "draws.py").write_text("draw = 4\n")
    assert load_checks(folder, helpers=helpers).checks == 7
    (folder / "draws.py").write_text("draw = 50\n")
    assert load_checks(folder, helpers=helpers).checks == 53


def test_a_module_beside_the_checks_is_loaded_once_and_named_where_it_is_missing(tmp_path: Path) -> None:
    _, helpers = course(tmp_path, 3)
    folder = tmp_path / "toy"
    (folder / "mistakes").mkdir(parents=True)
    (folder / "mistakes" / "double.py").write_text("import neighbour\n\nvalue = neighbour.value\n")
    module = load_neighbour(folder, "mistakes.double", helpers=helpers)
    assert module.value == 3
    assert load_neighbour(folder, "mistakes.double", helpers=helpers) is module
    with pytest.raises(CourseError, match=r"mistakes/half\.py is missing"):
        load_neighbour(folder, "mistakes.half", helpers=helpers)
