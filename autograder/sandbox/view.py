"""What of the machine can be seen in the box, as arguments for bubblewrap; all of it only to be read.

That is the system's programs and libraries, the interpreter, and of its packages those that an assignment
declares: nothing of ``/etc`` but what the loader needs, no home, no course, nothing of the kit. Wherever
something that is to stay hidden lies inside of what is shown, stands something empty.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder.sandbox.interpreter import PACKAGE_FOLDERS, Interpreter
from autograder.sandbox.packages import Entries

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
LOADER = ("/etc/ld.so.cache", "/etc/alternatives")
DEVICES = ("null", "zero", "full", "random", "urandom")
KIT = Path(__file__).parents[1]
#: Stands in place of a package: importing it fails as if it were not there.
NO_PACKAGE = "raise ModuleNotFoundError(f'No module named {__name__!r}', name=__name__)\n"


@dataclass(frozen=True)
class _Bind:
    """What lies at ``place`` in the box: ``source``, a path of the machine without links."""

    source: Path
    place: Path


class View:
    """Collects what is shown; ``empty_folder`` and ``empty_file`` stand in the place of what is hidden."""

    def __init__(self, empty_folder: Path, empty_file: Path):
        self.arguments: list[str] = []
        self._empty_folder = empty_folder
        self._empty_file = empty_file
        self._binds: list[_Bind] = []
        self._folders = {Path("/")}

    def show(self, path: Path, place: Path | None = None) -> None:
        """Show a file or folder at its own place, also where that leads over links; or at another place."""
        real = path.resolve()
        for one in dict.fromkeys([real, path] if place is None else [place]):
            if self._at(one) != real:
                self._bind(real, one)

    def link(self, path: Path) -> None:
        """Show a link as a link."""
        self.arguments += ["--symlink", str(path.readlink()), str(path)]

    def folder(self, path: Path) -> None:
        """Make a folder, and those above it, that anybody can enter: bubblewrap's own are for root alone."""
        for one in (*reversed(path.parents), path):
            if one not in self._folders and self._at(one) is None:
                self.arguments += ["--dir", str(one)]
                self._folders.add(one)

    def hide(self, path: Path) -> None:
        """Put something empty wherever it could be seen, unless it is something that was to be shown."""
        real = path.resolve()
        empty = self._empty_folder if real.is_dir() else self._empty_file
        for bind in tuple(self._binds):
            if bind.source in real.parents:
                place = bind.place / real.relative_to(bind.source)
                if self._at(place) == real:
                    self._bind(empty, place)

    def only(self, folder: Path, names: Iterable[str]) -> None:
        """Show, of what lies in a folder, the files and folders of these names, wherever it could be seen."""
        real = folder.resolve()
        within = [bind for bind in self._binds if real.is_relative_to(bind.source)]
        places = [bind.place / real.relative_to(bind.source) for bind in within]
        for place in dict.fromkeys([*(one for one in places if self._at(one) == real), real, folder]):
            self.folder(place.parent)
            self.arguments += ["--tmpfs", str(place)]
            self._binds.append(_Bind(self._empty_folder, place))
            for name in sorted(names):
                self._bind((real / name).resolve(), place / name)
            self.arguments += ["--remount-ro", str(place)]

    def _bind(self, source: Path, place: Path) -> None:
        self.folder(place.parent)
        self.arguments += ["--ro-bind", str(source), str(place)]
        self._binds.append(_Bind(source, place))

    def _at(self, place: Path) -> Path | None:
        """The path of the machine that is seen at a place of the box; None where there is none yet."""
        for bind in reversed(self._binds):
            if place.is_relative_to(bind.place):
                return (bind.source / place.relative_to(bind.place)).resolve()
        return None


def show_machine(view: View, interpreter: Interpreter, packages: Entries, hidden: Iterable[Path]) -> None:
    """Show what ``interpreter`` needs, of installed packages only ``packages``, and nothing of ``hidden``."""
    for path in map(Path, SYSTEM):
        if path.is_symlink():
            view.link(path)
        elif path.is_dir():
            view.show(path)
    for path in map(Path, LOADER):
        if path.exists():
            view.show(path)
    concealed = list(hidden)
    for path in concealed:  # before, since the interpreter itself may lie in there
        view.hide(path)
    for path in map(Path, interpreter.needs):
        view.show(path)
    for path in _package_folders(interpreter):
        view.hide(path)
    for folder, names in packages.items():
        view.only(Path(folder), names)
    for path in (*concealed, KIT):
        view.hide(path)


def _package_folders(interpreter: Interpreter) -> list[Path]:
    """All folders of packages that are seen along with the system and the interpreter."""
    libraries = [Path(path) for path in interpreter.needs if Path(path).is_dir()]
    trees = {Path("/usr"), Path("/usr/local"), *(path.parent for path in libraries)}
    places = (
        path for tree in trees for name in PACKAGE_FOLDERS for path in tree.glob(f"lib*/python3*/{name}")
    )
    return sorted(path for path in places if path.is_dir())


def device_arguments() -> list[str]:
    """A few harmless devices, and places for file systems of a room's own.

    What bubblewrap itself would put there costs an ordinary user the right to make rooms.
    """
    arguments = [
        "--tmpfs",
        "/dev",
        "--dir",
        "/dev/pts",
        "--dir",
        "/dev/shm",
        "--symlink",
        "pts/ptmx",
        "/dev/ptmx",
    ]
    for name in DEVICES:
        arguments += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        arguments += ["--symlink", f"/proc/self/fd{target}", f"/dev/{name}"]
    return arguments
