from pathlib import Path

import pytest

from autograder.assignments.candidates import known_mistakes, right_variants
from autograder.assignments.catalog import KIT, load_assignment
from autograder.errors import CourseError

MISTAKES = '''
"""Mistakes."""

from autograder.checking.mistakes import MistakeSet

from .parts import more

mistakes = MistakeSet("double")


@mistakes.add(hint="Think.", seen="courses")
def tripled(right, x):
    """Two is three."""
    return right.double(x) + more(x)
'''
PARTS = """
from given import two


def more(x):
    return (two - 1) * x
"""


@pytest.fixture
def hidden(toy_course: Path) -> Path:
    return toy_course / "autograder/assignments/toy"


def write(folder: Path, **files: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)


def test_known_mistakes_may_import_their_neighbours_and_the_given_files(hidden: Path) -> None:
    write(hidden / "mistakes", double=MISTAKES, parts=PARTS)
    toy = load_assignment(hidden.parents[2], "toy")
    (mistake,) = known_mistakes(toy)["double"]
    double = mistake.namespace(toy.reference)["double"]
    assert callable(double)
    assert double(5) == 15


def test_mistakes_that_were_edited_are_loaded_anew_with_their_assignment(hidden: Path) -> None:
    write(hidden / "mistakes", double=MISTAKES, parts=PARTS)
    known_mistakes(load_assignment(hidden.parents[2], "toy"))
    write(hidden / "mistakes", double=MISTAKES.replace("tripled", "threefold"))
    (mistake,) = known_mistakes(load_assignment(hidden.parents[2], "toy"))["double"]
    assert mistake.id == "threefold"


def test_an_exercise_without_known_mistakes_has_an_empty_set(hidden: Path) -> None:
    assert [0] == [len(one) for one in known_mistakes(load_assignment(hidden.parents[2], "toy")).values()]


@pytest.mark.parametrize("text", ["", "mistakes = []\n", MISTAKES.replace('("double")', '("treble")')])
def test_a_file_without_mistakes_of_its_exercise_is_named(hidden: Path, text: str) -> None:
    write(hidden / "mistakes", double=text, parts=PARTS)
    with pytest.raises(CourseError, match=r"double\.py must define `mistakes = MistakeSet\('double'\)`"):
        known_mistakes(load_assignment(hidden.parents[2], "toy"))


def test_variants_come_by_name_with_their_style(hidden: Path) -> None:
    write(
        hidden / "variants",
        __init__='"""Variants."""\n',
        shifted='"""By bits.\n\nQuick.\n"""\n\n\ndef double(x):\n    return x << 1\n',
        added="from given import two\n\nSLOW = True\n\n\ndef double(x):\n    return x * two\n",
    )
    added, shifted = right_variants(load_assignment(hidden.parents[2], "toy"))
    assert ("added", "added", True) == (added.name, added.style, added.slow)
    assert ("shifted", "By bits.", False) == (shifted.name, shifted.style, shifted.slow)
    assert shifted.module.double(21) == 42


def test_there_need_not_be_variants(hidden: Path) -> None:
    assert () == right_variants(load_assignment(hidden.parents[2], "toy"))


def test_a_variant_that_lacks_an_exercise_is_named(hidden: Path) -> None:
    write(hidden / "variants", half="def half(x):\n    return x / 2\n")
    with pytest.raises(CourseError, match=r"half\.py does not define 'double'"):
        right_variants(load_assignment(hidden.parents[2], "toy"))


def test_the_kits_own_assignment_has_both() -> None:
    multihead = load_assignment(KIT.parent, "multihead")
    assert ["split_heads", "merge_heads", "multihead", "multihead_backward"] == list(
        known_mistakes(multihead)
    )
    assert 25 <= len(right_variants(multihead))
