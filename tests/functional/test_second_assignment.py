"""A second assignment, ``tests/courses/layernorm``, in a course of its own: the engine knows nothing of it.

Released, graded, diagnosed and certified by the real command line, told of by ``--course`` alone.
"""

import ast
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.functional

ROOT = Path(__file__).parents[2]
LAYERNORM = ROOT / "tests" / "courses" / "layernorm"
EXERCISES = ("layernorm", "layernorm_backward")
#: As a student wrote it: the sum of squares is divided by one less than there are channels.
UNBIASED = """
def layernorm(x, gamma, beta, eps):
    mu = np.mean(x, axis=1, keepdims=True)
    sd = np.sqrt(np.var(x, axis=1, keepdims=True, ddof=1) + eps)
    hat = (x - mu) / sd
    return hat * gamma + beta, dict(normalised=hat, deviation=sd, gamma=gamma)
"""
#: As a student wrote it: only the mean is differentiated.
MEAN_ALONE = """
def layernorm_backward(cache, dy):
    g = dy * cache["gamma"]
    dx = (g - g.mean(axis=1, keepdims=True)) / cache["deviation"]
    return dx, (dy * cache["normalised"]).sum(0), dy.sum(0)
"""


@pytest.fixture(scope="module")
def course(made_once: Callable[..., Path], program: Callable[..., Any]) -> Path:
    """The course, with its assignment released and four notebooks graded into ``results.json`` beside it."""

    def fill(folder: Path) -> Any:
        made = folder / "course"
        shutil.copytree(LAYERNORM, made)
        shutil.copy(ROOT / "nbgrader_config.py", made)
        released = program("release", "layernorm", "--course", made, cwd=folder)
        assert (0, "") == (released.code, released.err)
        right = solutions()
        for student, cells in (
            ("ada", right),
            ("bob", {**right, "layernorm": UNBIASED}),
            ("cy", {**right, "layernorm_backward": MEAN_ALONE}),
            ("dee", {}),
        ):
            hand_in(made, student, cells)
        words = ("grade", "layernorm", "--course", made, "--json", folder / "results.json")
        return program(*words, cwd=folder)

    return made_once("second", fill) / "course"


@pytest.fixture(scope="module")
def results(course: Path) -> dict[str, Any]:
    """Four students' results by name."""
    code, _, err = json.loads((course.parent / "done.json").read_text())
    assert (0, "") == (code, err)
    text = (course.parent / "results.json").read_text()
    return {one["student"]: one for one in json.loads(text)["submissions"]}


def solutions() -> dict[str, str]:
    """The reference's functions as a student would have them."""
    text = (LAYERNORM / "solutions" / "layernorm.py").read_text()
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            for argument in node.args.args:
                argument.annotation = None
            found[node.name] = ast.unparse(node)
    return found


def hand_in(course: Path, student: str, cells: dict[str, str]) -> None:
    notebook = json.loads((course / "assignments/layernorm/layernorm.ipynb").read_text())
    for cell in notebook["cells"]:
        cell["source"] = cells.get(cell["metadata"].get("nbgrader", {}).get("grade_id"), cell["source"])
    folder = course / "submitted" / student / "layernorm"
    folder.mkdir(parents=True)
    (folder / "layernorm.ipynb").write_text(json.dumps(notebook))


def scores(result: dict[str, Any]) -> dict[str, float | None]:
    return {one["name"]: one["score"] for one in result["exercises"]}


def diagnoses(result: dict[str, Any], exercise: str) -> set[str]:
    (found,) = (one for one in result["exercises"] if one["name"] == exercise)
    return {check["diagnosis"]["id"] for check in found["checks"] if check["diagnosis"] is not None}


def test_its_files_are_those_that_the_guide_lists(tmp_path: Path) -> None:
    def listed() -> Iterator[str]:
        start = (ROOT / "CONTRIBUTING.md").read_text().split("\n## ")[1]
        for path in re.findall(r"^\d+\. `([^`]+)`", start, re.MULTILINE):
            yield path.replace("NAME", "layernorm")

    needed = [path for path in listed() if "EXERCISE" not in path and "STYLE" not in path]
    for path in needed:
        assert (LAYERNORM / path).is_file(), path
    for exercise in EXERCISES:
        assert (LAYERNORM / f"autograder/assignments/layernorm/mistakes/{exercise}.py").is_file()
    there = {path.relative_to(LAYERNORM).as_posix() for path in LAYERNORM.rglob("*.py")}
    others = {path for path in there - set(needed) if not re.search(r"/(mistakes|variants)/\w+\.py$", path)}
    assert {"autograder/assignments/layernorm/draws.py"} == others


def test_a_right_notebook_earns_all_points(results: dict[str, Any]) -> None:
    assert {"layernorm": 3.0, "layernorm_backward": 5.0, "zero_sum": 0.0} == scores(results["ada"])


def test_an_untouched_notebook_earns_nothing(results: dict[str, Any]) -> None:
    assert {"layernorm": 0.0, "layernorm_backward": 0.0, "zero_sum": 0.0} == scores(results["dee"])


def test_a_known_mistake_is_named_and_costs_its_own_points_alone(results: dict[str, Any]) -> None:
    bob = results["bob"]
    assert {"unbiased_variance"} == diagnoses(bob, "layernorm")
    assert scores(bob)["layernorm"] == 0.0
    assert scores(bob)["layernorm_backward"] == 5.0


def test_a_known_mistake_in_the_backward_pass_is_named(results: dict[str, Any]) -> None:
    cy = results["cy"]
    assert {"deviation_is_constant"} == diagnoses(cy, "layernorm_backward")
    assert {"layernorm": 3.0, "layernorm_backward": 2.0, "zero_sum": 0.0} == scores(cy)


def test_one_notebook_is_checked_with_its_course_named(
    course: Path, results: dict[str, Any], program: Callable[..., Any]
) -> None:
    notebook = course / "submitted/cy/layernorm/layernorm.ipynb"
    done = program("check", notebook, "--course", course, cwd=course.parent)
    assert (1, "") == (done.code, done.err)
    assert "Only the mean depends on x." in " ".join(done.out.split())


def test_its_checks_are_certified(course: Path, program: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    words = ("certify", "layernorm", "--course", course, "--seeds", "10", "--json", file)
    done = program(*words, "--page", tmp_path / "certificate.html", cwd=course.parent)
    assert (0, "") == (done.code, done.err)
    assert done.out.startswith("layernorm: certified on 10 seeds.")
    certificate = json.loads(file.read_text())
    assert ["reference", "jacobian", "loops"] == [one["name"] for one in certificate["right"]]
    assert 9 == sum(len(exercise["mistakes"]) for exercise in certificate["exercises"])
    assert all(check["kills"] for exercise in certificate["exercises"] for check in exercise["checks"])
