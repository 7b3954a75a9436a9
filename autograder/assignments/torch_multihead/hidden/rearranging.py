"""What the checks of ``split_heads`` and ``combine_heads`` have in common: numbers move, and nothing else."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from autograder.checking.compare import expect_array
from autograder.checking.contract import expect_kept
from autograder.checking.student import Remote, Student

from .formula import Array, combine, split
from .modules import OF_HEADS, OF_TOKENS, array_of, backward, build, expect_tensor, gradient_of, tensor

#: batch, seq, heads, head_dim.
Sizes = tuple[int, int, int, int]
SIZES: tuple[Sizes, ...] = ((2, 5, 3, 4), (5, 2, 4, 3))


@dataclass(frozen=True)
class Method:
    """One of both: ``draw`` makes its x, ``right`` the answer, ``back`` the gradient of x from that of it."""

    name: str
    draw: Callable[[np.random.Generator, Sizes], Array]
    right: Callable[[Array, Sizes], Array]
    back: Callable[[Array, Sizes], Array]
    axes: tuple[str, ...]
    axes_of_x: tuple[str, ...]

    @property
    def what(self) -> str:
        """Its answer, in words."""
        return f"{self.name}(x, batch_size)"

    def call(self, student: Student, x: Remote, sizes: Sizes) -> object:
        """What a new module of these sizes answers."""
        return self.ask(module_of(student, sizes), x, sizes)

    def ask(self, module: Remote, x: Remote, sizes: Sizes) -> object:
        """What a module answers."""
        return module.method(self.name, x, sizes[0]).value

    def compare(self, student: Student, x: Array, sizes: Sizes) -> None:
        """Call it once and compare."""
        answer = self.call(student, tensor(student, x), sizes)
        expect_tensor(answer, self.right(x, sizes), self.what, self.axes)

    def expect_way_back(self, student: Student, rng: np.random.Generator, sizes: Sizes) -> None:
        """Require the gradient of x to be that of the answer, put back in place."""
        x = tensor(student, self.draw(rng, sizes), grad=True)
        answer = self.call(student, x, sizes)
        dout: Array = np.asarray(rng.standard_normal(self.right(self.draw(rng, sizes), sizes).shape))
        backward(student, answer, dout, self.what, self.axes)
        expect_array(gradient_of(x, "", "x"), self.back(dout, sizes), "The gradient of x", self.axes_of_x)

    def expect_repeatable(self, student: Student, rng: np.random.Generator) -> None:
        """Require x and the answer to stay, and one module to serve batches and sequences of any size."""
        sizes = SIZES[0]
        module = module_of(student, sizes)
        numbers = self.draw(rng, sizes)
        x = tensor(student, numbers)
        first = self.ask(module, x, sizes)
        before = array_of(first, self.what)
        for one in (sizes, (sizes[0] + 1, sizes[1] - 1, *sizes[2:])):
            other = self.draw(rng, one)
            answer = self.ask(module, tensor(student, other), one)
            expect_tensor(answer, self.right(other, one), f"{self.what}, called again,", self.axes)
        expect_kept((before, numbers), (array_of(first, self.what), array_of(x, "x")), self.name)


def module_of(student: Student, sizes: Sizes) -> Remote:
    """A new module with as many heads of that width."""
    *_, heads, width = sizes
    return build(student, heads * width, heads)


def _tokens(rng: np.random.Generator, sizes: Sizes) -> Array:
    batch, seq, heads, width = sizes
    return rng.standard_normal((batch, seq, heads * width))


def _in_heads(rng: np.random.Generator, sizes: Sizes) -> Array:
    batch, seq, heads, width = sizes
    return rng.standard_normal((batch, heads, seq, width))


SPLIT = Method(
    "split_heads",
    _tokens,
    lambda x, sizes: split(x, sizes[2]),
    lambda dout, sizes: combine(dout),
    OF_HEADS,
    OF_TOKENS,
)
COMBINE = Method(
    "combine_heads",
    _in_heads,
    lambda x, sizes: combine(x),
    lambda dout, sizes: split(dout, sizes[2]),
    OF_TOKENS,
    OF_HEADS,
)
