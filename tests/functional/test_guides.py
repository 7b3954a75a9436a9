"""Whatever command a guide shows does its work, in the order in which the guide shows it.

The commands of a block that begins with ```` ```sh ```` are run in the course's folder, those after
``sh student`` where a student works. Those after ``sh by-hand`` need a browser, change the machine or take
minutes: it is only made sure that there are such commands, with such options.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from traitlets.utils.importstring import import_item

from autograder.assignments.catalog import KIT, load_assignment
from autograder.assignments.limits import read_limits
from autograder.cli.arguments import Verbs
from autograder.cli.main import VERBS
from autograder.usecases.demo import build_course, hand_in, simulated_class

pytestmark = pytest.mark.functional

ROOT = KIT.parent
GUIDES = ("README.md", "docs/student_guide.md", "docs/instructor_guide.md")
DOCUMENTS = (
    *GUIDES,
    "CONTRIBUTING.md",
    *(f"docs/{name}.md" for name in ("certificate", "labs", "result_format")),
)
HUB = "JupyterHub"
BLOCK = re.compile(r"^```(\w*)(?: ([\w-]+))?\n(.*?)^```$|^## (.+?)\n", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:autograder|nbgrader) [a-z][^`]*)`")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, how its commands are run, its lines, and the heading above it."""

    language: str
    manner: str
    text: str
    heading: str

    @property
    def commands(self) -> list[list[str]]:
        return [words for line in self.text.splitlines() if (words := shlex.split(line, comments=True))]


def blocks(document: str) -> Iterator[Block]:
    heading = ""
    for language, manner, text, title in BLOCK.findall((ROOT / document).read_text(encoding="utf-8")):
        heading = title or heading
        if not title:
            yield Block(language, manner, text, heading)


def commands(manner: str, *documents: str) -> list[list[str]]:
    """All commands that are run in one manner."""
    found = (block for name in documents for block in blocks(name) if block.language == "sh")
    return [words for block in found if block.manner == manner for words in block.commands]


def make_course(folder: Path) -> Path:
    """The course that the guides speak of: ada and bob handed in, cleo's notebook was downloaded."""
    course = folder / "course"
    build_course(course)
    assignment = load_assignment(course, "multihead")
    released = json.loads((ROOT / "assignments/multihead/multihead.ipynb").read_text(encoding="utf-8"))
    ada, dora = (one for one in simulated_class("multihead") if one.id in {"ada", "dora"})
    for student in (ada, replace(dora, id="bob")):
        hand_in(assignment, student, released)
    (course / "class.csv").write_text("id,first_name,last_name,email\nada,Ada,Lovelace,\n")
    archive = course / "downloaded/multihead/archive"
    archive.mkdir(parents=True)
    with zipfile.ZipFile(archive / "submissions.zip", "w") as file:
        file.write(course / "submitted/ada/multihead/multihead.ipynb", "cleo_multihead.ipynb")
    return course


def make_hub(folder: Path) -> tuple[Path, Path]:
    """A course and a student's home that share an exchange, configured as the guide says."""
    (configured,) = (one.text for one in blocks(GUIDES[2]) if one.heading == HUB and one.language == "python")
    (exchange := folder / "exchange").mkdir(parents=True)
    exchange.chmod(0o777)
    configured = configured.replace("/srv/nbgrader/exchange", str(exchange))
    course, student = folder / "course", folder / "student"
    build_course(course)
    student.mkdir()
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(configured)
    (student / "nbgrader_config.py").write_text(f"c = get_config()\n{configured}")
    return course, student


def run_all(steps: list[tuple[Path, list[str]]], home: Path) -> list[tuple[list[str], int, str]]:
    """Run commands until one fails; returns each with its exit code and its output."""
    home.mkdir()
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("warm_commands.py")],
        input=json.dumps([(str(folder), words) for folder, words in steps]),
        env=os.environ
        | {
            "HOME": str(home),
            "JUPYTER_CONFIG_DIR": str(home / "jupyter"),
            "JUPYTER_DATA_DIR": str(home / "data"),
            "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "OPENBLAS_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    answers = json.loads(done.stdout)
    return [(words, *answer) for (_, words), answer in zip(steps, answers, strict=False)]


def test_commands_of_the_guides_leave_what_the_guides_say(tmp_path: Path) -> None:
    course = make_course(tmp_path)
    hub, student = make_hub(tmp_path / "hub")
    steps: list[tuple[Path, list[str]]] = []
    for block in (block for name in GUIDES for block in blocks(name) if block.language == "sh"):
        where = {"": course if block.heading != HUB else hub, "student": student}
        if block.manner in where:
            new = [(where[block.manner], words) for words in block.commands]
            steps = [step for step in steps if step not in new] + new  # what is shown twice is run once
    for words, code, output in run_all(steps, tmp_path / "home"):
        assert 0 == code, f"{shlex.join(words)} ended with exit code {code}:\n{output}"
    assert_left_in(course)
    (page,) = (student / "multihead/feedback").rglob("multihead.html")
    assert "multihead_backward" in page.read_text(encoding="utf-8")


def assert_left_in(course: Path) -> None:
    """The files that the guides promise are there, with everybody's points."""
    left = (
        "assignments/multihead/multihead.ipynb",
        "dist/multihead.zip",
        "submitted/cleo/multihead/multihead.ipynb",
        "autograded/ada/multihead/multihead.ipynb",
        *(f"feedback/ada/multihead/multihead.{kind}" for kind in ("html", "md", "txt")),
        "gradebook.db",
    )
    assert [] == [name for name in left if not (course / name).is_file()]
    results = json.loads((course / "results.json").read_text(encoding="utf-8"))
    scores = {one["student"]: one["score"] for one in results["submissions"]}
    assert {"ada": 20.0, "bob": 17.0, "cleo": 20.0} == scores
    assert all(name in (course / "grades.csv").read_text() for name in scores)


def test_every_block_of_commands_is_marked_as_one() -> None:
    programs = {*CHECKED, "jupyter", "python"}
    for name in DOCUMENTS:
        for block in blocks(name):
            words = block.text.split()
            assert (block.language == "sh") == (bool(words) and words[0] in programs), (name, block.text)
            assert block.manner in {"", "student", "by-hand"}, (name, block.manner)


def test_only_commands_of_the_kit_and_of_nbgrader_are_run() -> None:
    run = [*commands("", *DOCUMENTS), *commands("student", *DOCUMENTS)]
    assert {"autograder", "nbgrader"} == {words[0] for words in run}


def test_commands_that_nobody_runs_here_exist_with_their_options() -> None:
    by_hand = commands("by-hand", *DOCUMENTS)
    inline = [
        words
        for name in DOCUMENTS
        for text in INLINE.findall((ROOT / name).read_text(encoding="utf-8"))
        if (words := shlex.split(text))
    ]
    assert by_hand
    assert inline
    assert [] == [shlex.join(words) for words in [*by_hand, *inline] if not exists(words)]


@pytest.mark.parametrize(
    "line", ["autograder grad", "autograder grade --froce", "nbgrader colect", "nbgrader db add", "make al"]
)
def test_a_command_that_does_not_exist_would_be_noticed(line: str) -> None:
    assert not exists(line.split())


def test_the_limits_that_the_guide_shows_are_limits(tmp_path: Path) -> None:
    (shown,) = (block.text for block in blocks(GUIDES[2]) if block.language == "toml")
    (tmp_path / "limits.toml").write_text(shown, encoding="utf-8")
    assert 60.0 == read_limits(tmp_path, "multihead").notebook_seconds


def exists(words: list[str]) -> bool:
    """Whether there is such a command, with such options."""
    program, *rest = words
    options = {word.partition("=")[0] for word in rest if word.startswith("--")}
    names = [word for word in rest if not word.startswith("-")]
    return CHECKED.get(program, lambda names, options: False)(names, options)


def exists_in_the_kit(names: list[str], options: set[str]) -> bool:
    parser = argparse.ArgumentParser()
    verbs: Verbs = parser.add_subparsers()
    for verb in VERBS:
        verb.add_parser(verbs)
    if names and names[0] not in verbs.choices:
        return False
    about = verbs.choices[names[0]] if names else parser
    return options <= set(re.findall(r"--[\w-]+", about.format_help()))


def exists_in_nbgrader(names: list[str], options: set[str]) -> bool:
    from nbgrader.apps.nbgraderapp import NbGraderApp

    app: Any = NbGraderApp
    for name in names:
        if not isinstance(app.subcommands, dict):  # the trait itself: this command has none
            break
        if name not in app.subcommands:
            return False
        found = app.subcommands[name][0]
        app = import_item(found) if isinstance(found, str) else found
    known: set[str] = set()
    for key in (*app.aliases, *app.flags):
        known |= {f"--{one}" for one in (key if isinstance(key, tuple) else (key,))}
    return options <= known


def exists_in_the_makefile(names: list[str], options: set[str]) -> bool:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return not options and all(re.search(rf"^{name}:", text, re.MULTILINE) for name in names)


#: What says whether a command exists: by its program, from the words after it and its long options.
CHECKED: dict[str, Callable[[list[str], set[str]], bool]] = {
    "autograder": exists_in_the_kit,
    "nbgrader": exists_in_nbgrader,
    "make": exists_in_the_makefile,
    "jupyter": lambda names, options: Path(sys.executable).with_name(f"jupyter-{names[0]}").is_file(),
    "python": lambda names, options: (ROOT / "source/multihead" / names[-1]).is_file(),
    ".venv/bin/python": lambda names, options: (ROOT / names[0]).is_file(),
    ".": lambda names, options: names == [".venv/bin/activate"],
}
