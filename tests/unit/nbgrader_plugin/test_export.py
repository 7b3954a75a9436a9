"""The exported table: nbgrader's own, but for texts that a spreadsheet would compute or tear apart."""

import csv
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from nbgrader.plugins.export import CsvExportPlugin

from autograder.nbgrader_plugin.export import HarmlessCsv, defused

#: nbgrader's own way of adding a submission.
pytestmark = pytest.mark.filterwarnings("ignore:Object of type <SubmittedAssignment> not in session")

NAMES = {
    "=cmd|' /C calc'!A0": ("+1", "@sum"),
    "ada": ("Lovelace, Ada", "-2"),
    "zoë": ("Z\nZ", None),
    "plain": ("Name", "Plain"),
}


@pytest.fixture
def gradebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Grades of one assignment, handed in by one student."""
    # nbgrader starts `alembic` by its bare name; it lies beside the interpreter.
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as gradebook:
        gradebook.add_assignment("toy", duedate="2026-05-01 12:00:00 UTC")
        gradebook.add_assignment("other")
        for student, (last, first) in NAMES.items():
            gradebook.add_student(student, last_name=last, first_name=first)
        gradebook.add_submission("toy", "ada", timestamp="2026-05-01 11:00:00 UTC")
        yield gradebook


def rows(plugin: Any, gradebook: Any, path: Path) -> list[dict[str, str]]:
    plugin.to = str(path)
    plugin.export(gradebook)
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_nothing_begins_like_a_formula_and_nothing_is_torn(gradebook: Any, tmp_path: Path) -> None:
    found = rows(HarmlessCsv(), gradebook, tmp_path / "grades.csv")
    assert 8 == len(found)
    assert all(set(row) == set(found[0]) and None not in row.values() for row in found)
    assert not [text for row in found for text in row.values() if text.startswith(tuple("=+-@\t\r\n"))]
    assert {"'=cmd|' /C calc'!A0", "ada", "zoë", "plain"} == {row["student_id"] for row in found}
    ada = next(row for row in found if (row["student_id"], row["assignment"]) == ("ada", "toy"))
    assert ("Lovelace, Ada", "'-2", "2026-05-01 11:00:00") == (
        ada["last_name"],
        ada["first_name"],
        ada["timestamp"],
    )


def test_control_nbgraders_own_table_holds_formulas(gradebook: Any, tmp_path: Path) -> None:
    found = rows(CsvExportPlugin(), gradebook, tmp_path / "grades.csv")
    assert "=cmd|' /C calc'!A0" in {row["student_id"] for row in found}


def test_for_plain_names_both_tables_are_the_same(gradebook: Any, tmp_path: Path) -> None:
    tables = []
    for plugin in (HarmlessCsv(), CsvExportPlugin()):
        plugin.student, plugin.assignment = ["plain"], ["toy"]
        tables.append(rows(plugin, gradebook, tmp_path / "grades.csv"))
    assert tables[0] == tables[1]
    assert 1 == len(tables[0])


@pytest.mark.parametrize("value", [0, 2.5, -3.0, True])
def test_numbers_stay_numbers(value: float) -> None:
    assert value == defused(value)
