from typing import Any

import pytest

from autograder.model import Verdict


def not_written(*args: Any) -> Any:
    raise NotImplementedError


def test_a_wrong_forward_pass_is_named_where_the_backward_pass_is_judged(grading: Any) -> None:
    right = vars(grading.reference)
    result = grading.exercise("multihead_backward", {**right, "multihead": not_written}, only=["dx"])
    assert result.checks[0].message == (
        "multihead_backward could not be tried: "
        "multihead is not written yet, or calls a function that is not."
    )
    result = grading.exercise("multihead_backward", {**right, "multihead": lambda *args: 3}, only=["dx"])
    assert result.checks[0].message == (
        "multihead_backward could not be tried: multihead must return the tuple (y, cache); "
        "it returned a single number."
    )
    wrong = {**right, "multihead": lambda x, *args: grading.reference.multihead(2 * x, *args)}
    result = grading.exercise("multihead_backward", wrong, only=["dx"])
    assert "multihead, which comes first, are wrong here, too" in str(result.checks[0].hint)


def test_a_reference_that_contradicts_itself_costs_no_student_points(
    grading: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = dict(vars(grading.reference))

    def broken(cache: Any, params: Any, dy: Any) -> Any:
        dx, grads = right["multihead_backward"](cache, params, dy)
        return dx, {**grads, "wk": 1.001 * grads["wk"]}

    monkeypatch.setattr(grading.reference, "multihead_backward", broken)
    result = grading.exercise("multihead_backward", right, only=["dx", "dwk"])
    assert [check.verdict for check in result.checks] == [Verdict.PASSED, Verdict.JUDGE_ERROR]
    assert result.score is None
