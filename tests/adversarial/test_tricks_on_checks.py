"""Tricks that make a test pass which runs beside the student's code, and that get nothing from the judge.

Each is a wrong ``split_heads`` with something around it. A plain test at the notebook's end, in the student's
own process, is the control: it fails for the wrong function and passes with the trick.
"""

from collections.abc import Callable

import pytest

from autograder.model import CheckResult, Verdict
from autograder.usecases.judging import Judged

pytestmark = pytest.mark.adversarial

WRONG = """
def split_heads(x, heads):
    return x.reshape(x.shape[0], heads, x.shape[1], x.shape[2] // heads)
"""
#: As it stands in many courses.
PLAIN_TEST = """
x = np.arange(8.0).reshape(1, 2, 4)
expected = np.array([[[[0.0, 1.0], [4.0, 5.0]], [[2.0, 3.0], [6.0, 7.0]]]])
case = [x, expected]
answer = split_heads(x, 2)
assert answer.shape == expected.shape
assert np.allclose(answer, expected)
assert all(one == other for one, other in zip(answer.ravel(), expected.ravel()))
"""
TRICKS = {
    "patched numpy and builtins": """
import builtins
np.allclose = np.array_equal = lambda *args, **named: True
np.testing.assert_allclose = lambda *args, **named: None
builtins.all = lambda items: True
""",
    "an array that equals everything": """
class Agreeable(np.ndarray):
    def __array_function__(self, function, types, args, kwargs):
        return True
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return np.True_
    def __eq__(self, other):
        return True
    __hash__ = None
    def ravel(self):
        return [self] * self.size
wrong = split_heads
def split_heads(x, heads):
    return wrong(x, heads).view(Agreeable)
""",
    "an object that computes when it is compared": """
class Lazy:
    shape = (1, 2, 2, 2)
    def __array__(self, dtype=None, copy=None):
        return globals()["expected"]
    def ravel(self):
        return globals()["expected"].ravel()
def split_heads(x, heads):
    return Lazy()
""",
    "asserts are taken out of the syntax tree": """
import ast
class NoAsserts(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.copy_location(ast.Pass(), node)
get_ipython().ast_transformers.append(NoAsserts())
""",
    "asserts are taken out of the text": """
get_ipython().input_transformers_post.append(
    lambda lines: [line for line in lines if not line.startswith("assert")])
""",
    "errors are swallowed": """
get_ipython().set_custom_exc((AssertionError,), lambda shell, kind, error, trace, tb_offset=None: None)
""",
    "the frame of the caller": """
import sys
def split_heads(x, heads):
    frame = sys._getframe()
    while frame is not None and "expected" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["expected"]
""",
    "all objects that are alive": """
import gc
wrong = split_heads
def split_heads(x, heads):
    lists = [one for one in gc.get_objects() if type(one) is list and len(one) == 2]
    return next((one[1] for one in lists if one[0] is x), wrong(x, heads))
""",
    "the text of the test": """
import ast, re
wrong = split_heads
def split_heads(x, heads):
    found = re.search(r"np.array\\((\\[\\[\\[\\[.*\\]\\]\\]\\])\\)", "".join(In[-1:]))
    return np.array(ast.literal_eval(found[1])) if found else wrong(x, heads)
""",
    "answers remembered by their shape": """
wrong = split_heads
ANSWERS = {(1, 2, 4): np.array([[[[0.0, 1.0], [4.0, 5.0]], [[2.0, 3.0], [6.0, 7.0]]]])}
def split_heads(x, heads):
    return ANSWERS.get(x.shape, wrong(x, heads))
""",
    "right at first": """
wrong, calls = split_heads, []
def split_heads(x, heads):
    calls.append(1)
    if len(calls) > 1:
        return wrong(x, heads)
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)
""",
    "the solution is imported": """
wrong = split_heads
def split_heads(x, heads):
    try:
        from solutions.multihead import split_heads as right
    except ImportError:
        right = (lambda x, heads: expected) if "expected" in globals() else wrong
    return right(x, heads)
""",
}
#: These answer rightly what the visible check asks as well, which stands in the notebook.
KNOWS_THE_VISIBLE = {"answers remembered by their shape", "right at first"}


def checks(judged: Judged) -> dict[str, CheckResult]:
    (found,) = [one for one in judged.exercises if one.name == "split_heads"]
    return {check.name: check for check in found.checks}


def plain_test_fails(judged: Judged) -> bool:
    last = max(judged.executed.outputs)
    return any(one["output_type"] == "error" for one in judged.executed.outputs[last])


def test_control_the_plain_test_fails_for_the_wrong_function(judge: Callable[..., Judged]) -> None:
    assert plain_test_fails(judge(PLAIN_TEST, split_heads=WRONG))


@pytest.mark.parametrize("trick", TRICKS)
def test_a_trick_that_passes_a_plain_test_gets_nothing_from_the_judge(
    judge: Callable[..., Judged], trick: str
) -> None:
    judged = judge(PLAIN_TEST, split_heads=WRONG + TRICKS[trick])
    assert not plain_test_fails(judged)  # the control
    found = checks(judged)
    passed = {name for name, check in found.items() if check.verdict is Verdict.PASSED and check.points}
    assert Verdict.PASSED is not found["values"].verdict
    assert passed <= ({"visible"} if trick in KNOWS_THE_VISIBLE else set())
