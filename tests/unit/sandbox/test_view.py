"""What of a machine is shown in the box: a small machine in a folder."""

from pathlib import Path

import pytest

from autograder.sandbox.interpreter import Interpreter, this_interpreter
from autograder.sandbox.view import NO_PACKAGE, View, show_machine


class Machine:
    """Folders and files by their path; ``seen`` tells what the box would show at a place."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.nothing = self.make("nothing/__init__.py", NO_PACKAGE).parent
        self.view = View(self.nothing, self.make("empty"))

    def make(self, path: str, text: str = "") -> Path:
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return place

    def seen(self, path: str) -> str | None:
        """The file that bubblewrap would show there, if any; later arguments cover earlier ones."""
        place = self.folder / path
        words = iter(self.view.arguments)
        found: Path | None = None
        for word in words:
            if word == "--tmpfs" and place.is_relative_to(next(words)):
                found = None
            if word != "--ro-bind":
                continue
            source, at = Path(next(words)), Path(next(words))
            if place.is_relative_to(at):
                found = source / place.relative_to(at)
        return str(found.relative_to(self.folder)) if found is not None and found.exists() else None


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path.resolve())


def test_what_is_shown_is_seen_at_its_own_place(machine: Machine) -> None:
    shown = machine.make("lib/a.so").parent
    machine.make("home/secret")
    machine.view.show(shown)
    assert ("lib/a.so", None) == (machine.seen("lib/a.so"), machine.seen("home/secret"))


def test_what_lies_behind_a_link_is_seen_at_both_places(machine: Machine) -> None:
    machine.make("opt/python/bin/python3")
    (machine.folder / "venv").mkdir()
    (machine.folder / "venv" / "python").symlink_to("../opt/python/bin/python3")
    machine.view.show(machine.folder / "venv" / "python")
    assert {"opt/python/bin/python3"} == {
        machine.seen("venv/python"),
        machine.seen("opt/python/bin/python3"),
    }


def test_nothing_is_shown_twice(machine: Machine) -> None:
    machine.make("lib/python/os.py")
    machine.view.show(machine.folder / "lib")
    before = list(machine.view.arguments)
    machine.view.show(machine.folder / "lib" / "python")
    assert before == machine.view.arguments


def test_every_folder_on_the_way_can_be_entered_by_anybody(machine: Machine) -> None:
    machine.make("a/b/c/d")
    machine.view.show(machine.folder / "a" / "b" / "c")
    words = machine.view.arguments
    made = [words[number + 1] for number, word in enumerate(words) if word == "--dir"]
    ways = [str(path) for path in reversed((machine.folder / "a" / "b" / "c").parents)][1:]
    assert ways == made


def test_what_is_hidden_is_empty(machine: Machine) -> None:
    machine.make("usr/course/checks.py")
    machine.make("usr/notes.txt", "x")
    machine.view.show(machine.folder / "usr")
    machine.view.hide(machine.folder / "usr" / "course")
    machine.view.hide(machine.folder / "usr" / "notes.txt")
    assert (None, "empty") == (machine.seen("usr/course/checks.py"), machine.seen("usr/notes.txt"))


def test_what_is_hidden_is_hidden_wherever_it_is_seen(machine: Machine) -> None:
    machine.make("real/kit/checks.py")
    (machine.folder / "link").symlink_to("real")
    machine.view.show(machine.folder / "link")
    machine.view.hide(machine.folder / "link" / "kit")
    assert (None, None) == (machine.seen("real/kit/checks.py"), machine.seen("link/kit/checks.py"))


def test_hiding_what_cannot_be_seen_shows_nothing(machine: Machine) -> None:
    machine.make("course/checks.py")
    machine.view.hide(machine.folder / "course")
    assert [] == machine.view.arguments


def test_an_interpreter_inside_of_a_hidden_course_is_seen_and_nothing_else_there(machine: Machine) -> None:
    packages = machine.make("course/.venv/lib/site-packages/numpy.py").parent
    machine.make("course/solutions/answers.py")
    machine.view.show(machine.folder)
    show_machine(
        machine.view,
        Interpreter("python", (str(packages),)),
        {str(packages): frozenset({"numpy.py"})},
        [machine.folder / "course"],
    )
    assert "course/.venv/lib/site-packages/numpy.py" == machine.seen(
        "course/.venv/lib/site-packages/numpy.py"
    )
    assert None is machine.seen("course/solutions/answers.py")


def test_a_course_inside_of_what_the_interpreter_needs_is_hidden(machine: Machine) -> None:
    machine.make("conda/lib/python3.12/os.py")
    machine.make("conda/lib/course/checks.py")
    library = machine.folder / "conda" / "lib"
    show_machine(machine.view, Interpreter("python", (), (str(library),)), {}, [library / "course"])
    assert "conda/lib/python3.12/os.py" == machine.seen("conda/lib/python3.12/os.py")
    assert None is machine.seen("conda/lib/course/checks.py")


def test_of_installed_packages_only_those_are_seen_that_were_named(machine: Machine) -> None:
    packages = "lib/python3.12/site-packages"
    names = (
        "autograder/checks.py",
        "__editable__.autograder-0.1.0.pth",
        "numpy/core.py",
        "torch/nn.py",
        "six.py",
    )
    for name in names:
        machine.make(f"{packages}/{name}", "x")
    folder = machine.folder / packages
    interpreter = Interpreter("python", (str(folder),), (str(machine.folder / "lib"),))
    show_machine(machine.view, interpreter, {str(folder): frozenset({"numpy", "six.py"})}, [])
    seen = [name for name in names if machine.seen(f"{packages}/{name}")]
    assert ["numpy/core.py", "six.py"] == seen


def test_packages_are_seen_wherever_their_folder_can_be_reached(machine: Machine) -> None:
    machine.make("real/site-packages/numpy.py")
    machine.make("real/site-packages/torch.py")
    (machine.folder / "link").symlink_to("real")
    machine.view.show(machine.folder / "link")
    machine.view.only(machine.folder / "link" / "site-packages", ["numpy.py"])
    for place in ("real", "link"):
        assert machine.seen(f"{place}/site-packages/numpy.py")
        assert None is machine.seen(f"{place}/site-packages/torch.py")


def test_folders_of_packages_that_the_interpreter_does_not_use_are_hidden(machine: Machine) -> None:
    machine.make("python/lib/python3.12/os.py")
    machine.make("python/lib/python3.12/site-packages/torch.py")
    library = machine.folder / "python" / "lib"
    show_machine(machine.view, Interpreter("python", (), (str(library),)), {}, [])
    assert machine.seen("python/lib/python3.12/os.py")
    assert None is machine.seen("python/lib/python3.12/site-packages/torch.py")


def test_this_interpreter_needs_itself_its_library_and_its_packages() -> None:
    interpreter = this_interpreter()
    needed = (*interpreter.packages, *interpreter.needs)
    assert interpreter.executable in interpreter.needs
    for module in ("numpy", "IPython", "json"):
        file = Path(__import__(module).__file__).resolve()
        system = file.is_relative_to("/usr")
        assert system or any(file.is_relative_to(Path(one).resolve()) for one in needed)
