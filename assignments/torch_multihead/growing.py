"""Lets a class grow from cell to cell: each cell of the lesson adds one method."""

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def method_of(owner: type | None = None) -> Callable[[Function], Function]:
    """Make the function below this line a method of a class that is there already.

    The function stays what it is, too, and can be called by its name with an object in front.

    Raises:
        TypeError: there is no class in the brackets, no function below, or the function has no ``self``.

    >>> class Greeting:
    ...     def __init__(self, name):
    ...         self.name = name
    >>> @method_of(Greeting)
    ... def say(self):
    ...     return f"Hello, {self.name}"
    >>> Greeting("Ada").say()
    'Hello, Ada'
    """
    __tracebackhide__ = True
    if not isinstance(owner, type):
        raise TypeError(
            "method_of needs the class that is to grow, in brackets: @method_of(MultiHeadAttention) in the "
            "line above `def`."
        )

    def add(function: Function) -> Function:
        __tracebackhide__ = True
        name = getattr(function, "__name__", "")
        if not name or isinstance(function, type):
            raise TypeError(f"@method_of({owner.__name__}) belongs in the line above the `def` of a method.")
        if isinstance(function, FunctionType):
            if not _takes_an_object(function):
                raise TypeError(
                    f"`{name}` cannot be a method of {owner.__name__}: its first parameter must be the "
                    f"object, def {name}(self, ...)."
                )
            function.__qualname__ = f"{owner.__qualname__}.{name}"
        setattr(owner, name, function)
        return function

    return add


def _takes_an_object(function: FunctionType) -> bool:
    """Whether something can be handed over in the first place."""
    positional = {
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
    }
    return any(one.kind in positional for one in inspect.signature(function).parameters.values())
