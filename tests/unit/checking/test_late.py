from typing import Any

from autograder.checking.late import Late, calls_before_last
from autograder.checking.local import LocalStudent
from autograder.checking.recording import Recording


def test_the_first_calls_go_to_the_other() -> None:
    student = Late(LocalStudent({"f": lambda x: "student"}), LocalStudent({"f": lambda x: "other"}), 2)
    assert ["other", "other", "student", "student"] == [student.call("f", 1).value for _ in range(4)]


def test_everything_else_goes_to_the_student() -> None:
    student = Late(LocalStudent({"fill": lambda x: x.update(a=1)}), LocalStudent({}), 0)
    sent = student.send({"a": 0})
    student.call("fill", sent)
    assert {"a": 1} == sent.reread()
    student.install("fill", "def fill(x):\n    return 3")
    assert 3 == student.call("fill", sent).value


def events(*steps: Any) -> Any:
    student = Recording(LocalStudent({"make": lambda: (1, {}), "use": lambda box: 2}))
    boxes = []
    for step in steps:
        value = student.call(
            "make" if step is None else "use", *([] if step is None else [boxes[step]])
        ).value
        if step is None:
            boxes.append(value[1])
    return student.events


def test_a_call_counts_together_with_the_one_that_made_its_argument() -> None:
    assert 0 == calls_before_last([])
    assert 0 == calls_before_last(events(None))
    assert 1 == calls_before_last(events(None, None))
    assert 0 == calls_before_last(events(None, 0))
    assert 2 == calls_before_last(events(None, 0, None, 1))
    assert 0 == calls_before_last(events(None, 0, None, 0))


def test_what_was_asked_of_objects_cannot_be_answered_by_two() -> None:
    student = Recording(LocalStudent({"Layer": complex}))
    student.call("Layer", 1.0)
    layer = student.call("Layer", 2.0).value
    assert 1 == calls_before_last(student.events)
    layer.method("conjugate")
    assert 0 == calls_before_last(student.events)
