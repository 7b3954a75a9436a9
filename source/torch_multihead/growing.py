"""Lets a class grow from cell to cell: each cell of the lesson adds one method."""

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def method_of(owner: type) -> Callable[[Function], Function]:
    """Make the function below this line a method of a class that is there already.

    >>> class Greeting:
    ...     def __init__(self, name):
    ...         self.name = name
    >>> @method_of(Greeting)
    ... def say(self):
    ...     return f"Hello, {self.name}"
    >>> Greeting("Ada").say()
    'Hello, Ada'
    """

    def add(function: Function) -> Function:
        setattr(owner, function.__name__, function)
        return function

    return add
