"""The benchmarks work; what they measure is for whoever runs ``make bench``."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from classes import build
from measure import CommandFailed, run
from traitlets.config.loader import PyFileConfigLoader

FOLDER = Path(__file__).parents[4] / "docs" / "benchmarks"


@pytest.mark.parametrize("command", [["floor.py"], ["judging.py", "--unsafe"]], ids=" ".join)
def test_one_notebook_is_measured(command: list[str]) -> None:
    script, *arguments = command
    done = subprocess.run(
        [sys.executable, str(FOLDER / script), "--count", "1", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    assert 0 < json.loads(done.stdout)["seconds"] < 60


def test_a_step_on_the_core_is_measured_with_or_without_pytorch() -> None:
    done = subprocess.run(
        [sys.executable, str(FOLDER / "core.py"), "--turns", "2"], capture_output=True, text=True, check=True
    )
    assert re.search(r"^core +median [\d.]+ ms, quickest [\d.]+ ms a step$", done.stdout, re.MULTILINE)


def test_a_class_has_one_submission_for_each_id(tmp_path: Path) -> None:
    course = build(tmp_path / "course", 12)
    assert [f"s{number:04d}" for number in range(12)] == sorted(
        path.name for path in (course / "submitted").iterdir()
    )
    assert 12 == len(list(course.glob("submitted/*/multihead/multihead.ipynb")))


def test_the_stock_course_does_without_our_judge(tmp_path: Path) -> None:
    course = build(tmp_path / "course", 1, stock=True)
    configuration = PyFileConfigLoader("nbgrader_config.py", str(course)).load_config()
    assert "ClearSolutions" in configuration
    assert "Autograde" not in configuration


def test_a_command_is_measured_with_its_children_and_a_failure_is_told(tmp_path: Path) -> None:
    hungry = "import subprocess, sys; subprocess.run([sys.executable, '-c', \"%s\"])"
    child = "import time; x = bytearray(200 * 2**20); time.sleep(1)"
    taken = run(["python", "-c", hungry % child], tmp_path)
    assert taken.seconds > 1
    assert 200 < taken.peak_mib < 400
    with pytest.raises(CommandFailed, match="ended with 3"):
        run(["python", "-c", "raise SystemExit(3)"], tmp_path)
