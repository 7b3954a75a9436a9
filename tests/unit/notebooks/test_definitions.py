import warnings
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.notebooks.definitions import Definitions
from autograder.notebooks.parsing import MAX_CELL_CHARACTERS


def names(source: str) -> Mapping[str, bool]:
    return Definitions(["f"]).of(source).names


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return x",
        "async def f(x):\n    return x",
        "@decorator\ndef f(x):\n    return x",
        "class f:\n    pass",
        "f = lambda x: x",
        "g = f = other",
        "g, (f, *h) = values",
        "f: object = other",
        "from library import thing as f",
        "import f",
        "if True:\n    def f(x):\n        return x",
        "try:\n    import fast as f\nexcept ImportError:\n    f = None",
        "for f in [max]:\n    pass",
        "with thing() as f:\n    pass",
        "%matplotlib inline\nfiles = !ls\nf?\ndef f(x):\n    return x",
        "%%time\n%%capture out\ndef f(x):\n    return x",
        "value = await thing()\nf = value",
        "def g(:\n    oops\n\ndef f(x):\n    return x",
        "\tdef oops\nclass f(Base):",
        "x = 'never closed\nf = 3",
    ],
)
def test_a_cell_that_binds_the_name_at_top_level_defines_it(source: str) -> None:
    assert {"f": True} == names(source)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "f(3)",
        "f == 3",
        "print(f)",
        "x.f = 3",
        "values['f'] = 3",
        "def g(f):\n    f = 3",
        "[f for f in range(3)]",
        "'''\ndef f(x):\n    pass\n'''",
        "# def f(x): pass",
        "off = 3",
        "%%bash\ndef f(x):\n    pass",
        "%%writefile f.py\ndef f(x):\n    return x",
        "%%timeit\ndef f(x):\n    return x",
    ],
)
def test_a_cell_that_only_mentions_the_name_does_not(source: str) -> None:
    assert {} == names(source)


@pytest.mark.parametrize(
    ("body", "finished"),
    [
        ("    raise NotImplementedError", False),
        ('    """What it does."""\n    raise NotImplementedError("waiting")', False),
        ("    pass", False),
        ("    ...", False),
        ('    """What it does."""', False),
        ("    b = x.shape[0]\n    raise NotImplementedError()", False),
        ("    return x\n    raise NotImplementedError()", True),
        ("    raise ValueError", True),
        ("    x += 1\n    raise", True),
        ("    raise errors.NotImplementedError", True),
        ("    print(x)", True),
    ],
)
def test_a_stub_is_told_from_a_function(body: str, finished: bool) -> None:
    assert {"f": finished} == names(f"def f(x):\n{body}")


def test_one_finished_definition_is_enough() -> None:
    stub = "def f(x):\n    raise NotImplementedError\n"
    assert {"f": True} == names(f"{stub}def f(x):\n    return x\n{stub}")


def test_text_that_is_no_python_is_told_from_a_program() -> None:
    assert not Definitions(["f"]).of("Write this:\n\ndef f(x): ...\n").parsed


@pytest.mark.parametrize(
    "source",
    [
        "f=" + "-" * 150_000 + "1",
        "f=" + "(" * 90_000,
        "f=" + "1+" * 99_000 + "1",
        "f=" + "a." * 90_000 + "b",
        "f=" + "x" * 20_000_000,
        "f=1\0",
        "f=1\n" + "\n" * 190_000 + "%",
        "f=1\n" + " " * 190_000 + "%",
        "f=1\n" + "?" * 190_000 + "x",
        "\n".join(["if 1:" + " " * 0] * 3) + "\nf=1",
    ],
    ids=lambda source: f"{source[:6]!r}-{len(source)}",
)
def test_monstrous_cells_are_searched_all_the_same(source: str) -> None:
    assert {"f": True} == names(source)


def test_long_cells_are_searched_by_line() -> None:
    filler = "# filler\n" * (MAX_CELL_CHARACTERS // 9 + 1)
    assert {"f": True} == names(f"{filler}def f(x): pass")


def test_nothing_is_said_about_a_students_warnings() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert {"f": True} == names("f = '\\d' is 1")


@settings(max_examples=200, derandomize=True, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["def f(x):", "f", "=", "\n", "    ", "%", "!", "?", "'''", "(", ")", "import", "\0", "é"]
        )
    )
)
def test_no_text_makes_it_fail(parts: list[str]) -> None:
    assert names(" ".join(parts)).keys() <= {"f"}


METHODS = {"split": "Layer", "join": "Layer"}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("class Layer:\n    def split(self):\n        return 1", {"Layer": True, "split": True}),
        (
            "class Layer:\n    def split(self):\n        return 1\n    def join(self):\n        ...",
            {"Layer": True, "split": True, "join": False},
        ),
        ("class Other:\n    def split(self):\n        return 1", {}),
        ("@method_of(Layer)\ndef split(self):\n    raise NotImplementedError", {"split": False}),
        ("class Layer:\n    def __init__(self):\n        raise NotImplementedError", {"Layer": False}),
    ],
)
def test_the_body_of_a_class_defines_its_methods(source: str, names: dict[str, bool]) -> None:
    defined = Definitions(["Layer", "split", "join"], methods=METHODS).of(source)
    assert names == defined.names


def test_a_class_that_waits_for_its_code_is_a_stub() -> None:
    waiting = "class Layer:\n    def forward(self):\n        raise NotImplementedError"
    assert Definitions(["Layer"]).of(waiting).stubs_alone
    half = f"{waiting}\n\n    def split(self):\n        return 1"
    assert not Definitions(["Layer"]).of(half).names["Layer"]
    assert Definitions(["Layer"]).of("class Layer:\n    def forward(self):\n        pass").names["Layer"]
