"""``autograder grade`` of right solutions in notebooks of every shape in which students hand them in.

Each has all its points wherever the functions are there; where they are not, a sentence says what to do.
"""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.functional

Json = dict[str, Any]
EXERCISES = ("split_heads", "merge_heads", "multihead", "multihead_backward")
#: Makes the bytes of a submission of a right notebook, and may change that.
Shape = Callable[[Json], bytes | None]

SALVAGED: dict[str, Shape] = {}
PARTLY: dict[str, tuple[Shape, dict[str, float], str]] = {}


def salvaged(shape: Shape) -> Shape:
    """A shape that keeps all its points."""
    SALVAGED[shape.__name__] = shape
    return shape


def partly(sentence: str, **points: float) -> Callable[[Shape], Shape]:
    """A shape that costs some exercises; notes or messages hold the sentence."""

    def enter(shape: Shape) -> Shape:
        PARTLY[shape.__name__] = shape, points, sentence
        return shape

    return enter


def grade_id(cell: Json) -> str:
    return str(cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", ""))


def find(notebook: Json, name: str) -> Json:
    cell: Json = next(cell for cell in notebook["cells"] if grade_id(cell) == name)
    return cell


def place(notebook: Json, name: str) -> int:
    return next(index for index, cell in enumerate(notebook["cells"]) if grade_id(cell) == name)


def code(source: str) -> Json:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def stub(name: str) -> Json:
    """The cell as it is handed out."""
    return {**code(f"def {name}(*arguments):\n    raise NotImplementedError()"), "metadata": marks(name)}


def marks(name: str) -> Json:
    return {"nbgrader": {"grade_id": name, "solution": True, "grade": False, "locked": False}}


# How the file is written.


@salvaged
def nbformat_3(notebook: Json) -> bytes:
    cells = [
        {"cell_type": "code", "input": cell["source"], "metadata": cell["metadata"], "outputs": []}
        if cell["cell_type"] == "code"
        else cell
        for cell in notebook["cells"]
    ]
    return json.dumps({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]}).encode()


@salvaged
def nbformat_4_0(notebook: Json) -> None:
    notebook["nbformat_minor"] = 0
    for cell in notebook["cells"]:
        cell.pop("id", None)


@salvaged
def dos_line_ends(notebook: Json) -> bytes:
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")
    return json.dumps(notebook, indent=1).replace("\n", "\r\n").encode()


@salvaged
def invalid_utf_8(notebook: Json) -> bytes:
    find(notebook, "split_heads")["source"] += "\n# Köpfe"
    return json.dumps(notebook, ensure_ascii=False).encode("latin-1", "replace")


@salvaged
def without_metadata(notebook: Json) -> None:
    for part in [notebook, *notebook["cells"]]:
        del part["metadata"]
    del notebook["nbformat"], notebook["nbformat_minor"]


@salvaged
def kernel_of_another_language(notebook: Json) -> None:
    notebook["metadata"] = {"kernelspec": {"name": "ir", "language": "R"}, "language_info": {"name": "R"}}


SALVAGED |= {
    "byte order mark": lambda notebook: b"\xef\xbb\xbf" + json.dumps(notebook).encode(),
    "utf-16": lambda notebook: json.dumps(notebook, ensure_ascii=False).encode("utf-16"),
    "garbage at the end": lambda notebook: json.dumps(notebook).encode() + b"}}\n\xff",
    "without its last bytes": lambda notebook: json.dumps(notebook).encode()[:-20],
    "a comma too many": lambda notebook: (
        json.dumps(notebook, indent=1).replace(",\n  {", ",,\n  {", 1).encode()
    ),
    "numbers that are none": lambda notebook: json.dumps({"x": [float("nan"), 10**4000]} | notebook).encode(),
}
LOST = {
    "empty file": (lambda notebook: b"", "that was handed in is empty"),
    "script": (
        lambda notebook: find(notebook, "multihead")["source"].encode(),
        "it is damaged or incomplete (no valid JSON)",
    ),
    "archive": (lambda notebook: b"PK\x03\x04" + bytes(100), "a zip archive"),
    "web page": (lambda notebook: b"<!DOCTYPE html><title>multihead</title>", "a web page"),
    "merge": (
        lambda notebook: json.dumps(notebook, indent=1).replace(",\n  {", "\n<<<<<<< HEAD\n", 1).encode(),
        "the marks of an unfinished merge",
    ),
    "deep": (
        lambda notebook: json.dumps(notebook)[:-1].encode() + b', "x": ' + b"[" * 100_000,
        "nested too deeply",
    ),
    "no cells": (lambda notebook: b'{"metadata": {}}', "it holds no list of cells"),
}


# What became of the cells.


@salvaged
def everything_pasted_twice(notebook: Json) -> None:
    notebook["cells"] += copy.deepcopy(notebook["cells"])


@salvaged
def stubs_pasted_below(notebook: Json) -> None:
    notebook["cells"] += [stub(name) for name in EXERCISES]
    notebook["cells"] += [copy.deepcopy(find(notebook, f"test_{name}")) for name in EXERCISES]


@salvaged
def a_stub_between_function_and_test(notebook: Json) -> None:
    notebook["cells"].insert(place(notebook, "test_split_heads"), stub("split_heads"))


@salvaged
def split_in_the_middle_of_a_function(notebook: Json) -> None:
    index = place(notebook, "multihead_backward")
    lines = notebook["cells"][index]["source"].splitlines(keepends=True)
    notebook["cells"][index]["source"] = "".join(lines[:4])
    notebook["cells"].insert(index + 1, code("".join(lines[4:])))


@salvaged
def function_in_the_cell_below(notebook: Json) -> None:
    index = place(notebook, "multihead_backward")
    notebook["cells"].insert(index + 1, code(notebook["cells"][index]["source"]))
    notebook["cells"][index]["source"] = "helper = 1"


@salvaged
def exercises_in_reverse_order(notebook: Json) -> None:
    pairs = [[find(notebook, name), find(notebook, f"test_{name}")] for name in reversed(EXERCISES)]
    others = [cell for cell in notebook["cells"] if all(cell not in pair for pair in pairs)]
    notebook["cells"] = [*others[:6], *(cell for pair in pairs for cell in pair), *others[6:]]


@salvaged
def all_cells_in_reverse_order(notebook: Json) -> None:
    notebook["cells"].reverse()


@salvaged
def without_tests(notebook: Json) -> None:
    notebook["cells"] = [cell for cell in notebook["cells"] if not grade_id(cell).startswith("test_")]


@salvaged
def checks_at_the_top(notebook: Json) -> None:
    notebook["cells"].sort(key=lambda cell: not grade_id(cell).startswith("test_"))


@salvaged
def nothing_but_the_four_functions(notebook: Json) -> None:
    notebook["cells"] = [find(notebook, name) for name in EXERCISES]


@salvaged
def imports_at_the_end(notebook: Json) -> None:
    notebook["cells"].append(notebook["cells"].pop(1))


@salvaged
def everything_in_one_cell(notebook: Json) -> None:
    notebook["cells"] = [code("\n\n".join(find(notebook, name)["source"] for name in EXERCISES))]


@salvaged
def solutions_that_became_text(notebook: Json) -> None:
    for name, kind in zip(EXERCISES, ("markdown", "raw", "markdown", "heading"), strict=True):
        find(notebook, name)["cell_type"] = kind
    find(notebook, "multihead_backward")["cell_type"] = "raw"


@salvaged
def checks_that_became_text_and_an_answer_that_became_code(notebook: Json) -> None:
    for name in EXERCISES:
        find(notebook, f"test_{name}")["cell_type"] = "raw"
    find(notebook, "one_key")["cell_type"] = "code"


@salvaged
def marks_exchanged(notebook: Json) -> None:
    one, other = find(notebook, "split_heads"), find(notebook, "merge_heads")
    one["metadata"], other["metadata"] = other["metadata"], one["metadata"]


@salvaged
def all_marks_alike(notebook: Json) -> None:
    for cell in notebook["cells"]:
        if grade_id(cell):
            cell["metadata"]["nbgrader"]["grade_id"] = "split_heads"


@salvaged
def marks_that_claim_points(notebook: Json) -> None:
    for cell in notebook["cells"]:
        if grade_id(cell):
            cell["metadata"]["nbgrader"].update(points=-1e9, grade="yes", task=[], schema_version="x")
            cell["metadata"]["tags"] = ["raises-exception", {}, 7]


@salvaged
def cells_that_are_none(notebook: Json) -> None:
    notebook["cells"][2:2] = [None, 5, "x", [], {}, {"cell_type": "code"}, {"source": None}]


@salvaged
def thousands_of_cells(notebook: Json) -> None:
    notebook["cells"] += [code(f"x{number} = {number}") for number in range(2000)]


@salvaged
def a_line_of_20_megabytes(notebook: Json) -> None:
    find(notebook, "split_heads")["source"] += f"\n# {'a' * 20_000_000}"


@salvaged
def outputs_of_20_megabytes(notebook: Json) -> None:
    find(notebook, "split_heads")["outputs"] = [{"output_type": "stream", "text": "a" * 20_000_000}]


@salvaged
def attachments(notebook: Json) -> None:
    scripted = {"image/svg+xml": "<svg onload='x'>"}
    find(notebook, "one_key")["attachments"] = {"a.png": {"image/png": "A" * 1_000_000}, "b.svg": scripted}


@salvaged
def cell_magics_and_tabs(notebook: Json) -> None:
    for name, magic in (("split_heads", "%%time"), ("merge_heads", "%%capture shown")):
        cell = find(notebook, name)
        cell["source"] = f"{magic}\n{cell['source']}".replace("    ", "\t")


@salvaged
def input_exit_and_a_syntax_error(notebook: Json) -> None:
    notebook["cells"][2:2] = [
        code("name = input('Name? ')"),
        code("import sys\nsys.exit()"),
        code("def oops(:"),
    ]


# Where something is lost for good.


@partly("No cell of `multihead_backward` was found", multihead_backward=0.0)
def an_upload_that_broke_off(notebook: Json) -> bytes:
    data = json.dumps(notebook, indent=1)
    return data[: data.index("def multihead_backward")].encode()


@partly("The notebook does not define split_heads.", split_heads=0.0)
def quotation_marks_of_a_word_processor(notebook: Json) -> None:
    cell = find(notebook, "split_heads")
    cell["source"] = cell["source"].replace('"', "\N{RIGHT DOUBLE QUOTATION MARK}")


@partly("The notebook does not define merge_heads.", merge_heads=0.0)
def a_function_renamed(notebook: Json) -> None:
    cell = find(notebook, "merge_heads")
    cell["source"] = cell["source"].replace("def merge_heads", "def my_merge")


#: Names of folders that a file system takes; all of them handed in the right notebook.
NAMES = ("-rf", "--force", "two words", "Zoë 王", "=1+1", "'; drop table", "a\nb", "%s{0}$HOME", "~", "CON")
#: Where in the folder the right notebook lies, and under which name.
PLACES = {
    "renamed": "my work.ipynb",
    "nested": "a/b/multihead.ipynb",
    "with an ending": "multihead.ipynb.txt",
    "shouted": "MULTIHEAD.IPYNB",
}


@pytest.fixture(scope="module")
def entries(
    made_once: Callable[..., Path], make_course: Any, notebooks: Any, program: Any
) -> dict[str, Json]:
    """The entries of all of them, graded in one class."""

    def fill(folder: Path) -> Any:
        course = make_course(folder / "course")
        (course.folder / "limits.toml").write_text("wall_factor = 100.0\n")  # the machine may be busy
        shapes = SALVAGED | {name: one[0] for name, one in (*LOST.items(), *PARTLY.items())}
        for name, shape in shapes.items():
            notebook = notebooks.filled(notebooks.right())
            data = shape(notebook)
            course.hand_in(name, notebook if data is None else data)
        for name in NAMES:
            course.hand_in(name, notebooks.filled(notebooks.right()))
        for name, where in PLACES.items():
            path = course.hand_in(name, notebooks.filled(notebooks.right()))
            target = path.with_name("x").parent / where
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
        several = course.hand_in("several", notebooks.filled(notebooks.right()))
        several.with_name("another.ipynb").write_bytes(json.dumps(notebooks.released()).encode())
        several.with_name("attempt.ipynb").write_bytes(b"{")
        return program("grade", "multihead", "--json", folder / "results.json", cwd=course.folder)

    folder = made_once("any-shape", fill)
    done = json.loads((folder / "done.json").read_text())
    assert [0, ""] == [done[0], done[2]]
    results = json.loads((folder / "results.json").read_text())
    return {one["student"]: one for one in results["submissions"]}


FULL = {"split_heads": 3.0, "merge_heads": 2.0, "multihead": 6.0, "multihead_backward": 9.0}


def points(entry: Json) -> dict[str, float | None]:
    return {row["name"]: row["score"] for row in entry["exercises"] if row["name"] in FULL}


@pytest.mark.parametrize("name", [*SALVAGED, *NAMES, *PLACES, "several"])
def test_where_the_functions_are_there_they_have_all_their_points(
    name: str, entries: dict[str, Json]
) -> None:
    assert ("graded", FULL) == (entries[name]["status"], points(entries[name])), entries[name]["notes"]


@pytest.mark.parametrize("name", PARTLY)
def test_what_is_lost_costs_nothing_else_and_is_said(name: str, entries: dict[str, Json]) -> None:
    _, costs, sentence = PARTLY[name]
    entry = entries[name]
    assert ("graded", FULL | costs) == (entry["status"], points(entry))
    messages = [check["message"] for row in entry["exercises"] for check in row["checks"]]
    assert sentence in " ".join([*entry["notes"], *messages])


@pytest.mark.parametrize("name", LOST)
def test_what_cannot_be_read_is_told_what_to_hand_in(name: str, entries: dict[str, Json]) -> None:
    entry = entries[name]
    assert ("malformed", dict.fromkeys(FULL, 0.0)) == (entry["status"], points(entry))
    assert LOST[name][1] in entry["reason"]
    assert "hand in that .ipynb file." in entry["reason"]
