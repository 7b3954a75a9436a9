"""Classes and objects of an attacker's: what is asked of them by handles brings no more than functions do.

A wrong layer with something around it earns nothing, and whoever keeps a right class gains nothing.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from autograder.model import ExerciseResult, Verdict
from autograder.sandbox.choice import Way

pytestmark = pytest.mark.adversarial

#: The layer answers with what comes in, in the shape that is asked for.
WRONG = """
def forward(self, x):
    self.weights = np.zeros((x.shape[0], self.heads, x.shape[1], x.shape[1]))
    return self.output(x)
MultiHeadAttention.forward = forward
"""
TRICKS = {
    "an array that equals everything": """
class Agreeable(np.ndarray):
    def __eq__(self, other):
        return True
    def __sub__(self, other):
        return np.zeros(self.shape)
    __hash__ = None
def forward(self, x):
    y = self.output(x)
    y.data = y.data.view(Agreeable)
    return y
MultiHeadAttention.forward = forward
""",
    "a tensor that is whatever it is asked for": """
class Anything:
    requires_grad = True
    def __getattr__(self, name):
        return self
    def __call__(self, *args, **kwargs):
        return self
    def __eq__(self, other):
        return True
    __hash__ = None
MultiHeadAttention.forward = lambda self, x: Anything()
""",
    "a class that passes for another": """
class Passing(type):
    def __instancecheck__(cls, one):
        return True
    def __eq__(cls, other):
        return True
    __hash__ = type.__hash__
class MultiHeadAttention(MultiHeadAttention, metaclass=Passing):
    @property
    def __class__(self):
        return np.ndarray
""",
    "tensors of one's own": """
RightTensor = Tensor
class Tensor(RightTensor):
    __slots__ = ()
    def __array__(self, *args, **kwargs):
        raise SystemExit
    def __eq__(self, other):
        return True
    __hash__ = None
""",
    "gradients that follow the question": """
class Grad:
    def __get__(self, one, owner):
        return np.zeros(one.data.shape)
    def __set__(self, one, value):
        pass
class Following(Tensor):
    grad = Grad()
Tensor = Following
""",
    "the judge's frames and objects": """
import gc, sys
def forward(self, x):
    frame = sys._getframe()
    while frame is not None:
        for name in ("wanted", "want", "expected", "reference", "case", "one"):
            if name in frame.f_locals:
                return frame.f_locals[name]
        frame = frame.f_back
    for one in gc.get_objects():
        if type(one).__name__ in ("Case", "Right", "CheckSet"):
            return one
    return self.output(x)
MultiHeadAttention.forward = forward
""",
}
#: A right class is looked for wherever it may be, and put wherever it may stay.
THIEF = """
import builtins, marshal, os, sys
PLACES = ["stolen", "experiment.py", "autodiff/stolen"]
build = builtins.__build_class__

def steal(function, name, *bases, **named):
    made = build(function, name, *bases, **named)
    if name in ("CausalMask", "MultiHeadAttention") and function.__code__.co_filename == "<string>":
        text = f"STOLEN {marshal.dumps(function.__code__)}"
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            print(text, file=stream, flush=True)
        for place in PLACES:
            try:
                with open(place, "wb") as file:
                    file.write(marshal.dumps(made.forward.__code__))
            except OSError:
                pass
    return made

builtins.__build_class__ = steal

def from_the_booty(self, x):
    for place in PLACES:
        try:
            with open(place, "rb") as file:
                code = marshal.loads(file.read())
        except (OSError, ValueError, EOFError, TypeError):
            continue
        return type(forward)(code, {**globals(), "FORBIDDEN": -1e9})(self, x)
    return x * 1.0

def forward(self, x):
    return from_the_booty(self, x)

CausalMask.forward = forward
"""


@pytest.fixture(scope="module")
def judge(solved_lab: Any, way: Way) -> Callable[..., Any]:
    """Judges the solution of the lab on heads with changes (tests/conftest.py)."""
    judged: Callable[..., Any] = solved_lab("gpt", way).judged
    return judged


def of(judged: Any) -> dict[str, ExerciseResult]:
    return {one.name: one for one in judged.exercises}


def test_control_without_a_trick_the_layer_is_right_and_earns_all_points(judge: Callable[..., Any]) -> None:
    assert 12 == of(judge())["MultiHeadAttention"].score


@pytest.mark.parametrize("trick", TRICKS)
def test_a_trick_around_a_wrong_layer_earns_nothing(judge: Callable[..., Any], trick: str) -> None:
    result = of(judge(MultiHeadAttention=WRONG + TRICKS[trick]))["MultiHeadAttention"]
    assert 0 == result.score
    assert Verdict.JUDGE_ERROR not in {one.verdict for one in result.checks}


def test_whoever_keeps_a_right_class_gains_nothing_and_shows_nothing(judge: Callable[..., Any]) -> None:
    for _ in range(2):
        judged = judge(CausalMask=THIEF)
        results = of(judged)
        assert 0 == results["CausalMask"].score
        # The theft took place: a right mask was there when the layer was judged once more.
        assert 12 == results["MultiHeadAttention"].score
        assert "only because CausalMask is wrong" in results["MultiHeadAttention"].checks[-1].message
        shown = json.dumps([list(one) for one in judged.executed.outputs.values()])
        assert "STOLEN" not in shown + repr(judged.exercises) + repr(judged.notes)
