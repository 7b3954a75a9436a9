"""Plain nbgrader, without any configuration of ours: hidden checks in the student's own kernel."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.functional

SPOILING = """\
def merge_heads(h):
    B, H, T, d = h.shape
    x = h.transpose(0, 2, 1, 3).reshape(B, T, H * d).copy()
    h[...] = 0
    return x
"""
AVERAGED = "    return dx, {name: grad / x.shape[1] for name, grad in grads.items()}\n"


@dataclass(frozen=True)
class Site:
    """A course that nbgrader's own commands have released and graded, with its defaults alone."""

    folder: Path
    scores: dict[str, dict[str, float]]

    def output(self, student: str, exercise: str) -> str:
        """What the test cell of an exercise has printed."""
        path = self.folder / "autograded" / student / "multihead" / "multihead.ipynb"
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == f"test_{exercise}":
                return "".join("".join(output.get("text", "")) for output in cell["outputs"])
        raise AssertionError(f"no test cell of {exercise}")


@pytest.fixture(scope="module")
def site(
    made_once: Callable[..., Path],
    make_course: Callable[[Path], Any],
    notebooks: Any,
    program: Callable[..., Any],
) -> Site:
    from nbgrader.api import Gradebook

    def fill(folder: Path) -> Any:
        course = make_course(folder / "course")
        (course.folder / "nbgrader_config.py").unlink()
        backward = notebooks.right()["multihead_backward"].replace("    return dx, grads\n", AVERAGED)
        cells = notebooks.right(merge_heads=SPOILING, multihead_backward=backward)
        course.hand_in("partial", notebooks.filled(cells))
        course.hand_in("released", notebooks.released())
        environment = {"HOME": str(folder), "JUPYTER_NO_CONFIG": "1"}
        for command in ("generate_assignment", "autograde"):
            done = program(command, "multihead", cwd=course.folder, name="nbgrader", **environment)
            assert 0 == done.code, done.err
        return done

    course = made_once("site", fill) / "course"
    assert (course / "release" / "multihead" / "multihead.ipynb").is_file()
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        scores = {
            student: {
                grade.cell.name.removeprefix("test_"): grade.score
                for grade in gradebook.find_submission_notebook("multihead", "multihead", student).grades
            }
            for student in ("partial", "released")
        }
    return Site(course, scores)


def test_points_are_given_in_part(site: Site) -> None:
    partial = site.scores["partial"]
    assert {"split_heads": 3.0, "multihead": 6.0} == {
        name: partial[name] for name in ("split_heads", "multihead")
    }
    assert 1 < partial["merge_heads"] < 2
    assert 0 == partial["multihead_backward"]  # a visible check that fails ends its cell


def test_stubs_earn_nothing(site: Site) -> None:
    assert {0.0} == set(site.scores["released"].values())


def test_what_failed_is_said_on_standard_output(site: Site) -> None:
    said = site.output("partial", "merge_heads")
    assert re.search(r"^untouched: merge_heads changes ", said, re.MULTILINE)
    assert "" == site.output("partial", "split_heads")


def test_no_record_of_ours_is_needed(site: Site) -> None:
    assert not (site.folder / ".autograder").exists()


def test_the_hidden_region_is_one_call_that_names_the_exercise(site: Site) -> None:
    source = json.loads((site.folder / "source/multihead/multihead.ipynb").read_text(encoding="utf-8"))
    hidden = [
        "".join(cell["source"]).partition("### BEGIN HIDDEN TESTS\n")[2].partition("\n### END")[0]
        for cell in source["cells"]
        if cell["metadata"].get("nbgrader", {}).get("grade_id", "").startswith("test_")
    ]
    names = ("split_heads", "merge_heads", "multihead", "multihead_backward")
    assert len(names) == len(hidden)
    for name, call in zip(names, hidden, strict=True):
        assert 1 == len(call.splitlines())
        assert f'.score("multihead", "{name}", globals())' in call
