from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.notebooks.reading import read_notebook
from autograder.notebooks.salvage import Examine, Plan, RunCell, plan
from autograder.notebooks.source import SourceNotebook

F = "def f(x):\n    return x"
G = "def g(x):\n    return f(x)"
STUB = "def f(x):\n    raise NotImplementedError"
PlanOf = Callable[..., Plan]
Steps = Callable[[Plan], list[str]]


def test_an_ordinary_submission_runs_in_order_and_is_judged_at_its_test_cells(
    plan_of: PlanOf, build: Any
) -> None:
    planned = plan_of(
        build.code("import numpy", "setup", locked=True),
        build.solution("f", F),
        build.code("f(1)"),
        build.test("f", 1, "check(f)"),
        build.code("x = 2"),
        build.solution("g", G),
        build.test("g", 1, "check(g)"),
        build.question("why"),
        build.code("   "),
        build.code("last = 1"),
    )
    assert planned == Plan(
        (
            RunCell(0, "import numpy"),
            RunCell(1, F),
            RunCell(2, "f(1)"),
            Examine("f"),
            RunCell(4, "x = 2"),
            RunCell(5, G),
            Examine("g"),
            RunCell(9, "last = 1"),
        )
    )


def test_the_text_of_a_test_cell_never_runs_whatever_it_holds(
    plan_of: PlanOf, build: Any, steps: Steps
) -> None:
    cheat = build.test("f", 1, "score = 100")
    planned = plan_of(build.solution("f", F), cheat, cheat, build.solution("g", G), build.test("g"))
    assert ["0", "f?", "3", "g?"] == steps(planned)


def test_a_missing_test_cell_is_taken_to_stand_directly_after_the_solution(
    plan_of: PlanOf, build: Any, steps: Steps
) -> None:
    planned = plan_of(build.solution("f", F), build.code("f = 7"), build.solution("g", G), build.test("g"))
    assert ["0", "f?", "1", "2", "g?"] == steps(planned)
    assert "The test cell of `f` is missing: the function was judged directly after cell 1." in planned.notes


def test_a_test_cell_moved_before_its_solution_is_taken_to_stand_after_it(
    plan_of: PlanOf, build: Any, steps: Steps
) -> None:
    planned = plan_of(build.test("f"), build.solution("f", F), build.solution("g", G), build.test("g"))
    assert ["1", "f?", "2", "g?"] == steps(planned)
    assert (
        "The test cell of `f` stands before the function: the function was judged directly after cell 2."
        in planned.notes
    )


def test_a_test_cell_moved_further_down_keeps_its_place(plan_of: PlanOf, build: Any, steps: Steps) -> None:
    cells = [build.solution("f", F), build.solution("g", G), build.test("g"), build.test("f")]
    planned = plan_of(*cells, build.question("why"))
    assert ["0", "1", "g?", "f?"] == steps(planned)
    assert () == planned.notes


def test_the_state_judged_is_the_one_at_the_test_cell_not_at_the_end(
    plan_of: PlanOf, build: Any, steps: Steps
) -> None:
    planned = plan_of(
        build.solution("f", F), build.test("f"), build.code(F), build.solution("g", G), build.test("g")
    )
    assert ["0", "f?", "2", "3", "g?"] == steps(planned)


@pytest.mark.parametrize(
    "definition",
    [
        F,
        "f = lambda x: x",
        "%%time\n" + F,
        "async def f(x):\n    return x",
        "class f:\n    pass",
        "from library import f",
        "%matplotlib inline\nf = abs",
    ],
)
def test_without_its_mark_a_solution_is_found_by_the_function_it_defines(
    plan_of: PlanOf, build: Any, definition: str, steps: Steps
) -> None:
    planned = plan_of(build.code("x = 1"), build.code(definition), build.solution("g", G), build.test("g"))
    assert ["0", "1", "f?", "2", "g?"] == steps(planned)
    assert "The mark of the cell of `f` was lost: it was found by the function that it defines." in (
        planned.notes
    )


def test_of_several_definitions_without_marks_the_last_one_counts(
    plan_of: PlanOf, build: Any, steps: Steps
) -> None:
    planned = plan_of(build.code(F), build.code("x"), build.code(F), build.solution("g", G), build.test("g"))
    assert ["0", "1", "2", "f?", "3", "g?"] == steps(planned)


def test_a_notebook_without_any_metadata_is_judged_in_full(plan_of: PlanOf, build: Any, steps: Steps) -> None:
    planned = plan_of(
        build.code("import numpy"),
        build.code(F),
        build.code("check(f)"),
        build.code(G),
        build.code("check(g)"),
        build.markdown("Why does it work?"),
        build.markdown("Since it does."),
    )
    assert ["0", "1", "f?", "3", "g?"] == steps(planned)
    assert "The mark of the answer to `why` was lost: it was found by its place." in planned.notes


def test_a_stub_left_in_place_does_not_hide_the_function_written_elsewhere(
    plan_of: PlanOf, build: Any, steps: Steps
) -> None:
    cells = [build.solution("f", STUB), build.test("f"), build.code(F), build.solution("g", G)]
    assert ["0", "2", "f?", "3", "g?"] == steps(plan_of(*cells, build.test("g")))


def test_an_untouched_stub_is_judged_at_its_test_cell(plan_of: PlanOf, build: Any, steps: Steps) -> None:
    planned = plan_of(
        build.solution("f", STUB),
        build.test("f"),
        build.solution("g", G),
        build.test("g"),
        build.question("why"),
    )
    assert ["0", "f?", "2", "g?"] == steps(planned)
    assert () == planned.notes


def test_a_split_solution_cell_is_judged_after_the_half_that_defines_the_function(
    plan_of: PlanOf, build: Any, steps: Steps
) -> None:
    planned = plan_of(
        build.solution("f", "import math"), build.code(F), build.solution("g", G), build.test("g")
    )
    assert ["0", "1", "f?", "2", "g?"] == steps(planned)


def test_a_copied_solution_cell_runs_twice_and_the_last_one_counts(
    plan_of: PlanOf, build: Any, steps: Steps
) -> None:
    planned = plan_of(build.solution("f", F), build.solution("f", F), build.solution("g", G), build.test("g"))
    assert ["0", "1", "f?", "2", "g?"] == steps(planned)
    assert "Cells 1 and 2 all carry the mark of `f`: the last one counts." in planned.notes


def test_a_copied_test_cell_counts_at_its_last_place(plan_of: PlanOf, build: Any, steps: Steps) -> None:
    planned = plan_of(
        build.solution("f", F), build.test("f"), build.solution("g", G), build.test("f"), build.test("g")
    )
    assert ["0", "2", "f?", "g?"] == steps(planned)


def test_swapped_exercises_are_judged_where_they_stand(plan_of: PlanOf, build: Any, steps: Steps) -> None:
    alone = build.solution("g", "def g(x):\n    return 2 * x")
    planned = plan_of(alone, build.test("g"), build.solution("f", F), build.test("f"))
    assert ["0", "g?", "2", "f?"] == steps(planned)


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_a_solution_cell_that_became_text_runs_all_the_same(
    plan_of: PlanOf, build: Any, kind: str, steps: Steps
) -> None:
    retyped = getattr(build, kind)(F, "f", solution=True)
    planned = plan_of(retyped, build.test("f"), build.solution("g", G), build.test("g"))
    assert ["0", "f?", "2", "g?"] == steps(planned)
    assert f"Cell 1 had become {kind}: it was turned back to code." in planned.notes


def test_a_text_that_holds_the_only_definition_runs(plan_of: PlanOf, build: Any, steps: Steps) -> None:
    planned = plan_of(build.markdown("# Notes"), build.raw(F), build.solution("g", G), build.test("g"))
    assert ["1", "f?", "2", "g?"] == steps(planned)
    assert (
        "Cell 2 is no solution cell but holds the only definition: it was run as your code." in planned.notes
    )


def test_prose_that_shows_a_function_does_not_run(plan_of: PlanOf, build: Any, steps: Steps) -> None:
    prose = build.markdown(f"Write this:\n\n{F}")
    planned = plan_of(prose, build.solution("g", G), build.test("g"))
    assert ["1", "g?", "f?"] == steps(planned)


def test_a_text_does_not_run_where_a_cell_defines_the_function(
    plan_of: PlanOf, build: Any, steps: Steps
) -> None:
    planned = plan_of(build.raw(F), build.solution("f", F), build.solution("g", G), build.test("g"))
    assert ["1", "f?", "2", "g?"] == steps(planned)


def test_a_test_cell_that_holds_the_only_definition_runs_as_the_students_code(
    plan_of: PlanOf, build: Any, steps: Steps
) -> None:
    written_below = build.test("f", 1, f"{F}\ncheck(f)")
    for first in (build.solution("f", STUB), build.code("x = 1")):
        planned = plan_of(first, written_below, build.solution("g", G), build.test("g"))
        assert ["0", "1", "f?", "2", "g?"] == steps(planned)


def test_deleted_cells_leave_exercises_for_the_end(plan_of: PlanOf, build: Any, steps: Steps) -> None:
    planned = plan_of(build.code("x = 1"), build.markdown("Nothing done."))
    assert ["0", "f?", "g?"] == steps(planned)
    assert "No cell of `f` was found: neither its solution nor its test." in planned.notes
    assert "The cell of `f` is missing." in planned.notes


def test_a_solution_with_a_syntax_error_is_still_a_solution(
    plan_of: PlanOf, build: Any, steps: Steps
) -> None:
    broken = build.solution("f", "def f(x:\n    return")
    planned = plan_of(broken, build.solution("g", G), build.test("g"))
    assert ["0", "f?", "1", "g?"] == steps(planned)


def test_a_locked_cell_runs_with_the_text_that_was_handed_out(plan_of: PlanOf, build: Any) -> None:
    changed = build.code("import cheat", "setup")
    planned = plan_of(changed, build.solution("f", F), build.test("f"), build.solution("g", G))
    assert planned.steps[0] == RunCell(0, "import numpy")
    assert "Cell 1 (`setup`) is locked but was changed: its own text was used." in planned.notes


def test_an_answer_that_became_code_does_not_run(plan_of: PlanOf, build: Any, steps: Steps) -> None:
    planned = plan_of(build.code("It works because.", "why"), build.solution("f", F), build.solution("g", G))
    assert ["1", "f?", "2", "g?"] == steps(planned)
    assert "Cell 1 had become code: it was turned back to markdown." in planned.notes


def test_unknown_ids_points_and_tags_of_a_submission_change_nothing(
    plan_of: PlanOf, build: Any, steps: Steps
) -> None:
    mine = build.code("x = 1", "test_other", grade=True, locked=True, points=1000)
    planned = plan_of(mine, build.solution("f", F), build.test("f"), build.solution("g", G), build.test("g"))
    assert ["0", "1", "f?", "3", "g?"] == steps(planned)


def test_notes_of_reading_come_first(source: SourceNotebook) -> None:
    submission = read_notebook(b'{"cells": [7, {"cell_type": "code", "source": "x"}]}')
    assert plan(submission, source).notes[0] == submission.notes[0]


def test_a_thousand_cells_are_planned_at_once(plan_of: PlanOf, build: Any) -> None:
    many = [build.code(f"{F}\n# {number}") for number in range(3000)]
    assert len(plan_of(*many).steps) == 3002


TEXTS = st.sampled_from(
    [F, G, STUB, "x = 1", "", "check(f)", "%%time\n" + F, "def f(", "Why does it work?", "text"]
)
IDS = st.sampled_from([None, "setup", "f", "test_f", "g", "test_g", "why", "other"])
CELLS = st.lists(st.tuples(st.sampled_from(["code", "markdown", "raw"]), TEXTS, IDS), min_size=1, max_size=12)


@settings(
    max_examples=300,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(CELLS)
def test_whatever_the_cells_every_exercise_is_judged_once_and_order_is_kept(
    plan_of: PlanOf, build: Any, cells: list[tuple[str, str, str | None]]
) -> None:
    planned = plan_of(*[getattr(build, kind)(text, grade_id) for kind, text, grade_id in cells])
    assert ["f", "g"] == sorted(one.exercise for one in planned.steps if isinstance(one, Examine))
    ran = [one.cell_index for one in planned.steps if isinstance(one, RunCell)]
    assert ran == sorted(set(ran))
    code = {
        i for i, (kind, text, grade_id) in enumerate(cells) if kind == "code" and text and grade_id is None
    }
    assert code - set(ran) <= {i for i in code if cells[i][1] == "check(f)"}
