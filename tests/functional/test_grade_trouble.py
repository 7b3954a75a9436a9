"""``autograder grade`` where things go wrong that are nobody's notebook's fault."""

import contextlib
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.assignments.private import grading_lock

pytestmark = pytest.mark.functional

PROGRAM = Path(sys.executable).with_name("autograder")


def entries(out: str) -> dict[str, Any]:
    return {one["student"]: one for one in json.loads(out)["submissions"]}


# Names.


@pytest.fixture
def odd_names(graded_copy: Any) -> Any:
    """The graded class and two more, whose names a file system takes and hardly anything else."""
    original = graded_copy.notebook_of("right-loops")
    for name in (b"caf\xe9", b"[red]new\nline\x1b[31m"):
        path = graded_copy.notebook_of(os.fsdecode(name))
        path.parent.mkdir(parents=True)
        shutil.copy(original, path)
    return graded_copy


def test_a_name_that_the_gradebook_cannot_hold_costs_nobody_elses_grade(
    odd_names: Any, autograder: Callable[..., Any]
) -> None:
    done = autograder("grade", "multihead", "--course", odd_names.folder)
    assert 4 == done.code
    assert "1 graded, 15 unchanged since their last grading, 1 without a score." in done.out
    assert re.search(r"^ caf\ufffd +– +– +– +– +– +no score", done.out, re.MULTILINE)
    assert re.search(r"^ \[red\]new\ufffdline.* +3 +2 +6 +9 +0 +20", done.out, re.MULTILINE)
    assert "autograder: caf\ufffd has no score: A student cannot be called 'caf\\udce9'" in done.err
    assert "\x1b" not in done.out + done.err


def test_a_name_that_is_no_text_stands_in_the_results(odd_names: Any, program: Callable[..., Any]) -> None:
    name = os.fsdecode(b"caf\xe9")
    done = program("grade", "multihead", "--json", "-", "--student", name, cwd=odd_names.folder)
    assert 4 == done.code
    assert [name] == list(entries(done.out))
    entry = entries(done.out)[name]
    assert ("judge_error", None, 22.0) == (entry["status"], entry["score"], entry["max_score"])
    assert "rename the folder in submitted/" in entry["reason"]


def test_file_names_that_are_no_text_and_bottomless_folders_are_graded(
    graded_copy: Any, autograder: Callable[..., Any]
) -> None:
    folder = graded_copy.notebook_of("right-loops").parent
    (folder / "multihead.ipynb").rename(folder / os.fsdecode(b"caf\xe9.ipynb"))
    (folder / os.fsdecode(b"li\xe9nk")).symlink_to("nowhere")
    (folder / os.fsdecode(b"fil\xe9")).write_text("text")
    deep = folder
    for _ in range(60):
        deep /= "d" * 30
    deep.mkdir(parents=True)
    words = ("grade", "multihead", "--course", graded_copy.folder, "--student", "right-loops")
    entry = entries(autograder(*words, "--json", "-").out)["right-loops"]
    assert ("graded", 20.0) == (entry["status"], entry["score"])
    for part in (
        "caf\ufffd.ipynb was graded",
        "li\ufffdnk was left out",
        " was left out: it lies too deep",
    ):
        assert part in " ".join(entry["notes"])
    graded = graded_copy.folder / "autograded" / "right-loops" / "multihead"
    assert {"multihead.ipynb", os.fsdecode(b"fil\xe9")} <= {path.name for path in graded.iterdir()}
    assert "0 graded, 1 unchanged" in autograder(*words).out


# The gradebook, the machine, the person in front of it.


def test_a_gradebook_that_is_locked_ends_the_run_with_one_message(
    graded_copy: Any, autograder: Callable[..., Any]
) -> None:
    with contextlib.closing(sqlite3.connect(graded_copy.folder / "gradebook.db")) as other:
        other.execute("BEGIN EXCLUSIVE")
        done = autograder("grade", "multihead", "--course", graded_copy.folder, "--student", "zeros")
    assert (2, "", 1) == (done.code, done.out, done.err.count("\n"))
    assert "database is locked. Another program is writing to it" in done.err


def test_a_disk_that_is_full_ends_the_run_and_what_was_recorded_stays(
    graded_copy: Any, autograder: Callable[..., Any]
) -> None:
    shutil.copy(graded_copy.notebook_of("right-loops"), graded_copy.notebook_of("zeros"))
    done = subprocess.run(
        [PROGRAM, "grade", "multihead"],
        cwd=graded_copy.folder,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
    )
    assert (2, "", 1) == (done.returncode, done.stdout, done.stderr.count("\n"))
    assert "The gradebook" in done.stderr
    out = autograder("grade", "multihead", "--course", graded_copy.folder).out
    assert "1 graded, 14 unchanged" in out
    assert "zeros: 0 → 20" in out


def test_a_second_grader_gets_one_clear_message(graded: Any, autograder: Callable[..., Any]) -> None:
    with grading_lock(graded.course.folder):
        done = autograder("grade", "multihead", "--course", graded.course.folder)
    assert (2, "") == (done.code, done.out)
    assert f"autograder: Another grader is at work on {graded.course.folder}." in done.err


def test_ctrl_c_says_how_far_it_came_and_the_next_run_goes_on_there(
    graded_copy: Any, autograder: Callable[..., Any]
) -> None:
    records = graded_copy.folder / ".autograder" / "multihead" / "records"
    quick = ("noisy", "raising", "recorder", "released", "right-einsum", "right-loops", "zeros")
    for student in quick:
        (records / f"{student}.json").unlink()
    process = subprocess.Popen(
        [PROGRAM, "grade", "multihead"],
        cwd=graded_copy.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Whoever runs the tests may ignore Ctrl-C, and programs inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 (no threads here)
    )
    until = time.monotonic() + 120
    while len(list(records.glob("*.json"))) < 10 and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (130, "") == (process.returncode, out)
    said = re.fullmatch(
        r"autograder: interrupted: (\d+) of 15 submissions are graded and recorded; "
        r"the next run goes on from there\n",
        err,
    )
    assert said is not None, err
    done = len(list(records.glob("*.json")))
    assert 2 <= len(quick) - (15 - done)
    # Those that come later in the alphabet were never looked at, whether they had a record or not.
    assert int(said[1]) <= done < 15
    out = autograder("grade", "multihead", "--course", graded_copy.folder).out
    assert f"{15 - done} graded, {done} unchanged since their last grading." in out


# Several notebooks in one folder, and a check of ours that breaks.

CHECKS = '''
from autograder.checking.framework import CheckFailure, CheckSet

checks = CheckSet("pair")


@checks.value("double", weight=1)
def doubles(student, reference, rng):
    """It doubles."""
    if student.call("double", 4).value != 8:
        raise CheckFailure("It does not double.")


@checks.value("triple", weight=1)
def triples(student, reference, rng):
    """It triples."""
    3 / (student.call("triple", 4).value - 42)
    if student.call("triple", 4).value != 12:
        raise CheckFailure("It does not triple.")
'''


def pair_notebook(name: str, body: str) -> dict[str, Any]:
    def cell(source: str, grade_id: str, **marks: Any) -> dict[str, Any]:
        marks = {
            "schema_version": 3,
            "grade": False,
            "solution": False,
            "locked": False,
            "task": False,
        } | marks
        metadata = {"nbgrader": {"grade_id": grade_id, **marks}}
        code = {"cell_type": "code", "outputs": [], "execution_count": None}
        return code | {"metadata": metadata, "source": source}

    cells = [
        cell(f"def {name}(x):\n{body}", name, solution=True),
        cell(f"assert callable({name})", f"test_{name}", grade=True, locked=True, points=3),
    ]
    return {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose assignment has two notebooks: ``one`` with ``double`` and ``two`` with ``triple``."""
    folder = tmp_path_factory.mktemp("pair")
    source = folder / "source" / "pair"
    for path in (source, folder / "solutions", folder / "autograder" / "assignments" / "pair"):
        path.mkdir(parents=True)
    (folder / "autograder/assignments/pair/checks.py").write_text(CHECKS)
    (folder / "solutions/pair.py").write_text(
        "def double(x):\n    return 2 * x\n\n\ndef triple(x):\n    return 3 * x\n"
    )
    solved = "    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION"
    for file, name in (("one", "double"), ("two", "triple")):
        (source / f"{file}.ipynb").write_text(json.dumps(pair_notebook(name, solved)))
    one, two = pair_notebook("double", "    return 2 * x"), pair_notebook("triple", "    return 3 * x")
    broken = pair_notebook("triple", "    return 42")
    for student, files in {
        "both": {"one": one, "two": two},
        "first": {"one": one},
        "renamed": {"one": one, "second part": two},
        "none": {},
        "trap": {"one": one, "two": broken},
    }.items():
        handed_in = folder / "submitted" / student / "pair"
        handed_in.mkdir(parents=True)
        for file, notebook in files.items():
            (handed_in / f"{file}.ipynb").write_text(json.dumps(notebook))
    return folder


def test_several_notebooks_are_one_assignment_and_a_fault_of_ours_is_nobodys_zero(
    pair: Path, autograder: Callable[..., Any]
) -> None:
    done = autograder("grade", "pair", "--course", pair, "--json", "-")
    assert 4 == done.code
    found = {
        student: (one["status"], one["score"], [row["score"] for row in one["exercises"]])
        for student, one in entries(done.out).items()
    }
    assert {
        "both": ("graded", 6.0, [3.0, 3.0]),
        "first": ("graded", 3.0, [3.0, 0.0]),
        "none": ("malformed", 0.0, [0.0, 0.0]),
        "renamed": ("graded", 6.0, [3.0, 3.0]),
        "trap": ("judge_error", None, [3.0, None]),
    } == found
    assert "No notebook was handed in. Hand in two.ipynb" in " ".join(entries(done.out)["first"]["notes"])
    assert "autograder: trap has no score: A check of triple failed by a fault of its own.\n" == done.err

    def page(student: str, name: str) -> str:
        return (pair / "autograded" / student / "pair" / f"{name}.ipynb").read_text(encoding="utf-8")

    assert "This notebook was not handed in." in page("first", "two")
    assert "needs attention" in page("trap", "two")
    assert "return 42" in page("trap", "two")
    again = autograder("grade", "pair", "--course", pair)
    assert 4 == again.code
    assert "0 graded, 4 unchanged since their last grading, 1 without a score." in again.out
