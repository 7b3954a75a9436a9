"""Known mistakes as data: small wrong functions, each with what its author believed.

A mistake is written as one documented function. Its name is the mistake's id; the first paragraph
of its docstring is one sentence on what the student believed. It takes the reference module, called
``right``, before the parameters
of the exercise's function, so that it can be wrong in one place and right in all others::

    mistakes = MistakeSet("merge_heads")

    @mistakes.add(hint="Where is the second sequence of the batch?", seen="owner/project#6")
    def heads_before_batch(right, h):
        \"\"\"Once the heads are the outermost axis a reshape can join them.\"\"\"
        batch, heads, seq, d_head = h.shape
        return h.transpose(1, 2, 0, 3).reshape(batch, seq, heads * d_head)

Where the same belief leads people to other numbers, that is another form of the mistake::

    @mistakes.form("heads_before_batch")
    def heads_before_batch_alone(right, h):
        \"\"\"Batch and heads are exchanged, and time stays behind them.\"\"\"
        batch, heads, seq, d_head = h.shape
        return h.swapaxes(0, 1).reshape(batch, seq, heads * d_head)
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, TypeVar

WrongFunction = Callable[..., Any]
Function = TypeVar("Function", bound=WrongFunction)


def _itself(right: ModuleType) -> Any:
    return right


@dataclass(frozen=True)
class Mistake:
    """One known mistake.

    ``belief``, ``hint``: for the student; the hint points to the thought and does not give the line.
    ``seen``: where people made it: an issue of a public project, or "courses".
    ``function``: the exercise's function, wrong, with ``right`` in front. If ``stateful`` it takes ``right``
    alone and returns the wrong function, with a fresh memory of its own.
    ``companions``: other functions of the notebook that go with it, such as a forward pass whose
    cache it needs. ``slow``: it is right, but takes so long that it must not be tried on everybody.
    ``form``: the name of this form of the mistake, if it is not the first; all forms share the ``id``.
    ``owner``: the class of which the exercise's function is a method, if it is one.
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
    form: str = ""
    owner: str | None = None

    @property
    def name(self) -> str:
        """The name of its function, which no other form has."""
        return self.form or self.id

    def namespace(self, right: ModuleType) -> dict[str, object]:
        """A notebook's functions, right but for this mistake."""
        others = {name: functools.partial(function, right) for name, function in self.companions.items()}
        namespace: dict[str, object] = {**vars(right), **others}
        self.put_into(namespace, right)
        return namespace

    def put_into(self, namespace: dict[str, object], right: ModuleType) -> None:
        """Put the wrong function in the place of what stands there.

        A method goes into a subclass of the class that stands there.
        """
        own = self.function(right) if self.stateful else functools.partial(self.function, right)
        if self.owner is None:
            namespace[self.exercise] = own
            return
        before: Any = namespace[self.owner]
        namespace[self.owner] = type(before)(self.owner, (before,), {self.exercise: _as_method(own)})


class MistakeSet:
    """The known mistakes of one exercise, in the order in which they are written down.

    To iterate gives each once, in its first form; ``forms`` gives all. ``method_of`` names the class of which
    the exercise's function is a method: a wrong one takes ``right`` before ``self``.
    """

    def __init__(self, exercise: str, *, method_of: str | None = None):
        self.exercise = exercise
        self.method_of = method_of
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
            belief = _first_paragraph(function)
            self._register(
                Mistake(
                    function.__name__,
                    self.exercise,
                    belief,
                    hint,
                    seen,
                    function,
                    stateful,
                    companions or {},
                    slow,
                    owner=self.method_of,
                )
            )
            return function

        return decorate

    def form(
        self, of: str, *, stateful: bool = False, companions: Mapping[str, WrongFunction] | None = None
    ) -> Callable[[Function], Function]:
        """Register another form of a mistake that is there; its docstring says in what it differs.

        Raises ValueError where its name is taken, it has no docstring, or there is no such mistake.
        """
        if of not in self._mistakes:
            raise ValueError(f"{self.exercise} has no mistake {of!r} of which this could be a form")

        def decorate(function: Function) -> Function:
            self._register(
                replace(
                    self._mistakes[of],
                    function=function,
                    stateful=stateful,
                    companions=companions or {},
                    form=function.__name__,
                )
            )
            return function

        return decorate

    def forms(self) -> Iterator[Mistake]:
        """All mistakes in all their forms."""
        return iter(self._mistakes.values())

    def include(self, other: "MistakeSet") -> None:
        """Register all mistakes of another set of this exercise; raises ValueError where a name is taken."""
        if other.exercise != self.exercise or other._mistakes.keys() & self._mistakes.keys():
            raise ValueError(f"mistakes of {other.exercise} do not fit among those of {self.exercise}")
        self._mistakes |= other._mistakes

    def borrow(
        self,
        other: "MistakeSet",
        *ids: str,
        around: WrongFunction,
        view: Callable[[ModuleType], Any] = _itself,
    ) -> None:
        """Register mistakes of another exercise that are made in this one, too: all, or those with these ids.

        ``around(wrong, right, *args)`` answers in this exercise, by calling ``wrong``, which has the mistake
        and the parameters of that one. ``view`` shows the reference as those mistakes want it. Raises
        ValueError where a name is taken, or a mistake has companions; KeyError where there is none of an id.
        """
        wanted = {other[name].id for name in ids} or {one.id for one in other}
        for one in other.forms():
            if one.id not in wanted:
                continue
            if one.companions:
                raise ValueError(f"mistake {one.name} of {one.exercise} goes with functions of its own")
            placed = _placed(one, around, view)
            self._register(replace(one, exercise=self.exercise, function=placed, owner=self.method_of))

    def _register(self, mistake: Mistake) -> None:
        if mistake.name in self._mistakes or not _first_paragraph(mistake.function):
            raise ValueError(
                f"mistake {mistake.name} of {self.exercise}: its name is taken, or it has no docstring"
            )
        self._mistakes[mistake.name] = mistake

    def __iter__(self) -> Iterator[Mistake]:
        return (one for one in self._mistakes.values() if not one.form)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, name: str) -> Mistake:
        return self._mistakes[name]


def _first_paragraph(function: WrongFunction) -> str:
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())


def _as_method(function: WrongFunction) -> WrongFunction:
    """A function that becomes a method where it stands in a class, as a partial one does not."""

    def method(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return method


def _placed(one: Mistake, around: WrongFunction, view: Callable[[ModuleType], Any]) -> WrongFunction:
    """The function of a mistake, answering in the place of another exercise's."""

    @functools.wraps(one.function)
    def wrong(right: ModuleType, *args: Any) -> Any:
        if one.stateful:
            return functools.partial(around, one.function(view(right)), right)
        return around(functools.partial(one.function, view(right)), right, *args)

    return wrong
