"""Known mistakes as data: small wrong functions, each with what its author believed.

A mistake is written as one documented function. Its name is the mistake's id; the first paragraph
of its docstring is one sentence on what the student believed. It takes the reference module, called
``right``, before the parameters
of the exercise's function, so that it can be wrong in one place and right in all others::

    mistakes = MistakeSet("merge_heads")

    @mistakes.add(hint="Which axis must stand beside d_head?", seen="owner/project#6")
    def no_transpose(right, h):
        \"\"\"A reshape alone puts the heads side by side.\"\"\"
        batch, heads, seq, d_head = h.shape
        return h.reshape(batch, seq, heads * d_head)
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeVar

WrongFunction = Callable[..., Any]
Function = TypeVar("Function", bound=WrongFunction)


@dataclass(frozen=True)
class Mistake:
    """One known mistake.

    ``belief``, ``hint``: for the student; the hint points to the thought and does not give the line.
    ``seen``: where people made it: an issue of a public project, or "courses".
    ``function``: the exercise's function, wrong, with ``right`` in front. If ``stateful`` it takes ``right``
    alone and returns the wrong function, with a fresh memory of its own.
    ``companions``: other functions of the notebook that go with it, such as a forward pass whose
    cache it needs. ``slow``: it is right, but takes so long that it must not be tried on everybody.
    """

    id: str
    exercise: str
    belief: str
    hint: str
    seen: str
    function: WrongFunction
    stateful: bool = False
    companions: Mapping[str, WrongFunction] = field(default_factory=dict)
    slow: bool = False

    def namespace(self, right: ModuleType) -> dict[str, object]:
        """A notebook's functions, right but for this mistake."""
        own = self.function(right) if self.stateful else functools.partial(self.function, right)
        others = {name: functools.partial(function, right) for name, function in self.companions.items()}
        return {**vars(right), **others, self.exercise: own}


class MistakeSet:
    """The known mistakes of one exercise, in the order in which they are written down."""

    def __init__(self, exercise: str):
        self.exercise = exercise
        self._mistakes: dict[str, Mistake] = {}

    def add(
        self,
        *,
        hint: str,
        seen: str,
        stateful: bool = False,
        companions: Mapping[str, WrongFunction] | None = None,
        slow: bool = False,
    ) -> Callable[[Function], Function]:
        """Register a wrong function; raises ValueError where its name is taken or it says no belief."""

        def decorate(function: Function) -> Function:
            name = function.__name__
            belief = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())
            if name in self._mistakes or not belief:
                raise ValueError(
                    f"mistake {name} of {self.exercise}: its name is taken, or it has no docstring"
                )
            self._mistakes[name] = Mistake(
                name, self.exercise, belief, hint, seen, function, stateful, companions or {}, slow
            )
            return function

        return decorate

    def include(self, other: "MistakeSet") -> None:
        """Register all mistakes of another set of this exercise; raises ValueError where a name is taken."""
        if other.exercise != self.exercise or other._mistakes.keys() & self._mistakes.keys():
            raise ValueError(f"mistakes of {other.exercise} do not fit among those of {self.exercise}")
        self._mistakes |= other._mistakes

    def __iter__(self) -> Iterator[Mistake]:
        return iter(self._mistakes.values())

    def __len__(self) -> int:
        return len(self._mistakes)

    def __getitem__(self, name: str) -> Mistake:
        return self._mistakes[name]
