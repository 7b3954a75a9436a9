"""The lessons' figures: drawn anew they are the same, and who does not see them is told what they show."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[4]
#: Of each lesson the program that draws, and what it draws.
LESSONS = {
    "multihead": (
        "figures.py",
        ["axes_and_heads", "direct_reshape", "four_projections", "growth", "three_routes"],
    ),
    "weighted_attention": (
        "attention_figures.py",
        ["from_scores_to_weights", "three_roles", "way_back"],
    ),
    "gpt": ("gpt_figures.py", ["inside", "one_square", "shapes", "two_readings"]),
    "torch_multihead": ("torch_figures.py", ["masks", "orange", "two_sequences", "views"]),
}
FIGURES = [path for name in LESSONS for path in sorted((ROOT / "source" / name / "figures").iterdir())]
LESSON = pytest.mark.parametrize("lesson", list(LESSONS))
SVG = "{http://www.w3.org/2000/svg}"
EACH = pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.stem)


def root_of(path: Path) -> ET.Element:
    return ET.parse(path).getroot()  # noqa: S314 - a file of our own


def description(path: Path) -> str:
    """The text that stands in the file for those who do not see the picture."""
    return root_of(path).findtext(f"{SVG}desc") or ""


def embedded(lesson: str) -> list[tuple[str, str]]:
    """Alternative text and address of each picture in the notebook, in order."""
    notebook = nbformat.read(ROOT / "source" / lesson / f"{lesson}.ipynb", as_version=4)
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    return [pair for text in texts for pair in re.findall(r"^!\[(.*)\]\((.*)\)$", text, re.MULTILINE)]


@LESSON
def test_drawn_anew_they_are_the_same_files(lesson: str, tmp_path: Path) -> None:
    program, names = LESSONS[lesson]
    subprocess.run([sys.executable, ROOT / "docs" / "figures" / program, tmp_path], check=True)
    drawn = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert [f"{name}.svg" for name in names] == sorted(drawn)
    committed = ROOT / "source" / lesson / "figures"
    assert drawn == {path.name: path.read_bytes() for path in committed.iterdir()}


@LESSON
def test_without_a_folder_the_program_says_how_it_is_called(lesson: str) -> None:
    program = ROOT / "docs" / "figures" / LESSONS[lesson][0]
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert (1, f"usage: python docs/figures/{program.name} FOLDER\n") == (done.returncode, done.stderr)


@LESSON
def test_the_notebook_shows_each_once_with_its_alternative_text(lesson: str) -> None:
    folder = ROOT / "source" / lesson
    assert sorted(embedded(lesson)) == sorted(
        (description(path), path.relative_to(folder).as_posix()) for path in (folder / "figures").iterdir()
    )


@EACH
def test_the_alternative_text_survives_markdown(path: Path) -> None:
    text = description(path)
    assert len(text) > 100
    assert not re.search(r"[\[\]*`<>$\\\n]", text)


@EACH
def test_a_figure_needs_no_other_file_and_runs_nothing(path: Path) -> None:
    root = root_of(path)
    assert "img" == root.get("role")
    assert {"script", "image", "foreignObject", "style", "use"}.isdisjoint(
        one.tag.removeprefix(SVG) for one in root.iter()
    )
    outside = "http:|https:|//|javascript:"
    assert [] == [
        value
        for one in root.iter()
        for name, value in one.attrib.items()
        if name.startswith("on") or re.search(outside, value)
    ]


@EACH
def test_its_names_are_its_own_so_that_several_figures_may_share_a_page(path: Path) -> None:
    names = [one.get("id", "") for one in root_of(path).iter() if "id" in one.attrib]
    assert len(names) == len(set(names)) > 0
    assert all(name.startswith(path.stem) for name in names)


@EACH
def test_meaning_never_lies_in_colour_alone(path: Path) -> None:
    """Fills of heads but the first are patterned; lines in the colours of K and V are dashed."""
    root = root_of(path)
    strokes = {
        one.get("id", "")[-1]: one.find(f"{SVG}path") is not None for one in root.iter(f"{SVG}pattern")
    }
    assert strokes == {head: head != "0" for head in strokes}
    for one in root.iter(f"{SVG}path"):
        if one.get("stroke") in ("#D55E00", "#009E73") and one.get("stroke-width") == "2":
            assert one.get("stroke-dasharray")
