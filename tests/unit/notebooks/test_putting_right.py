"""Notebooks that are put right before they run: torn functions, stubs in the way, lost imports, any order."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from autograder.notebooks.reading import read_notebook
from autograder.notebooks.salvage import GIVEN, NOTES_LIMIT, Plan, RunCell, plan
from autograder.notebooks.source import SourceNotebook, read_source

F = "def f(x):\n    return x"
G = "def g(x):\n    return f(x)"
STUB = "def f(x):\n    raise NotImplementedError"
PlanOf = Callable[..., Plan]
Steps = Callable[[Plan], list[str]]


def test_an_exercise_that_needs_another_one_is_judged_when_both_are_there(
    plan_of: PlanOf, build: Any, steps: Steps
) -> None:
    planned = plan_of(build.solution("g", G), build.test("g"), build.solution("f", F), build.test("f"))
    assert ["0", "2", "g?", "f?"] == steps(planned)
    assert "`g` needs `f`: it was judged after that, below cell 3." in planned.notes


def test_what_the_test_of_an_exercise_calls_is_needed_too(tmp_path: Path, build: Any, steps: Steps) -> None:
    path = tmp_path / "lab.ipynb"
    path.write_bytes(
        build.bytes(
            build.solution("f", F), build.test("f"), build.solution("g", G), build.test("g", 1, "check(f, g)")
        )
    )
    alone = build.solution("g", "def g(x):\n    return 2 * x")
    cells = [alone, build.test("g"), build.solution("f", F), build.test("f")]
    assert ["0", "2", "g?", "f?"] == steps(plan(read_notebook(build.bytes(*cells)), read_source(path)))


@pytest.mark.parametrize("stub", [STUB, "def f(x):\n    ...", 'def f(x):\n    """What it does."""'])
def test_a_stub_below_does_not_take_the_place_of_what_is_written(
    plan_of: PlanOf, build: Any, stub: str, steps: Steps
) -> None:
    planned = plan_of(
        build.solution("f", F),
        build.solution("f", stub),
        build.test("f"),
        build.solution("g", G),
        build.test("g"),
        build.question("why"),
    )
    assert ["0", "f?", "3", "g?"] == steps(planned)
    assert ("Stubs of functions that are written further up were left out: cell 2.",) == planned.notes


def test_what_comes_with_a_stub_in_one_cell_runs(plan_of: PlanOf, build: Any, steps: Steps) -> None:
    more = f"scale = 2\n{STUB}"
    planned = plan_of(build.solution("f", F), build.code(more), build.solution("g", G), build.test("g"))
    assert ["0", "f?", "1", "2", "g?"] == steps(planned)


def test_the_whole_release_below_ones_work_hides_nothing(plan_of: PlanOf, build: Any, steps: Steps) -> None:
    handed_out = [
        build.solution("f", STUB),
        build.test("f"),
        build.solution("g", STUB.replace("f(x)", "g(x)")),
    ]
    mine = [build.solution("f", F), build.test("f"), build.solution("g", G), build.test("g")]
    assert ["0", "2", "f?", "g?"] == steps(plan_of(*mine, *handed_out, build.test("g")))


@pytest.mark.parametrize(
    "pieces",
    [
        ["def f(x):\n    y = x", "    return y"],
        ["def f(x):\n    y = (x,", "         1)\n    return y"],
        ["def f(x):\n    for y in x:", "        y += 1", "    return y"],
        ["def f(x):\n    y = x", "    y += 1", "    return y"],
        ['def f(x):\n    """What it does."""', "    return x"],
        ["%%time\ndef f(x):\n    y = x\n", "\n    return y\n\nprint(f(1))"],
    ],
)
def test_a_function_that_was_torn_apart_is_put_together(
    plan_of: PlanOf, build: Any, pieces: list[str], steps: Steps
) -> None:
    first, *rest = pieces
    planned = plan_of(
        build.solution("f", first), *map(build.code, rest), build.test("f"), build.solution("g", G)
    )
    assert RunCell(0, "\n".join(pieces)) == planned.steps[0]
    assert ["0", "f?", str(len(pieces) + 1), "g?"] == steps(planned)
    assert " were put together again: a function was split between them." in " ".join(planned.notes)


@pytest.mark.parametrize("below", ["    x = 1", "return 3", "    print(f(1))\n", "  oops ("])
def test_what_stands_below_a_whole_function_runs_by_itself(
    plan_of: PlanOf, build: Any, below: str, steps: Steps
) -> None:
    cells = [build.solution("f", F), build.code(below), build.test("f"), build.solution("g", G)]
    assert ["0", "1", "f?", "3", "g?"] == steps(plan_of(*cells, build.test("g")))


@pytest.fixture
def lesson(tmp_path: Path, build: Any) -> SourceNotebook:
    """A lesson that begins with imports that are not locked, and a cell that shows something."""
    path = tmp_path / "lesson.ipynb"
    cells = [
        build.code(GIVEN_TEXT),
        build.code("print(np.arange(3))"),
        build.solution("f", F),
        build.test("f"),
    ]
    path.write_bytes(build.bytes(*cells))
    return read_source(path)


USES = "def f(x):\n    return two * np.asarray(x)"
GIVEN_TEXT = (
    "import numpy as np\ntry:\n    from given import two\nexcept ImportError:\n    raise\nLIMIT = -1.5"
)


@pytest.mark.parametrize("below", [[], [GIVEN_TEXT], ["import numpy as np"]])
def test_lost_imports_of_the_lesson_run_first(
    lesson: SourceNotebook, build: Any, below: list[str], steps: Steps
) -> None:
    cells = [build.solution("f", USES), build.test("f"), *map(build.code, below)]
    planned = plan(read_notebook(build.bytes(*cells)), lesson)
    assert RunCell(GIVEN, GIVEN_TEXT) == planned.steps[0]
    assert ["-1", "0", "f?", *map(str, range(2, 2 + len(below)))] == steps(planned)
    assert ("The lesson's first imports were missing or too late: they were run first.",) == planned.notes


@pytest.mark.parametrize(
    ("above", "solution"),
    [
        ([GIVEN_TEXT], USES),
        (["import numpy as np\nfrom given import two"], USES),
        (["from given import two", "np = __import__('numpy')"], USES),
        ([], "import numpy as np\ntwo = 2\n" + USES),
        ([], "def f(x):\n    return x"),
    ],
)
def test_imports_that_are_there_or_not_needed_are_left_alone(
    lesson: SourceNotebook, build: Any, above: list[str], solution: str, steps: Steps
) -> None:
    cells = [*map(build.code, above), build.solution("f", solution), build.test("f")]
    planned = plan(read_notebook(build.bytes(*cells)), lesson)
    assert [*map(str, range(len(above) + 1)), "f?"] == steps(planned)
    assert () == planned.notes


@pytest.mark.parametrize(
    "other", ["import pandas as pd", "from google.colab import drive", "%magic\nimport torch"]
)
def test_imports_that_stand_beside_others_that_may_fail_run_first_too(
    lesson: SourceNotebook, build: Any, other: str, steps: Steps
) -> None:
    cells = [build.code(f"{other}\n{GIVEN_TEXT}"), build.solution("f", USES), build.test("f")]
    planned = plan(read_notebook(build.bytes(*cells)), lesson)
    assert RunCell(GIVEN, GIVEN_TEXT) == planned.steps[0]
    assert ["-1", "0", "1", "f?"] == steps(planned)
    assert () == planned.notes
    cells[0] = build.code(f"import math\n{GIVEN_TEXT}")
    assert ["0", "1", "f?"] == steps(plan(read_notebook(build.bytes(*cells)), lesson))


def test_notes_are_few_and_short_whatever_is_wrong(plan_of: PlanOf, build: Any) -> None:
    texts = [build.raw(f"{F}\n# {number}") for number in range(200)]
    marked = [build.code(f"x = {number}", "why") for number in range(200)]
    notes = plan_of(*texts, *marked).notes
    assert len(notes) == NOTES_LIMIT + 1
    assert "more notes were left out." in notes[-1]
    assert all(len(note) < 200 for note in notes)


CLASS = "class Layer:\n    def __init__(self, size):\n        self.size = size"
SPLIT = "@method_of(Layer)\ndef split(self, x):\n    return x"
WAITING = "@method_of(Layer)\ndef split(self, x):\n    raise NotImplementedError"
WHOLE = f"{CLASS}\n\n    def split(self, x):\n        return x"


@pytest.fixture
def growing(tmp_path: Path, build: Any) -> SourceNotebook:
    """A lesson in which a class grows by a method."""
    path = tmp_path / "growing.ipynb"
    cells = [build.solution("Layer", CLASS), build.test("Layer"), build.solution("split", SPLIT)]
    path.write_bytes(build.bytes(*cells, build.test("split", 1, "check(Layer)")))
    return read_source(path)


def test_methods_in_the_body_of_the_class_are_not_overwritten_by_stubs(
    growing: SourceNotebook, build: Any, steps: Steps
) -> None:
    cells = [build.solution("Layer", WHOLE), build.test("Layer"), build.solution("split", WAITING)]
    planned = plan(read_notebook(build.bytes(*cells, build.test("split"))), growing)
    assert ["0", "Layer?", "split?"] == steps(planned)
    planned = plan(read_notebook(build.bytes(*cells[:2])), growing)
    assert ["0", "split?", "Layer?"] == steps(planned)


def test_a_method_that_is_written_in_its_cell_runs_there(
    growing: SourceNotebook, build: Any, steps: Steps
) -> None:
    cells = [build.solution("Layer", WHOLE), build.test("Layer"), build.solution("split", SPLIT)]
    planned = plan(read_notebook(build.bytes(*cells, build.test("split"))), growing)
    assert ["0", "Layer?", "-1", "2", "split?"] == steps(planned)


@pytest.mark.parametrize(
    ("above", "is_empty"),
    [([], True), ([CLASS.replace("size", "(")], True), (["1 / 0"], True), ([CLASS], False)],
    ids=["no class", "no Python", "an error", "a class"],
)
def test_a_method_can_be_added_whatever_became_of_its_class(
    growing: SourceNotebook, build: Any, above: list[str], is_empty: bool
) -> None:
    cells = [*(build.solution("Layer", text) for text in above), build.code(SPLIT), build.test("split")]
    planned = plan(read_notebook(build.bytes(*cells)), growing)
    names: dict[str, Any] = {"method_of": lambda owner: lambda function: setattr(owner, "split", function)}
    for one in planned.steps:
        if isinstance(one, RunCell):
            with suppress(SyntaxError, ZeroDivisionError):
                exec(one.source, names)
    assert "split" in vars(names["Layer"])
    if is_empty:
        with pytest.raises(NotImplementedError):
            names["Layer"](3)
    else:
        assert 3 == names["Layer"](3).size


def test_a_class_is_found_by_its_name_and_its_stub_further_down_does_not_take_its_place(
    growing: SourceNotebook, build: Any, steps: Steps
) -> None:
    stub = "class Layer:\n    def __init__(self, size):\n        raise NotImplementedError"
    cells = [build.code(CLASS), build.solution("Layer", stub), build.test("Layer"), build.code(SPLIT)]
    planned = plan(read_notebook(build.bytes(*cells)), growing)
    assert ["0", "Layer?", "-1", "3", "split?"] == steps(planned)
