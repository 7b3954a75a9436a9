"""What the lesson quotes is what was measured: ``docs/labs.md`` has the figures with all their digits."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]


def rows(text: str, begin: str) -> dict[str, list[float]]:
    """The numbers in the rows that begin so, with a number of heads after it, by that number of heads."""
    found = re.findall(rf"^\| {begin}([1248])`? \|(.*)\|$", text, re.MULTILINE)
    return {heads: [float(one) for one in re.findall(r"\d+\.\d+", cells)] for heads, cells in found}


def texts() -> dict[str, str]:
    """The sources of the lesson's cells, by their ids."""
    cells = json.loads((ROOT / "source/gpt/gpt.ipynb").read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: "".join(cell["source"]) for cell in cells}


def test_the_table_of_losses_is_that_of_the_measured_ones_rounded() -> None:
    labs = (ROOT / "docs" / "labs.md").read_text(encoding="utf-8")
    on_shakespeare, rest = labs.partition("setting on tinyshakespeare")[2].split("The short setting", 1)
    one_head = re.search(r"--replace none` \| 109,889 \| (\d\.\d+)", on_shakespeare)
    assert one_head is not None
    shakespeare = {**rows(on_shakespeare, "`gpt --heads "), "1": [float(one_head[1])]}
    sentences = rows(rest.partition("trained longer")[2].partition("Time of a step")[0], "")
    quoted = rows(texts()["longer"], "")
    assert ["1", "2", "4", "8"] == list(quoted)
    for heads, losses in quoted.items():
        assert [shakespeare[heads][0], *sentences[heads][:2]] == pytest.approx(losses, abs=0.00051)


def test_the_times_of_a_step_are_those_of_the_quickest_measured() -> None:
    labs = (ROOT / "docs" / "labs.md").read_text(encoding="utf-8")
    measured = rows(labs.partition("Time of a step")[2], "`gpt --heads ")
    quoted = re.findall(r"\d\.\d\d", texts()["experiment-times"])
    assert [f"{measured[heads][0]:.2f}" for heads in "1248"] == quoted
