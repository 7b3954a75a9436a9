import builtins

from autograder.checking.local import LocalRemote, LocalStudent
from autograder.checking.student import BUILTIN_EXCEPTIONS, Remote, function


def test_every_name_in_the_list_is_that_of_a_built_in_exception() -> None:
    for name in BUILTIN_EXCEPTIONS:
        assert issubclass(getattr(builtins, name), BaseException)
        assert getattr(builtins, name).__name__ == name


def test_a_function_of_the_student_returns_the_value_of_the_answer() -> None:
    double = function(LocalStudent({"double": lambda x: 2 * x}), "double")
    assert double(21) == 42
    assert double.__name__ == "double"


def test_remote_is_what_has_its_members_whatever_its_class() -> None:
    class Window:
        kind = "dict"
        __getitem__ = __setitem__ = fetch = call = method = attribute = set_attribute = print

    remote = LocalRemote(LocalStudent({}), {})
    for value, expected in ((Window(), True), (remote, True), ({}, False), (None, False)):
        assert isinstance(value, Remote) is expected
