"""Which packages an environment holds: folders of packages made by hand, and this machine's own."""

from pathlib import Path

import pytest

from autograder.model import Environment
from autograder.sandbox.interpreter import this_interpreter
from autograder.sandbox.packages import entries


class Folder:
    """A folder of packages."""

    def __init__(self, path: Path):
        self.path = path
        path.mkdir()

    def install(self, name: str, *files: str, requires: tuple[str, ...] = (), recorded: bool = True) -> None:
        """A distribution with these files, and what it requires."""
        info = self.path / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        lines = [f"Name: {name}", "Version: 1.0", *(f"Requires-Dist: {one}" for one in requires)]
        (info / "METADATA").write_text("\n".join(lines) + "\n")
        for file in files:
            place = (self.path / file).resolve()
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        if recorded:
            (info / "RECORD").write_text("".join(f"{one},,\n" for one in (*files, f"{info.name}/METADATA")))

    def seen(self, *packages: str, optional: tuple[str, ...] = ()) -> set[str]:
        """What an environment with these packages shows, but for what describes distributions."""
        shown = entries(Environment(packages, optional), [str(self.path)])[str(self.path)]
        return {name for name in shown if not name.endswith("-info")}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "site-packages")


def test_numpy_and_ipython_are_always_there_and_others_are_not(folder: Folder) -> None:
    folder.install("numpy", "numpy/__init__.py", "numpy.libs/blas.so")
    folder.install("ipython", "IPython/__init__.py")
    folder.install("torch", "torch/__init__.py")
    assert {"numpy", "numpy.libs", "IPython"} == folder.seen()


def test_what_a_package_requires_comes_along_however_it_is_spelt(folder: Folder) -> None:
    folder.install("torch", "torch/nn.py", "functorch/a.py", requires=("Typing_Extensions (>=4)", "sympy>1"))
    folder.install("typing-extensions", "typing_extensions.py")
    folder.install("sympy", "sympy/core.py", requires=("mp.math; python_version > '3'", "torch"))
    folder.install("mp-math", "mpmath/a.py")
    folder.install("other", "other.py")
    assert {"torch", "functorch", "typing_extensions.py", "sympy", "mpmath"} == folder.seen("Torch")


def test_extras_bring_what_they_need_where_they_are_asked_for(folder: Folder) -> None:
    folder.install("lab", "lab.py", requires=("plot[fast, fine]>=2",))
    extras = (
        "base",
        'speed>1; extra == "fast"',
        "grain ; extra=='fine' and os_name == 'x'",
        'web; extra == "web"',
    )
    folder.install("plot", "plot.py", requires=extras)
    for name in ("base", "speed", "grain", "web"):
        folder.install(name, f"{name}.py")
    assert {"lab.py", "plot.py", "base.py", "speed.py", "grain.py"} == folder.seen("lab")


def test_optional_packages_are_there_if_they_are_installed(folder: Folder) -> None:
    folder.install("matplotlib", "matplotlib/a.py", "pylab.py")
    assert {"matplotlib", "pylab.py"} == folder.seen(optional=("matplotlib", "seaborn"))


def test_without_a_record_names_tell_what_belongs_to_a_package(folder: Folder) -> None:
    folder.install("Odd-Name", "odd_name/a.py", "odd_name.so", "named/b.py", "else.py", recorded=False)
    (folder.path / "Odd_Name-1.0.dist-info" / "top_level.txt").write_text("named\n")
    assert {"odd_name", "odd_name.so", "named"} == folder.seen("odd-name")


def test_what_lies_elsewhere_or_is_missing_is_not_shown(folder: Folder) -> None:
    folder.install("tool", "tool.py", "../bin/tool", "__pycache__/tool.pyc")
    (folder.path / "tool-1.0.dist-info" / "RECORD").write_text('tool.py,,\n"gone,\n../bin/tool,,\n')
    assert {"tool.py"} == folder.seen("tool")


def test_the_kit_is_never_there_whoever_requires_it(folder: Folder) -> None:
    folder.install("tool", "tool.py", requires=("autograder", "autograder[labs]"))
    folder.install("autograder", "autograder/checks.py", requires=('secret; extra == "labs"',))
    folder.install("secret", "secret.py")
    assert {"tool.py"} == folder.seen("tool", "Autograder")


def test_of_two_folders_the_first_one_counts(tmp_path: Path) -> None:
    first, second = Folder(tmp_path / "a"), Folder(tmp_path / "b")
    for folder in (first, second):
        folder.install("tool", "tool.py")
    shown = entries(Environment(("tool",)), [str(first.path), str(second.path)])
    assert [True, False] == ["tool.py" in names for names in shown.values()]


def test_on_this_machine_the_kit_has_packages_that_no_notebook_needs() -> None:
    interpreter = this_interpreter()
    shown = set().union(*entries(Environment(), interpreter.packages).values())
    assert {"numpy", "IPython", "traitlets", "matplotlib"} <= shown
    assert set() == {"nbgrader", "sqlalchemy", "autograder", "torch"} & shown
