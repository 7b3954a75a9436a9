"""How the visible checks of a lesson compare, what they say, and how a notebook shows it.

Every lesson's ``visible_checks.py`` is written with these functions. Where numbers differ, ``CheckFailed``
says in a few lines what was expected, what came instead, and at which place.

NumPy is all that is needed; with matplotlib, pictures show the same. What draws is imported when a notebook
shows the outcome: a notebook that is graded never does.
"""

import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pictures import Picture

Array = NDArray[Any]
StudentFunction = Callable[..., Any]
MakePicture = Callable[[], "Picture"]
#: A remark about wrong numbers, or what makes one out of all that came and the first wrong place.
Hint = str | Callable[[Array, tuple[int, ...]], str]

LINE_WIDTH = 80
X_AXES = "batch seq d_model"
MATRIX_AXES = "rows columns"
#: Kinds of dtype that may answer, by the kind of what is expected; integers may be answered in floats.
_KINDS = {"f": "f", "b": "b", "i": "iuf"}


class CheckFailed(AssertionError):
    """An example did not come out; the text says which one, what was expected and what came instead."""

    def __init__(self, text: str, picture: MakePicture | None = None):
        super().__init__(text)
        self.picture = picture

    def _render_traceback_(self) -> list[str]:
        """The lines that Jupyter shows in place of a traceback: the text alone, then the picture."""
        show(self.picture)
        return textwrap.wrap(str(self), LINE_WIDTH, break_on_hyphens=False)


class Milestones:
    """How far one is in a lesson: the exercises in order, and those whose checks passed when they ran last.

    Only a notebook that shows a success adds to it.
    """

    def __init__(self, exercises: Sequence[str], last: str = "the question at the end"):
        self.exercises = exercises
        self.done: set[str] = set()
        self._last = last

    def begin(self, exercise: str) -> None:
        """Its checks run once more: it counts again when they pass."""
        self.done.discard(exercise)

    def __str__(self) -> str:
        left = [name for name in self.exercises if name not in self.done]
        coming = left[0] if left else self._last
        return f"Milestone: {len(self.done)} of {len(self.exercises)} done; next: {coming}."


class Passed:
    """All visible examples of one exercise come out right; a notebook shows that as printed text."""

    def __init__(
        self, exercise: str, examples: int, milestones: Milestones, picture: MakePicture | None = None
    ):
        self.exercise = exercise
        self.examples = examples
        self.picture = picture
        self._milestones = milestones

    def __repr__(self) -> str:
        return f"{self.exercise}: {self.examples} of {self.examples} visible checks pass."

    def _ipython_display_(self) -> None:
        self._milestones.done.add(self.exercise)
        # Printed, because nbgrader takes the value of a test cell for a number of points.
        sys.stdout.write(f"{self!r} {self._milestones}\n")
        show(self.picture)


def show(picture: MakePicture | None) -> None:
    """Show a picture below the cell that runs, if there is a file that draws."""
    try:
        from pictures import show_below  # noqa: PLC0415 - see the top
    except ModuleNotFoundError:  # the file did not come along: what is printed says it all
        return
    if picture is not None:
        show_below(picture)


# --- Comparing --------------------------------------------------------------------------------------------


def compare(what: str, got: Any, expected: Array, axes: str, hint: Hint) -> None:
    """Raise CheckFailed unless ``got`` is a plain array with the shape and the numbers of ``expected``."""
    shape = shape_text(expected.shape, axes)
    if type(got) is not np.ndarray:
        fail(what, f"expected a NumPy array of the shape {shape}, got {describe(got)}.")
    if got.shape != expected.shape:
        fail(what, f"expected the shape {shape}, got the shape {shape_text(got.shape, axes)}.")
    kind = expected.dtype.kind
    if got.dtype.kind not in _KINDS[kind] or (kind == "f" and got.dtype.itemsize < 8):
        fail(what, f"expected {_things(expected)} of the type {expected.dtype}, got the type {got.dtype}.")
    wrong = wrong_places(got, expected)
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        fail(
            what,
            f"{np.count_nonzero(wrong)} of {expected.size} {_things(expected)} are wrong, the first at "
            f"{_place_text(place, axes)} in the shape {shape}: expected {_number(expected[place])}, "
            f"got {_number(got[place])}. " + (hint if isinstance(hint, str) else hint(got, place)),
            partial(_comparison, expected, got, wrong, axes),
        )


def wrong_places(got: Array, expected: Array) -> NDArray[np.bool_]:
    """True where a number is off by more than the rounding of the examples (NaN always is)."""
    tolerance = 1e-5 * max(1.0, float(np.max(np.abs(expected))))
    with np.errstate(all="ignore"):
        return np.asarray(~(np.abs(got - expected.astype(np.float64)) <= tolerance))


def two_results(what: str, answer: Any, names: str) -> tuple[Any, Any]:
    """Raise CheckFailed unless an answer is a pair; ``names`` are those of the two."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        fail(what, f"expected two results (`return {names}`), got {describe(answer)}.")
    return answer


def look_up(what: str, mapping: Any, key: str, keys: tuple[str, ...]) -> Any:
    """What lies under a key of a dict; raises CheckFailed where there is none, and names all keys."""
    try:
        return mapping[key]
    except (KeyError, IndexError, TypeError, ValueError):
        listed = ", ".join(f'"{one}"' for one in keys)
        fail(what, f'expected a dict with the keys {listed}, got {describe(mapping)} without "{key}".')


def fail(what: str, text: str, picture: MakePicture | None = None) -> NoReturn:
    """Raise CheckFailed; ``what`` says which example it is."""
    raise CheckFailed(f"{what}: {text}".strip(), picture)


def _comparison(expected: Array, got: Array, wrong: NDArray[np.bool_], axes: str) -> "Picture":
    from pictures import comparison  # noqa: PLC0415 - see the top

    return comparison(expected, got, wrong, axes)


# --- Three routes into x -----------------------------------------------------------------------------------


def route_hint(routes: Mapping[str, Array], otherwise: str) -> Hint:
    """Which of the routes through Q, K and V is missing in dx, or is all of it; else something else."""

    def hint(got: Array, _place: tuple[int, ...]) -> str:
        for name, route in routes.items():
            others = sum(other for key, other in routes.items() if key != name)
            if not wrong_places(got, np.asarray(others)).any():
                return f"This is dx without the route through {name}."
            if not wrong_places(got, route).any():
                return f"This is the route through {name} alone: add the three routes."
        return otherwise

    return hint


def three_routes(routes: Mapping[str, Array]) -> MakePicture:
    """A picture of the routes and their sum."""

    def picture() -> "Picture":
        from pictures import total  # noqa: PLC0415 - see the top

        return total({f"through {name}": route for name, route in routes.items()}, "dx", X_AXES)

    return picture


# --- Wording ----------------------------------------------------------------------------------------------


def shape_text(shape: tuple[int, ...], axes: str) -> str:
    """``(batch=1, heads=2, seq=2, d_head=2)``; plain numbers where axes and names do not match."""
    names = axes.split()
    if len(names) != len(shape):
        return str(shape)
    return "(" + ", ".join(f"{name}={size}" for name, size in zip(names, shape, strict=True)) + ")"


def _place_text(place: tuple[int, ...], axes: str) -> str:
    """``[batch 0, head 1, seq 0, d_head 1]``."""
    named = zip(axes.split(), place, strict=True)
    return "[" + ", ".join(f"{name.removesuffix('s')} {index}" for name, index in named) + "]"


def describe(value: Any) -> str:
    """What an answer is, when it is not what was expected."""
    if value is None:
        return "None (does the function end with `return`?)"
    if type(value) is np.ndarray:
        return f"an array of the shape {value.shape}"
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return f"the number {value}"
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    kind = "dict" if isinstance(value, Mapping) else getattr(value, "kind", type(value).__name__)
    return f"{'an' if str(kind)[:1] in 'aeiou' else 'a'} {kind}"


def _number(one: Any) -> str:
    return str(bool(one)) if isinstance(one, np.bool_) else f"{one:.6g}"


def _things(array: Array) -> str:
    return "entries" if array.dtype.kind == "b" else "numbers"
